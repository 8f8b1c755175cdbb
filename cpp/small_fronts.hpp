// Fronts of trees of depth one and two.
#pragma once

#include <cstdint>
#include <vector>

#include "control.hpp"
#include "front.hpp"
#include "node.hpp"
#include "preorder.hpp"
#include "side_bounds.hpp"

namespace goct {

// A tree with the labels of its leaves in order: 0 is negative, 1 is positive. Which label a leaf has is part of the
// choice here; the cheaper one need not be it.
struct LabelledTree {
    Preorder code;
    std::vector<int> labels;

    void add_leaf(int label) {
        code.push_back(kLeaf);
        labels.push_back(label);
    }
};

// The costs of the instance must be those of false negatives (class 0) and false positives (class 1).
class SmallFronts {
public:
    SmallFronts(const Instance& instance, Units units, Control& control);

    // Adds the points of the node's trees with at least one split, at most `splits` of them, of depth one or two.
    // Returns a lower bound on what trees cost that keep to the limits on x and y, whatever their sum, unless they are
    // dominated by the points that were there before. Throws SearchStopped when the control says so.
    std::int64_t collect(const Node& node, int depth, int splits, const Limits& limits, Front<Point>& front);

    // Appends a tree of that depth at most with the spot or one that dominates it. There must be one.
    void find(const Node& node, int depth, int splits, const Spot& spot, LabelledTree& tree);

private:
    void load(const Node& node);
    void count_pairs(int f);
    bool allowed(const Leaf& leaf) const { return leaf.weight >= instance_.costs().min_leaf_weight(); }
    Leaf side(int f, bool inside) const { return inside ? inside_[f] : total_ - inside_[f]; }
    // The part of a side of the feature last counted that is inside another one.
    Leaf part(int j, bool inside) const { return inside ? both_[j] : inside_[j] - both_[j]; }
    void collect_side(int f, bool inside, int splits, const Limits& limits, Front<Spot>& front) const;
    void find_side(int f, bool inside, const Spot& spot, LabelledTree& tree) const;
    void check() const;

    const Instance& instance_;
    const Units units_;
    Control& control_;
    SideBounds bounds_;
    // About the node at hand.
    const Node* node_ = nullptr;
    std::vector<Leaf> inside_;      // by feature
    Leaf total_;
    std::vector<Leaf> both_;        // by feature: the rows that are also inside the feature last counted
    std::vector<int> order_, others_;
    Front<Spot> fronts_[2];
};

}  // namespace goct
