#include "archive.hpp"

#include <algorithm>
#include <bit>

namespace goct {

void Archive::mark(const Node& node, std::vector<std::uint64_t>& bits) const {
    bits.assign((instance_.problem().rows() + 63) / 64, 0);
    for (int r = 0; r < node.rows(); ++r) bits[node.row(r) / 64] |= std::uint64_t{1} << (node.row(r) % 64);
}

void Archive::add(const Node& node, std::span<const std::int64_t> bound, const std::vector<std::int64_t>& inside,
                  const std::vector<std::int64_t>& outside, int side_classes) {
    entries_.clear();
    const auto made = std::make_shared<Entry>();
    Entry& entry = *made;
    mark(node, entry.rows);
    entry.swing = node.total().swing;
    entry.bound.assign(bound.begin(), bound.end());
    const std::size_t features = instance_.problem().features(), own = node.features();
    entry.inside.assign(side_classes * features, 0);
    entry.outside.assign(side_classes * features, 0);
    for (int m = 0; m < side_classes; ++m)
        for (std::size_t f = 0; f < own; ++f) {
            entry.inside[m * features + node.feature(f)] = inside[m * own + f];
            entry.outside[m * features + node.feature(f)] = outside[m * own + f];
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

void Archive::inherit(const Node& node, std::vector<std::int64_t>& inside, std::vector<std::int64_t>& outside,
                      int side_classes) {
    const Problem& problem = instance_.problem();
    for (const auto& [entry, loss] : matches_) {
        // What is lost inside each feature: like all such sums, up the chains from the rows' entries.
        lost_.assign(problem.features() + 1, 0);
        for (std::size_t w = 0; w < bits_.size(); ++w)
            for (std::uint64_t lost = entry->rows[w] & ~bits_[w]; lost; lost &= lost - 1) {
                const int r = static_cast<int>(64 * w) + std::countr_zero(lost);
                for (const int* e = problem.entries_begin(r); e != problem.entries_end(r); ++e)
                    lost_[*e] += instance_.costs().swing(r);
            }
        for (int f = problem.features() - 2; f >= 0; --f)
            if (problem.chain(f) == problem.chain(f + 1)) lost_[f] += lost_[f + 1];
        for (int m = 0; m < side_classes; ++m) {
            const std::int64_t *in = entry->inside.data() + std::size_t(m) * problem.features();
            const std::int64_t *out = entry->outside.data() + std::size_t(m) * problem.features();
            std::int64_t* const inside_m = inside.data() + std::size_t(m) * node.features();
            std::int64_t* const outside_m = outside.data() + std::size_t(m) * node.features();
            for (int f = 0; f < node.features(); ++f) {
                const int g = node.feature(f);
                inside_m[f] = std::max(inside_m[f], in[g] - lost_[g]);
                outside_m[f] = std::max(outside_m[f], out[g] - (loss - lost_[g]));
            }
        }
    }
}

}  // namespace goct
