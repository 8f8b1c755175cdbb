// What is known about row sets: exact values and lower bounds, in bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "problem.hpp"

namespace goct {

struct CacheSlot {          // which question
    int depth;
    int splits;             // split budget, kAnySplits without one; plus kRelaxed if smaller leaves are allowed
};
inline constexpr int kAnySplits = 1 << 29, kRelaxed = 1 << 30;
inline CacheSlot relaxed_slot(CacheSlot slot) { return {slot.depth, slot.splits + kRelaxed}; }

struct CacheValue {
    std::int64_t value;     // total cost, the unavoidable part included, so that it makes sense under other costs
    int root;               // only if exact: how the tree begins, see Preorder
    int costs;              // number of the costs it was computed with
    bool exact;             // otherwise a lower bound
};

// A hash table in shards. Each shard has its own lock and doubles until its share of the memory is used up; then the
// least valuable entry of a bucket (older costs, smaller depth) makes room.
class Cache {
public:
    explicit Cache(std::size_t bytes);

    std::optional<CacheValue> find(const Key& key, CacheSlot slot) const;
    void store(const Key& key, CacheSlot slot, const CacheValue& value);
    void clear();
    // Between searches: from now on so many bytes. What is remembered goes if it takes more.
    void limit(std::size_t bytes);

    std::size_t entries() const;
    std::size_t bytes() const;

private:
    struct Entry {
        Key key;
        std::int64_t value;
        std::int32_t root, splits;
        std::uint16_t costs;    // number + 1; 0 if the entry is empty
        std::uint8_t depth;
        bool exact;
    };
    struct Shard {
        mutable std::mutex lock;
        std::vector<Entry> entries;
        std::size_t used = 0;
    };
    static constexpr int kShards = 64, kWays = 4;

    static std::uint64_t hash(const Key& key, CacheSlot slot);
    static Entry* place(std::vector<Entry>& entries, std::uint64_t hash, const Key& key, CacheSlot slot, bool& found);
    void grow(Shard& shard);

    std::size_t entries_per_shard_;
    std::unique_ptr<Shard[]> shards_;
};

}  // namespace goct
