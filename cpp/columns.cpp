#include "columns.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

namespace goct {

// A stripe of 64 rows stays in the nearest memory while it is read, eight columns at a time: eight rows of them,
// shifted and joined, are a byte for each column.
Columns::Columns(const std::uint8_t* cells, std::size_t rows, std::size_t columns, Control& control)
    : rows_(rows), columns_(columns), words_((rows + 63) / 64), bits_(columns * words_) {
    for (std::size_t begin = 0; begin < rows; begin += 64) {
        control.check();
        const std::size_t end = std::min(rows, begin + 64);
        Word* const out = bits_.data() + begin / 64;
        std::size_t c = 0;
        for (; std::endian::native == std::endian::little && c + 8 <= columns; c += 8) {
            for (std::size_t r = begin; r < end; r += 8) {
                Word joined = 0;
                for (std::size_t i = 0; i < std::min<std::size_t>(8, end - r); ++i) {
                    Word eight;
                    std::memcpy(&eight, cells + (r + i) * columns + c, 8);
                    joined |= eight << i;
                }
                for (std::size_t j = 0; j < 8; ++j)
                    out[(c + j) * words_] |= (joined >> 8 * j & 0xFF) << (r - begin);
            }
        }
        for (; c < columns; ++c)
            for (std::size_t r = begin; r < end; ++r) out[c * words_] |= Word{cells[r * columns + c]} << (r - begin);
    }
}

void Columns::flip(std::size_t c) {
    for (std::size_t w = 0; w < words_; ++w) bits(c)[w] = ~bits(c)[w];
    if (rows_ % 64) bits(c)[words_ - 1] &= (Word{1} << (rows_ % 64)) - 1;
}

std::vector<std::int64_t> Columns::firsts(Control& control) const {
    std::vector<std::int64_t> firsts(columns_, -1);
    if (rows_ == 0) return firsts;
    const Word last = rows_ % 64 ? (Word{1} << (rows_ % 64)) - 1 : ~Word{0};
    // Turned so that row 0 is outside, a column and its complement are equal.
    const auto word = [&](std::size_t c, std::size_t w) {
        return (bits(c)[w] ^ (0 - (*bits(c) & 1))) & (w + 1 == words_ ? last : ~Word{0});
    };
    std::unordered_multimap<std::uint64_t, std::size_t> seen;
    for (std::size_t c = 0; c < columns_; ++c) {
        control.check();
        std::uint64_t hash = 0;
        Word any = 0;
        for (std::size_t w = 0; w < words_; ++w) {
            any |= word(c, w);
            hash = (hash ^ word(c, w)) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 29;
        }
        if (!any) continue;
        const auto same = [&](std::size_t other) {
            for (std::size_t w = 0; w < words_; ++w)
                if (word(c, w) != word(other, w)) return false;
            return true;
        };
        const auto [begin, end] = seen.equal_range(hash);
        const auto found = std::find_if(begin, end, [&](const auto& other) { return same(other.second); });
        firsts[c] = static_cast<std::int64_t>(found == end ? c : found->second);
        if (found == end) seen.emplace(hash, c);
    }
    return firsts;
}

}  // namespace goct
