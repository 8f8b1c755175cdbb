#include "stumps.hpp"

#include <algorithm>

namespace goct {
namespace {

// Of two classes, only the sums of what class 1 costs beyond class 0 matter.
Stump find_stump_of_two(const RankedNode& node, const Costs& costs, const Part& part, Pace& pace) {
    std::vector<std::int64_t> beyond(node.rows(), 0);
    std::int64_t first = 0, all = 0;
    for (int i = 0; i < node.rows(); ++i) {
        if (!part.holds(node, i)) continue;
        beyond[i] = *costs.delta(node.row(i));
        first += costs.first(node.row(i));
        all += beyond[i];
    }
    const std::int64_t leaf = first + std::min<std::int64_t>(all, 0);
    Stump best{leaf, leaf};
    for (int c = 0; c < node.columns(); ++c) {
        const int *const order = node.order(c), *const ends = node.ends(c);
        std::int64_t left = 0;
        for (int g = 0, i = 0; g < node.groups(c) - 1; ++g) {
            pace.step(4 * (ends[g] - i));
            for (; i < ends[g]; ++i) left += beyond[order[i]];
            const std::int64_t cost = first + std::min<std::int64_t>(left, 0) + std::min<std::int64_t>(all - left, 0);
            if (cost < best.cost) best = {leaf, cost, c, g};
        }
    }
    return best;
}

}  // namespace

Stump find_stump(const RankedNode& node, const Costs& costs, const Part& part, std::int64_t min_leaf_weight,
                 Control& control) {
    Pace pace(control);
    if (costs.classes() == 2 && min_leaf_weight == 0) return find_stump_of_two(node, costs, part, pace);
    // What each row adds to the sums: its weight and its costs by class, nothing outside the part.
    const int classes = costs.classes(), width = classes + 1;
    std::vector<std::int64_t> added(std::size_t(node.rows()) * width, 0), all(width, 0), left(width);
    for (int i = 0; i < node.rows(); ++i) {
        if (!part.holds(node, i)) continue;
        const int r = node.row(i);
        std::int64_t* const line = added.data() + std::size_t(i) * width;
        for (int k = 0; k < classes; ++k) line[k] = costs.cost(r, k) - costs.base(r);
        line[classes] = costs.weight(r);
        for (int k = 0; k < width; ++k) all[k] += line[k];
    }
    const std::int64_t leaf = *std::min_element(all.begin(), all.end() - 1);
    Stump best{leaf, leaf};
    for (int c = 0; c < node.columns(); ++c) {
        std::fill(left.begin(), left.end(), 0);
        const int *const order = node.order(c), *const ends = node.ends(c);
        for (int g = 0, i = 0; g < node.groups(c) - 1; ++g) {
            pace.step(8 * (ends[g] - i));
            for (; i < ends[g]; ++i)
                for (int k = 0; k < width; ++k) left[k] += added[std::size_t(order[i]) * width + k];
            if (left[classes] < min_leaf_weight || all[classes] - left[classes] < min_leaf_weight) continue;
            std::int64_t on_left = kInfinite, on_right = kInfinite;
            for (int k = 0; k < classes; ++k) {
                on_left = std::min(on_left, left[k]);
                on_right = std::min(on_right, all[k] - left[k]);
            }
            if (on_left + on_right < best.cost) best = {leaf, on_left + on_right, c, g};
        }
    }
    return best;
}

}  // namespace goct
