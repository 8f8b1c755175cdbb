// Vectors as numpy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <vector>

namespace goct {

template <typename T>
using NumpyVector = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>, nanobind::c_contig>;

// Hands a vector over to a numpy array without copying: the array owns it from then on.
template <typename T>
NumpyVector<T> to_numpy(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const std::size_t size = owned->size();
    nanobind::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    owned.release();  // only now: the capsule could not have been created
    return NumpyVector<T>(data, {size}, owner);
}

}  // namespace goct
