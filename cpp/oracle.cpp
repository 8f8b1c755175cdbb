#include "oracle.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace goct {
namespace {

constexpr int kDeepest = 250;           // depth fits the cache's byte; no tree of this size is searched to the end
constexpr int kMostCosts = 60000;       // numbers of costs fit the cache's two bytes
constexpr std::size_t kKeptCosts = 64;

}  // namespace

Oracle::Oracle(const std::uint8_t* cells, std::size_t rows, std::size_t columns, const std::int64_t* row_weights,
               std::size_t memory_limit, int jobs, const Techniques& techniques)
    : problem_(cells, rows, columns), techniques_(techniques), jobs_(std::max(jobs, 1)),
      matrix_bytes_(memory_limit / 4 / jobs_), cache_(memory_limit - memory_limit / 4) {
    if (row_weights) row_weights_.assign(row_weights, row_weights + rows);
}

const Oracle::Known& Oracle::register_costs(const Question& question) {
    auto costs = std::make_unique<Costs>(question.costs, rows(), question.classes, question.split_cost,
                                         row_weights_.empty() ? nullptr : row_weights_.data(),
                                         question.min_leaf_weight);
    for (const Known& known : known_)
        if (*known.costs == *costs) return known;
    if (next_number_ == kMostCosts) {
        cache_.clear();
        known_.clear();
        next_number_ = 0;
    }
    if (known_.size() == kKeptCosts) known_.pop_front();
    known_.push_back({next_number_++, std::move(costs)});
    return known_.back();
}

std::vector<Ratio> Oracle::ratios_to(const Known& known) const {
    std::vector<Ratio> ratios(next_number_);
    if (techniques_.transfer)
        for (const Known& other : known_)
            if (other.number != known.number) ratios[other.number] = least_ratio(*other.costs, *known.costs);
    return ratios;
}

Answer Oracle::solve(const Question& question, Control& control) {
    const Known& known = register_costs(question);
    const Costs& costs = *known.costs;
    const std::vector<Ratio> ratios = ratios_to(known);
    const Instance instance(problem_, costs);
    const SearchContext context{instance, techniques_, cache_, known.number, ratios, control, matrix_bytes_};
    Search search(context);

    std::int64_t unavoidable = costs.shift();
    for (int r = 0; r < rows(); ++r) unavoidable += costs.base(r);
    const int depth = std::clamp(question.max_depth, 0, kDeepest);
    const std::int64_t cutoff =
        question.cutoff ? std::clamp(*question.cutoff, unavoidable - 1, unavoidable + kInfinite - 1) - unavoidable
                        : kInfinite;

    Answer answer;
    Preorder preorder;
    answer.bound = search.solve(depth, cutoff, jobs_, preorder) + unavoidable;
    answer.proven = control.reason() == StopReason::none;
    if (!preorder.empty()) {
        if (!search.expand(depth, preorder)) throw std::logic_error("a found tree could not be worked out");
        answer.tree = build_tree(costs, preorder, answer.cost);
        answer.cost += costs.shift();
        if (answer.proven && answer.cost != answer.bound) throw std::logic_error("a tree does not cost what was found");
    }
    return answer;
}

// Adds labels, and counts the cost again from the rows.
Tree Oracle::build_tree(const Costs& costs, const Preorder& preorder, std::int64_t& cost) const {
    Tree tree;
    cost = 0;
    std::size_t at = 0;
    const auto holds = [&](int row, int feature) {
        for (const int* e = problem_.entries_begin(row); e != problem_.entries_end(row); ++e)
            if (*e >= feature) return problem_.chain(*e) == problem_.chain(feature);
        return false;
    };
    const auto build = [&](const auto& self, std::vector<int> rows) -> int {
        const int index = static_cast<int>(tree.size()), feature = preorder[at++];
        tree.push_back({-1, -1, -1, 0});
        if (feature == kLeaf) {
            std::vector<std::int64_t> sums(costs.classes(), 0);
            for (int r : rows)
                for (int k = 0; k < costs.classes(); ++k) sums[k] += costs.cost(r, k);
            const auto best = std::min_element(sums.begin(), sums.end());
            tree[index].label = static_cast<int>(best - sums.begin());
            cost += *best;
            return index;
        }
        const auto middle = std::stable_partition(rows.begin(), rows.end(), [&](int r) { return holds(r, feature); });
        cost += costs.split_cost();
        const int inside = self(self, {rows.begin(), middle}), outside = self(self, {middle, rows.end()});
        const bool flipped = problem_.flipped(feature);
        tree[index] = {problem_.column(feature), flipped ? inside : outside, flipped ? outside : inside, 0};
        return index;
    };
    std::vector<int> rows(problem_.rows());
    std::iota(rows.begin(), rows.end(), 0);
    build(build, std::move(rows));
    return tree;
}

}  // namespace goct
