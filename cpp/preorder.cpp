#include "preorder.hpp"

#include <algorithm>
#include <stdexcept>

namespace goct {

namespace {

// The single split of least cost that leaves no side too small.
int best_split(const Instance& instance, const Node& node) {
    SideValues sides;
    leaf_sides(instance, node, true, sides);
    const auto cost = [&](int f) { return sides.inside_leaf[f] + sides.outside_leaf[f]; };
    int best = -1;
    for (int f = 0; f < node.features(); ++f)
        if (cost(f) < (best < 0 ? kInfinite : cost(best))) best = f;
    return best;
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
                Preorder tree{node.feature(f)};
                for (const bool side : {true, false}) {
                    Preorder part{kLeaf};
                    if (side ? split_inside : split_outside) {
                        SplitSet scratch;
                        Node child;
                        child.make_child(instance, node, f, side, scratch);
                        part = {child.feature(best_split(instance, child)), kLeaf, kLeaf};
                    }
                    tree.insert(tree.end(), part.begin(), part.end());
                }
                return tree;
            }
        }
    }
    throw std::logic_error("no tree has the cost that was found");
}

int local_feature(const Node& node, int feature) {
    int low = 0, high = node.features();
    while (low < high) {
        const int middle = (low + high) / 2;
        if (node.feature(middle) < feature)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == node.features() || node.feature(low) != feature)
        throw std::logic_error("a feature is not where it was found");
    return low;
}

}  // namespace goct
