#include "proof_bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "proof.hpp"
#include "threshold_proof.hpp"
#include "watched.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace goct {
namespace {

using RankMatrix = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Columns of two values as 0/1 features, others by their thresholds.
Proof prove(const RankMatrix& ranks, const Costs& costs, const Claim& claim, Control& control) {
    const std::size_t columns = ranks.shape(0), rows = ranks.shape(1);
    const std::uint32_t* const begin = ranks.data();
    const bool binary = std::all_of(begin, begin + columns * rows, [](std::uint32_t rank) { return rank < 2; });
    if (!binary) {
        const RankedColumns data(begin, rows, columns, control);
        return ThresholdProver(data, costs, claim, control).prove();
    }
    std::vector<std::uint8_t> cells(rows * columns);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) cells[r * columns + c] = static_cast<std::uint8_t>(begin[c * rows + r]);
    const Problem problem(cells.data(), rows, columns, control);
    return Prover(problem, costs, claim, control).prove();
}

// The facts, or None after an interrupt.
nb::object prove_watched(const RankMatrix& ranks, const Vector& weights, const Matrix& costs_matrix, std::int64_t split_cost,
                         std::int64_t min_leaf_weight, Claim claim, std::optional<double> time_limit) {
    Control control(time_limit.value_or(std::numeric_limits<double>::infinity()));
    std::optional<Proof> proof;
    run_watched(control, [] { return false; }, [&](Errands&) {
        const Costs costs(costs_matrix.data(), static_cast<int>(costs_matrix.shape(0)),
                          static_cast<int>(costs_matrix.shape(1)), split_cost, weights.data(), min_leaf_weight);
        std::int64_t unavoidable = costs.shift();
        for (int r = 0; r < costs.rows(); ++r) unavoidable += costs.base(r);
        for (std::int64_t& cutoff : claim.cutoffs)
            cutoff = std::clamp(cutoff, unavoidable - kInfinite, unavoidable + kInfinite) - unavoidable;
        try {
            proof = prove(ranks, costs, claim, control);
        } catch (const SearchStopped&) {
            // Before it began: that no tree costs less than nothing needs no facts about others.
            FactList facts(claim.most_bytes, control);
            facts.add({Rule::split, {}, claim.depth, true, std::vector<std::int64_t>(fact_values(claim, claim.depth), 0), {}});
            proof = facts.trimmed();
        }
    });
    if (control.reason() == StopReason::interrupted) return nb::none();
    const std::string text = to_text(*proof);
    return nb::make_tuple(nb::bytes(text.data(), text.size()), proof->back().value, control.reason() != StopReason::none);
}

}  // namespace

void bind_proof(nb::module_& module) {
    module.def(
        "prove",
        [](const RankMatrix& ranks, const Vector& weights, const Matrix& costs, std::int64_t split_cost, int max_depth,
           std::optional<int> max_splits, std::int64_t min_leaf_weight, std::vector<std::int64_t> cutoffs, bool thorough,
           std::optional<double> time_limit, std::size_t memory_limit) {
            return prove_watched(ranks, weights, costs, split_cost, min_leaf_weight,
                                 {max_depth, max_splits, std::move(cutoffs), thorough, memory_limit}, time_limit);
        },
        "ranks"_a.noconvert(), "weights"_a, "costs"_a, "split_cost"_a, "max_depth"_a, "max_splits"_a.none(),
        "min_leaf_weight"_a, "cutoffs"_a, "thorough"_a, "time_limit"_a.none(), "memory_limit"_a,
        "Facts that prove that no tree is below the cutoffs, or of what was known at a stop; None after Ctrl-C.\n\n"
        "Returns ``(facts, values, was_stopped)``: lines of JSON, and what the last fact says of all rows.");
}

}  // namespace goct
