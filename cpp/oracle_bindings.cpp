#include "oracle_bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "oracle.hpp"
#include "parts.hpp"
#include "watched.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace goct {
namespace {

using Cells = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ranks = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Vector = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Pair = std::tuple<std::int64_t, std::int64_t>;
using Triple = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
using Matrix = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// What the callback gets: (elapsed, incumbent, bound, nodes, depth-two solutions, cache entries). It stops the search by
// returning True.
template <class Work>
void run_with_callback(Control& control, const Cache& cache, const nb::object& callback, Work&& work) {
    const auto look = [&] {
        if (callback.is_none() || !control.started) return false;
        const std::int64_t incumbent = control.incumbent, offset = control.offset;
        const nb::object best = incumbent == Control::kNoIncumbent ? nb::none() : nb::cast(incumbent + offset);
        const nb::object answer = callback(control.elapsed(), best, control.bound.load() + offset,
                                           control.nodes.load(), control.depth_two.load(), cache.entries());
        return nb::cast<bool>(nb::bool_(answer));
    };
    // Ctrl-C ends the search, not the program: the best tree so far is returned.
    run_watched(control, look, work);
}

nb::object tree_to_python(const Tree& tree, int node = 0) {
    if (tree.empty()) return nb::none();
    const TreeNode& at = tree[node];
    if (at.feature < 0) return nb::cast(at.label);
    return nb::make_tuple(at.feature, tree_to_python(tree, at.left), tree_to_python(tree, at.right));
}

nb::dict stats_of(const Control& control, const Oracle& oracle) {
    nb::dict stats;
    stats["seconds"] = control.elapsed();
    stats["nodes"] = control.nodes.load();
    stats["depth_two"] = control.depth_two.load();
    stats["cache_entries"] = oracle.cache().entries();
    stats["cache_bytes"] = oracle.cache().bytes();
    return stats;
}

const char* name(StopReason reason) {
    return reason == StopReason::none     ? "none"
           : reason == StopReason::time   ? "time"
           : reason == StopReason::memory ? "memory"
                                          : "interrupted";
}

nb::list answers_to_python(const std::vector<Answer>& answers) {
    nb::list out;
    for (const Answer& answer : answers)
        out.append(nb::make_tuple(tree_to_python(answer.tree), answer.cost, answer.bound, answer.proven));
    return out;
}

Techniques read_techniques(const nb::dict& switches) {
    Techniques techniques;
    for (const auto& [key, value] : switches) {
        const auto which = nb::cast<std::string>(key);
        bool* target = which == "order"        ? &techniques.order
                       : which == "similarity" ? &techniques.similarity
                       : which == "inheritance" ? &techniques.inheritance
                       : which == "cache"      ? &techniques.cache
                       : which == "transfer"   ? &techniques.transfer
                       : which == "cutoffs"    ? &techniques.cutoffs
                       : which == "price"      ? &techniques.price
                       : which == "slack"      ? &techniques.slack
                       : which == "first_pass" ? &techniques.first_pass
                       : which == "deepening"  ? &techniques.deepening
                                               : nullptr;
        if (!target) throw nb::value_error(("unknown technique: " + which).c_str());
        *target = nb::cast<bool>(value);
    }
    return techniques;
}

// A question in parts.
void bind_parts(nb::module_& module) {
    using Cutoffs = std::vector<std::int64_t>;
    const auto restart = [](Parts& parts, std::optional<double> seconds) {
        parts.control.restart(seconds.value_or(std::numeric_limits<double>::infinity()));
    };
    nb::class_<Parts>(module, "Parts")
        .def(nb::new_([](Oracle& oracle, Matrix costs, std::int64_t split_cost, int max_depth,
                         std::int64_t min_leaf_weight, const Cutoffs& cutoffs, std::optional<int> max_splits) {
                 const Question question{costs.data(), static_cast<int>(costs.shape(1)), split_cost, max_depth,
                                         min_leaf_weight, std::nullopt, max_splits};
                 return Parts::make(oracle, question, cutoffs);
             }),
             "oracle"_a, "costs"_a, "split_cost"_a, "max_depth"_a, "min_leaf_weight"_a,
             "cutoffs"_a, "max_splits"_a.none())
        .def(
            "order",
            [=](Parts& self, std::optional<double> time_limit, nb::object callback) {
                restart(self, time_limit);
                std::vector<Parts::Root> roots;
                run_with_callback(self.control, self.cache(), callback, [&](Errands&) {
                    try {
                        roots = self.order();
                    } catch (const SearchStopped&) {
                    }
                });
                nb::list out;
                for (const auto& [column, bound] : roots) out.append(nb::make_tuple(column, bound));
                return nb::make_tuple(out, name(self.control.reason()));
            },
            "time_limit"_a.none(), "callback"_a.none())
        .def(
            "solve",
            [=](Parts& self, const std::vector<int>& columns, const Cutoffs& cutoffs, std::optional<double> time_limit,
                nb::object callback) {
                restart(self, time_limit);
                std::vector<Answer> answers;
                run_with_callback(self.control, self.cache(), callback,
                                  [&](Errands&) { answers = self.solve(columns, cutoffs); });
                return nb::make_tuple(answers_to_python(answers), name(self.control.reason()),
                                      self.control.nodes.load());
            },
            "columns"_a, "cutoffs"_a, "time_limit"_a.none(), "callback"_a.none());
}

}  // namespace

void bind_oracle(nb::module_& module) {
    bind_parts(module);
    nb::class_<Oracle>(module, "Oracle")
        .def(
            "__init__",
            [](Oracle* self, Cells cells, std::optional<Vector> weights, std::size_t memory_limit, int jobs,
               const nb::dict& techniques) {
                new (self) Oracle(cells.data(), cells.shape(0), cells.shape(1), weights ? weights->data() : nullptr,
                                  memory_limit, jobs, read_techniques(techniques));
            },
            // The cells are read by the first question.
            nb::keep_alive<1, 2>(), "cells"_a.noconvert(), "weights"_a.none(), "memory_limit"_a, "jobs"_a,
            "techniques"_a)
        .def(
            "__init__",
            [](Oracle* self, Ranks ranks, std::optional<Vector> weights, std::size_t memory_limit, int /*jobs*/,
               const nb::dict& techniques) {
                new (self) Oracle(ranks.data(), ranks.shape(0), ranks.shape(1), weights ? weights->data() : nullptr,
                                  memory_limit, read_techniques(techniques));
            },
            nb::keep_alive<1, 2>(), "ranks"_a.noconvert(), "weights"_a.none(), "memory_limit"_a, "jobs"_a,
            "techniques"_a)
        .def(
            "solve",
            [](Oracle& self, Matrix costs, std::int64_t split_cost, int max_depth, std::int64_t min_leaf_weight,
               std::optional<std::int64_t> cutoff, std::optional<int> max_splits, int effort,
               std::optional<double> time_limit, nb::object callback) {
                Control control(time_limit.value_or(std::numeric_limits<double>::infinity()));
                const Question question{costs.data(), static_cast<int>(costs.shape(1)), split_cost, max_depth,
                                        min_leaf_weight, cutoff, max_splits, static_cast<Effort>(effort)};
                Answer answer;
                run_with_callback(control, self.cache(), callback,
                                  [&](Errands&) { answer = self.solve(question, control); });
                return nb::make_tuple(tree_to_python(answer.tree), answer.cost, answer.bound, answer.proven,
                                      name(control.reason()), stats_of(control, self));
            },
            "costs"_a, "split_cost"_a, "max_depth"_a, "min_leaf_weight"_a, "cutoff"_a.none(), "max_splits"_a.none(),
            "effort"_a, "time_limit"_a.none(), "callback"_a.none())
        .def(
            "solve_budgets",
            [](Oracle& self, Matrix costs, int max_depth, int max_splits, std::int64_t min_leaf_weight,
               std::optional<Vector> cutoffs, std::optional<double> time_limit, nb::object callback) {
                Control control(time_limit.value_or(std::numeric_limits<double>::infinity()));
                const Question question{costs.data(), static_cast<int>(costs.shape(1)), 0, max_depth,
                                        min_leaf_weight, std::nullopt, max_splits};
                std::vector<std::int64_t> limits;
                if (cutoffs) limits.assign(cutoffs->data(), cutoffs->data() + cutoffs->shape(0));
                std::vector<Answer> answers;
                run_with_callback(control, self.cache(), callback,
                                  [&](Errands&) { answers = self.solve_budgets(question, limits, control); });
                return nb::make_tuple(answers_to_python(answers), name(control.reason()), stats_of(control, self));
            },
            "costs"_a, "max_depth"_a, "max_splits"_a, "min_leaf_weight"_a, "cutoffs"_a.none(), "time_limit"_a.none(),
            "callback"_a.none())
        .def(
            "search_front",
            [](Oracle& self, Vector positives, Vector negatives, Triple direction_and_budget, Pair box,
               const nb::callable& visit, int max_depth, std::int64_t min_leaf_weight, std::optional<int> max_splits,
               std::optional<double> time_limit, nb::object callback) {
                Control control(time_limit.value_or(std::numeric_limits<double>::infinity()));
                const auto [a, b, budget] = direction_and_budget;
                const FrontQuestion question{positives.data(), negatives.data(), {a, b},
                                             {budget, std::get<0>(box), std::get<1>(box)},
                                             max_depth, min_leaf_weight, max_splits};
                FrontAnswer answer;
                std::int64_t visits = 0;
                run_with_callback(control, self.cache(), callback, [&](Errands& errands) {
                    const auto ask = [&](const Spot& spot) {
                        std::optional<Limits> wanted;
                        const bool answered = errands.run([&] {
                            ++visits;
                            const nb::object reply = visit(spot.x, spot.y);
                            if (reply.is_none()) return;
                            const auto [most, x, y] = nb::cast<Triple>(reply);
                            wanted = Limits{most, x, y};
                        });
                        if (!answered) throw SearchStopped{};
                        return wanted;
                    };
                    answer = self.search_front(question, ask, control);
                });
                nb::dict stats = stats_of(control, self);
                stats["visits"] = visits;
                return nb::make_tuple(tree_to_python(answer.tree), nb::make_tuple(answer.point.x, answer.point.y),
                                      answer.proven, name(control.reason()), stats);
            },
            "positives"_a, "negatives"_a, "direction_and_budget"_a, "box"_a, "visit"_a, "max_depth"_a,
            "min_leaf_weight"_a, "max_splits"_a.none(), "time_limit"_a.none(), "callback"_a.none());
}

}  // namespace goct
