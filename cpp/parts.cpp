#include "parts.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace goct {

// V: with a split budget or without.
template <class V>
class Parts::Of final : public Parts {
public:
    Of(Oracle& oracle, const Question& question, const std::vector<std::int64_t>& cutoffs)
        : oracle_(oracle), question_(question),
          costs_(question.costs, question.costs + std::size_t(oracle.rows()) * question.classes), first_(cutoffs) {
        question_.costs = costs_.data();
    }

    const Cache& cache() const override { return oracle_.cache(); }

    std::vector<Root> order() override {
        const auto lock = oracle_.begin();
        prepare();
        std::vector<Root> roots;
        for (const int f : order_) {
            const auto bounds = search().bound_on(f);
            roots.push_back({column(f), *(bounds.end() - 1) + base_});
        }
        return roots;
    }

    std::vector<Answer> solve(const std::vector<int>& columns, const std::vector<std::int64_t>& cutoffs) override {
        const auto lock = oracle_.begin();
        std::vector<Answer> answers(cutoffs.size());
        for (Answer& answer : answers) answer.bound = std::numeric_limits<std::int64_t>::min();
        try {
            prepare();
            for (Answer& answer : answers) answer.bound = base_;
            std::vector<int> features;
            for (const int f : order_)
                if (std::find(columns.begin(), columns.end(), column(f)) != columns.end()) features.push_back(f);
            auto found = search().solve_part(features, limits(cutoffs), run_->plan.jobs);
            for (std::size_t m = 0; m < answers.size(); ++m) {
                Preorder& tree = found.tree[std::min(m, found.tree.size() - 1)];
                if (!tree.empty() && !search().expand_at_last(tree))
                    throw std::logic_error("a found tree could not be worked out");
                const std::int64_t bound = found.bound[std::min(m, found.bound.size() - 1)];
                oracle_.update(answers[m], bound + base_, *known_, tree, control.reason() == StopReason::none);
            }
        } catch (const SearchStopped&) {
        }
        return answers;
    }

private:
    static constexpr bool kBudgets = std::is_same_v<V, SplitBudgets>;

    Search<V>& search() { return run_->search; }
    int column(int f) { return oracle_.problem_->column(search().node(0).feature(f)); }
    typename Search<V>::Values limits(const std::vector<std::int64_t>& cutoffs) const {
        const auto all = Oracle::avoidable_cutoffs(cutoffs, most_, base_);
        if constexpr (kBudgets)
            return all;
        else
            return {all[0]};
    }

    // Other questions that the oracle was asked meanwhile have left things that this search does not know how to read.
    void prepare() {
        if (run_ && oracle_.next_number_ == made_with_) return;
        run_.reset();
        Question question = question_;
        if (kBudgets) question.split_cost = 0;
        const Oracle::Known& known = oracle_.register_costs(question);
        made_with_ = oracle_.next_number_;
        known_ = known.costs.get();
        oracle_.prepare(control, *known_);
        base_ = Oracle::unavoidable(*known_);
        most_ = kBudgets ? oracle_.most_useful(question) : 0;
        const auto cutoffs = limits(first_);
        run_ = std::make_unique<Oracle::Run<V>>(oracle_, known, std::clamp(question.max_depth, 0, Oracle::kDeepest), most_ + 1,
                                                *std::max_element(cutoffs.begin(), cutoffs.end()), control);
        try {
            order_ = search().rank_root(cutoffs);
        } catch (...) {
            run_.reset();
            throw;
        }
    }

    Oracle& oracle_;
    Question question_;
    const std::vector<std::int64_t> costs_, first_;
    std::unique_ptr<Oracle::Run<V>> run_;
    const Costs* known_ = nullptr;
    int made_with_ = -1, most_ = 0;
    std::int64_t base_ = 0;
    std::vector<int> order_;        // features of the first node
};

std::unique_ptr<Parts> Parts::make(Oracle& oracle, const Question& question, const std::vector<std::int64_t>& cutoffs) {
    if (oracle.ranks_) throw std::invalid_argument("questions about thresholds of numbers have no parts");
    if (cutoffs.size() > 1 || question.max_splits) return std::make_unique<Of<SplitBudgets>>(oracle, question, cutoffs);
    return std::make_unique<Of<AnySplits>>(oracle, question, cutoffs);
}

}  // namespace goct
