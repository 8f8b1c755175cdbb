// Merging of equal rows: the first step from raw 0/1 data to the unique dataset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "control.hpp"

namespace goct {

// The distinct rows of a 0/1 matrix, in lexicographic order (column 0 most significant, 0 before 1).
struct RowGroups {
    std::vector<std::int64_t> first;  // per distinct row: its first occurrence in the matrix
    std::vector<std::int32_t> group;  // per row of the matrix: which distinct row it equals
};

// Groups the equal rows of the row-major matrix `x` of `n` rows and `f` columns.
//
// The grouping is exact: hashing only decides where to look, equality is always decided on the
// whole row. The order of the distinct rows depends on their content alone.
//
// Throws std::invalid_argument, naming the first offending entry, if some entry is neither 0 nor 1,
// std::length_error if there are more distinct rows than `group` can number, and SearchStopped when the control says
// so.
RowGroups group_rows(const std::uint8_t* x, std::size_t n, std::size_t f, Control& control);

}  // namespace goct
