// Uninitialised aligned memory that only grows.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace goct {

template <class T>
class Buffer {
public:
    T* get(std::size_t size) {
        if (size > size_) {
            data_.reset();
            size_ = size + size / 2;
            data_.reset(static_cast<T*>(::operator new(size_ * sizeof(T), kAlignment)));
        }
        return data_.get();
    }
    std::size_t bytes() const { return size_ * sizeof(T); }

private:
    static constexpr std::align_val_t kAlignment{64};
    struct Free {
        void operator()(T* p) const { ::operator delete(p, kAlignment); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0;
};

}  // namespace goct
