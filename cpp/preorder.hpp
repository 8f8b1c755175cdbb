// Trees as the searches pass them around.
#pragma once

#include <vector>

#include "depth_two.hpp"
#include "node.hpp"

namespace goct {

// A tree in preorder: a feature of the problem, then the tree inside it, then the one outside; or one of the codes
// below. The stand-ins, kDepthTwo and kKnown, stand for a tree whose cost is known and which is worked out when it is
// wanted; in a search with split budgets they are followed by the budget.
using Preorder = std::vector<int>;

inline constexpr int kLeaf = -1;
inline constexpr int kDepthTwo = -2;   // the best tree of depth two
inline constexpr int kKnown = -3;      // the tree that begins as the cache says

// The best tree of the node with at most that many splits, 0 to 3, from what the depth-two solver says about the node.
Preorder best_small_tree(const Instance& instance, const Node& node, const DepthTwoValues& values,
                         const SideValues& sides, int splits);

// The number of the problem's feature among those of the node.
int local_feature(const Node& node, int feature);

}  // namespace goct
