// Somebody who does units of other people's searches.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "oracle.hpp"

namespace goct {

// Units of one question. What is learnt stays for the next one. The oracle must live as long.
class Helper {
public:
    // Of the question, costs, split_cost and min_leaf_weight are read; the units say the rest. With every answer there are
    // about so many notes for other helpers.
    Helper(Oracle& oracle, const Question& question, std::size_t most_notes = 0);
    ~Helper();

    UnitAnswer solve(const Unit& unit, std::span<const std::string> notes = {});
    const Cache& cache() const { return oracle_.cache(); }

    Control control;    // to be restarted for every unit

private:
    template <class V>
    UnitAnswer solve(const Unit& unit, std::span<const std::string> notes, std::unique_ptr<Oracle::Run<V>>& run);

    Oracle& oracle_;
    Question question_;
    const std::vector<std::int64_t> costs_;
    const std::size_t most_notes_;
    int made_with_ = -1, depth_ = 0, classes_ = 0, number_ = 0;
    std::unique_ptr<Oracle::Run<AnySplits>> any_;
    std::unique_ptr<Oracle::Run<SplitBudgets>> budgets_;
};

}  // namespace goct
