#include "cache.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

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
    const Entry entry{key,
                      value.value,
                      value.root,
                      static_cast<std::uint16_t>(value.costs + 1),
                      static_cast<std::uint8_t>(slot.depth),
                      value.exact};
    Shard& shard = shard_of(key);
    const std::lock_guard guard(shard.lock);
    if (entry.costs == noted_) {
        if (shard.notes.size() >= 2 * most_notes_ / kShards + 2) keep_deepest(shard.notes, most_notes_ / kShards + 1);
        shard.notes.push_back(entry);
    }
    put(shard, entry);
}

void Cache::put(Shard& shard, const Entry& entry) {
    if (shard.used >= 2 * shard.buckets.size() && 2 * shard.buckets.size() <= buckets_per_shard_) grow(shard);
    if (shard.buckets.empty()) return;
    bool found;
    Entry* e = place(shard.buckets, entry.key, found);
    if (found && e->costs == entry.costs) {
        // Never forget a proof: an exact value stays, and a bound only rises.
        if (e->exact || (!entry.exact && e->value >= entry.value)) return;
    }
    if (!e->costs) ++shard.used;
    *e = entry;
}

void Cache::keep_deepest(std::vector<Entry>& notes, std::size_t most) {
    if (notes.size() <= most) return;
    const auto deeper = [](const Entry& a, const Entry& b) { return a.depth > b.depth; };
    std::nth_element(notes.begin(), notes.begin() + static_cast<std::ptrdiff_t>(most), notes.end(), deeper);
    notes.resize(most);
}

void Cache::take_note(int costs, std::size_t most) {
    noted_ = most > 0 ? costs + 1 : 0;
    most_notes_ = most;
    for (int i = 0; i < kShards; ++i) shards_[i].notes.clear();
}

std::string Cache::take_notes() {
    static_assert(std::is_trivially_copyable_v<Entry> && sizeof(Entry) == 32);
    std::vector<Entry> all;
    for (int i = 0; i < kShards; ++i) {
        all.insert(all.end(), shards_[i].notes.begin(), shards_[i].notes.end());
        shards_[i].notes.clear();
    }
    keep_deepest(all, most_notes_);
    return {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(Entry)};
}

void Cache::learn(std::string_view notes, int costs) {
    for (; notes.size() >= sizeof(Entry); notes.remove_prefix(sizeof(Entry))) {
        Entry entry;
        std::memcpy(&entry, notes.data(), sizeof(Entry));
        entry.costs = static_cast<std::uint16_t>(costs + 1);
        Shard& shard = shard_of(entry.key);
        const std::lock_guard guard(shard.lock);
        put(shard, entry);
    }
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
