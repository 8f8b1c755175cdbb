#include "preorder.hpp"

#include <algorithm>
#include <stdexcept>

namespace goct {

namespace {

// The single split of least cost that leaves no side too small.
SideValues::Best best_split(const Instance& instance, const Node& node) {
    SideValues sides;
    leaf_sides(instance, node, true, sides);
    SideValues::Best best;
    for (int f = 0; f < node.features(); ++f) {
        const std::int64_t cost = sides.inside_leaf[f] + sides.outside_leaf[f];
        if (cost < best.cost) best = {f, cost};
    }
    const SideValues::Best wide = best_wide_split(instance, node);
    return wide.cost < best.cost ? wide : best;
}

// The tree with a cut at the root, of whose sides those that are wanted have a split.
Preorder tree_of(const Instance& instance, const Node& node, int cut, bool split_inside, bool split_outside) {
    Preorder tree{node.name(instance.problem(), cut)};
    for (const bool side : {true, false}) {
        Preorder part{kLeaf};
        if (side ? split_inside : split_outside) {
            SplitSet scratch;
            Node child;
            child.make_child(instance, node, cut, side, scratch);
            part = {child.name(instance.problem(), best_split(instance, child).cut), kLeaf, kLeaf};
        }
        tree.insert(tree.end(), part.begin(), part.end());
    }
    return tree;
}

// The same with so many splits and of that cost, whichever sides have one.
Preorder tree_of(const Instance& instance, const Node& node, int cut, int splits, std::int64_t cost) {
    std::int64_t costs[2][2];
    for (const bool side : {false, true}) {
        SplitSet scratch;
        Node child;
        child.make_child(instance, node, cut, side, scratch);
        costs[side][0] = child.leaf();
        costs[side][1] = best_split(instance, child).cost;
    }
    for (const bool split_inside : {false, true})
        for (const bool split_outside : {false, true})
            if (1 + split_inside + split_outside == splits && costs[1][split_inside] + costs[0][split_outside] == cost)
                return tree_of(instance, node, cut, split_inside, split_outside);
    throw std::logic_error("no tree has the cost that was found");
}

}  // namespace

Preorder best_small_tree(const Instance& instance, const Node& node, const DepthTwoValues& values,
                         const SideValues& sides, int splits) {
    while (splits > 0 && values[splits - 1] == values[splits]) --splits;
    if (splits == 0) return {kLeaf};
    for (int f = 0; f < node.features(); ++f) {
        for (const bool split_inside : {false, true}) {
            for (const bool split_outside : {false, true}) {
                const std::int64_t inside = split_inside ? sides.inside_best[f] : sides.inside_leaf[f];
                const std::int64_t outside = split_outside ? sides.outside_best[f] : sides.outside_leaf[f];
                if (1 + split_inside + split_outside != splits || inside + outside != values[splits]) continue;
                return tree_of(instance, node, f, split_inside, split_outside);
            }
        }
    }
    if (sides.root[splits] >= 0) return tree_of(instance, node, sides.root[splits], splits, values[splits]);
    throw std::logic_error("no tree has the cost that was found");
}

}  // namespace goct
