#include "oracle_bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <tuple>

#include "helper.hpp"
#include "oracle.hpp"
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
void run_with_callback(Control& control, const Cache& cache, const nb::object& callback,
                       const std::function<void(Errands&)>& work) {
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
    stats["memory_needed"] = static_cast<std::int64_t>(control.memory_needed);
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

// Units and their answers on their way through Python: tuples of numbers and lists.
using Numbers = Unit::Numbers;
using SideTree = std::vector<std::vector<int>>;

nb::tuple to_tuple(const Unit& unit) {
    nb::list starts;
    for (const auto& [feature, bounds] : unit.starts) starts.append(nb::make_tuple(feature, bounds[0], bounds[1]));
    return nb::make_tuple(unit.budgets, unit.classes, unit.depth, unit.path, unit.limits, starts);
}

Unit to_unit(const nb::tuple& from) {
    Unit unit{nb::cast<bool>(from[0]), nb::cast<int>(from[1]), nb::cast<int>(from[2]), nb::cast<std::vector<int>>(from[3]),
              nb::cast<Numbers>(from[4]), {}};
    for (const nb::handle start : from[5])
        unit.starts.push_back({nb::cast<int>(start[0]), {nb::cast<Numbers>(start[1]), nb::cast<Numbers>(start[2])}});
    return unit;
}

nb::tuple to_tuple(const UnitAnswer& answer) {
    nb::list sides;
    for (const auto& both : answer.sides)
        for (const UnitAnswer::Side& side : both) sides.append(nb::make_tuple(side.bound, side.relaxed, side.cost, side.tree));
    return nb::make_tuple(sides, answer.ended, answer.seconds, nb::bytes(answer.notes.data(), answer.notes.size()));
}

UnitAnswer to_answer(const nb::tuple& from) {
    const auto notes = nb::cast<nb::bytes>(from[3]);
    UnitAnswer answer{{}, nb::cast<bool>(from[1]), nb::cast<double>(from[2]), std::string(notes.c_str(), notes.size())};
    const auto side = [](const nb::handle from) -> UnitAnswer::Side {
        return {nb::cast<Numbers>(from[0]), nb::cast<Numbers>(from[1]), nb::cast<Numbers>(from[2]), nb::cast<SideTree>(from[3])};
    };
    const nb::object sides = from[0];
    for (std::size_t i = 0; i + 1 < nb::len(sides); i += 2) answer.sides.push_back({side(sides[i]), side(sides[i + 1])});
    return answer;
}

// Asks Python: a function of the unit, the seconds that it may take (or None) and a function that says whether the search
// is over. It returns the answer, or None if it is.
class PythonDelegate final : public Delegate {
public:
    PythonDelegate(nb::object ask, int helpers, double alone, double long_unit, Control& control)
        : Delegate(helpers, alone, long_unit), ask_(std::move(ask)), control_(control) {}

    std::optional<UnitAnswer> solve(const Unit& unit, double seconds) override {
        const nb::gil_scoped_acquire gil;
        const nb::object is_over = nb::cpp_function([this] { return control_.stopped(); });
        const nb::object limit = std::isfinite(seconds) ? nb::cast(seconds) : nb::none();
        const nb::object answer = ask_(to_tuple(unit), limit, is_over);
        if (answer.is_none()) return std::nullopt;
        return to_answer(nb::cast<nb::tuple>(answer));
    }

private:
    nb::object ask_;
    Control& control_;
};

// From (function, helpers, seconds alone, seconds of a long unit) or None.
std::unique_ptr<PythonDelegate> make_delegate(const nb::object& delegate, Control& control) {
    if (delegate.is_none()) return nullptr;
    return std::make_unique<PythonDelegate>(delegate[0], nb::cast<int>(delegate[1]), nb::cast<double>(delegate[2]),
                                            nb::cast<double>(delegate[3]), control);
}

void bind_helper(nb::module_& module) {
    nb::class_<Helper>(module, "Helper")
        .def(
            "__init__",
            [](Helper* self, Oracle& oracle, Matrix costs, std::int64_t split_cost, std::int64_t min_leaf_weight,
               std::size_t most_notes) {
                const int classes = static_cast<int>(costs.shape(1));
                new (self) Helper(oracle, {costs.data(), classes, split_cost, 0, min_leaf_weight, {}, {}}, most_notes);
            },
            nb::keep_alive<1, 2>(), "oracle"_a, "costs"_a, "split_cost"_a, "min_leaf_weight"_a, "most_notes"_a)
        .def(
            "solve",
            [](Helper& self, const nb::tuple& unit, const nb::list& notes, std::optional<double> time_limit,
               nb::object callback) {
                std::vector<std::string> heard;
                for (const nb::handle each : notes) {
                    const auto note = nb::cast<nb::bytes>(each);
                    heard.emplace_back(note.c_str(), note.size());
                }
                self.control.restart(time_limit.value_or(std::numeric_limits<double>::infinity()));
                const Unit question = to_unit(unit);
                UnitAnswer answer;
                run_with_callback(self.control, self.cache(), callback, [&](Errands&) { answer = self.solve(question, heard); });
                return nb::make_tuple(to_tuple(answer), name(self.control.reason()), self.control.nodes.load());
            },
            "unit"_a, "notes"_a, "time_limit"_a.none(), "callback"_a.none());
}

}  // namespace

void bind_oracle(nb::module_& module) {
    bind_helper(module);
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
            [](Oracle* self, Ranks ranks, std::optional<Vector> weights, std::size_t memory_limit, int jobs,
               const nb::dict& techniques, int narrow, int few) {
                new (self) Oracle(ranks.data(), ranks.shape(0), ranks.shape(1), weights ? weights->data() : nullptr,
                                  memory_limit, jobs, read_techniques(techniques), narrow, few);
            },
            nb::keep_alive<1, 2>(), "ranks"_a.noconvert(), "weights"_a.none(), "memory_limit"_a, "jobs"_a,
            "techniques"_a, "narrow"_a, "few"_a)
        .def_prop_ro("has_wide", &Oracle::has_wide)
        .def("has_features", nb::overload_cast<int, std::int64_t>(&Oracle::has_features, nb::const_), "classes"_a,
             "min_leaf_weight"_a)
        .def(
            "solve",
            [](Oracle& self, Matrix costs, std::int64_t split_cost, int max_depth, std::int64_t min_leaf_weight,
               std::optional<std::int64_t> cutoff, std::optional<int> max_splits, int effort,
               std::optional<double> time_limit, nb::object callback, const nb::object& delegate) {
                Control control(time_limit.value_or(std::numeric_limits<double>::infinity()));
                const auto others = make_delegate(delegate, control);
                const Question question{costs.data(), static_cast<int>(costs.shape(1)), split_cost, max_depth,
                                        min_leaf_weight, cutoff, max_splits, static_cast<Effort>(effort), others.get()};
                Answer answer;
                run_with_callback(control, self.cache(), callback,
                                  [&](Errands&) { answer = self.solve(question, control); });
                return nb::make_tuple(tree_to_python(answer.tree), answer.cost, answer.bound, answer.proven,
                                      name(control.reason()), stats_of(control, self));
            },
            "costs"_a, "split_cost"_a, "max_depth"_a, "min_leaf_weight"_a, "cutoff"_a.none(), "max_splits"_a.none(),
            "effort"_a, "time_limit"_a.none(), "callback"_a.none(), "delegate"_a.none())
        .def(
            "solve_budgets",
            [](Oracle& self, Matrix costs, int max_depth, int max_splits, std::int64_t min_leaf_weight,
               std::optional<Vector> cutoffs, std::optional<double> time_limit, nb::object callback,
               const nb::object& delegate) {
                Control control(time_limit.value_or(std::numeric_limits<double>::infinity()));
                const auto others = make_delegate(delegate, control);
                const Question question{costs.data(), static_cast<int>(costs.shape(1)), 0, max_depth,
                                        min_leaf_weight, std::nullopt, max_splits, Effort::all, others.get()};
                std::vector<std::int64_t> limits;
                if (cutoffs) limits.assign(cutoffs->data(), cutoffs->data() + cutoffs->shape(0));
                std::vector<Answer> answers;
                run_with_callback(control, self.cache(), callback,
                                  [&](Errands&) { answers = self.solve_budgets(question, limits, control); });
                return nb::make_tuple(answers_to_python(answers), name(control.reason()), stats_of(control, self));
            },
            "costs"_a, "max_depth"_a, "max_splits"_a, "min_leaf_weight"_a, "cutoffs"_a.none(), "time_limit"_a.none(),
            "callback"_a.none(), "delegate"_a.none())
        .def(
            "search_front",
            [](Oracle& self, Vector positives, Vector negatives, Triple direction_and_budget, Pair box,
               const nb::callable& visit, int max_depth, std::int64_t min_leaf_weight, std::optional<int> max_splits,
               std::optional<double> time_limit, nb::object callback, bool keep_all) {
                Control control(time_limit.value_or(std::numeric_limits<double>::infinity()));
                const auto [a, b, budget] = direction_and_budget;
                const FrontQuestion question{positives.data(), negatives.data(), {a, b},
                                             {budget, std::get<0>(box), std::get<1>(box)},
                                             max_depth, min_leaf_weight, max_splits,
                                             keep_all ? Keep::undominated : Keep::last};
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
                nb::list trees;
                for (const auto& [tree, point] : answer.found)
                    trees.append(nb::make_tuple(tree_to_python(tree), nb::make_tuple(point.x, point.y)));
                return nb::make_tuple(trees, answer.proven, name(control.reason()), stats);
            },
            "positives"_a, "negatives"_a, "direction_and_budget"_a, "box"_a, "visit"_a, "max_depth"_a,
            "min_leaf_weight"_a, "max_splits"_a.none(), "time_limit"_a.none(), "callback"_a.none(), "keep_all"_a);
}

}  // namespace goct
