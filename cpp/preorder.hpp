// Trees as the searches pass them around.
#pragma once

#include <vector>

#include "depth_two.hpp"
#include "node.hpp"

namespace goct {

// A tree in preorder, one code per node: a feature of the problem, then the tree inside it, then the one outside; a
// leaf; or a stand-in for a tree whose cost is known and which is worked out when it is wanted.
using Preorder = std::vector<int>;

inline constexpr int kLeaf = -1;

// The best tree of a class (see values.hpp): of depth two, or the one that begins as the cache says.
enum class StandIn { small, known };

inline int code_of(StandIn kind, int m) { return -2 - 2 * m - (kind == StandIn::known); }
inline bool is_stand_in(int code) { return code < kLeaf; }
inline StandIn kind_of(int code) { return code % 2 ? StandIn::known : StandIn::small; }
inline int class_of(int code) { return (-2 - code) / 2; }

// The best tree of the node with at most that many splits, 0 to 3, from what the depth-two solver says about the node.
Preorder best_small_tree(const Instance& instance, const Node& node, const DepthTwoValues& values,
                         const SideValues& sides, int splits);

}  // namespace goct
