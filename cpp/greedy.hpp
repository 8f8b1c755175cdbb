// Trees without search: what there is on large data until the search has found something, and where to search first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "control.hpp"
#include "costs.hpp"
#include "node.hpp"
#include "preorder.hpp"
#include "problem.hpp"

namespace goct {

// Trees with 0, 1, 2, ... splits, each the one before with the split that gains most. Ends when no split gains more than
// its cost, when `most_splits` are there, or when the control says so.
std::vector<Preorder> grow_greedily(const Problem& problem, const Costs& costs, int depth, int most_splits,
                                    Control& control);

// What greedy trees for some rows of a node cost, split costs included: how good it is to come there. They are made from
// the top by the largest drop of impurity, which says more about deep trees than the drop of cost does, and end with the
// split that costs least. Costs are rounded where they would not fit: these are estimates.
class GreedyCosts {
public:
    explicit GreedyCosts(const Instance& instance);

    // The rows are numbers of the node's rows, and put into another order. Costs of `limit` and more are of no interest:
    // the answer is some number that is not below it.
    std::int64_t find(const Node& node, std::span<int> rows, int depth, std::int64_t limit);

private:
    using Sums = std::vector<std::uint64_t>;    // avoidable cost of each class, then the weight: two in each number

    void prepare();
    std::int64_t lane(const std::uint64_t* sums, int k) const {
        return static_cast<std::int64_t>(sums[k / 2] >> (32 * (k % 2)) & 0xffffffffu);
    }
    std::int64_t leaf(const std::uint64_t* sums) const;
    double impurity(const std::uint64_t* sums) const;
    void sum_up(const Node& node, std::span<const int> rows);
    template <class Score>
    auto best_split(const Node& node, const Sums& total, Score&& score);
    std::int64_t grow(const Node& node, std::span<int> rows, int depth, std::int64_t limit);

    const Instance& instance_;
    const int classes_;
    const std::size_t size_;    // of the sums
    int shift_ = 0;             // costs are divided by a power of two
    std::int64_t split_cost_ = 0, least_weight_ = 0;
    Pace pace_;
    Sums rows_;                 // by row of the problem
    Sums inside_;               // by feature
};

}  // namespace goct
