// What a search finds out about a row set: one number, or one per split budget.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "cache.hpp"
#include "depth_two.hpp"

namespace goct {

// The most splits a tree of this depth can have, if that is below `limit`.
inline int most_splits(int depth, int limit) { return depth >= 30 ? limit : std::min(limit, (1 << depth) - 1); }

// Both kinds of values are some numbers, each the least cost of a class of trees. Trees with a split at the root are in
// class m if their sides are in classes i and j, for all (m, i, j) that each_share() visits.

// One class: trees with any number of splits, which may cost something.
struct AnySplits {
    template <class T>
    using Each = std::array<T, 1>;

    static constexpr bool kSlackPays = true;    // see Search::slack

    static constexpr int classes(int /*depth*/, int /*of_parent*/) { return 1; }
    static constexpr int most_classes(int /*depth*/) { return 1; }
    static constexpr CacheSlot slot(int depth, int /*m*/) { return {depth, kAnySplits}; }
    // Are trees of depth two the best there are?
    static constexpr bool is_small(int /*m*/) { return false; }
    template <class T>
    static void resize(Each<T>& each, int /*size*/, const T& value = {}) {
        each[0] = value;
    }
    template <class Visit>
    static void each_share(int /*classes*/, int /*side_classes*/, Visit&& visit) {
        visit(0, 0, 0);
    }
    // How many splits the cheapest of the four trees has.
    static int splits(const DepthTwoValues& errors, int /*m*/, std::int64_t split_cost) {
        int best = 0;
        for (int s = 1; s < 4; ++s)
            if (errors[s] + s * split_cost < errors[best] + best * split_cost) best = s;
        return best;
    }
    static std::int64_t least(const DepthTwoValues& errors, int m, std::int64_t split_cost) {
        const int s = splits(errors, m, split_cost);
        return errors[s] + s * split_cost;
    }
};

// Class m: trees with at most m splits, which cost nothing.
struct SplitBudgets {
    template <class T>
    using Each = std::vector<T>;

    static constexpr bool kSlackPays = false;

    static int classes(int depth, int of_parent) { return most_splits(depth, std::max(of_parent - 2, 0)) + 1; }
    static int most_classes(int depth) { return most_splits(depth, kAnySplits) + 1; }
    // No tree is deeper than it has splits.
    static CacheSlot slot(int depth, int m) { return {std::min(depth, m), m}; }
    static bool is_small(int m) { return m <= 2; }
    template <class T>
    static void resize(Each<T>& each, int size, const T& value = {}) {
        each.assign(size, value);
    }
    template <class Visit>
    static void each_share(int classes, int side_classes, Visit&& visit) {
        for (int m = 1; m < classes; ++m)
            for (int i = std::max(0, m - side_classes); i <= std::min(side_classes, m) - 1; ++i) visit(m, i, m - 1 - i);
    }
    static int splits(const DepthTwoValues& /*errors*/, int m, std::int64_t /*split_cost*/) { return std::min(m, 3); }
    static std::int64_t least(const DepthTwoValues& errors, int m, std::int64_t /*split_cost*/) {
        return errors[std::min(m, 3)];
    }
};

}  // namespace goct
