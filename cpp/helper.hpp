// Somebody who does units of other people's searches.
#pragma once

#include <memory>
#include <vector>

#include "oracle.hpp"

namespace goct {

// Units of one question. What is learnt stays for the next one. The oracle must live as long.
class Helper {
public:
    // Of the question, costs, split_cost and min_leaf_weight are read; the units say the rest.
    Helper(Oracle& oracle, const Question& question);
    ~Helper();

    UnitAnswer solve(const Unit& unit);
    const Cache& cache() const { return oracle_.cache(); }

    Control control;    // to be restarted for every unit

private:
    template <class V>
    UnitAnswer solve(const Unit& unit, std::unique_ptr<Oracle::Run<V>>& run);

    Oracle& oracle_;
    Question question_;
    const std::vector<std::int64_t> costs_;
    int made_with_ = -1, depth_ = 0, classes_ = 0;
    std::unique_ptr<Oracle::Run<AnySplits>> any_;
    std::unique_ptr<Oracle::Run<SplitBudgets>> budgets_;
};

}  // namespace goct
