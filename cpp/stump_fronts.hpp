// Fronts of stumps, trees with at most one split, of a presorted row set and of the two sides of its thresholds.
#pragma once

#include <cstdint>
#include <vector>

#include "control.hpp"
#include "costs.hpp"
#include "front.hpp"
#include "ranked_node.hpp"
#include "small_fronts.hpp"

namespace goct {

// The costs must be those of false negatives (class 0) and false positives (class 1).
class StumpFronts {
public:
    StumpFronts(const RankedColumns& data, const Costs& costs, Control& control)
        : data_(data), costs_(costs), pace_(control) {}

    // The node of the following calls, which must live as long.
    void load(const RankedNode& node);

    // Adds the points of both sides of a threshold, left [0] and right [1], of trees with at most one split that keep to
    // the limits of their side and have no leaf, but the side itself, below a weight. Threshold -1 has everything on its
    // right. Splits count if `counts`.
    void collect(int c, int t, const Limits (&limits)[2], bool counts, std::int64_t min_leaf_weight,
                 Front<Point> (&fronts)[2]);

    // Appends a tree of the node with at most one split that has the spot or one that dominates it. There must be one.
    void find(const Spot& spot, int splits, std::int64_t min_leaf_weight, LabelledTree& tree);

private:
    template <class Visit>
    bool any_split(const Leaf& all, const Leaf& one, std::int64_t min_leaf_weight, Visit&& visit) const;

    const RankedColumns& data_;
    const Costs& costs_;
    Pace pace_;
    const RankedNode* node_ = nullptr;
    std::vector<Leaf> rows_, on_left_;      // by row of the node; the latter are nothing on the right of the threshold
    Leaf total_;
};

}  // namespace goct
