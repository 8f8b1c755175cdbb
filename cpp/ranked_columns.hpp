// The data of a problem as ranks: columns of numbers whose every distinct value is a possible threshold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "control.hpp"
#include "problem.hpp"

namespace goct {

// The ranks of a column are 0, 1, ... without gaps. Threshold t of a column sends the rows of a larger rank than t to
// the right; thresholds are numbered through, column by column. A 0/1 column has two ranks and one threshold.
class RankedColumns {
public:
    // Ranks column by column, which must live as long as this. Throws SearchStopped when the control says so.
    RankedColumns(const std::uint32_t* ranks, std::size_t rows, std::size_t columns, Control& control);

    int rows() const { return rows_; }
    int columns() const { return static_cast<int>(first_.size()) - 1; }
    int thresholds() const { return first_.back(); }
    std::uint32_t rank(int row, int column) const { return ranks_[std::size_t(column) * rows_ + row]; }
    // The rows by rank, equal ones by number.
    const int* order(int column) const { return order_.data() + std::size_t(column) * rows_; }
    const Key& key(int row) const { return keys_[row]; }

    int threshold(int column, std::uint32_t rank) const { return first_[column] + static_cast<int>(rank); }
    struct Place {
        int column;
        std::uint32_t rank;
    };
    Place place(int threshold) const;
    bool is_right(int row, int threshold) const {
        const Place at = place(threshold);
        return rank(row, at.column) > at.rank;
    }

private:
    const std::uint32_t* ranks_;
    int rows_;
    std::vector<int> first_;    // number of a column's first threshold, and that of all thresholds
    std::vector<int> order_;
    std::vector<Key> keys_;
};

}  // namespace goct
