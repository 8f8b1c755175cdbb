#include "cache.hpp"

#include <algorithm>

namespace goct {
namespace {
constexpr std::size_t kFirstSize = 64;  // entries of a new shard
}

Cache::Cache(std::size_t bytes)
    : entries_per_shard_(std::max(kFirstSize, bytes / (kShards * sizeof(Entry)))),
      shards_(std::make_unique<Shard[]>(kShards)) {}

std::uint64_t Cache::hash(const Key& key, CacheSlot slot) {
    std::uint64_t h = key.low + 0x9E3779B97F4A7C15u * (static_cast<std::uint64_t>(slot.depth) << 32 | static_cast<std::uint64_t>(slot.splits));
    h *= 0xD1B54A32D192ED03u;
    return h ^ (h >> 32);
}

// The entry of the question if there is one, otherwise the one it may overwrite.
Cache::Entry* Cache::place(std::vector<Entry>& entries, std::uint64_t hash, const Key& key, CacheSlot slot,
                           bool& found) {
    const std::size_t begin = hash % (entries.size() / kWays) * kWays;
    Entry* worst = &entries[begin];
    const auto worth = [](const Entry& e) { return e.costs * 256 + e.depth; };
    for (std::size_t i = begin; i < begin + kWays; ++i) {
        Entry& e = entries[i];
        if (e.costs && e.key == key && e.depth == slot.depth && e.splits == slot.splits) {
            found = true;
            return &e;
        }
        if (worth(e) < worth(*worst)) worst = &e;
    }
    found = false;
    return worst;
}

std::optional<CacheValue> Cache::find(const Key& key, CacheSlot slot) const {
    const std::uint64_t h = hash(key, slot);
    Shard& shard = shards_[h % kShards];
    const std::lock_guard guard(shard.lock);
    if (shard.entries.empty()) return std::nullopt;
    bool found;
    const Entry* e = place(shard.entries, h / kShards, key, slot, found);
    if (!found) return std::nullopt;
    return CacheValue{e->value, e->root, e->costs - 1, e->exact};
}

void Cache::store(const Key& key, CacheSlot slot, const CacheValue& value) {
    const std::uint64_t h = hash(key, slot);
    Shard& shard = shards_[h % kShards];
    const std::lock_guard guard(shard.lock);
    if (2 * shard.used >= shard.entries.size() && 2 * shard.entries.size() <= entries_per_shard_) grow(shard);
    if (shard.entries.empty()) return;
    bool found;
    Entry* e = place(shard.entries, h / kShards, key, slot, found);
    if (found && e->costs == value.costs + 1) {
        // Never forget a proof: an exact value stays, and a bound only rises.
        if (e->exact || (!value.exact && e->value >= value.value)) return;
    }
    if (!e->costs) ++shard.used;
    *e = {key, value.value, value.root, slot.splits, static_cast<std::uint16_t>(value.costs + 1),
          static_cast<std::uint8_t>(slot.depth), value.exact};
}

void Cache::grow(Shard& shard) {
    std::vector<Entry> larger(std::max(kFirstSize, 2 * shard.entries.size()));
    std::size_t used = 0;
    for (const Entry& e : shard.entries) {
        if (!e.costs) continue;
        bool found;
        const CacheSlot slot{e.depth, e.splits};
        Entry* target = place(larger, hash(e.key, slot) / kShards, e.key, slot, found);
        if (!target->costs) ++used;
        *target = e;
    }
    shard.entries = std::move(larger);
    shard.used = used;
}

void Cache::clear() {
    for (int i = 0; i < kShards; ++i) {
        const std::lock_guard guard(shards_[i].lock);
        shards_[i].entries = {};
        shards_[i].used = 0;
    }
}

void Cache::limit(std::size_t bytes) {
    entries_per_shard_ = std::max(kFirstSize, bytes / (kShards * sizeof(Entry)));
    if (this->bytes() > kShards * sizeof(Entry) * entries_per_shard_) clear();
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
        total += shards_[i].entries.size() * sizeof(Entry);
    }
    return total;
}

}  // namespace goct
