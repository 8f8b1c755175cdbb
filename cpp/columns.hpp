// The columns of a 0/1 matrix as sets of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "control.hpp"

namespace goct {

class Columns {
public:
    using Word = std::uint64_t;

    // The cells are 0 or 1, row by row. Throws SearchStopped when the control says so, here and in firsts().
    Columns(const std::uint8_t* cells, std::size_t rows, std::size_t columns, Control& control);

    std::size_t words() const { return words_; }                // per column; unused bits are 0
    Word* bits(std::size_t c) { return bits_.data() + c * words_; }
    const Word* bits(std::size_t c) const { return bits_.data() + c * words_; }
    void flip(std::size_t c);

    // For each column the first one that splits the rows as it does, equal or complementary; -1 if it does not split.
    std::vector<std::int64_t> firsts(Control& control) const;

private:
    std::size_t rows_, columns_, words_;
    std::vector<Word> bits_;
};

}  // namespace goct
