// The data of a problem, seen as nested sets of rows.
#pragma once

#include <cstddef>
#include <compare>
#include <cstdint>
#include <vector>

#include "control.hpp"

namespace goct {

class RankedColumns;

// A row set is known by the sum of its rows' random keys. Two different sets share a key with probability 2^-128, so
// even a search that compares 2^40 sets with each other errs with probability below 2^-48.
struct Key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    Key& operator+=(const Key& other) {
        low += other.low;
        high += other.high;
        return *this;
    }
    Key& operator-=(const Key& other) {
        low -= other.low;
        high -= other.high;
        return *this;
    }
    auto operator<=>(const Key&) const = default;
};

// One key per row, always the same ones.
std::vector<Key> random_keys(std::size_t rows);

// Unique 0/1 rows, with their columns rearranged into chains of nested row sets.
//
// Every column is turned so that its set holds at most half of the rows ("inside"); constant, duplicate and
// complementary columns are dropped. The sets are then grouped into chains S_0 > S_1 > ..., which thresholds of one
// variable form by nature. A row is described by the smallest set of each chain that contains it (its entries): a few
// numbers per row, however many columns there are, and the pair counts of a whole chain are running sums.
class Problem {
public:
    // Cells are 0 or 1, row by row. Columns with many thresholds may stand beside them, which must live as long; their
    // thresholds are numbered behind the features. Throws SearchStopped when the control says so.
    Problem(const std::uint8_t* cells, std::size_t rows, std::size_t columns, Control& control,
            const RankedColumns* wide = nullptr);

    int rows() const { return rows_; }
    int features() const { return static_cast<int>(column_.size()); }
    const RankedColumns* wide() const { return wide_; }
    int cuts() const;       // features and thresholds

    // Of features:
    int column(int feature) const { return column_[feature]; }      // the column of the input
    bool flipped(int feature) const { return flipped_[feature]; }   // inside means 0 in the input
    int chain(int feature) const { return chain_[feature]; }        // chains are numbered 0, 1, ... in feature order
    const Key& key(int row) const { return keys_[row]; }
    std::size_t entries() const { return entries_.size(); }
    // Is the row inside? Inside a threshold is what is above it.
    bool holds(int row, int feature) const;

    const int* entries_begin(int row) const { return entries_.data() + entry_begin_[row]; }
    const int* entries_end(int row) const { return entries_.data() + entry_begin_[row + 1]; }

private:
    int rows_;
    const RankedColumns* wide_;
    std::vector<int> column_;
    std::vector<std::uint8_t> flipped_;
    std::vector<int> chain_;
    std::vector<int> entries_;
    std::vector<std::size_t> entry_begin_;
    std::vector<Key> keys_;
};

}  // namespace goct
