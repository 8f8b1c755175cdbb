#include "helper.hpp"

#include <stdexcept>

namespace goct {

Helper::Helper(Oracle& oracle, const Question& question, std::size_t most_notes)
    : oracle_(oracle), question_(question),
      costs_(question.costs, question.costs + std::size_t(oracle.rows()) * question.classes),
      most_notes_(most_notes) {
    if (oracle.ranks_) throw std::invalid_argument("questions about thresholds of numbers have no units");
    question_.costs = costs_.data();
}

Helper::~Helper() = default;

UnitAnswer Helper::solve(const Unit& unit, std::span<const std::string> notes) {
    const auto lock = oracle_.begin();
    return unit.budgets ? solve(unit, notes, budgets_) : solve(unit, notes, any_);
}

template <class V>
UnitAnswer Helper::solve(const Unit& unit, std::span<const std::string> notes, std::unique_ptr<Oracle::Run<V>>& run) {
    try {
        // Other questions that the oracle was asked meanwhile have left things that this search does not know how to read.
        if (!run || oracle_.next_number_ != made_with_ || unit.depth != depth_ || unit.classes != classes_) {
            any_.reset();
            budgets_.reset();
            Question question = question_;
            if (unit.budgets) question.split_cost = 0;
            const Oracle::Known& known = oracle_.register_costs(question);
            oracle_.prepare(control, *known.costs);
            run = std::make_unique<Oracle::Run<V>>(oracle_, known, unit.depth, unit.classes, kInfinite, nullptr, control);
            made_with_ = oracle_.next_number_, depth_ = unit.depth, classes_ = unit.classes, number_ = known.number;
        }
        Cache& cache = oracle_.cache_;
        for (const std::string& each : notes) cache.learn(each, number_);
        cache.take_note(number_, most_notes_);
        UnitAnswer answer = run->search.solve_unit(unit, run->plan.jobs);
        answer.notes = cache.take_notes();
        cache.take_note(number_, 0);
        return answer;
    } catch (const SearchStopped&) {
        run.reset();
        return {};
    }
}

}  // namespace goct
