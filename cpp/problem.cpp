#include "problem.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace goct {
namespace {

using Bits = std::vector<std::uint64_t>;

struct Column {
    int index;
    bool flipped;
    int count;
    Bits bits;
};

int popcount(const Bits& bits) {
    int total = 0;
    for (auto word : bits) total += std::popcount(word);
    return total;
}

bool contains(const Bits& larger, const Bits& smaller) {
    for (std::size_t w = 0; w < larger.size(); ++w)
        if (smaller[w] & ~larger[w]) return false;
    return true;
}

Column read_column(const std::uint8_t* cells, std::size_t rows, std::size_t columns, std::size_t c) {
    Column column{static_cast<int>(c), false, 0, Bits((rows + 63) / 64, 0)};
    for (std::size_t r = 0; r < rows; ++r)
        if (cells[r * columns + c]) column.bits[r / 64] |= std::uint64_t{1} << (r % 64);
    column.count = popcount(column.bits);
    // At most half of the rows inside; of two complementary halves, the one without row 0.
    const int all = static_cast<int>(rows);
    column.flipped = 2 * column.count > all || (2 * column.count == all && (column.bits[0] & 1));
    if (column.flipped) {
        for (auto& word : column.bits) word = ~word;
        if (rows % 64) column.bits.back() &= (std::uint64_t{1} << (rows % 64)) - 1;
        column.count = all - column.count;
    }
    return column;
}

std::vector<Column> useful_columns(const std::uint8_t* cells, std::size_t rows, std::size_t columns) {
    std::vector<Column> useful;
    std::multimap<std::uint64_t, std::size_t> seen;
    for (std::size_t c = 0; rows && c < columns; ++c) {
        Column column = read_column(cells, rows, columns, c);
        if (column.count == 0) continue;
        std::uint64_t hash = 0;
        for (auto word : column.bits) hash = (hash ^ word) * 0x9E3779B97F4A7C15u + (hash >> 29);
        const auto [first, last] = seen.equal_range(hash);
        if (std::any_of(first, last, [&](const auto& other) { return useful[other.second].bits == column.bits; }))
            continue;
        seen.emplace(hash, useful.size());
        useful.push_back(std::move(column));
    }
    return useful;
}

// Greedy: each set, by growing size, goes on top of the chain whose largest set is the largest one it contains.
std::vector<std::vector<int>> chain_up(const std::vector<Column>& columns) {
    constexpr int tries = 1024;  // keeps the preparation of very wide data quadratic only in the beginning
    std::vector<int> by_size(columns.size());
    std::iota(by_size.begin(), by_size.end(), 0);
    std::stable_sort(by_size.begin(), by_size.end(),
                     [&](int a, int b) { return columns[a].count < columns[b].count; });
    std::vector<std::vector<int>> chains;
    std::vector<int> by_top;  // chains, the one with the largest top last
    for (int c : by_size) {
        int left = tries;
        auto found = by_top.end();
        for (auto it = by_top.end(); it != by_top.begin() && left-- > 0;) {
            --it;
            if (contains(columns[c].bits, columns[chains[*it].back()].bits)) {
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

Problem::Problem(const std::uint8_t* cells, std::size_t rows, std::size_t columns) : rows_(static_cast<int>(rows)) {
    const auto useful = useful_columns(cells, rows, columns);
    const auto chains = chain_up(useful);

    std::vector<std::vector<int>> entries(rows);
    for (std::size_t g = 0; g < chains.size(); ++g) {
        const int begin = features();
        std::vector<int> smallest(rows, -1);
        for (int c : chains[g]) {
            for (std::size_t r = 0; r < rows; ++r)
                if (useful[c].bits[r / 64] >> (r % 64) & 1) smallest[r] = features();
            column_.push_back(useful[c].index);
            flipped_.push_back(useful[c].flipped);
            chain_.push_back(static_cast<int>(g));
        }
        for (std::size_t r = 0; r < rows; ++r)
            if (smallest[r] >= begin) entries[r].push_back(smallest[r]);
    }
    entry_begin_.push_back(0);
    for (const auto& row : entries) {
        entries_.insert(entries_.end(), row.begin(), row.end());
        entry_begin_.push_back(entries_.size());
    }
    std::uint64_t state = 0x60C7;
    keys_.resize(rows);
    for (auto& key : keys_) {
        key.low = next_random(state);
        key.high = next_random(state);
    }
}

}  // namespace goct
