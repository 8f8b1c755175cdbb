// Proofs against the oracle: what they prove is what trees cost; and stops at any moment.
#include <algorithm>

#include "../oracle.hpp"
#include "../proof.hpp"
#include "../threshold_proof.hpp"
#include "check.hpp"

using namespace goct;
using namespace goct::test;

namespace {

struct Sample {
    int rows, columns, classes, depth, ranks;
    std::vector<std::uint32_t> cells;           // column by column
    std::vector<std::int64_t> costs, weights;
    std::int64_t split_cost = 0, min_leaf_weight = 0;
    std::optional<int> max_splits;
};

Sample draw_sample(Random& random) {
    Sample sample{draw(random, 2, 24), draw(random, 1, 4), draw(random, 2, 3), draw(random, 0, 4), draw(random, 2, 4),
                  {}, {}, {}, 0, 0, {}};
    for (int i = 0; i < sample.rows * sample.columns; ++i)
        sample.cells.push_back(static_cast<std::uint32_t>(draw(random, 0, sample.ranks - 1)));
    for (int i = 0; i < sample.rows * sample.classes; ++i) sample.costs.push_back(draw(random, -2, 9));
    for (int r = 0; r < sample.rows; ++r) sample.weights.push_back(draw(random, 1, 3));
    if (draw(random, 0, 1)) sample.split_cost = draw(random, 1, 6);
    if (draw(random, 0, 2) == 0) sample.min_leaf_weight = draw(random, 1, 6);
    if (!sample.split_cost && draw(random, 0, 2) == 0) sample.max_splits = draw(random, 1, 5);
    return sample;
}

std::int64_t unavoidable(const Costs& costs) {
    std::int64_t sum = costs.shift();
    for (int r = 0; r < costs.rows(); ++r) sum += costs.base(r);
    return sum;
}

std::int64_t cheapest(const Sample& sample) {
    Oracle oracle(sample.cells.data(), sample.rows, sample.columns, sample.weights.data(), 1 << 20, 1, Techniques{});
    Question question{sample.costs.data(), sample.classes, sample.split_cost, sample.depth, sample.min_leaf_weight, {}, {}};
    question.max_splits = sample.max_splits;
    Control control;
    return oracle.solve(question, control).cost;
}

Proof prove(const Sample& sample, const Costs& costs, const Claim& claim, Control& control) {
    if (sample.ranks > 2) {
        const RankedColumns data(sample.cells.data(), sample.rows, sample.columns, control);
        return ThresholdProver(data, costs, claim, control).prove();
    }
    std::vector<std::uint8_t> cells;
    for (int r = 0; r < sample.rows; ++r)
        for (int c = 0; c < sample.columns; ++c) cells.push_back(static_cast<std::uint8_t>(sample.cells[c * sample.rows + r]));
    const Problem problem(cells.data(), sample.rows, sample.columns, control);
    return Prover(problem, costs, claim, control).prove();
}

void check_order(const Proof& proof) {
    CHECK(!proof.empty() && proof.back().path.empty());      // the last one is about all rows
    for (std::size_t i = 0; i < proof.size(); ++i)
        if (proof[i].rule == Rule::split)
            for (const std::int32_t a : proof[i].basis) CHECK(a >= 0 && a < static_cast<std::int32_t>(i));
}

}  // namespace

TEST(proofs_reach_what_trees_cost) {
    Random random(1);
    for (int i = 0; i < 400; ++i) {
        const Sample sample = draw_sample(random);
        const Costs costs(sample.costs.data(), sample.rows, sample.classes, sample.split_cost, sample.weights.data(),
                          sample.min_leaf_weight);
        const std::int64_t least = cheapest(sample) - unavoidable(costs);
        Claim claim{sample.depth, sample.max_splits, {}};
        const int values = fact_values(claim, claim.depth);
        for (const std::int64_t cutoff : {least, least + 3, kInfinite}) {
            claim.cutoffs.assign(values, 0);
            claim.cutoffs.back() = cutoff;
            claim.thorough = draw(random, 0, 1);
            Control control;
            const Proof proof = prove(sample, costs, claim, control);
            check_order(proof);
            const std::int64_t proven = proof.back().value.back();
            CHECK(proven == least || (claim.depth <= 2 && proven <= least));
        }
    }
}

TEST(stopped_proofs_are_true) {
    Random random(2);
    for (int i = 0; i < 300; ++i) {
        const Sample sample = draw_sample(random);
        const Costs costs(sample.costs.data(), sample.rows, sample.classes, sample.split_cost, sample.weights.data(),
                          sample.min_leaf_weight);
        const std::int64_t least = cheapest(sample) - unavoidable(costs);
        Claim claim{sample.depth, sample.max_splits, {}};
        claim.cutoffs.assign(fact_values(claim, claim.depth), least);
        claim.most_bytes = draw(random, 0, 1) ? 3000 : std::size_t{1} << 30;
        Control control;
        control.stop_after(draw(random, 0, 60));
        try {
            const Proof proof = prove(sample, costs, claim, control);
            check_order(proof);
            CHECK(proof.back().value.back() <= least);
        } catch (const SearchStopped&) {    // before it began
        }
    }
}
