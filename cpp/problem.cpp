#include "problem.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "columns.hpp"
#include "order.hpp"
#include "ranked_columns.hpp"

namespace goct {
namespace {

using Word = Columns::Word;

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

std::vector<Column> useful_columns(Columns& columns, std::size_t rows, Control& control) {
    const int all = static_cast<int>(rows);
    const auto firsts = columns.firsts(control);
    std::vector<Column> useful;
    for (std::size_t c = 0; c < firsts.size(); ++c) {
        if (firsts[c] != static_cast<std::int64_t>(c)) continue;
        const Word* const bits = columns.bits(c);
        int count = 0;
        for (std::size_t w = 0; w < columns.words(); ++w) count += std::popcount(bits[w]);
        // At most half of the rows inside; of two complementary halves, the one without row 0.
        const bool flipped = 2 * count > all || (2 * count == all && (*bits & 1));
        if (flipped) columns.flip(c);
        useful.push_back({static_cast<int>(c), flipped, flipped ? all - count : count, bits});
    }
    return useful;
}

// Greedy: each set, by growing size, goes on top of the chain whose largest set is the largest one it contains.
std::vector<std::vector<int>> chain_up(const std::vector<Column>& columns, std::size_t words, Control& control) {
    // Keeps the preparation of very wide data quadratic only in the beginning, and short where sets do not nest: a
    // look that finds nothing makes the next ones a little shorter, one that does makes them longer.
    constexpr int most_tries = 1024, least_tries = 32;
    double tries = most_tries;
    std::vector<int> by_size(columns.size());
    std::iota(by_size.begin(), by_size.end(), 0);
    std::vector<std::int64_t> sizes;
    for (const auto& column : columns) sizes.push_back(column.count);
    sort_by(by_size, sizes);
    std::vector<std::vector<int>> chains;
    std::vector<int> by_top;  // chains, the one with the largest top last
    for (int c : by_size) {
        control.check();
        int left = static_cast<int>(tries);
        auto found = by_top.end();
        for (auto it = by_top.end(); it != by_top.begin() && left-- > 0;) {
            --it;
            if (contains(columns[c].bits, columns[chains[*it].back()].bits, words)) {
                found = it;
                break;
            }
        }
        int chain;
        const bool looked_at_all = left > 0;
        if (found != by_top.end()) {
            tries = std::clamp<double>(4.0 * static_cast<double>(by_top.end() - found), tries, most_tries);
        } else if (!looked_at_all) {
            tries = std::max<double>(least_tries, tries * (1 - 1.0 / 256));
        }
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

std::vector<Key> random_keys(std::size_t rows) {
    std::uint64_t state = 0x60C7;
    std::vector<Key> keys(rows);
    for (auto& key : keys) {
        key.low = next_random(state);
        key.high = next_random(state);
    }
    return keys;
}

Problem::Problem(const std::uint8_t* cells, std::size_t rows, std::size_t columns, Control& control,
                 const RankedColumns* wide)
    : rows_(static_cast<int>(rows)), wide_(wide) {
    Columns sets(cells, rows, columns, control);
    const std::size_t words = sets.words();
    const auto useful = useful_columns(sets, rows, control);
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
    keys_ = random_keys(rows);
}

int Problem::cuts() const { return features() + (wide_ ? wide_->thresholds() : 0); }

bool Problem::holds(int row, int feature) const {
    if (feature >= features()) return wide_->is_right(row, feature - features());
    const int* const entry = std::lower_bound(entries_begin(row), entries_end(row), feature);
    return entry != entries_end(row) && chain_[*entry] == chain_[feature];
}

}  // namespace goct
