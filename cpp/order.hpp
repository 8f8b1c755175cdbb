// Numbers in the order of what they stand for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace goct {

// By rising key, `keys[i]` of number i; equal ones stay in their order.
inline void sort_by(std::vector<int>& numbers, const std::vector<std::int64_t>& keys) {
    std::stable_sort(numbers.begin(), numbers.end(), [&](int a, int b) { return keys[a] < keys[b]; });
}

}  // namespace goct
