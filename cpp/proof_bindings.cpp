#include "proof_bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "proof.hpp"
#include "to_numpy.hpp"
#include "watched.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace goct {
namespace {

using Cells = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

struct Request {
    std::int64_t split_cost;
    int max_depth;
    std::optional<int> max_splits;
    std::int64_t min_leaf_weight;
    std::vector<std::int64_t> cutoffs;
};

nb::object to_python(Proof&& proof) {
    return nb::make_tuple(to_numpy(std::move(proof.path)), to_numpy(std::move(proof.path_begin)),
                          to_numpy(std::move(proof.depth)), to_numpy(std::move(proof.relaxed)),
                          to_numpy(std::move(proof.value)), to_numpy(std::move(proof.value_begin)),
                          to_numpy(std::move(proof.anchor)), to_numpy(std::move(proof.anchor_begin)));
}

// The facts, or None after a stop.
nb::object prove(const Cells& cells, const Vector& weights, const Matrix& costs_matrix, const Request& request,
                 std::optional<double> time_limit) {
    Control control(time_limit.value_or(std::numeric_limits<double>::infinity()));
    std::optional<Proof> proof;
    run_watched(control, [] { return false; }, [&](Errands&) {
        try {
            const Problem problem(cells.data(), cells.shape(0), cells.shape(1), control);
            const Costs costs(costs_matrix.data(), static_cast<int>(costs_matrix.shape(0)),
                              static_cast<int>(costs_matrix.shape(1)), request.split_cost, weights.data(),
                              request.min_leaf_weight);
            std::int64_t unavoidable = costs.shift();
            for (int r = 0; r < costs.rows(); ++r) unavoidable += costs.base(r);
            std::vector<std::int64_t> cutoffs;
            for (const std::int64_t cutoff : request.cutoffs)
                cutoffs.push_back(std::clamp(cutoff, unavoidable - kInfinite, unavoidable + kInfinite) - unavoidable);
            Prover prover(problem, costs, request.max_depth, request.max_splits, control);
            prover.prove(cutoffs);
            proof = prover.trimmed();
        } catch (const SearchStopped&) {
        }
    });
    return proof ? to_python(std::move(*proof)) : nb::none();
}

}  // namespace

void bind_proof(nb::module_& module) {
    module.def(
        "prove",
        [](const Cells& cells, const Vector& weights, const Matrix& costs, std::int64_t split_cost, int max_depth,
           std::optional<int> max_splits, std::int64_t min_leaf_weight, std::vector<std::int64_t> cutoffs,
           std::optional<double> time_limit) {
            return prove(cells, weights, costs,
                         {split_cost, max_depth, max_splits, min_leaf_weight, std::move(cutoffs)}, time_limit);
        },
        "cells"_a.noconvert(), "weights"_a, "costs"_a, "split_cost"_a, "max_depth"_a, "max_splits"_a.none(),
        "min_leaf_weight"_a, "cutoffs"_a, "time_limit"_a.none(),
        "Facts that prove that no tree is below the cutoffs; None after a stop.\n\n"
        "Returns ``(path, path_begin, depth, relaxed, value, value_begin, anchor, anchor_begin)``.");
}

}  // namespace goct
