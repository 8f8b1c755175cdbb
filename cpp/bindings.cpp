// The Python module goct._core. Only conversions live here; the work is in the other files.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "group_rows.hpp"
#include "oracle_bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using BinaryMatrix = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename T>
using NumpyVector = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

// Hands a vector over to a numpy array without copying: the array owns it from then on.
template <typename T>
NumpyVector<T> to_numpy(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const std::size_t size = owned->size();
    nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    owned.release();  // only now: the capsule could not have been created
    return NumpyVector<T>(data, {size}, owner);
}

nb::tuple group_rows(const BinaryMatrix& X) {
    goct::RowGroups groups;
    {
        nb::gil_scoped_release release;
        groups = goct::group_rows(X.data(), X.shape(0), X.shape(1));
    }
    return nb::make_tuple(to_numpy(std::move(groups.first)), to_numpy(std::move(groups.group)));
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of goct.";
    m.attr("__version__") = GOCT_VERSION;

    // noconvert: a silent conversion to uint8 would truncate 0.5 to 0 instead of rejecting it.
    m.def("group_rows", &group_rows, "X"_a.noconvert(),
          "Group the equal rows of a C-contiguous uint8 matrix of zeros and ones.\n\n"
          "Returns ``(first, group)``: the index of the first occurrence of each distinct row, the\n"
          "distinct rows in lexicographic order, and for each row the distinct row it equals.");
    goct::bind_oracle(m);
}
