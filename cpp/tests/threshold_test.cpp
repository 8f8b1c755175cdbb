// Thresholds of ranked columns against the same thresholds as 0/1 features; stops at any moment.
#include <algorithm>
#include <set>
#include <utility>

#include "../oracle.hpp"
#include "../stumps.hpp"
#include "check.hpp"

using namespace goct;
using namespace goct::test;

namespace {

struct Table {
    int rows, columns, classes, depth;
    std::vector<std::uint32_t> ranks;       // column by column
    std::vector<std::int64_t> costs, weights;
    std::int64_t split_cost = 0, min_leaf_weight = 0;
    int narrow = 0;                         // columns of no more thresholds are features

    Question question() const { return {costs.data(), classes, split_cost, depth, min_leaf_weight, {}, {}}; }
    Oracle oracle(int jobs = 1, const Techniques& techniques = {}) const {
        return {ranks.data(), std::size_t(rows), std::size_t(columns), weights.data(), 1 << 20, jobs, techniques, narrow, 0};
    }
    std::uint32_t rank(int r, int c) const { return ranks[c * rows + r]; }

    // A 0/1 feature per threshold, row by row.
    std::vector<std::uint8_t> cells() const {
        std::vector<std::uint8_t> cells;
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
                const auto begin = ranks.begin() + c * rows;
                for (std::uint32_t t = 0; t < *std::max_element(begin, begin + rows); ++t)
                    cells.push_back(rank(r, c) > t);
            }
        return cells;
    }
};

Table draw_table(Random& random, int most_rows, int most_columns, int most_ranks) {
    Table table{draw(random, 1, most_rows), draw(random, 1, most_columns), draw(random, 2, 4), draw(random, 0, 4),
                {}, {}, {}};
    for (int c = 0; c < table.columns; ++c) {
        std::vector<int> values;
        const int ranks = draw(random, 1, most_ranks);
        for (int r = 0; r < table.rows; ++r) values.push_back(draw(random, 1, ranks));
        const std::set<int> distinct(values.begin(), values.end());
        for (const int value : values)
            table.ranks.push_back(static_cast<std::uint32_t>(std::distance(distinct.begin(), distinct.find(value))));
    }
    const std::int64_t unit = std::vector<std::int64_t>{1, 1, 1000, 1000000000000}[draw(random, 0, 3)];
    for (int i = 0; i < table.rows * table.classes; ++i) table.costs.push_back(unit * draw(random, -3, 9));
    for (int r = 0; r < table.rows; ++r) table.weights.push_back(draw(random, 0, 3));
    if (draw(random, 0, 1)) table.split_cost = unit * draw(random, 0, 4);
    if (draw(random, 0, 2) == 0) table.min_leaf_weight = draw(random, 1, 6);
    table.narrow = std::vector<int>{0, 1, 3, 1000}[draw(random, 0, 3)];
    return table;
}

}  // namespace

TEST(thresholds_are_features) {
    Random random(31);
    for (int trial = 0; trial < 150 * scale(); ++trial) {
        const Table table = draw_table(random, trial % 3 ? 25 : 60, 3, trial % 2 ? 6 : 50);
        const auto cells = table.cells();
        Oracle explicit_one(cells.data(), table.rows, cells.size() / table.rows, table.weights.data(), 1 << 20, 1, {});
        Oracle oracle = table.oracle(draw(random, 1, 8));
        Control control;
        Question question = table.question();
        if (trial % 4 == 0) question.max_splits = draw(random, 0, 5);
        const Answer truth = explicit_one.solve(question, control), answer = oracle.solve(question, control);
        CHECK(answer.proven && answer.cost == truth.cost && answer.bound == truth.cost);
        question.cutoff = truth.cost;
        CHECK(oracle.solve(question, control).tree.empty());
        question.max_splits = draw(random, 0, 4);
        const auto budgets = oracle.solve_budgets(question, {}, control);
        const auto true_budgets = explicit_one.solve_budgets(question, {}, control);
        for (std::size_t m = 0; m < budgets.size(); ++m) CHECK(budgets[m].cost == true_budgets[m].cost);
    }
}

// Of several best trees it is always the same one: whatever is remembered, cut off and switched off, and whoever of
// several threads is faster.
TEST(the_first_tree_over_thresholds_is_found) {
    Random random(38);
    for (int trial = 0; trial < 25 * scale(); ++trial) {
        Table table = draw_table(random, 40, 3, trial % 2 ? 6 : 30);
        table.depth = draw(random, 2, 4);
        Question question = table.question(), other = question, budgets = question;
        if (trial % 4 == 0) question.max_splits = draw(random, 0, 6);
        std::vector<std::int64_t> others = table.costs;
        for (std::int64_t& cost : others) cost += draw(random, 0, 1);
        other.costs = others.data();
        budgets.max_splits = draw(random, 0, 4);
        Techniques none;
        none.similarity = none.cache = none.transfer = none.cutoffs = none.first_pass = none.deepening = false;
        std::optional<Answer> first;
        std::vector<Answer> first_budgets;
        for (const int jobs : {0, 1, 2, 3, 8}) {
            Oracle oracle = table.oracle(jobs, jobs ? Techniques{} : none);
            Control control;
            if (draw(random, 0, 1)) oracle.solve(other, control);
            for (int again = 0; again < 2; ++again) {
                const Answer answer = oracle.solve(question, control);
                if (!first) first = answer;
                CHECK(answer.proven && answer.bound == first->cost && answer.tree == first->tree);
                question.cutoff = answer.cost + draw(random, 1, 5);
            }
            question.cutoff.reset();
            const auto answers = oracle.solve_budgets(budgets, {}, control);
            if (first_budgets.empty()) first_budgets = answers;
            for (std::size_t m = 0; m < answers.size(); ++m) CHECK(answers[m].tree == first_budgets[m].tree);
        }
    }
}

// What was learnt from one question is almost enough for the next one.
TEST(questions_with_almost_the_same_costs) {
    Random random(36);
    for (int trial = 0; trial < 40 * scale(); ++trial) {
        Table table = draw_table(random, 60, 3, trial % 2 ? 8 : 50);
        table.depth = draw(random, 2, 4);
        const auto cells = table.cells();
        Oracle explicit_one(cells.data(), table.rows, cells.size() / table.rows, table.weights.data(), 1 << 20, 1, {});
        Oracle oracle = table.oracle(draw(random, 1, 8));
        Control control;
        std::int64_t price[4];
        for (std::int64_t& p : price) p = draw(random, 150, 250);
        std::vector<int> label;
        for (int r = 0; r < table.rows; ++r) label.push_back(draw(random, 0, table.classes - 1));
        for (int step = 0; step < 5; ++step) {
            for (int k = 0; k < table.classes; ++k) price[k] += draw(random, -3, 3);
            for (int i = 0; i < table.rows * table.classes; ++i)
                table.costs[i] = label[i / table.classes] == i % table.classes ? 0 : price[label[i / table.classes]];
            table.split_cost = draw(random, 0, 1);
            Question question = table.question();
            const std::int64_t truth = explicit_one.solve(question, control).cost;
            question.cutoff = truth + draw(random, 0, 3);
            const Answer answer = oracle.solve(question, control);
            CHECK(answer.proven && answer.bound == truth && answer.tree.empty() == (truth >= *question.cutoff));
            CHECK(answer.tree.empty() || answer.cost == truth);
        }
    }
}

TEST(a_stopped_search_over_thresholds_tells_the_truth) {
    Random random(32);
    for (int trial = 0; trial < 150 * scale(); ++trial) {
        const Table table = draw_table(random, 25, 3, 12);
        Oracle oracle = table.oracle(draw(random, 1, 8));
        Control all;
        const std::int64_t best = table.oracle().solve(table.question(), all).cost;
        Control control;
        control.stop_after(draw(random, 0, 300));
        const Answer answer = oracle.solve(table.question(), control);
        CHECK(answer.bound <= best && !answer.tree.empty() && answer.cost >= best);
        CHECK(!answer.proven || answer.cost == best);
        CHECK(oracle.solve(table.question(), all).cost == best);
    }
}

// Little time: the search is paused, climbs, and is stopped or comes to its end.
TEST(bounds_over_thresholds_climb) {
    Random random(37);
    for (int trial = 0; trial < 60; ++trial) {
        Table table = draw_table(random, 40, 3, 30);
        table.depth = draw(random, 4, 5);
        Control all;
        const std::int64_t best = table.oracle().solve(table.question(), all).cost;
        Oracle oracle = table.oracle(draw(random, 1, 8));
        for (const double share : {1e-4, 1e-3, 1e-2}) {
            Control control(share * draw(random, 1, 10));
            Question question = table.question();
            if (draw(random, 0, 1)) question.cutoff = best + draw(random, 0, 2);
            const Answer answer = oracle.solve(question, control);
            const std::int64_t cutoff = question.cutoff.value_or(best + 1);
            CHECK(answer.bound <= std::max(best, answer.tree.empty() ? cutoff : best));
            CHECK(answer.tree.empty() || answer.cost >= best);
            CHECK(!answer.proven || (answer.tree.empty() ? best >= cutoff : answer.cost == best));
        }
    }
}

TEST(scans_of_both_sides_equal_stumps) {
    Random random(33);
    for (int trial = 0; trial < 200; ++trial) {
        const Table table = draw_table(random, 80, 4, trial % 2 ? 80 : 5);
        const Costs costs(table.costs.data(), table.rows, table.classes, 0, nullptr, 0);
        Control control;
        const RankedColumns data(table.ranks.data(), table.rows, table.columns, control);
        RankedNode node;
        node.make_root(data, costs, false, control);
        const auto scans = make_stump_scans(costs, node.swing(), control);
        scans->load(node);
        // Some of one column, and some of all.
        std::vector<StumpScans::Lane> all;
        const auto compare = [&](const std::vector<StumpScans::Lane>& lanes) {
            if (lanes.empty()) return;
            StumpScans::Values values;
            scans->solve(lanes.data(), static_cast<int>(lanes.size()), values);
            for (std::size_t i = 0; i < lanes.size(); ++i)
                for (const bool right : {false, true}) {
                    const Stump stump = find_stump(node, costs, {lanes[i].column, lanes[i].threshold, right}, 0, control);
                    CHECK(values.leaf[right][i] == stump.leaf && values.stump[right][i] == stump.cost);
                }
        };
        for (int c = 0; c < node.columns(); ++c) {
            std::vector<StumpScans::Lane> lanes;
            for (int t = 0; t < node.groups(c) - 1 && lanes.size() < StumpScans::kMost; t += draw(random, 1, 5))
                lanes.push_back({c, t});
            compare(lanes);
            all.insert(all.end(), lanes.begin(), lanes.begin() + std::min<std::size_t>(lanes.size(), 8));
        }
        compare(all);
    }
}

namespace {

// All points that are shown, the nondominated ones of them.
std::vector<std::pair<std::int64_t, std::int64_t>> front_of(Oracle& oracle, const FrontQuestion& question,
                                                            Control& control) {
    Staircase<Spot> front;
    oracle.search_front(
        question,
        [&](const Spot& spot) -> std::optional<Limits> {
            CHECK(!front.dominates(spot));
            front.remove_dominated(spot);
            front.insert(spot);
            return std::nullopt;
        },
        control);
    std::vector<std::pair<std::int64_t, std::int64_t>> points;
    for (const Spot& spot : front) points.emplace_back(spot.x, spot.y);
    return points;
}

}  // namespace

TEST(fronts_of_thresholds_are_those_of_features) {
    Random random(34);
    for (int trial = 0; trial < 120 * scale(); ++trial) {
        const Table table = draw_table(random, trial % 3 ? 15 : 40, 3, trial % 2 ? 6 : 40);
        std::vector<std::int64_t> positives, negatives;
        for (int r = 0; r < table.rows; ++r) {
            positives.push_back(draw(random, 0, 3));
            negatives.push_back(draw(random, 0, 3));
        }
        FrontQuestion question{positives.data(), negatives.data(), {draw(random, 1, 3), draw(random, 1, 3)},
                               {1000, 1000, 1000}, std::min(table.depth, 3), table.min_leaf_weight, {}};
        if (trial % 4 == 0) question.max_splits = draw(random, 0, 5);
        if (trial % 2 == 0)
            question.limits = {draw(random, 0, 3 * table.rows), draw(random, 0, table.rows), draw(random, 0, table.rows)};
        const auto cells = table.cells();
        Oracle explicit_one(cells.data(), table.rows, cells.size() / table.rows, table.weights.data(), 1 << 20, 1, {});
        Oracle oracle = table.oracle(draw(random, 1, 8));
        Control control;
        const auto truth = front_of(explicit_one, question, control);
        Control stopping;
        stopping.stop_after(draw(random, 0, 300));
        front_of(oracle, question, stopping);       // leaves nothing wrong behind
        CHECK(front_of(oracle, question, control) == truth);
    }
}

// The same points in the same order, and the same tree.
TEST(fronts_of_thresholds_do_not_depend_on_threads) {
    Random random(39);
    for (int trial = 0; trial < 25 * scale(); ++trial) {
        Table table = draw_table(random, 30, 3, trial % 2 ? 6 : 30);
        std::vector<std::int64_t> positives, negatives;
        for (int r = 0; r < table.rows; ++r) {
            positives.push_back(draw(random, 0, 3));
            negatives.push_back(draw(random, 0, 3));
        }
        FrontQuestion question{positives.data(), negatives.data(), {draw(random, 1, 3), draw(random, 1, 3)},
                               {1000, 1000, 1000}, draw(random, 2, 4), table.min_leaf_weight, {}};
        if (trial % 4 == 0) question.max_splits = draw(random, 0, 6);
        table.split_cost = 0;
        table.classes = 2;
        table.costs.clear();
        for (int r = 0; r < table.rows; ++r)
            table.costs.insert(table.costs.end(), {question.direction.x * positives[r], question.direction.y * negatives[r]});
        const std::int64_t factor = draw(random, 1, 5);
        std::optional<std::vector<std::int64_t>> first;
        for (const int jobs : {1, 2, 3, 8}) {
            Oracle oracle = table.oracle(jobs);
            Control control;
            if (draw(random, 0, 1)) oracle.solve(table.question(), control);    // something is remembered
            std::vector<std::int64_t> seen;
            std::int64_t best = 1000000;
            const auto visit = [&](const Spot& spot) -> std::optional<Limits> {
                seen.insert(seen.end(), {spot.x, spot.y});
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
