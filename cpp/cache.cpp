#include "cache.hpp"

#include <algorithm>

namespace goct {
namespace {

constexpr std::size_t kFirstSize = 16;  // buckets of a new shard

// A row set has another key in every slot. Like those of row sets, two of them are the same by chance only.
Key key_of(Key key, CacheSlot slot) {
    const auto name = static_cast<std::uint64_t>(slot.depth) << 32 | static_cast<std::uint64_t>(slot.splits);
    key += Key{0x9E3779B97F4A7C15u * name, 0xD1B54A32D192ED03u * name};
    return key;
}

}  // namespace

Cache::Cache(std::size_t bytes)
    : buckets_per_shard_(std::max(kFirstSize, bytes / (kShards * sizeof(Bucket)))),
      shards_(std::make_unique<Shard[]>(kShards)) {}

// The entry of the question if there is one, otherwise the one it may overwrite.
Cache::Entry* Cache::place(std::vector<Bucket>& buckets, const Key& key, bool& found) {
    Bucket& bucket = buckets[key.low & (buckets.size() - 1)];
    Entry* worst = bucket.ways;
    const auto worth = [](const Entry& e) { return e.costs * 256 + e.depth; };
    for (Entry& e : bucket.ways) {
        if (e.costs && e.key == key) {
            found = true;
            return &e;
        }
        if (worth(e) < worth(*worst)) worst = &e;
    }
    found = false;
    return worst;
}

std::optional<CacheValue> Cache::find(const Key& rows, CacheSlot slot) const {
    const Key key = key_of(rows, slot);
    Shard& shard = shard_of(key);
    const std::lock_guard guard(shard.lock);
    if (shard.buckets.empty()) return std::nullopt;
    bool found;
    const Entry* e = place(shard.buckets, key, found);
    if (!found) return std::nullopt;
    return CacheValue{e->value, e->root, e->costs - 1, e->exact};
}

void Cache::prefetch(const Key& rows, CacheSlot slot) const {
#ifdef __GNUC__
    const Key key = key_of(rows, slot);
    const Shard& shard = shard_of(key);
    const std::lock_guard guard(shard.lock);
    if (shard.buckets.empty()) return;
    const Entry* ways = shard.buckets[key.low & (shard.buckets.size() - 1)].ways;
    __builtin_prefetch(ways), __builtin_prefetch(ways + 2);
#endif
}

void Cache::store(const Key& rows, CacheSlot slot, const CacheValue& value) {
    const Key key = key_of(rows, slot);
    Shard& shard = shard_of(key);
    const std::lock_guard guard(shard.lock);
    if (shard.used >= 2 * shard.buckets.size() && 2 * shard.buckets.size() <= buckets_per_shard_) grow(shard);
    if (shard.buckets.empty()) return;
    bool found;
    Entry* e = place(shard.buckets, key, found);
    if (found && e->costs == value.costs + 1) {
        // Never forget a proof: an exact value stays, and a bound only rises.
        if (e->exact || (!value.exact && e->value >= value.value)) return;
    }
    if (!e->costs) ++shard.used;
    *e = {key,
          value.value,
          value.root,
          static_cast<std::uint16_t>(value.costs + 1),
          static_cast<std::uint8_t>(slot.depth),
          value.exact};
}

void Cache::grow(Shard& shard) {
    std::vector<Bucket> larger(std::max(kFirstSize, 2 * shard.buckets.size()));
    shard.used = 0;
    for (const Bucket& bucket : shard.buckets)
        for (const Entry& e : bucket.ways) {
            if (!e.costs) continue;
            bool found;
            Entry* target = place(larger, e.key, found);
            if (!target->costs) ++shard.used;
            *target = e;
        }
    shard.buckets = std::move(larger);
}

void Cache::clear() {
    for (int i = 0; i < kShards; ++i) {
        const std::lock_guard guard(shards_[i].lock);
        shards_[i].buckets = {};
        shards_[i].used = 0;
    }
}

void Cache::limit(std::size_t bytes) {
    buckets_per_shard_ = std::max(kFirstSize, bytes / (kShards * sizeof(Bucket)));
    if (this->bytes() > kShards * sizeof(Bucket) * buckets_per_shard_) clear();
}

std::size_t Cache::entries() const {
    std::size_t total = 0;
    for (int i = 0; i < kShards; ++i) {
        const std::lock_guard guard(shards_[i].lock);
        total += shards_[i].used;
    }
    return total;
}

std::size_t Cache::bytes() const {
    std::size_t total = 0;
    for (int i = 0; i < kShards; ++i) {
        const std::lock_guard guard(shards_[i].lock);
        total += shards_[i].buckets.size() * sizeof(Bucket);
    }
    return total;
}

}  // namespace goct
