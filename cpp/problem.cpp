#include "problem.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

namespace goct {
namespace {

using Word = std::uint64_t;

struct Column {
    int index;
    bool flipped;
    int count;
    const Word* bits;   // the rows inside
};

bool contains(const Word* larger, const Word* smaller, std::size_t words) {
    for (std::size_t w = 0; w < words; ++w)
        if (smaller[w] & ~larger[w]) return false;
    return true;
}

// The cells as sets of rows, one line of words per column. A stripe of 64 rows stays in the nearest memory while it
// is read, eight columns at a time: eight rows of them, shifted and joined, are a byte for each column.
std::vector<Word> pack(const std::uint8_t* cells, std::size_t rows, std::size_t columns, Control& control) {
    const std::size_t words = (rows + 63) / 64;
    std::vector<Word> bits(columns * words);
    for (std::size_t begin = 0; begin < rows; begin += 64) {
        control.check();
        const std::size_t end = std::min(rows, begin + 64);
        Word* const out = bits.data() + begin / 64;
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
                    out[(c + j) * words] |= (joined >> 8 * j & 0xFF) << (r - begin);
            }
        }
        for (; c < columns; ++c)
            for (std::size_t r = begin; r < end; ++r) out[c * words] |= Word{cells[r * columns + c]} << (r - begin);
    }
    return bits;
}

std::vector<Column> useful_columns(std::vector<Word>& bits, std::size_t rows, std::size_t columns, Control& control) {
    const std::size_t words = (rows + 63) / 64;
    const int all = static_cast<int>(rows);
    std::vector<Column> useful;
    std::unordered_multimap<std::uint64_t, const Word*> seen;
    for (std::size_t c = 0; rows && c < columns; ++c) {
        control.check();
        Word* const begin = bits.data() + c * words;
        Word* const end = begin + words;
        int count = 0;
        for (const Word* word = begin; word != end; ++word) count += std::popcount(*word);
        // At most half of the rows inside; of two complementary halves, the one without row 0.
        const bool flipped = 2 * count > all || (2 * count == all && (*begin & 1));
        if (flipped) {
            for (Word* word = begin; word != end; ++word) *word = ~*word;
            if (rows % 64) end[-1] &= (Word{1} << (rows % 64)) - 1;
            count = all - count;
        }
        if (count == 0) continue;
        std::uint64_t hash = 0;
        for (const Word* word = begin; word != end; ++word) hash = (hash ^ *word) * 0x9E3779B97F4A7C15u + (hash >> 29);
        const auto [first, last] = seen.equal_range(hash);
        if (std::any_of(first, last, [&](const auto& other) { return std::equal(begin, end, other.second); }))
            continue;
        seen.emplace(hash, begin);
        useful.push_back({static_cast<int>(c), flipped, count, begin});
    }
    return useful;
}

// Greedy: each set, by growing size, goes on top of the chain whose largest set is the largest one it contains.
std::vector<std::vector<int>> chain_up(const std::vector<Column>& columns, std::size_t words, Control& control) {
    constexpr int tries = 1024;  // keeps the preparation of very wide data quadratic only in the beginning
    std::vector<int> by_size(columns.size());
    std::iota(by_size.begin(), by_size.end(), 0);
    std::stable_sort(by_size.begin(), by_size.end(),
                     [&](int a, int b) { return columns[a].count < columns[b].count; });
    std::vector<std::vector<int>> chains;
    std::vector<int> by_top;  // chains, the one with the largest top last
    for (int c : by_size) {
        control.check();
        int left = tries;
        auto found = by_top.end();
        for (auto it = by_top.end(); it != by_top.begin() && left-- > 0;) {
            --it;
            if (contains(columns[c].bits, columns[chains[*it].back()].bits, words)) {
                found = it;
                break;
            }
        }
        int chain;
        if (found == by_top.end()) {
            chain = static_cast<int>(chains.size());
            chains.emplace_back();
        } else {
            chain = *found;
            by_top.erase(found);
        }
        chains[chain].push_back(c);
        by_top.push_back(chain);
    }
    for (auto& chain : chains) std::reverse(chain.begin(), chain.end());
    // Long chains first: a chain is counted against itself and the chains behind it.
    std::stable_sort(chains.begin(), chains.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return chains;
}

// splitmix64: any full-period mixer will do, the keys only have to look random.
std::uint64_t next_random(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

}  // namespace

Problem::Problem(const std::uint8_t* cells, std::size_t rows, std::size_t columns, Control& control)
    : rows_(static_cast<int>(rows)) {
    const std::size_t words = (rows + 63) / 64;
    auto bits = pack(cells, rows, columns, control);
    const auto useful = useful_columns(bits, rows, columns, control);
    const auto chains = chain_up(useful, words, control);
    for (std::size_t g = 0; g < chains.size(); ++g)
        for (int c : chains[g]) {
            column_.push_back(useful[c].index);
            flipped_.push_back(useful[c].flipped);
            chain_.push_back(static_cast<int>(g));
        }

    // In stripes of 64 rows, as the cells were read.
    const auto each_row = [](Word set, std::size_t w, auto&& visit) {
        for (; set; set &= set - 1) visit(64 * w + std::countr_zero(set));
    };
    entry_begin_.assign(rows + 1, 0);
    for (std::size_t w = 0; w < words; ++w) {
        control.check();
        for (const auto& chain : chains)
            each_row(useful[chain.front()].bits[w], w, [&](std::size_t r) { ++entry_begin_[r + 1]; });
    }
    std::partial_sum(entry_begin_.begin(), entry_begin_.end(), entry_begin_.begin());
    if (entry_begin_.back() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw std::length_error("the data are too large: more than 2^31 pairs of a row and a chain of columns");
    entries_.resize(entry_begin_.back());
    std::vector<std::size_t> at(entry_begin_.begin(), entry_begin_.end() - 1);
    for (std::size_t w = 0; w < words; ++w) {
        control.check();
        int end = 0;
        for (const auto& chain : chains) {
            // From the smallest set up: a row's entry is the first one that holds it.
            end += static_cast<int>(chain.size());
            Word done = 0;
            for (std::size_t i = 1; i <= chain.size(); ++i) {
                const Word set = useful[chain[chain.size() - i]].bits[w];
                each_row(set & ~done, w, [&](std::size_t r) { entries_[at[r]++] = end - static_cast<int>(i); });
                done = set;
            }
        }
    }
    std::uint64_t state = 0x60C7;
    keys_.resize(rows);
    for (auto& key : keys_) {
        key.low = next_random(state);
        key.high = next_random(state);
    }
}

}  // namespace goct
