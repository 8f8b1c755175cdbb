#include "group_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace goct {
namespace {

constexpr std::size_t kWordBits = 64;
constexpr std::int32_t kEmpty = -1;
constexpr std::uint64_t kOnes = 0x0101010101010101u;    // the lowest bit of each of eight bytes

// A row is packed into words with earlier columns in more significant bits, so that comparing the
// words as unsigned integers, first word first, compares rows lexicographically. A last word that
// is only partly used keeps its bits at the low end, which is the same for all rows and therefore
// does not change the order.
std::size_t words_per_row(std::size_t f) {
    // A row without columns still gets one (zero) word: then all rows are equal, as they should be,
    // and nothing else needs to know about this case.
    return std::max<std::size_t>(1, (f + kWordBits - 1) / kWordBits);
}

[[noreturn]] void throw_not_binary(const std::uint8_t* row, std::size_t i) {
    std::size_t j = 0;
    while (row[j] <= 1) ++j;
    throw std::invalid_argument("features must be 0 or 1, but row " + std::to_string(i) +
                                ", column " + std::to_string(j) + " is " + std::to_string(row[j]));
}

// Packs row number `i`, which starts at `row`, into `key`.
void pack_row(const std::uint8_t* row, std::size_t i, std::size_t f, std::uint64_t* key) {
    std::uint8_t seen = 0;  // union of all bits, so that one test per row finds bad values
    std::uint64_t many_seen = 0;
    key[0] = 0;
    for (std::size_t begin = 0, word = 0; begin < f; begin += kWordBits, ++word) {
        const std::size_t end = std::min(begin + kWordBits, f);
        std::uint64_t bits = 0;
        std::size_t j = begin;
        // Eight columns at once: the product moves bit 8 i to bit 63 - i, and no two bits to the same place.
        for (; std::endian::native == std::endian::little && j + 8 <= end; j += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, row + j, 8);
            many_seen |= eight;
            bits = bits << 8 | (eight & kOnes) * 0x8040201008040201u >> 56;
        }
        for (; j < end; ++j) {
            seen |= row[j];
            bits = bits << 1 | row[j];
        }
        key[word] = bits;
    }
    if (seen > 1 || many_seen & ~kOnes) throw_not_binary(row, i);
}

// Mixes a key into 64 well spread bits (the finalizer of splitmix64, chained over the words).
// Neighbouring keys are common in binary data, and linear probing needs them far apart.
std::uint64_t hash_key(const std::uint64_t* key, std::size_t words) {
    std::uint64_t h = 0x9e3779b97f4a7c15;
    for (std::size_t w = 0; w < words; ++w) {
        h ^= key[w];
        h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9;
        h = (h ^ h >> 27) * 0x94d049bb133111eb;
        h ^= h >> 31;
    }
    return h;
}

// An open-addressing hash set of keys, numbered in order of insertion. The keys themselves are
// stored once, densely, and slots hold only their numbers: this keeps the table small (4 bytes per
// slot) and makes growing it a plain walk over the keys.
class KeySet {
public:
    explicit KeySet(std::size_t words) : words_(words), slots_(kInitialSlots, kEmpty) {}

    // The number of `key`; a key that is new gets the number size().
    std::int32_t insert(const std::uint64_t* key) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        const std::size_t mask = slots_.size() - 1;
        std::size_t slot = hash_key(key, words_) & mask;
        for (; slots_[slot] != kEmpty; slot = (slot + 1) & mask) {
            if (std::equal(key, key + words_, this->key(slots_[slot]))) return slots_[slot];
        }
        if (size_ == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
            throw std::length_error("too many distinct rows: at most 2147483647 are supported");
        }
        keys_.insert(keys_.end(), key, key + words_);
        slots_[slot] = static_cast<std::int32_t>(size_);
        return static_cast<std::int32_t>(size_++);
    }

    std::size_t size() const { return size_; }

    const std::uint64_t* key(std::int32_t id) const {
        return keys_.data() + static_cast<std::size_t>(id) * words_;
    }

    // The numbers of all keys, smallest key first.
    std::vector<std::int32_t> sorted() const {
        // Carrying the first word along makes most comparisons local; up to 64 columns, all.
        struct Entry {
            std::uint64_t head;
            std::int32_t id;
        };
        std::vector<Entry> entries(size_);
        for (std::size_t i = 0; i < size_; ++i) {
            const auto id = static_cast<std::int32_t>(i);
            entries[i] = {*key(id), id};
        }
        std::sort(entries.begin(), entries.end(), [this](const Entry& a, const Entry& b) {
            if (a.head != b.head) return a.head < b.head;
            const std::uint64_t* ka = key(a.id);
            const std::uint64_t* kb = key(b.id);
            return std::lexicographical_compare(ka + 1, ka + words_, kb + 1, kb + words_);
        });
        std::vector<std::int32_t> ids(size_);
        for (std::size_t i = 0; i < size_; ++i) ids[i] = entries[i].id;
        return ids;
    }

private:
    static constexpr std::size_t kInitialSlots = 1024;  // a power of two, as always after

    // Doubles the table. It is never more than half full, which keeps probe sequences short.
    void grow() {
        slots_.assign(2 * slots_.size(), kEmpty);
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t i = 0; i < size_; ++i) {
            const auto id = static_cast<std::int32_t>(i);
            std::size_t slot = hash_key(key(id), words_) & mask;
            while (slots_[slot] != kEmpty) slot = (slot + 1) & mask;
            slots_[slot] = id;
        }
    }

    std::size_t words_;
    std::size_t size_ = 0;
    std::vector<std::uint64_t> keys_;
    std::vector<std::int32_t> slots_;
};

}  // namespace

RowGroups group_rows(const std::uint8_t* x, std::size_t n, std::size_t f, Control& control) {
    const std::size_t words = words_per_row(f);
    KeySet keys(words);
    std::vector<std::uint64_t> key(words);
    std::vector<std::int64_t> first_by_id;  // in order of appearance
    RowGroups result;
    result.group.resize(n);

    Pace pace(control);
    for (std::size_t i = 0; i < n; ++i) {
        pace.step(f);
        pack_row(x + i * f, i, f, key.data());
        const std::int32_t id = keys.insert(key.data());
        if (keys.size() > first_by_id.size()) first_by_id.push_back(static_cast<std::int64_t>(i));
        result.group[i] = id;
    }

    // Renumber from order of appearance to lexicographic order.
    const std::vector<std::int32_t> order = keys.sorted();
    std::vector<std::int32_t> rank(order.size());
    result.first.resize(order.size());
    for (std::size_t r = 0; r < order.size(); ++r) {
        const auto id = static_cast<std::size_t>(order[r]);
        rank[id] = static_cast<std::int32_t>(r);
        result.first[r] = first_by_id[id];
    }
    for (std::int32_t& g : result.group) g = rank[static_cast<std::size_t>(g)];
    return result;
}

}  // namespace goct
