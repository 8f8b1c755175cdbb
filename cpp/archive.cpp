#include "archive.hpp"

#include <algorithm>
#include <bit>

#include "simd.hpp"

namespace goct {
namespace {

// Raises bounds to what others leave after a loss.
template <int Bytes>
GOCT_INLINE void raise_to(const Bound* others, const Bound* losses, std::size_t size, Bound* bounds) {
    using V = Vec<Bound, Bytes>;
    for (std::size_t j = 0; j < size; j += V::lanes)
        max(V::load(bounds + j), V::load(others + j) - V::load(losses + j)).store(bounds + j);
}

void portable_raise(const Bound* others, const Bound* losses, std::size_t size, Bound* bounds) {
    raise_to<kPortableBytes>(others, losses, size, bounds);
}
#ifdef GOCT_HAS_AVX2_CLONES
GOCT_TARGET_AVX2 void avx2_raise(const Bound* others, const Bound* losses, std::size_t size, Bound* bounds) {
    raise_to<kVectorBytes>(others, losses, size, bounds);
}
const auto best_raise = [] { return cpu_has_avx2() ? avx2_raise : portable_raise; };
#else
const auto best_raise = [] { return portable_raise; };
#endif

}  // namespace

void Archive::mark(const Node& node, std::vector<std::uint64_t>& bits) const {
    bits.assign((instance_.problem().rows() + 63) / 64, 0);
    for (int r = 0; r < node.rows(); ++r) bits[node.row(r) / 64] |= std::uint64_t{1} << (node.row(r) % 64);
}

void Archive::add(const Node& node, std::span<const std::int64_t> bound, const std::vector<Bound>& inside,
                  const std::vector<Bound>& outside, int side_classes) {
    entries_.clear();
    const auto made = std::make_shared<Entry>();
    Entry& entry = *made;
    mark(node, entry.rows);
    entry.swing = node.total().swing;
    entry.bound.assign(bound.begin(), bound.end());
    const std::size_t width = padded(instance_.problem().features()), own = padded(node.features());
    entry.inside.assign(side_classes * width, 0);
    entry.outside.assign(side_classes * width, 0);
    for (int m = 0; m < side_classes; ++m)
        for (int f = 0; f < node.features(); ++f) {
            entry.inside[m * width + node.feature(f)] = inside[m * own + f];
            entry.outside[m * width + node.feature(f)] = outside[m * own + f];
        }
    const std::lock_guard guard(shelf_.lock_);
    if (shelf_.entries_.size() < kEntries) shelf_.entries_.emplace_back();
    shelf_.entries_[shelf_.next_] = made;
    shelf_.next_ = (shelf_.next_ + 1) % kEntries;
}

void Archive::match(const Node& node, std::int64_t limit, std::span<std::int64_t> bound) {
    mark(node, bits_);
    matches_.clear();
    {
        const std::lock_guard guard(shelf_.lock_);
        entries_ = shelf_.entries_;
    }
    for (const auto& shared : entries_) {
        const Entry& entry = *shared;
        if (entry.swing - node.total().swing >= limit) continue;    // so much is lost at least
        std::int64_t loss = 0;
        for (std::size_t w = 0; w < bits_.size() && loss < limit; ++w)
            for (std::uint64_t lost = entry.rows[w] & ~bits_[w]; lost; lost &= lost - 1)
                loss += instance_.costs().swing(static_cast<int>(64 * w) + std::countr_zero(lost));
        if (loss >= limit) continue;
        for (std::size_t m = 0; m < bound.size(); ++m) bound[m] = std::max(bound[m], entry.bound[m] - loss);
        matches_.push_back({&entry, loss});
    }
    const auto kept = std::min(kMatches, matches_.size());
    std::partial_sort(matches_.begin(), matches_.begin() + kept, matches_.end(),
                      [](const Match& a, const Match& b) { return a.loss < b.loss; });
    matches_.resize(kept);
}

void Archive::inherit(const Node& node, std::vector<Bound>& inside, std::vector<Bound>& outside, int side_classes) {
    if (matches_.empty()) return;
    const Problem& problem = instance_.problem();
    const int features = problem.features();
    const std::size_t width = padded(features), own = padded(node.features());
    for (auto* bounds : {&inside_, &outside_}) bounds->assign(side_classes * width, 0);
    for (auto* losses : {&lost_inside_, &lost_outside_}) losses->assign(width, 0);
    const auto raise = best_raise();
    for (const auto& [entry, loss] : matches_) {
        // What is lost inside each feature: like all such sums, up the chains from the rows' entries.
        lost_.assign(features + 1, 0);
        for (std::size_t w = 0; w < bits_.size(); ++w)
            for (std::uint64_t lost = entry->rows[w] & ~bits_[w]; lost; lost &= lost - 1) {
                const int r = static_cast<int>(64 * w) + std::countr_zero(lost);
                for (const int* e = problem.entries_begin(r); e != problem.entries_end(r); ++e)
                    lost_[*e] += instance_.costs().swing(r);
            }
        for (int f = features - 1; f >= 0; --f) {
            if (f + 1 < features && problem.chain(f) == problem.chain(f + 1)) lost_[f] += lost_[f + 1];
            lost_inside_[f] = instance_.rounded_up(lost_[f]);
            lost_outside_[f] = instance_.rounded_up(loss - lost_[f]);
        }
        for (std::size_t begin = 0; begin < side_classes * width; begin += width) {
            raise(entry->inside.data() + begin, lost_inside_.data(), width, inside_.data() + begin);
            raise(entry->outside.data() + begin, lost_outside_.data(), width, outside_.data() + begin);
        }
    }
    for (int m = 0; m < side_classes; ++m)
        for (int f = 0; f < node.features(); ++f) {
            Bound &in = inside[m * own + f], &out = outside[m * own + f];
            in = std::max(in, inside_[m * width + node.feature(f)]);
            out = std::max(out, outside_[m * width + node.feature(f)]);
        }
}

}  // namespace goct
