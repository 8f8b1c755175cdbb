#include "oracle.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "greedy.hpp"
#include "threshold_fronts.hpp"
#include "threshold_search.hpp"

namespace goct {
namespace {

constexpr int kMostCosts = 60000;       // numbers of costs fit the cache's two bytes
constexpr std::size_t kKeptCosts = 64;
constexpr int kDeepArchives = 30;       // so many depths have archives at the same time, at most
constexpr double kAlwaysAllowed = 1 << 26;      // bytes that no memory limit forbids
constexpr int kFeaturesPerWide = 4;     // beside fewer of them wide columns are searched by themselves
constexpr double kMostForPairs = 1 << 28;       // larger matrices are too far away to be fast

}  // namespace

Oracle::Oracle(const std::uint8_t* cells, std::size_t rows, std::size_t columns, const std::int64_t* row_weights,
               std::size_t memory_limit, int jobs, const Techniques& techniques)
    : cells_(cells), rows_(static_cast<int>(rows)), columns_(columns), techniques_(techniques),
      jobs_(std::max(jobs, 1)), memory_limit_(memory_limit), cache_(memory_limit - memory_limit / 4) {
    if (row_weights) row_weights_.assign(row_weights, row_weights + rows);
}

Oracle::Oracle(const std::uint32_t* ranks, std::size_t rows, std::size_t columns, const std::int64_t* row_weights,
               std::size_t memory_limit, int jobs, const Techniques& techniques, int narrow, int few)
    : Oracle(static_cast<const std::uint8_t*>(nullptr), rows, columns, row_weights, memory_limit, jobs, techniques) {
    ranks_ = ranks;
    first_.assign(1, 0);
    for (std::size_t c = 0; c < columns; ++c) {
        const int thresholds = rows ? static_cast<int>(*std::max_element(ranks + c * rows, ranks + (c + 1) * rows)) : 0;
        first_.push_back(first_.back() + thresholds);
    }
    int features = 0, wide = 0;
    for (std::size_t c = 0; c < columns; ++c) {
        const int thresholds = first_[c + 1] - first_[c];
        if (thresholds > narrow) ++wide; else features += thresholds;
    }
    const bool all_narrow = first_.back() <= few, all_wide = few > 0 && features < kFeaturesPerWide * wide;
    for (std::size_t c = 0; c < columns; ++c) {
        is_wide_.push_back(!all_narrow && (all_wide || first_[c + 1] - first_[c] > narrow));
        if (is_wide_[c]) wide_columns_.push_back(static_cast<int>(c));
    }
}

int Oracle::name_of(int feature) const {
    if (asks_ranks_) return feature;
    if (feature < problem_->features())
        return ranks_ ? feature_names_[problem_->column(feature)] : problem_->column(feature);
    const auto [column, rank] = wide_->place(feature - problem_->features());
    return first_[wide_columns_[column]] + static_cast<int>(rank);
}

// The columns with few thresholds as features, the others as they are.
void Oracle::prepare_columns(Control& control) {
    if (!ranks_) {
        problem_.emplace(cells_, rows_, columns_, control);
        return;
    }
    feature_names_.clear();
    wide_ranks_.clear();
    for (std::size_t c = 0; c < columns_; ++c)
        for (int name = first_[c]; name < first_[c + 1] && !is_wide_[c]; ++name) feature_names_.push_back(name);
    for (const int c : wide_columns_)
        wide_ranks_.insert(wide_ranks_.end(), ranks_ + std::size_t(c) * rows_, ranks_ + std::size_t(c + 1) * rows_);
    // A stripe of rows stays in the nearest memory while its cells are written.
    constexpr int stripe = 256;
    const std::size_t width = feature_names_.size();
    std::vector<std::uint8_t> cells(rows_ * width);
    Pace pace(control);
    for (int begin = 0; begin < rows_; begin += stripe) {
        const int end = std::min(begin + stripe, rows_);
        pace.step((end - begin) * width);
        std::size_t at = 0;
        for (std::size_t c = 0; c < columns_; ++c) {
            if (is_wide_[c]) continue;
            for (int r = begin; r < end; ++r) std::fill_n(cells.begin() + r * width + at, ranks_[c * rows_ + r], 1);
            at += first_[c + 1] - first_[c];
        }
    }
    if (!wide_columns_.empty()) wide_.emplace(wide_ranks_.data(), rows_, wide_columns_.size(), control);
    problem_.emplace(cells.data(), rows_, feature_names_.size(), control, wide_ ? &*wide_ : nullptr);
}

std::int64_t Oracle::unavoidable(const Costs& costs) {
    std::int64_t sum = costs.shift();
    for (int r = 0; r < costs.rows(); ++r) sum += costs.base(r);
    return sum;
}

namespace {

std::int64_t avoidable_cutoff(std::optional<std::int64_t> cutoff, std::int64_t unavoidable) {
    return cutoff ? std::clamp(*cutoff, unavoidable, unavoidable + kInfinite) - unavoidable : kInfinite;
}

// What is known about a question before any search.
Answer constant_answer(const Question& question, int rows, std::optional<std::int64_t> cutoff) {
    Answer answer;
    std::vector<std::int64_t> sums(question.classes, 0);
    for (int r = 0; r < rows; ++r) {
        const std::int64_t* costs = question.costs + std::size_t(r) * question.classes;
        answer.bound += *std::min_element(costs, costs + question.classes);
        for (int k = 0; k < question.classes; ++k) sums[k] += costs[k];
    }
    const auto best = std::min_element(sums.begin(), sums.end());
    answer.cost = *best;
    if (!cutoff || answer.cost < *cutoff) answer.tree = {{-1, -1, -1, static_cast<int>(best - sums.begin())}};
    return answer;
}

}  // namespace

std::unique_lock<std::mutex> Oracle::begin() {
    std::unique_lock lock(busy_, std::try_to_lock);
    if (!lock) throw std::runtime_error("the oracle is busy with another question; use one oracle per thread");
    return lock;
}

// The frame of every question.
template <class Ask, class Otherwise>
auto Oracle::answer(Ask&& ask, Otherwise&& otherwise) {
    const auto lock = begin();
    try {
        return ask();
    } catch (const SearchStopped&) {
        return otherwise();
    }
}

Answer Oracle::solve(const Question& question, Control& control) {
    return answer([&] { return has_features(question) ? find(question, control) : find_thresholds(question, control); },
                  [&] { return constant_answer(question, rows(), question.cutoff); });
}

std::vector<Answer> Oracle::solve_budgets(const Question& question, const std::vector<std::int64_t>& cutoffs,
                                          Control& control) {
    const auto ask = [&] {
        return has_features(question) ? find_budgets(question, cutoffs, control)
                                      : find_threshold_budgets(question, cutoffs, control);
    };
    return answer(ask, [&] {
        std::vector<Answer> answers;
        for (int m = 0; m <= std::max(question.max_splits.value_or(0), 0); ++m)
            answers.push_back(
                constant_answer(question, rows(), cutoffs.empty() ? std::nullopt : std::optional(cutoffs[m])));
        return answers;
    });
}

FrontAnswer Oracle::search_front(const FrontQuestion& question, const FrontVisit& visit, Control& control) {
    return answer([&] { return walk_front(question, visit, control); }, [] { return FrontAnswer{}; });
}

// A set-up that is stopped leaves nothing behind, the next question begins it again.
const Problem& Oracle::prepare(Control& control, const Costs& costs) {
    control.offset = unavoidable(costs);
    control.started = true;
    asks_ranks_ = false;
    if (!problem_) prepare_columns(control);
    return *problem_;
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

std::vector<Ratio> Oracle::ratios_to(const Known& known, Control& control) const {
    std::vector<Ratio> ratios(next_number_);
    if (!techniques_.transfer) return ratios;
    for (const Known& other : known_) {
        control.check();
        if (other.number != known.number) ratios[other.number] = least_ratio(*other.costs, *known.costs);
    }
    return ratios;
}

// What there is before the search begins, by number of splits: on small data, where that does not take long, a leaf.
std::vector<Answer> Oracle::start(const Costs& costs, int depth, int splits, Control& control) const {
    const double work = static_cast<double>(rows()) * problem_->features() * problem_->features();
    const auto trees = grow_greedily(*problem_, costs, work < kLongWork ? 0 : depth, splits, control);
    std::vector<Answer> answers;
    for (const Preorder& tree : trees) {
        Answer& answer = answers.emplace_back();
        answer.bound = unavoidable(costs);
        answer.tree = build_tree(costs, tree, answer.cost);
    }
    if (trees.size() > 1) control.incumbent = answers.back().cost - unavoidable(costs);
    return answers;
}

// Makes a search fit into the memory: what it takes whatever it finds comes first, with fewer threads and without
// inheritance if need be; cache and pair counts share the rest. Throws SearchStopped if there is no room at all.
Oracle::Plan Oracle::fit_memory(const Costs& costs, int depth, int classes, int jobs, Control& control) {
    const double rows = rows_, features = problem_->features(), entries = problem_->entries();
    const auto bytes_up_to = [](std::int64_t most) {
        return most < 128 ? 1 : most < 1 << 15 ? 2 : most < std::int64_t{1} << 31 ? 4 : 8;
    };
    std::int64_t swing = 0, first = 0;
    for (int r = 0; r < rows_; ++r) swing += costs.swing(r), first += costs.first(r);
    const std::int64_t largest = costs.planes() == 1 ? std::max(first, swing - first) : swing;  // as in DepthTwo
    double cells = rows * features * costs.planes() * bytes_up_to(largest);
    if (costs.min_leaf_weight() > 0) cells += rows * features * costs.classes() * 4;
    const double node = 8 * entries + 16 * rows + 256 * features +      // and smaller ones below it
                        40 * rows * double(wide_columns_.size());
    const double archives = std::max(depth - 2, 0) * Archive::kEntries * (8 * features * (classes + 1) + rows / 8);
    double shared = 4 * entries + 100 * rows + 8 * rows * (2 * costs.classes() + 2) * double(known_.size());
    const double limit = std::max(static_cast<double>(memory_limit_), kAlwaysAllowed);

    Plan plan{techniques_, jobs, 0};
    const double own = cells + 2 * node;
    if (techniques_.inheritance && shared + own + archives <= limit)
        shared += archives;
    else
        plan.techniques.inheritance = false;
    if (shared + own > limit) {
        control.run_out_of_memory(shared + own);
        throw SearchStopped{};
    }
    plan.jobs = static_cast<int>(std::min<double>(jobs, (limit - shared) / std::max(own, 1.0)));
    const double rest = std::max(0.0, static_cast<double>(memory_limit_) - shared - plan.jobs * own);
    plan.matrix_bytes = static_cast<std::size_t>(std::min(rest / 4, kMostForPairs) / plan.jobs);
    cache_.limit(static_cast<std::size_t>(rest - rest / 4));
    return plan;
}

// What the search found; of several trees the best.
void Oracle::update(Answer& answer, std::int64_t bound, const Costs& costs, const Preorder& preorder,
                    bool is_whole) const {
    answer.bound = bound;
    answer.proven = is_whole;
    if (preorder.empty()) {
        if (answer.proven) answer.tree.clear();
        return;
    }
    std::int64_t cost;
    Tree tree = build_tree(costs, preorder, cost);
    if (answer.proven && cost != bound) throw std::logic_error("a tree does not cost what was found");
    if (answer.proven || answer.tree.empty() || cost <= answer.cost) answer.tree = std::move(tree), answer.cost = cost;
}

// A tree that costs no more than `cost` has only so many splits, and on no path does a feature split the rows twice. If
// no tree is too deep then, the depth does not matter, here or below.
static int useful_depth(int depth, int features, const Costs& costs, std::int64_t cost) {
    return std::min<std::int64_t>(cost / costs.split_cost(), features) <= depth ? kAnyDepth : depth;
}

template <class V>
Oracle::Run<V>::Run(Oracle& oracle, const Known& known, int depth, int classes, std::int64_t cutoff, Delegate* delegate,
                    Control& control)
    : ratios(oracle.ratios_to(known, control)),
      plan(oracle.fit_memory(*known.costs, std::min(depth, kDeepArchives), classes,
                             delegate ? std::max(delegate->helpers, 1) : oracle.jobs_, control)),
      priced(plan.techniques.price && known.costs->split_cost() > 0),
      instance(*oracle.problem_, *known.costs, control, false, priced ? known.costs->split_cost() : -1),
      search({instance, plan.techniques, oracle.cache_, known.number, ratios, control, plan.matrix_bytes, delegate},
             priced && depth != kAnyDepth ? useful_depth(depth, oracle.problem_->cuts(), *known.costs, cutoff) : depth, classes) {}

template struct Oracle::Run<AnySplits>;
template struct Oracle::Run<SplitBudgets>;

Answer Oracle::find(const Question& question, Control& control) {
    const int limit = std::clamp(question.max_depth, 0, kDeepest);
    if (question.max_splits && *question.max_splits < most_splits(limit, rows()))
        return find_within_budget(question, control);
    const Known& known = register_costs(question);
    const Costs& costs = *known.costs;
    prepare(control, costs);
    Answer answer = start(costs, limit, rows(), control).back();
    if (question.cutoff && answer.cost >= *question.cutoff) answer.tree.clear();
    try {
        const std::int64_t base = unavoidable(costs), cutoff = avoidable_cutoff(question.cutoff, base);
        Run<AnySplits> run(*this, known, limit, 1, std::min(cutoff, answer.cost - base), question.delegate, control);
        auto [bound, relaxed, cost, tree] = run.search.solve({cutoff}, run.plan.jobs, question.effort);
        if (!tree[0].empty() && !run.search.expand_at_last(tree[0]))
            throw std::logic_error("a found tree could not be worked out");
        const bool ends = question.effort == Effort::all || bound[0] >= std::min(cutoff, cost[0]);
        update(answer, bound[0] + base, costs, tree[0], ends && control.reason() == StopReason::none);
    } catch (const SearchStopped&) {
    }
    return answer;
}

// Larger budgets than the depth can use are the same question.
int Oracle::most_useful(const Question& question) const {
    const int depth = std::clamp(question.max_depth, 0, kDeepest), asked = std::max(question.max_splits.value_or(0), 0);
    return most_splits(depth, std::min(asked, std::max(rows() - 1, 0)));
}

// ... with the weakest of their cutoffs.
std::vector<std::int64_t> Oracle::avoidable_cutoffs(const std::vector<std::int64_t>& cutoffs, int most,
                                                    std::int64_t base) {
    if (cutoffs.empty()) return std::vector<std::int64_t>(most + 1, kInfinite);
    std::vector<std::int64_t> limits(most + 1, 0);
    for (int m = 0; m < static_cast<int>(cutoffs.size()); ++m)
        limits[std::min(m, most)] = std::max(limits[std::min(m, most)], avoidable_cutoff(cutoffs[m], base));
    return limits;
}

std::vector<Answer> Oracle::find_budgets(const Question& question, const std::vector<std::int64_t>& cutoffs,
                                         Control& control) {
    Question without = question;
    without.split_cost = 0;
    const Known& known = register_costs(without);
    const Costs& costs = *known.costs;
    prepare(control, costs);
    const int depth = std::clamp(question.max_depth, 0, kDeepest), asked = std::max(question.max_splits.value_or(0), 0);
    const int most = most_useful(question);
    std::vector<Answer> answers = start(costs, depth, most, control);
    answers.resize(asked + 1, answers.back());
    try {
        const std::int64_t base = unavoidable(costs);
        Run<SplitBudgets> run(*this, known, depth, most + 1, kInfinite, question.delegate, control);
        auto [bounds, relaxed, costs_found, trees] =
            run.search.solve(avoidable_cutoffs(cutoffs, most, base), run.plan.jobs);
        for (Preorder& tree : trees)
            if (!tree.empty() && !run.search.expand_at_last(tree))
                throw std::logic_error("a found tree could not be worked out");
        for (int m = 0; m <= asked; ++m)
            update(answers[m], bounds[std::min(m, most)] + base, costs, trees[std::min(m, most)],
                   control.reason() == StopReason::none);
    } catch (const SearchStopped&) {
    }
    for (int m = 0; m <= asked && !cutoffs.empty(); ++m)
        if (answers[m].cost >= cutoffs[m]) answers[m].tree.clear();
    return answers;
}

// The budgets one by one, each with its own split costs; the cheapest wins, the smaller one among equals.
Answer Oracle::find_within_budget(const Question& question, Control& control) {
    const int most = std::max(*question.max_splits, 0);
    const auto penalty = [&](std::int64_t m) {
        return m == 0 || question.split_cost <= kInfinite / m ? m * question.split_cost : kInfinite;
    };
    std::optional<std::int64_t> cutoff = question.cutoff;
    if (cutoff) cutoff = std::clamp(*cutoff, -2 * kInfinite, 2 * kInfinite);
    std::vector<std::int64_t> cutoffs;
    for (int m = 0; m <= most; ++m) {
        // Without split costs only the largest budget matters.
        const bool live = question.split_cost > 0 || m == most;
        cutoffs.push_back(!live ? std::numeric_limits<std::int64_t>::min()
                          : cutoff ? *cutoff - penalty(m)
                                   : std::numeric_limits<std::int64_t>::max());
    }
    const std::vector<Answer> answers = find_budgets(question, cutoffs, control);
    Answer best;
    best.bound = std::numeric_limits<std::int64_t>::max();
    best.proven = control.reason() == StopReason::none;
    for (int m = 0; m <= most; ++m) {
        if (question.split_cost == 0 && m < most) continue;
        const Answer& answer = answers[m];
        best.bound = std::min(best.bound, answer.bound + penalty(m));
        if (answer.tree.empty()) continue;
        const auto splits = std::count_if(answer.tree.begin(), answer.tree.end(),
                                          [](const TreeNode& node) { return node.feature >= 0; });
        const std::int64_t cost = answer.cost + penalty(splits);
        if (best.tree.empty() || cost < best.cost) {
            best.tree = answer.tree;
            best.cost = cost;
        }
    }
    return best;
}

Oracle::Ranked Oracle::prepare_ranks(Control& control, const Costs& costs, int depth) {
    control.offset = unavoidable(costs);
    control.started = true;
    const double cells = static_cast<double>(rows_) * columns_;
    const double limit = std::max(static_cast<double>(memory_limit_), kAlwaysAllowed);
    // Ranks and their order; of each thread what a scan copies, and per level order, groups and what is known about each.
    const double shared = 8 * cells + 100.0 * rows_ + 8.0 * rows_ * (2 * costs.classes() + 2) * double(known_.size());
    const double own = (12 + 24 * std::clamp(depth - 1, 1, 8)) * cells;
    if (shared + own > limit) {
        control.run_out_of_memory(shared + own);
        throw SearchStopped{};
    }
    const int jobs = static_cast<int>(std::min<double>(jobs_, (limit - shared) / std::max(own, 1.0)));
    cache_.limit(static_cast<std::size_t>(std::max(0.0, static_cast<double>(memory_limit_) - shared - jobs * own)));
    asks_ranks_ = true;
    if (!ranked_) ranked_.emplace(ranks_, rows_, columns_, control);
    return {*ranked_, jobs};
}

Answer Oracle::find_thresholds(const Question& question, Control& control) {
    const Known& known = register_costs(question);
    const Costs& costs = *known.costs;
    Answer answer = constant_answer(question, rows(), question.cutoff);
    const int depth = std::clamp(question.max_depth, 0, kDeepest);
    const auto [data, jobs] = prepare_ranks(control, costs, depth);
    const std::vector<Ratio> ratios = ratios_to(known, control);
    ThresholdSearch search({data, costs, techniques_, cache_, known.number, ratios, control});
    const std::int64_t base = unavoidable(costs), cutoff = avoidable_cutoff(question.cutoff, base);
    const int splits = question.max_splits ? std::max(*question.max_splits, 0) : kAnySplits;
    const auto found = search.solve({depth, splits}, cutoff, jobs);
    update(answer, found.bound + base, costs, found.cost < cutoff ? found.tree : Preorder{},
           control.reason() == StopReason::none);
    return answer;
}

// The largest budget first: what it costs bounds the others.
std::vector<Answer> Oracle::find_threshold_budgets(const Question& question, const std::vector<std::int64_t>& cutoffs,
                                                   Control& control) {
    const int most = std::max(question.max_splits.value_or(0), 0);
    std::vector<Answer> answers(most + 1);
    Question with = question;
    with.split_cost = 0;
    for (int m = most; m >= 0; --m) {
        with.max_splits = m;
        with.cutoff = cutoffs.empty() ? std::nullopt : std::optional(cutoffs[m]);
        answers[m] = constant_answer(with, rows(), with.cutoff);
        try {
            if (control.reason() == StopReason::none) answers[m] = find_thresholds(with, control);
        } catch (const SearchStopped&) {
        }
        if (m < most) answers[m].bound = std::max(answers[m].bound, answers[m + 1].bound);
    }
    return answers;
}

// `leaf_label` says what to predict for the rows of a leaf; the leaves come in the order of the preorder.
template <class LeafLabel>
Tree Oracle::build_tree(const Preorder& preorder, LeafLabel&& leaf_label) const {
    Tree tree;
    std::size_t at = 0;
    const auto build = [&](const auto& self, std::vector<int> rows) -> int {
        const int index = static_cast<int>(tree.size()), feature = preorder[at++];
        tree.push_back({-1, -1, -1, 0});
        if (feature == kLeaf) {
            tree[index].label = leaf_label(rows);
            return index;
        }
        const auto middle = std::stable_partition(rows.begin(), rows.end(), [&](int r) {
            return asks_ranks_ ? !ranked_->is_right(r, feature) : problem_->holds(r, feature);
        });
        const int inside = self(self, {rows.begin(), middle}), outside = self(self, {middle, rows.end()});
        const bool flipped = asks_ranks_ || (feature < problem_->features() && problem_->flipped(feature));
        tree[index] = {name_of(feature), flipped ? inside : outside, flipped ? outside : inside, 0};
        return index;
    };
    std::vector<int> rows(this->rows());
    std::iota(rows.begin(), rows.end(), 0);
    build(build, std::move(rows));
    return tree;
}

// Adds labels, and counts the cost again from the rows.
Tree Oracle::build_tree(const Costs& costs, const Preorder& preorder, std::int64_t& cost) const {
    cost = costs.shift();
    Tree tree = build_tree(preorder, [&](const std::vector<int>& rows) {
        std::vector<std::int64_t> sums(costs.classes(), 0);
        for (int r : rows)
            for (int k = 0; k < costs.classes(); ++k) sums[k] += costs.cost(r, k);
        const auto best = std::min_element(sums.begin(), sums.end());
        cost += *best;
        return static_cast<int>(best - sums.begin());
    });
    for (const TreeNode& node : tree)
        if (node.feature >= 0) cost += costs.split_cost();
    return tree;
}

namespace {

// Sums up non-negative counts and multiplies them, in 60 bits.
std::int64_t weighed_sum(const std::int64_t* counts, int rows, std::int64_t weight) {
    const auto refuse = [](bool yes) {
        if (yes) throw std::overflow_error("counts are too large for exact sums");
    };
    std::int64_t sum = 0;
    for (int r = 0; r < rows; ++r) {
        refuse(counts[r] >= kInfinite - sum);
        sum += counts[r];
    }
    refuse(sum > 0 && weight >= (kInfinite + sum - 1) / sum);
    return sum * weight;
}

// At most `most` and, if nothing is left, -1; in other units.
std::int64_t scaled_limit(std::int64_t limit, std::int64_t unit, std::int64_t most) {
    return limit < 0 ? -1 : limit >= most / unit ? most : limit * unit;
}

}  // namespace

FrontAnswer Oracle::walk_front(const FrontQuestion& question, const FrontVisit& visit, Control& control) {
    const auto [a, b] = question.direction;
    const std::int64_t most_x = weighed_sum(question.positives, rows(), a);
    const std::int64_t most_y = weighed_sum(question.negatives, rows(), b);
    std::vector<std::int64_t> matrix;
    for (int r = 0; r < rows(); ++r) {
        matrix.push_back(a * question.positives[r]);
        matrix.push_back(b * question.negatives[r]);
    }
    const Known& known = register_costs({matrix.data(), 2, 0, 0, question.min_leaf_weight, {}, {}});
    const int depth = std::clamp(question.max_depth, 0, kDeepest);
    const auto scaled = [&, a = a, b = b](const Limits& limits) {
        return Limits{std::clamp<std::int64_t>(limits.budget, -1, most_x + most_y), scaled_limit(limits.x, a, most_x),
                      scaled_limit(limits.y, b, most_y)};
    };
    const bool counts = question.max_splits && *question.max_splits < most_splits(depth, rows());
    const auto ask = [&, a = a, b = b](auto&& search) {
        FrontAnswer answer;
        answer.proven = search.run(counts ? std::max(*question.max_splits, 0) : kUnlimited, scaled(question.limits),
                                   [&](const Spot& spot) {
                                       auto limits = visit({spot.x / a, spot.y / b});
                                       if (limits) limits = scaled(*limits);
                                       return limits;
                                   },
                                   question.keep);
        control.finish();
        for (const Point& wanted : search.wanted()) {
            const LabelledTree tree = search.tree_of(wanted);
            auto label = tree.labels.begin();
            FrontAnswer::Found& found = answer.found.emplace_back();
            found.tree = build_tree(tree.code, [&](const std::vector<int>& leaf) {
                const std::int64_t* errors = *label ? question.negatives : question.positives;
                std::int64_t& sum = *label ? found.point.y : found.point.x;
                for (int r : leaf) sum += errors[r];
                return *label++;
            });
            if (a * found.point.x > wanted.x || b * found.point.y > wanted.y)
                throw std::logic_error("a tree is not where it was found");
        }
        return answer;
    };
    if (!wide_columns_.empty()) {
        const auto [data, jobs] = prepare_ranks(control, *known.costs, depth);
        const std::vector<Ratio> ratios = ratios_to(known, control);
        return ask(ThresholdFronts({data, *known.costs, techniques_, cache_, known.number, ratios, control, true},
                                   question.direction, depth, jobs));
    }
    const Problem& problem = prepare(control, *known.costs);
    const std::vector<Ratio> ratios = ratios_to(known, control);
    const Instance instance(problem, *known.costs, control, true);
    const Plan plan = fit_memory(*known.costs, depth, 1, jobs_, control);
    const SearchContext context{instance, plan.techniques, cache_, known.number, ratios, control, plan.matrix_bytes};

    return ask(FrontSearch(context, question.direction, depth, plan.jobs));
}

}  // namespace goct
