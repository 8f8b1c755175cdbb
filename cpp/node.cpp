#include "node.hpp"

#include <bit>
#include <utility>

namespace goct {

Instance::Instance(const Problem& problem, const Costs& costs, bool keep_ties)
    : problem_(problem), costs_(costs), keep_ties_(keep_ties) {
    rows_.reserve(problem.rows());
    for (int r = 0; r < problem.rows(); ++r)
        rows_.push_back({problem.key(r), 1, costs.base(r), costs.first(r), costs.swing(r), costs.weight(r)});
}

void SplitSet::reset(std::size_t expected, const Key& total) {
    const std::size_t size = std::bit_ceil(2 * expected + 2);
    if (slots_.size() < size || ++stamp_ == 0) {
        slots_.resize(std::max(size, slots_.size()));
        stamps_.assign(slots_.size(), 0);
        stamp_ = 1;
    }
    total_ = total;
}

bool SplitSet::insert(const Key& inside) {
    Key key = inside;
    Key other = total_;
    other -= inside;
    if (other.low < key.low || (other.low == key.low && other.high < key.high)) key = other;
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (key.low * 0x9E3779B97F4A7C15u >> 32) & mask;
    for (; stamps_[at] == stamp_; at = (at + 1) & mask)
        if (slots_[at] == key) return false;
    stamps_[at] = stamp_;
    slots_[at] = key;
    return true;
}

void Node::make_root(const Instance& instance, SplitSet& scratch) {
    const Problem& problem = instance.problem();
    rows_.clear();
    for (int r = 0; r < problem.rows(); ++r)
        if (instance.active(r)) rows_.push_back(r);
    sum_up(instance);
    features_.resize(problem.features());
    chain_begin_.resize(problem.features());
    for (int f = 0; f < problem.features(); ++f) {
        features_[f] = f;
        chain_begin_[f] = f > 0 && problem.chain(f) == problem.chain(f - 1) ? chain_begin_[f - 1] : f;
    }
    const auto each_row = [&](auto&& visit) {
        for (int r : rows_) visit(r, problem.entries_begin(r), problem.entries_end(r));
    };
    keep_useful(instance, problem.features(), each_row, true, scratch);
}

void Node::make_child(const Instance& instance, const Node& parent, int f, bool inside, bool reduce,
                      SplitSet& scratch) {
    if (inside) {
        const auto rows = parent.inside_rows(f);
        picked_.assign(rows.begin(), rows.end());
    } else {
        parent.outside_rows(f, picked_);
    }
    rows_.clear();
    for (int r : picked_) rows_.push_back(parent.rows_[r]);
    sum_up(instance);
    features_ = parent.features_;
    chain_begin_ = parent.chain_begin_;
    const auto each_row = [&](auto&& visit) {
        for (int r : picked_) visit(parent.rows_[r], parent.entries_begin(r), parent.entries_end(r));
    };
    keep_useful(instance, parent.features(), each_row, reduce, scratch);
}

// Drops what does not split the rows any more and renumbers the rest. On entry features_ and chain_begin_ are the
// parent's; a row's entry in a dropped set becomes its entry in the next larger set that stays.
template <class EachRow>
void Node::keep_useful(const Instance& instance, int features, EachRow&& each_row, bool reduce, SplitSet& scratch) {
    level_.assign(features, Sums{});
    std::size_t entries = 0;
    each_row([&](int r, const int* entry, const int* end) {
        entries += end - entry;
        for (; entry != end; ++entry) level_[*entry] += instance.row(r);
    });
    if (reduce) scratch.reset(features, total_.key);

    inside_.clear();
    renamed_.resize(features);
    int kept = 0;
    for (int begin = 0; begin < features;) {
        int end = begin + 1;
        while (end < features && chain_begin_[end] == begin) ++end;
        const int first = kept;
        // From the smallest set up, so that each is the sum of the rows added so far.
        Sums sum;
        for (int f = end - 1; f >= begin; --f) {
            const bool grows = level_[f].count > 0;
            sum += level_[f];
            level_[f] = sum;
            renamed_[f] = grows && sum.count < total_.count && (!reduce || scratch.insert(sum.key));
        }
        int last = -1;
        for (int f = begin; f < end; ++f) {
            if (renamed_[f]) {
                last = kept++;
                inside_.push_back(level_[f]);
                features_[last] = features_[f];
                // chain_begin_ is still read ahead of f, so it may be overwritten up to f only.
                chain_begin_[last] = first;
            }
            renamed_[f] = last;
        }
        begin = end;
    }
    features_.resize(kept);
    chain_begin_.resize(kept);

    entries_.clear();
    entries_.reserve(entries);
    entry_begin_.assign(1, 0);
    each_row([&](int, const int* entry, const int* end) {
        for (; entry != end; ++entry)
            if (renamed_[*entry] >= 0) entries_.push_back(renamed_[*entry]);
        entry_begin_.push_back(static_cast<int>(entries_.size()));
    });
    sort_into_bins();
}

void Node::sort_into_bins() {
    bin_begin_.assign(features() + 1, 0);
    for (int entry : entries_) ++bin_begin_[entry];
    int begin = 0;
    for (int& bin : bin_begin_) begin += std::exchange(bin, begin);
    bin_rows_.resize(entries_.size());
    for (int r = 0; r < rows(); ++r)
        for (const int* entry = entries_begin(r); entry != entries_end(r); ++entry) bin_rows_[bin_begin_[*entry]++] = r;
    // Every bin now begins where the next one should.
    for (int f = features(); f > 0; --f) bin_begin_[f] = bin_begin_[f - 1];
    bin_begin_[0] = 0;
    inside_end_.resize(features());
    for (int f = features() - 1; f >= 0; --f) {
        const bool last = f + 1 == features() || chain_begin_[f + 1] != chain_begin_[f];
        inside_end_[f] = last ? bin_begin_[f + 1] : inside_end_[f + 1];
    }
}

void Node::sum_up(const Instance& instance) {
    const Costs& costs = instance.costs();
    total_ = {};
    std::int64_t best = 0;
    for (int r : rows_) total_ += instance.row(r);
    for (int k = 0; k < costs.planes(); ++k) {
        std::int64_t delta = 0;
        for (int r : rows_) delta += costs.delta(r)[k];
        best = std::min(best, delta);
    }
    leaf_ = total_.first + best;
}

void Node::outside_rows(int f, std::vector<int>& rows) const {
    rows.assign(this->rows(), 1);
    for (int r : inside_rows(f)) rows[r] = 0;
    int kept = 0;
    for (int r = 0; r < this->rows(); ++r) {
        const int outside = rows[r];
        rows[kept] = r;
        kept += outside;
    }
    rows.resize(kept);
}

void Node::overlaps(const Instance& instance, int f, std::vector<std::int64_t>& swings) const {
    swings.assign(features(), 0);
    const auto add = [&](const auto& rows) {
        for (int r : rows) {
            const std::int64_t swing = instance.row(rows_[r]).swing;
            for (const int* entry = entries_begin(r); entry != entries_end(r); ++entry) swings[*entry] += swing;
        }
        for (int j = features() - 2; j >= 0; --j)
            if (chain_begin_[j] == chain_begin_[j + 1]) swings[j] += swings[j + 1];
    };
    // The smaller side is counted, whichever it is.
    if (2 * inside_[f].count <= total_.count) {
        add(inside_rows(f));
        return;
    }
    std::vector<int> others;
    outside_rows(f, others);
    add(others);
    for (int j = 0; j < features(); ++j) swings[j] = inside_[j].swing - swings[j];
}

}  // namespace goct
