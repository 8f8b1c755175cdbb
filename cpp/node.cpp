#include "node.hpp"

#include <bit>
#include <stdexcept>

#include "simd.hpp"

namespace goct {
namespace {

// Adds the sums of one row at each of its entries.
GOCT_INLINE void add_sums(const Sums& row, const int* entry, const int* end, Sums* level) {
    using V = Vec<std::uint64_t>;       // keys wrap around
    static_assert(sizeof(Sums) == 2 * sizeof(V));
    const auto* const own = reinterpret_cast<const std::uint64_t*>(&row);
    const V first = V::load(own), second = V::load(own + V::lanes);
    for (; entry != end; ++entry) {
        auto* const sum = reinterpret_cast<std::uint64_t*>(level + *entry);
        (V::load(sum) + first).store(sum);
        (V::load(sum + V::lanes) + second).store(sum + V::lanes);
    }
}

void portable_add_sums(const Sums& row, const int* entry, const int* end, Sums* level) {
    add_sums(row, entry, end, level);
}
#ifdef GOCT_HAS_AVX2_CLONES
GOCT_TARGET_AVX2 void avx2_add_sums(const Sums& row, const int* entry, const int* end, Sums* level) {
    add_sums(row, entry, end, level);
}
const auto best_add_sums = [] { return cpu_has_avx2() ? avx2_add_sums : portable_add_sums; };
#else
const auto best_add_sums = [] { return portable_add_sums; };
#endif

}  // namespace

Instance::Instance(const Problem& problem, const Costs& costs, Control& control, bool keep_ties,
                   std::int64_t least_swing)
    : problem_(problem), costs_(costs), control_(control), keep_ties_(keep_ties), least_swing_(least_swing) {
    rows_.reserve(problem.rows());
    for (int r = 0; r < problem.rows(); ++r)
        rows_.push_back({problem.key(r), 1, costs.base(r), costs.first(r), costs.swing(r), costs.weight(r)});
    std::int64_t largest = 0;
    for (const Sums& row : rows_) largest += row.swing;
    while (largest >> shift_ >= kMostBound) ++shift_;
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
    parent_ = nullptr;
    rows_.clear();
    total_ = {};
    for (int r = 0; r < problem.rows(); ++r) {
        if (!instance.active(r)) continue;
        rows_.push_back(r);
        total_ += instance.row(r);
    }
    set_leaf(instance.costs());
    features_.resize(problem.features());
    chain_begin_.resize(problem.features());
    for (int f = 0; f < problem.features(); ++f) {
        features_[f] = f;
        chain_begin_[f] = f > 0 && problem.chain(f) == problem.chain(f - 1) ? chain_begin_[f - 1] : f;
    }
    if (problem.wide()) wide_.make_root(*problem.wide(), instance.costs(), false, instance.control());
    Pace pace(instance.control());
    const auto each_row = [&](auto&& visit) {
        for (int r : rows_) {
            pace.step(problem.entries_end(r) - problem.entries_begin(r));
            visit(r, problem.entries_begin(r), problem.entries_end(r));
        }
    };
    keep_useful(instance, problem.features(), each_row, scratch);
}

void Node::make_child(const Instance& instance, const Node& parent, int f, bool inside, SplitSet& scratch) {
    parent_ = &parent, side_of_ = f, inside_side_ = inside;
    if (inside) {
        const auto rows = parent.inside_rows(f);
        picked_.assign(rows.begin(), rows.end());
    } else {
        parent.outside_rows(f, picked_);
    }
    rows_.clear();
    for (int r : picked_) rows_.push_back(parent.rows_[r]);
    total_ = parent.sums(instance, f, inside);
    set_leaf(instance.costs());
    if (instance.problem().wide()) wide_.make_child(parent.wide_, picked_);
    features_ = parent.features_;
    chain_begin_ = parent.chain_begin_;
    Pace pace(instance.control());
    const auto each_row = [&](auto&& visit) {
        for (int r : picked_) {
            pace.step(parent.entries_end(r) - parent.entries_begin(r));
            visit(parent.rows_[r], parent.entries_begin(r), parent.entries_end(r));
        }
    };
    keep_useful(instance, parent.features(), each_row, scratch);
}

// Drops what does not split the rows any more and renumbers the rest. On entry features_ and chain_begin_ are the
// parent's; a row's entry in a dropped set becomes its entry in the next larger set that stays.
template <class EachRow>
void Node::keep_useful(const Instance& instance, int features, EachRow&& each_row, SplitSet& scratch) {
    level_.assign(features, Sums{});
    std::size_t entries = 0;
    each_row([&, add = best_add_sums()](int r, const int* entry, const int* end) {
        entries += end - entry;
        add(instance.row(r), entry, end, level_.data());
    });
    scratch.reset(features, total_.key);

    inside_.clear();
    swings_.clear();
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
            renamed_[f] = grows && sum.count < total_.count && instance.pays(total_.swing, sum.swing) &&
                          scratch.insert(sum.key);
        }
        int last = -1;
        for (int f = begin; f < end; ++f) {
            if (renamed_[f]) {
                last = kept++;
                inside_.push_back(level_[f]);
                swings_.push_back(instance.rounded(level_[f].swing));
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
    swings_.resize(padded(kept), 0);
    sort_entries(entries, each_row);
}

// The entries that stay, by row and by feature. How many rows join each set is known from the sums.
template <class EachRow>
void Node::sort_entries(std::size_t entries, EachRow&& each_row) {
    bin_begin_.resize(features() + 1);
    bin_end_.resize(features() + 1);
    int begin = 0;
    for (int f = 0; f < features(); ++f) {
        bin_begin_[f] = bin_end_[f + 1] = begin;
        const bool smallest = f + 1 == features() || chain_begin_[f + 1] != chain_begin_[f];
        begin += static_cast<int>(inside_[f].count - (smallest ? 0 : inside_[f + 1].count));
    }
    // Entries that are dropped go behind those that stay: faster than to ask each whether it stays.
    bin_begin_[features()] = bin_end_[0] = begin;
    if (entries_.size() < entries + 1) entries_.resize(entries + 1), bin_rows_.resize(entries + 1);
    entry_begin_.resize(rows() + 1);
    int *const out = entries_.data(), *const bin_rows = bin_rows_.data(), *const bin_end = bin_end_.data() + 1;
    const int* const renamed = renamed_.data();
    int r = 0, kept = 0;
    entry_begin_[0] = 0;
    each_row([&](int, const int* entry, const int* end) {
        for (; entry != end; ++entry) {
            const int name = renamed[*entry];
            bin_rows[bin_end[name]++] = r;
            out[kept] = name;
            kept += name >= 0;
        }
        entry_begin_[++r] = kept;
    });
}

void Node::set_leaf(const Costs& costs) {
    // With two classes, what the second one costs is the rest of the swing.
    leaf_ = total_.first;
    if (costs.planes() == 1) leaf_ = std::min(leaf_, total_.swing - total_.first);
    for (int k = 0; k < costs.planes() && costs.planes() > 1; ++k) {
        std::int64_t cost = total_.first;
        for (int r : rows_) cost += costs.delta(r)[k];
        leaf_ = std::min(leaf_, cost);
    }
}

Sums Node::sums(const Instance& instance, int cut, bool inside) const {
    if (cut < features()) return inside ? inside_[cut] : outside(cut);
    // Whichever side is smaller is summed up.
    const auto [c, t] = wide_.place_of(cut - features());
    const int middle = wide_.ends(c)[t], *const order = wide_.order(c);
    const bool adds_inside = 2 * middle >= rows();
    Sums sums;
    for (const int r : std::span(order + (adds_inside ? middle : 0), order + (adds_inside ? rows() : middle)))
        sums += instance.row(rows_[r]);
    return adds_inside == inside ? sums : total_ - sums;
}

int Node::local(const Problem& problem, int name) const {
    const auto found = std::lower_bound(features_.begin(), features_.end(), name);
    if (found != features_.end() && *found == name) return static_cast<int>(found - features_.begin());
    if (name >= problem.features()) {
        const int wide = name - problem.features();
        const auto [c, t] = wide_.place(*problem.wide(), wide);
        if (c < wide_.columns() && t < wide_.groups(c) && wide_.name(*problem.wide(), c, t) == wide)
            return features() + wide_.cut(c, t);
    }
    throw std::logic_error("a feature is not where it was found");
}

void Node::outside_rows(int f, std::vector<int>& rows) const {
    if (f >= features()) {
        const auto [c, t] = wide_.place_of(f - features());
        rows.assign(wide_.order(c), wide_.order(c) + wide_.ends(c)[t]);
        return;
    }
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

void Node::overlaps(const Instance& instance, int f, const Node* child, std::vector<std::int64_t>& swings) const {
    swings.assign(features(), 0);
    if (child && child->parent_ == this && child->side_of_ == f) {
        for (int j = 0; j < features(); ++j)
            swings[j] = child->inside_side_ ? child->level_[j].swing : inside_[j].swing - child->level_[j].swing;
        return;
    }
    const auto add = [&, sums = swings.data()](const auto& rows) {
        for (int r : rows) {
            const std::int64_t swing = instance.row(rows_[r]).swing;
            for (const int* entry = entries_begin(r); entry != entries_end(r); ++entry) sums[*entry] += swing;
        }
        for (int j = features() - 2; j >= 0; --j)
            if (chain_begin_[j] == chain_begin_[j + 1]) sums[j] += sums[j + 1];
    };
    // The smaller side is counted, whichever it is.
    if (2 * static_cast<std::int64_t>(inside_rows(f).size()) <= total_.count) {
        add(inside_rows(f));
        return;
    }
    std::vector<int> others;
    outside_rows(f, others);
    add(others);
    for (int j = 0; j < features(); ++j) swings[j] = inside_[j].swing - swings[j];
}

}  // namespace goct
