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
// the top by the largest drop of impurity, which says more about deep trees than the drop of cost does.
class GreedyCosts {
public:
    explicit GreedyCosts(const Instance& instance);

    // The rows are numbers of the node's rows, and put into another order.
    std::int64_t find(const Node& node, std::span<int> rows, int depth);

private:
    using Sums = std::vector<std::int64_t>;     // swing, weight, avoidable cost of each class

    void add(const Node& node, int row, std::int64_t* sums) const;
    std::int64_t leaf(const std::int64_t* sums) const;
    double impurity(const std::int64_t* sums) const;
    int best_split(const Node& node, std::span<const int> rows, const Sums& total);

    const Instance& instance_;
    const Costs& costs_;
    const std::size_t size_;    // of the sums
    Pace pace_;
    Sums inside_;               // by feature
};

}  // namespace goct
