// Trees by one step of look-ahead: what there is on large data until the search has found something.
#pragma once

#include <vector>

#include "control.hpp"
#include "costs.hpp"
#include "preorder.hpp"
#include "problem.hpp"

namespace goct {

// Trees with 0, 1, 2, ... splits, each the one before with the split that gains most. Ends when no split gains more than
// its cost, when `most_splits` are there, or when the control says so.
std::vector<Preorder> grow_greedily(const Problem& problem, const Costs& costs, int depth, int most_splits,
                                    Control& control);

}  // namespace goct
