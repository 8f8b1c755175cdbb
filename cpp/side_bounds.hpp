// Least costs within limits, for the sides of all features of a node.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "control.hpp"
#include "front.hpp"
#include "node.hpp"

namespace goct {

// For each feature, what its two sides cost at least with at most one more split, if the false negatives and the false
// positives of a side keep to their limits. kInfinite: they cannot.
class SideBounds {
public:
    SideBounds(const Instance& instance, Control& control);
    ~SideBounds();

    // Throws SearchStopped if it takes long and the control says so.
    void find(const Node& node, const Limits& limits);

    std::int64_t inside(int f) const { return inside_[f]; }
    std::int64_t outside(int f) const { return outside_[f]; }

private:
    template <class T>
    class Table;
    template <class T>
    void find_with(std::unique_ptr<Table<T>>& table, const Node& node, const Limits& limits);

    const Instance& instance_;
    Control& control_;
    std::vector<std::int64_t> inside_, outside_;
    std::unique_ptr<Table<std::int16_t>> table16_;
    std::unique_ptr<Table<std::int32_t>> table32_;
    std::unique_ptr<Table<std::int64_t>> table64_;
};

}  // namespace goct
