// The oracle against brute force, stopped at any moment; the cache.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "../cache.hpp"
#include "../greedy.hpp"
#include "../helper.hpp"
#include "../oracle.hpp"
#include "check.hpp"

using namespace goct;
using namespace goct::test;

namespace {

struct Data {
    int rows, columns;
    std::vector<std::uint8_t> cells;
    std::vector<std::int64_t> costs, weights;
    std::int64_t split_cost, min_leaf_weight;
    int depth, classes = 2;

    Question question() const { return {costs.data(), classes, split_cost, depth, min_leaf_weight, {}, {}}; }
    Oracle oracle(int jobs, const Techniques& techniques = {}) const {
        return {cells.data(), std::size_t(rows), std::size_t(columns), weights.data(), 1 << 20, jobs, techniques};
    }
};

Data draw_data(Random& random, int most_rows, int most_columns) {
    Data data{draw(random, 1, most_rows), draw(random, 1, most_columns), {}, {}, {}, 0, 0, draw(random, 0, 4)};
    if (draw(random, 0, 1)) data.split_cost = draw(random, 0, 4);
    if (draw(random, 0, 3) == 0) data.depth = 64;    // as deep as rows and prices allow
    if (draw(random, 0, 2) == 0) data.min_leaf_weight = draw(random, 1, 6);
    data.classes = draw(random, 2, 3);
    for (int i = 0; i < data.rows * data.columns; ++i)
        data.cells.push_back(static_cast<std::uint8_t>(draw(random, 0, 1)));
    for (int i = 0; i < data.rows * data.classes; ++i) data.costs.push_back(draw(random, -3, 9));
    for (int i = 0; i < data.rows; ++i) data.weights.push_back(draw(random, 0, 3));
    return data;
}

// Least cost of the rows by dynamic programming over row sets and split budgets.
class BruteForce {
public:
    explicit BruteForce(const Data& data) : data_(data) {}

    std::int64_t solve(unsigned rows, int depth, int splits) {
        const auto [found, fresh] = known_.try_emplace({rows, depth, splits});
        if (!fresh) return found->second;
        std::vector<std::int64_t> sums(data_.classes, 0);
        for (int r = 0; r < data_.rows; ++r)
            for (int k = 0; rows >> r & 1 && k < data_.classes; ++k) sums[k] += data_.costs[r * data_.classes + k];
        std::int64_t best = *std::min_element(sums.begin(), sums.end());
        for (int c = 0; depth && splits && c < data_.columns; ++c) best = std::min(best, split(rows, c, depth, splits));
        return known_[{rows, depth, splits}] = best;
    }
    // With column c at the root.
    std::int64_t split(unsigned rows, int c, int depth, int splits) {
        unsigned inside = 0;
        for (int r = 0; r < data_.rows; ++r) inside |= unsigned{data_.cells[r * data_.columns + c]} << r;
        inside &= rows;
        const unsigned outside = rows & ~inside;
        std::int64_t best = kInfinite;
        if (!inside || !outside || weight(inside) < data_.min_leaf_weight || weight(outside) < data_.min_leaf_weight)
            return best;
        for (int left = 0; left < splits; ++left)
            best = std::min(best, solve(inside, depth - 1, left) + solve(outside, depth - 1, splits - 1 - left) +
                                      data_.split_cost);
        return best;
    }
    std::int64_t solve(int splits) {
        return solve((1u << data_.rows) - 1, std::min(data_.depth, data_.rows), splits);
    }

private:
    std::int64_t weight(unsigned rows) const {
        std::int64_t sum = 0;
        for (int r = 0; r < data_.rows; ++r) sum += rows >> r & 1 ? data_.weights[r] : 0;
        return sum;
    }

    const Data& data_;
    std::map<std::tuple<unsigned, int, int>, std::int64_t> known_;
};

std::int64_t cost_of(const Data& data, const Tree& tree) {
    std::int64_t cost = 0;
    for (const TreeNode& node : tree) cost += node.feature >= 0 ? data.split_cost : 0;
    for (int r = 0; r < data.rows; ++r) {
        const TreeNode* node = &tree[0];
        while (node->feature >= 0) node = &tree[data.cells[r * data.columns + node->feature] ? node->right : node->left];
        cost += data.costs[r * data.classes + node->label];
    }
    return cost;
}

// Is the tree within the depth, and every leaf heavy enough?
bool is_allowed(const Data& data, const Tree& tree) {
    std::vector<std::int64_t> weight(tree.size(), 0);
    int deepest = 0;
    for (int r = 0; r < data.rows; ++r) {
        int at = 0, depth = 0;
        for (; tree[at].feature >= 0; ++depth)
            at = data.cells[r * data.columns + tree[at].feature] ? tree[at].right : tree[at].left;
        weight[at] += data.weights[r];
        deepest = std::max(deepest, depth);
    }
    for (std::size_t i = 0; i < tree.size() && tree.size() > 1; ++i)
        if (tree[i].feature < 0 && weight[i] < data.min_leaf_weight) return false;
    return deepest <= data.depth;
}

}  // namespace

TEST(answers_equal_brute_force) {
    Random random(11);
    for (int trial = 0; trial < 4000 * scale(); ++trial) {
        const Data data = draw_data(random, 12, 5);
        BruteForce truth(data);
        const std::int64_t best = truth.solve(15);
        Techniques techniques;  // without these, trees are found late
        techniques.first_pass = techniques.order = trial % 3 > 0;
        techniques.price = trial % 4 > 0;
        Oracle oracle = data.oracle(1 + trial % 8, techniques);
        Control control;
        const Answer answer = oracle.solve(data.question(), control);
        CHECK(answer.proven && answer.cost == best && answer.bound == best);
        CHECK(cost_of(data, answer.tree) == best);
        Question question = data.question();
        question.cutoff = best;
        CHECK(oracle.solve(question, control).tree.empty());
        question.cutoff = best + 1;
        CHECK(oracle.solve(question, control).cost == best);
        question.max_splits = draw(random, 0, 6);
        question.cutoff.reset();
        CHECK(oracle.solve(question, control).cost == truth.solve(*question.max_splits));
    }
}

// Larger problems: the tree does not depend on the number of threads, nor on who of them is faster.
TEST(threads_find_the_same_tree) {
    Random random(17);
    for (int trial = 0; trial < 60 * scale(); ++trial) {
        Data data = draw_data(random, 60, 12);
        data.depth = std::min(data.depth, 5);
        Question question = data.question(), budgets = question;
        budgets.split_cost = 0;
        budgets.max_splits = draw(random, 3, 8);
        std::optional<Answer> first, first_any;
        std::vector<Answer> first_budgets;
        for (const int jobs : {1, 2, 3, 8}) {
            Oracle oracle = data.oracle(jobs);
            Control control;
            const Answer answer = oracle.solve(question, control);
            const std::vector<Answer> answers = oracle.solve_budgets(budgets, {}, control);
            question.effort = Effort::any_tree;
            question.cutoff = answer.cost + 3;
            const Answer any = data.oracle(jobs).solve(question, control);
            question.effort = Effort::all;
            question.cutoff.reset();
            if (!first) first = answer, first_budgets = answers, first_any = any;
            CHECK(any.cost == first_any->cost && any.tree == first_any->tree);
            CHECK(answer.proven && answer.cost == first->cost && answer.bound == answer.cost);
            CHECK(answer.tree == first->tree);
            for (std::size_t m = 0; m < answers.size(); ++m) {
                CHECK(answers[m].cost == first_budgets[m].cost && answers[m].bound == answers[m].cost);
                CHECK(answers[m].tree == first_budgets[m].tree);
            }
        }
    }
}

// A search with less effort may miss the optimum, but says so; and one to any tree misses none of all trees.
TEST(less_effort_is_no_proof) {
    Random random(13);
    for (int trial = 0; trial < 1000 * scale(); ++trial) {
        const Data data = draw_data(random, 14, 6);
        const std::int64_t best = BruteForce(data).solve(15);
        Techniques techniques;
        techniques.first_pass = techniques.order = trial % 3 > 0;
        Oracle oracle = data.oracle(1 + trial % 3, techniques);
        Control control;
        Question question = data.question();
        for (const Effort effort : {Effort::first_trees, Effort::any_tree}) {
            question.effort = effort;
            question.cutoff.reset();
            Answer answer;
            do {
                answer = oracle.solve(question, control);
                CHECK(answer.bound <= best && (!answer.proven || answer.tree.empty() || answer.cost == best));
                CHECK(!answer.proven || !answer.tree.empty() || *question.cutoff <= best);
                if (answer.tree.empty()) break;
                CHECK(best <= answer.cost && cost_of(data, answer.tree) == answer.cost && is_allowed(data, answer.tree));
                question.cutoff = answer.cost;
            } while (!answer.proven);
            if (effort == Effort::any_tree) CHECK(answer.proven && question.cutoff == best);
        }
        question.effort = Effort::all;
        question.cutoff.reset();
        CHECK(oracle.solve(question, control).cost == best);
    }
}

// Whenever a search is stopped, its bound is below the optimum and its tree costs what it says; and it leaves the oracle
// in a state to answer the same question to the end.
TEST(a_stop_at_any_moment_leaves_the_truth) {
    Random random(12);
    for (int trial = 0; trial < 150 * scale(); ++trial) {
        const Data data = draw_data(random, 14, 6);
        const std::int64_t best = BruteForce(data).solve(15);
        Oracle oracle = data.oracle(1 + trial % 4);
        bool proven = false;
        for (std::int64_t polls = 0; !proven; polls += 1 + polls / 4) {
            Control control;
            control.stop_after(polls);
            const Answer answer = oracle.solve(data.question(), control);
            proven = answer.proven;
            CHECK(answer.bound <= best && best <= answer.cost && !answer.tree.empty());
            CHECK(cost_of(data, answer.tree) == answer.cost && is_allowed(data, answer.tree));
            CHECK(!proven || answer.cost == best);
        }
        Question question = data.question();
        question.split_cost = 0;
        question.max_splits = draw(random, 0, 7);
        Data free = data;
        free.split_cost = 0;
        BruteForce truth(free);
        proven = false;
        for (std::int64_t polls = 0; !proven; polls += 1 + polls / 4) {
            Control control;
            control.stop_after(polls);
            const auto answers = oracle.solve_budgets(question, {}, control);
            proven = answers[0].proven;
            for (int m = 0; m <= *question.max_splits; ++m) {
                const Answer& answer = answers[m];
                const std::int64_t least = truth.solve(m);
                CHECK(answer.bound <= least && (!proven || answer.cost == least));
                CHECK(!answer.tree.empty() && least <= answer.cost && cost_of(free, answer.tree) == answer.cost);
                CHECK(is_allowed(free, answer.tree) && static_cast<int>(answer.tree.size()) <= 2 * m + 1);
            }
        }
    }
}

// Neither the number of threads nor a start, which may be given up at any moment, decides which of several trees is
// found.
TEST(trees_do_not_depend_on_threads_or_time) {
    Random random(20);
    Techniques no_starts;
    no_starts.first_pass = no_starts.deepening = false;
    for (int trial = 0; trial < 60 * scale(); ++trial) {
        Data data = draw_data(random, 60, 9);
        data.depth = draw(random, 3, 6);
        for (auto& cost : data.costs) cost = std::max<std::int64_t>(cost, 0) % 3;      // many ties
        Question question = data.question();
        Question free = question;
        free.split_cost = 0;
        free.max_splits = draw(random, 1, 9);
        std::int64_t least = 0;
        for (int r = 0; r < data.rows; ++r)
            least += *std::min_element(&data.costs[r * data.classes], &data.costs[r * data.classes] + data.classes);
        std::vector<int> seen;
        const auto see = [&](const Answer& answer) {
            if (answer.cost == least) return answer;    // then the first passes decide
            for (const TreeNode& node : answer.tree) seen.push_back(node.feature), seen.push_back(node.label);
            return answer;
        };
        std::optional<std::vector<int>> proven, all;
        for (const int jobs : {0, 1, 2, 3, 8}) {
            Oracle oracle = data.oracle(jobs, jobs ? Techniques{} : no_starts);
            Control control;
            question.effort = Effort::all;
            question.cutoff.reset();
            see(oracle.solve(question, control));
            for (const Answer& answer : oracle.solve_budgets(free, {}, control)) see(answer);
            if (!proven) proven = seen;
            CHECK(*proven == seen);
            Oracle other = data.oracle(jobs);
            for (const Effort effort : {Effort::first_trees, Effort::any_tree}) {
                question.effort = effort;
                question.cutoff.reset();
                for (Answer answer{{{}}}; !answer.tree.empty() && !answer.proven; question.cutoff = answer.cost)
                    answer = see(other.solve(question, control));
            }
            if (!all) all = seen;
            CHECK(*all == seen);
            seen.clear();
        }
    }
}

// Helpers with oracles of their own. Units end at any moment, and some never come back.
class Others final : public Delegate {
public:
    Others(const Data& data, const Question& question, int helpers, Random& random)
        : Delegate(helpers, 0, 1000), random_(random()) {
        for (int i = 0; i < helpers; ++i) {
            oracles_.emplace_back(new Oracle(data.oracle(1 + i % 2)));
            free_.push_back(std::make_unique<Helper>(*oracles_.back(), question, draw(random, 0, 1) * 100));
        }
    }

    std::optional<UnitAnswer> solve(const Unit& unit, double seconds) override {
        std::unique_lock guard(lock_);
        if (lives >= 0 && lives-- == 0) return std::nullopt;
        std::unique_ptr<Helper> helper = std::move(free_.back());
        free_.pop_back();
        std::int64_t polls = seconds < 1e9 ? draw(random_, 0, 40) : -1;
        const std::vector<std::string> notes = notes_;
        guard.unlock();
        helper->control.restart(1e9);
        helper->control.stop_after(polls);
        UnitAnswer answer = helper->solve(unit, notes);
        guard.lock();
        notes_.push_back(answer.notes);
        free_.push_back(std::move(helper));
        return answer;
    }

    int lives = -1;

private:
    std::mutex lock_;
    Random random_;
    std::vector<std::unique_ptr<Oracle>> oracles_;
    std::vector<std::unique_ptr<Helper>> free_;
    std::vector<std::string> notes_;    // for all of them
};

TEST(units_may_be_searched_elsewhere) {
    Random random(18);
    for (int trial = 0; trial < 200 * scale(); ++trial) {
        Data data = draw_data(random, 12, 6);
        data.depth = std::max(data.depth, 3);
        Question question = data.question();
        const bool budgets = draw(random, 0, 1);
        if (budgets) data.split_cost = question.split_cost = 0, question.max_splits = draw(random, 0, 8);
        BruteForce truth(data);
        Oracle alone = data.oracle(1), oracle = data.oracle(1);
        for (int again = 0; again < 3; ++again) {       // stopped at first, perhaps
            Others others(data, question, 1 + trial % 4, random);
            if (again == 0) others.lives = draw(random, 0, 30);
            if (again == 2) question.effort = Effort::any_tree;
            const auto ask = [&](Oracle& which, Delegate* delegate) {
                question.delegate = delegate;
                Control control;
                return budgets ? which.solve_budgets(question, {}, control)
                               : std::vector<Answer>{which.solve(question, control)};
            };
            const auto known = ask(alone, nullptr), found = ask(oracle, &others);
            for (std::size_t m = 0; m < found.size(); ++m) {
                const std::int64_t least = truth.solve(budgets ? static_cast<int>(m) : 15);
                CHECK(found[m].bound <= least && cost_of(data, found[m].tree) == found[m].cost);
                CHECK(is_allowed(data, found[m].tree));
                if (!found[m].proven) {
                    CHECK(again == 0 || question.effort == Effort::any_tree);
                    continue;
                }
                CHECK(found[m].cost == least && found[m].bound == least);
            }
        }
    }
}

// Who searches does not decide which of several best trees is found.
TEST(trees_do_not_depend_on_helpers) {
    Random random(21);
    for (int trial = 0; trial < 60 * scale(); ++trial) {
        Data data = draw_data(random, 60, 9);
        data.depth = draw(random, 3, 6);
        for (auto& cost : data.costs) cost = std::max<std::int64_t>(cost, 0) % 3;      // many ties
        Question question = data.question();
        std::optional<std::vector<int>> first;
        for (const int helpers : {0, 1, 3}) {
            Oracle oracle = data.oracle(1);
            Others others(data, question, helpers, random);
            question.delegate = helpers ? &others : nullptr;
            Control control;
            const Answer answer = oracle.solve(question, control);
            std::vector<int> seen;
            for (const TreeNode& node : answer.tree) seen.push_back(node.feature), seen.push_back(node.label);
            if (!first) first = seen;
            CHECK(answer.proven && *first == seen);
        }
    }
}

struct Errors {         // of two classes, by row
    std::vector<std::int64_t> positives, negatives;

    Errors(Random& random, int rows) {
        for (int r = 0; r < rows; ++r) {
            positives.push_back(draw(random, 0, 4));
            negatives.push_back(draw(random, 0, 4));
        }
    }
};

// The points within the limits are all dominated by visited ones unless the walk was stopped.
TEST(a_stopped_front_claims_nothing) {
    Random random(13);
    for (int trial = 0; trial < 60 * scale(); ++trial) {
        Data data = draw_data(random, 12, 5);
        data.min_leaf_weight = 0;
        const Errors errors(random, data.rows);
        const FrontQuestion question{
            errors.positives.data(), errors.negatives.data(), {1, 1}, {1000, 1000, 1000}, data.depth, 0, {},
            Keep::undominated};
        std::vector<std::pair<std::int64_t, std::int64_t>> all;
        Oracle oracle = data.oracle(1 + trial % 4);
        for (const bool stop : {false, true}) {
            bool proven = false;
            for (std::int64_t polls = 0; !proven; polls += 1 + polls / 4) {
                Control control;
                if (stop) control.stop_after(polls);
                std::vector<std::pair<std::int64_t, std::int64_t>> seen;
                const auto visit = [&](const Spot& spot) -> std::optional<Limits> {
                    seen.push_back({spot.x, spot.y});
                    return Limits{1000, 1000, 1000};
                };
                const FrontAnswer answer = oracle.search_front(question, visit, control);
                proven = answer.proven;
                if (!stop) all = seen;
                // The kept trees are those of the visited points that no other one dominates.
                const auto dominates = [](const auto& p, const auto& q) { return p.first <= q.first && p.second <= q.second; };
                std::set<std::pair<std::int64_t, std::int64_t>> expected, found;
                for (const auto& p : seen)
                    if (std::none_of(seen.begin(), seen.end(), [&](const auto& q) { return q != p && dominates(q, p); }))
                        expected.insert(p);
                for (const auto& each : answer.found) found.insert({each.point.x, each.point.y});
                CHECK(found == expected && answer.found.size() == found.size());
                for (const auto& [x, y] : all)
                    CHECK(!proven || std::any_of(seen.begin(), seen.end(),
                                                 [&](const auto& p) { return p.first <= x && p.second <= y; }));
            }
        }
    }
}

// Threads visit the same points in the same order, whatever is wanted, and come to the same tree.
TEST(fronts_do_not_depend_on_threads) {
    Random random(19);
    for (int trial = 0; trial < 150 * scale(); ++trial) {
        Data data = draw_data(random, 40, 8);
        data.depth = draw(random, 3, 5);
        const Errors errors(random, data.rows);
        FrontQuestion question{errors.positives.data(), errors.negatives.data(), {draw(random, 1, 3), draw(random, 1, 3)},
                               {1000, 1000, 1000}, data.depth, data.min_leaf_weight, {}};
        if (draw(random, 0, 1)) question.max_splits = draw(random, 1, 8);
        const std::int64_t factor = draw(random, 1, 5);
        std::optional<std::vector<std::int64_t>> first;
        for (const int jobs : {1, 2, 3, 8}) {
            Oracle oracle = data.oracle(jobs);
            Control control;
            std::vector<std::int64_t> seen;
            std::int64_t best = 1000000;
            const auto visit = [&](const Spot& spot) -> std::optional<Limits> {
                seen.push_back(spot.x);
                seen.push_back(spot.y);
                if ((spot.x + 1) * (spot.y + factor) >= best) return std::nullopt;
                best = (spot.x + 1) * (spot.y + factor);
                return Limits{1000, best / factor, best};
            };
            const FrontAnswer answer = oracle.search_front(question, visit, control);
            CHECK(answer.proven);
            for (const auto& [tree, point] : answer.found)
                for (const TreeNode& node : tree) seen.insert(seen.end(), {node.feature, node.label});
            if (!first) first = seen;
            CHECK(*first == seen);
        }
    }
}

TEST(greedy_trees_gain_with_every_split) {
    Random random(16);
    for (int trial = 0; trial < 100; ++trial) {
        const Data data = draw_data(random, 40, 8);
        Control control;
        const Problem problem(data.cells.data(), data.rows, data.columns, control);
        const Costs costs(data.costs.data(), data.rows, data.classes, data.split_cost, data.weights.data(),
                          data.min_leaf_weight);
        const auto trees = grow_greedily(problem, costs, data.depth, 5, control);
        CHECK(trees[0] == Preorder{kLeaf} && trees.size() <= 6);
        for (std::size_t m = 0; m < trees.size(); ++m) {
            CHECK(trees[m].size() == 2 * m + 1);
            CHECK(std::count(trees[m].begin(), trees[m].end(), kLeaf) == static_cast<std::ptrdiff_t>(m) + 1);
        }
        control.stop_after(0);
        CHECK(grow_greedily(problem, costs, data.depth, 5, control)[0] == Preorder{kLeaf});
    }
}

TEST(one_question_at_a_time) {
    Random random(14);
    Data data = draw_data(random, 8, 3);
    data.depth = 2;
    data.min_leaf_weight = 0;
    std::vector<std::int64_t> ones(data.rows, 1);
    Oracle oracle = data.oracle(1);
    Control control, other;
    const FrontQuestion question{ones.data(), ones.data(), {1, 1}, {100, 100, 100}, 2, 0, {}};
    bool refused = false;
    const auto visit = [&](const Spot&) -> std::optional<Limits> {
        std::thread([&] {
            refused = throws<std::runtime_error>([&] { oracle.solve(data.question(), other); });
        }).join();
        return std::nullopt;
    };
    oracle.search_front(question, visit, control);
    CHECK(refused);
    CHECK(oracle.solve(data.question(), other).proven);
}

TEST(a_search_that_does_not_fit_is_not_begun) {
    Random random(17);
    Data data = draw_data(random, 1, 1);
    data.rows = 6000, data.columns = 2048, data.depth = 3, data.classes = 2, data.min_leaf_weight = 0;
    data.cells.assign(std::size_t(data.rows) * data.columns, 0);
    for (auto& cell : data.cells) cell = random() & 1;
    data.weights.assign(data.rows, 1);
    data.costs.clear();
    for (int r = 0; r < data.rows; ++r) {
        const int label = data.cells[std::size_t(r) * data.columns];
        data.costs.push_back(1000 * label);
        data.costs.push_back(1000 * (1 - label));
    }
    data.split_cost = 1;
    Oracle oracle = data.oracle(4);
    Control control;
    const Answer answer = oracle.solve(data.question(), control);
    CHECK(control.reason() == StopReason::memory && !answer.proven);
    CHECK(answer.cost == 1 && answer.bound == 0 && answer.tree.size() == 3);     // the greedy tree
    CHECK(oracle.cache().bytes() == 0);
}

TEST(the_cache_never_forgets_a_proof_of_the_same_costs) {
    Cache cache(1 << 16);
    Random random(15);
    const CacheSlot slot{3, kAnySplits};
    const Key key{1, 2};
    CHECK(!cache.find(key, slot));
    cache.store(key, slot, {5, kLeaf, 0, false});
    cache.store(key, slot, {4, kLeaf, 0, false});
    CHECK(cache.find(key, slot)->value == 5);
    cache.store(key, slot, {9, 2, 0, true});
    cache.store(key, slot, {11, kLeaf, 0, false});
    CHECK(cache.find(key, slot)->value == 9 && cache.find(key, slot)->exact);
    CHECK(!cache.find(key, {4, kAnySplits}) && !cache.find(key, {3, 1}));
    for (std::uint64_t i = 0; i < 100000; ++i) cache.store({i * 0x9E3779B97F4A7C15u, i}, slot, {1, kLeaf, 0, false});
    CHECK(cache.bytes() <= 64 * 64 * 64);
    cache.limit(1 << 20);
    CHECK(cache.entries() > 0);
    CHECK(cache.entries() <= cache.bytes() / 32);
    cache.clear();
    CHECK(cache.entries() == 0 && !cache.find(key, slot));
}

TEST(a_cache_learns_from_the_notes_of_another) {
    Cache cache(1 << 20), other(1 << 20);
    const std::vector<Key> keys = random_keys(20000);
    const auto key = [&](int i) { return keys[i]; };
    const CacheSlot shallow{2, kAnySplits}, deep{3, kAnySplits};
    CHECK(cache.take_notes().empty());
    cache.take_note(1, 1000);
    other.store(key(0), deep, {7, kLeaf, 4, true});
    cache.store(key(0), deep, {9, kLeaf, 1, false});
    cache.store(key(1), deep, {3, kLeaf, 0, false});    // of other costs
    for (int i = 2; i < 20000; ++i) cache.store(key(i), i % 200 ? shallow : deep, {5, 6, 1, true});
    const std::string notes = cache.take_notes();
    CHECK(notes.size() == 32 * 1000 && cache.take_notes().empty());
    other.learn(notes, 4);
    CHECK(other.find(key(0), deep)->value == 7);        // which is exact
    CHECK(!other.find(key(1), deep));
    CHECK(other.entries() > 500 && other.entries() <= 1000);      // of some buckets the least valuable is lost
    for (int i = 200; i < 20000; i += 200) {
        const auto found = other.find(key(i), deep);
        CHECK(found && found->value == 5 && found->root == 6 && found->costs == 4 && found->exact);
    }
    cache.take_note(1, 0);
    cache.store(key(5), deep, {5, 6, 1, true});
    CHECK(cache.take_notes().empty());
}

TEST(a_control_remembers_why) {
    Control late(0.0), free;
    CHECK(late.stopped() && late.reason() == StopReason::time);
    late.interrupt();
    CHECK(late.reason() == StopReason::time);
    CHECK(!free.stopped() && !throws<SearchStopped>([&] { free.check(); }));
    free.interrupt();
    CHECK(throws<SearchStopped>([&] { free.check(); }) && free.reason() == StopReason::interrupted);
    free.finish();
    CHECK(free.stopped() && !throws<SearchStopped>([&] { free.check(); }));
}
