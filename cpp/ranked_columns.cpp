#include "ranked_columns.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace goct {

RankedColumns::RankedColumns(const std::uint32_t* ranks, std::size_t rows, std::size_t columns, Control& control)
    : ranks_(ranks), rows_(static_cast<int>(rows)), first_{0}, order_(rows * columns), keys_(random_keys(rows)) {
    Pace pace(control);
    std::vector<std::size_t> end;
    for (std::size_t c = 0; c < columns; ++c) {
        // By counting. A rank that no row has costs nothing but a useless threshold.
        const std::uint32_t* const column = ranks + c * rows;
        const std::size_t distinct = rows ? std::size_t{*std::max_element(column, column + rows)} + 1 : 1;
        if (distinct + first_.back() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
            throw std::length_error("the data are too large: more than 2^31 thresholds");
        first_.push_back(first_.back() + static_cast<int>(distinct) - 1);
        end.assign(distinct + 1, 0);
        for (std::size_t r = 0; r < rows; ++r) ++end[column[r] + 1];
        for (std::size_t v = 0; v < distinct; ++v) end[v + 1] += end[v];
        int* const order = order_.data() + c * rows;
        for (std::size_t r = 0; r < rows; ++r) {
            order[end[column[r]]++] = static_cast<int>(r);
            pace.step(8);
        }
    }
}

RankedColumns::Place RankedColumns::place(int threshold) const {
    const int column = static_cast<int>(std::upper_bound(first_.begin(), first_.end(), threshold) - first_.begin()) - 1;
    return {column, static_cast<std::uint32_t>(threshold - first_[column])};
}

}  // namespace goct
