// The Python module goct._core. Only conversions live here; the work is in the other files.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "columns.hpp"
#include "group_rows.hpp"
#include "oracle_bindings.hpp"
#include "proof_bindings.hpp"
#include "to_numpy.hpp"
#include "watched.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using BinaryMatrix = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using goct::NumpyVector;
using goct::to_numpy;

constexpr std::size_t kFewCells = 1 << 18;      // a thread to watch over the work takes longer than these

// The result of work that has a control; Ctrl-C is an error.
template <class Work>
auto interruptible(const BinaryMatrix& X, std::optional<double> seconds, Work&& work) {
    goct::Control control(seconds.value_or(std::numeric_limits<double>::infinity()));
    std::optional<decltype(work(control))> result;
    try {
        if (X.size() < kFewCells) return work(control);
        goct::run_watched(control, [] { return false; }, [&](goct::Errands&) { result = work(control); });
    } catch (const goct::SearchStopped&) {
        PyErr_SetNone(control.reason() == goct::StopReason::time ? PyExc_TimeoutError : PyExc_KeyboardInterrupt);
        throw nb::python_error();
    }
    return *std::move(result);
}

nb::tuple group_rows(const BinaryMatrix& X, std::optional<double> seconds) {
    goct::RowGroups groups = interruptible(X, seconds, [&](goct::Control& control) {
        return goct::group_rows(X.data(), X.shape(0), X.shape(1), control);
    });
    return nb::make_tuple(to_numpy(std::move(groups.first)), to_numpy(std::move(groups.group)));
}

NumpyVector<std::int64_t> match_columns(const BinaryMatrix& X, std::optional<double> seconds) {
    return to_numpy(interruptible(X, seconds, [&](goct::Control& control) {
        return goct::Columns(X.data(), X.shape(0), X.shape(1), control).firsts(control);
    }));
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of goct.";
    m.attr("__version__") = GOCT_VERSION;

    // noconvert: a silent conversion to uint8 would truncate 0.5 to 0 instead of rejecting it.
    m.def("group_rows", &group_rows, "X"_a.noconvert(), "seconds"_a = nb::none(),
          "Group the equal rows of a C-contiguous uint8 matrix of zeros and ones.\n\n"
          "Returns ``(first, group)``: the index of the first occurrence of each distinct row, the\n"
          "distinct rows in lexicographic order, and for each row the distinct row it equals.\n"
          "A TimeoutError if that takes longer than ``seconds``, if given.");
    m.def("match_columns", &match_columns, "X"_a.noconvert(), "seconds"_a = nb::none(),
          "For each column of a C-contiguous uint8 matrix of zeros and ones, the first column that is\n"
          "equal to it or its complement; -1 if it is constant. A TimeoutError if that takes longer than\n"
          "``seconds``, if given.");
    // Threads that Python does not wait for keep what they have.
    nb::set_leak_warnings(false);
    m.def("stop_all", &goct::PythonEnds::stop_all, "Called before Python ends.");
    nb::module_::import_("atexit").attr("register")(m.attr("stop_all"));
    goct::bind_oracle(m);
    goct::bind_proof(m);
}
