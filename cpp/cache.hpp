// What is known about row sets: exact values and lower bounds, in bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem.hpp"

namespace goct {

struct CacheSlot {          // which question
    int depth;
    int splits;             // split budget, kAnySplits without one; plus kRelaxed if smaller leaves are allowed
};
inline constexpr int kAnySplits = 1 << 29, kRelaxed = 1 << 30;
// ... plus this if a ThresholdSearch asks, whose trees begin in other words.
inline constexpr int kOverRanks = 1 << 28;
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
    // Says that the question is asked soon, so that memory is not waited for then.
    void prefetch(const Key& key, CacheSlot slot) const;
    void clear();
    // Between searches: for others with the same data, what is stored under these costs from now on is noted, too, until it
    // is taken. Of more than `most` entries those of the largest depths are kept, which took longest.
    void take_note(int costs, std::size_t most);
    std::string take_notes();
    // What others noted, under costs that have this number here.
    void learn(std::string_view notes, int costs);
    // Between searches: from now on so many bytes. What is remembered goes if it takes more.
    void limit(std::size_t bytes);

    std::size_t entries() const;
    std::size_t bytes() const;

private:
    struct Entry {
        Key key;                // of the row set and the slot
        std::int64_t value;
        std::int32_t root;
        std::uint16_t costs;    // number + 1; 0 if the entry is empty
        std::uint8_t depth;
        bool exact;
    };
    // Two lines of the processor's cache, which are waited for more than anything else here.
    struct alignas(64) Bucket {
        Entry ways[4];
    };
    struct Shard {
        mutable std::mutex lock;
        std::vector<Bucket> buckets;    // none, or a power of two
        std::size_t used = 0;
        std::vector<Entry> notes;
    };
    static constexpr int kShards = 64;

    Shard& shard_of(const Key& key) const { return shards_[key.high % kShards]; }
    void put(Shard& shard, const Entry& entry);
    static void keep_deepest(std::vector<Entry>& notes, std::size_t most);
    static Entry* place(std::vector<Bucket>& buckets, const Key& key, bool& found);
    void grow(Shard& shard);

    std::size_t buckets_per_shard_;
    int noted_ = 0;             // costs of what is noted, as in entries; 0: nothing is
    std::size_t most_notes_ = 0;
    std::unique_ptr<Shard[]> shards_;
};

}  // namespace goct
