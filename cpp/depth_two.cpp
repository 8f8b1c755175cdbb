#include "depth_two.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "pair_kernels.hpp"

namespace goct {

void leaf_sides(const Instance& instance, const Node& node, bool weighted, SideValues& sides) {
    const Costs& costs = instance.costs();
    const int features = node.features();
    std::vector<std::int64_t> column;
    sides.inside_leaf.assign(features, 0), sides.outside_leaf.assign(features, 0);
    for (int k = 0; k < costs.planes(); ++k) {
        column.assign(features, 0);
        std::int64_t total = 0;
        for (int r = 0; r < node.rows(); ++r) {
            const std::int64_t delta = costs.delta(node.row(r))[k];
            total += delta;
            for (const int* e = node.entries_begin(r); e != node.entries_end(r); ++e) column[*e] += delta;
        }
        for (int f = features - 1; f >= 0; --f) {
            if (f + 1 < features && node.chain_begin()[f] == node.chain_begin()[f + 1]) column[f] += column[f + 1];
            sides.inside_leaf[f] = std::min(sides.inside_leaf[f], column[f]);
            sides.outside_leaf[f] = std::min(sides.outside_leaf[f], total - column[f]);
        }
    }
    for (int f = 0; f < features; ++f) {
        const std::int64_t least = weighted ? costs.min_leaf_weight() : 0, weight = node.inside(f).weight;
        sides.inside_leaf[f] = weight < least ? kInfinite : sides.inside_leaf[f] + node.inside(f).first;
        sides.outside_leaf[f] =
            node.total().weight - weight < least ? kInfinite : sides.outside_leaf[f] + node.outside(f).first;
    }
}

class DepthTwo::Table {
public:
    virtual ~Table() = default;
    virtual DepthTwoValues solve(const Node& node, bool keep, Control* control, SideValues& sides) = 0;
    virtual DepthTwoValues solve_side(int f, bool inside, std::int64_t leaf) = 0;
    virtual LeastParts least_parts(int f, bool inside) = 0;
    virtual void overlaps(int f, std::vector<std::int64_t>& swings) = 0;
};

template <class T>
class DepthTwo::TypedTable final : public Table {
public:
    TypedTable(const Instance& instance, int planes, bool weighted)
        : instance_(instance), planes_(planes), weighted_(weighted), kernels_(pair_kernels<T>(planes, weighted)) {}

    DepthTwoValues solve(const Node& node, bool keep, Control* control, SideValues& sides) override {
        if (node.features() == 0) {
            sides = {};
            return {node.leaf(), node.leaf(), node.leaf(), node.leaf()};
        }
        node_ = &node;
        counted_ = tallied_ = -1;
        const std::int64_t least = weighted_ ? instance_.costs().min_leaf_weight() : 0;
        whole_.reset(node, planes_, keep ? node.features() : 1, least, control);
        whole_.set_rows(node, [this](int row, int plane) { return value(row, plane); });
        if (keep) {
            part_.reset(node, planes_, node.features(), least, control);
            rest_.reset(node, planes_, 0, least, control);
            kernels_.count(whole_.view());
            kernels_.evaluate(whole_.view());
        } else {
            kernels_.sweep(whole_.view());
        }
        read_sides(node, sides);
        return values(whole_.view(), node.total().first, node.leaf());
    }

    DepthTwoValues solve_side(int f, bool inside, std::int64_t leaf) override {
        const Node& node = *node_;
        if (counted_ != f) {
            counted_ = -1;
            load_part(f);
            kernels_.count(part_.view());
            counted_ = f;
        }
        const std::int64_t first = inside ? node.inside(f).first : node.outside(f).first;
        if (inside == count_inside(f)) {
            kernels_.evaluate(part_.view());
            return values(part_.view(), first, leaf);
        }
        rest_.set_total(whole_, f, inside);
        kernels_.evaluate_rest(rest_.view(), whole_.view(), part_.view());
        return values(rest_.view(), first, leaf);
    }

    LeastParts least_parts(int f, bool inside) override {
        const Node& node = *node_;
        const PairView<T>& s = (inside == count_inside(f) ? part_ : rest_).view();
        const Sums side = inside ? node.inside(f) : node.outside(f);
        if (tallied_ != f) tally(f);
        LeastParts least;
        for (int j = 0; j < s.features; ++j) {
            const std::int64_t both = overlap(f, j), swing = inside ? both : node.inside(j).swing - both;
            if (!instance_.pays(side.swing, swing)) continue;
            // With two classes, the swing of rows is what both cost together, and delta the difference.
            const std::int64_t delta = s.column[j], other = s.total[0] - delta;
            const std::int64_t in = (swing - delta) / 2, out = (side.swing - swing - other) / 2;
            least.leaf = std::min({least.leaf, in + std::min<std::int64_t>(delta, 0), out + std::min<std::int64_t>(other, 0)});
            least.stump = std::min({least.stump, in + s.inside_best[j], out + s.outside_best[j]});
        }
        return least;
    }

    void overlaps(int f, std::vector<std::int64_t>& swings) override {
        if (tallied_ != f) tally(f);
        swings.resize(node_->features());
        for (int j = 0; j < node_->features(); ++j) swings[j] = overlap(f, j);
    }

private:
    using Count = std::make_unsigned_t<T>;

    std::int64_t value(int row, int plane) const {
        const bool weight = weighted_ && plane + 1 == planes_;
        return weight ? instance_.costs().weight(row) : instance_.costs().delta(row)[plane];
    }

    // The swings of the rows inside both, once those of f are tallied.
    std::int64_t overlap(int f, int j) const {
        return count_inside(f) ? std::int64_t(swings_[j]) : node_->inside(j).swing - std::int64_t(swings_[j]);
    }

    bool count_inside(int f) const { return 2 * node_->inside(f).count <= node_->total().count; }

    // How many rows of the smaller side of f are inside each feature, and their swings.
    void tally(int f) {
        rows_ = node_->inside_rows(f);
        if (!count_inside(f)) {
            node_->outside_rows(f, outside_rows_);
            rows_ = outside_rows_;
        }
        const int width = whole_.view().width;
        T* const tallies = tallies_.get(2 * width);
        kernels_.tally(whole_.view(), rows_.data(), static_cast<int>(rows_.size()), tallies, tallies + width);
        counts_ = reinterpret_cast<const Count*>(tallies), swings_ = counts_ + width;
        tallied_ = f;
    }

    // Those rows, sorted by entry.
    void load_part(int f) {
        if (tallied_ != f) tally(f);
        const Node& node = *node_;
        const int features = node.features();
        bin_begin_.resize(features + 1);
        bin_end_.resize(features);
        int begin = 0;
        for (int j = 0; j < features; ++j) {
            bin_begin_[j] = bin_end_[j] = begin;
            const bool smallest = j + 1 == features || node.chain_begin()[j] != node.chain_begin()[j + 1];
            begin += static_cast<int>(counts_[j] - (smallest ? 0 : counts_[j + 1]));
        }
        bin_begin_[features] = begin;
        if (static_cast<int>(bin_rows_.size()) < begin) bin_rows_.resize(begin);
        int *const bin_rows = bin_rows_.data(), *const bin_end = bin_end_.data();
        for (int r : rows_) {
            if (!matters(node.row(r))) continue;
            for (const int *e = node.entries_begin(r), *end = node.entries_end(r); e != end; ++e)
                bin_rows[bin_end[*e]++] = r;
        }
        part_.set_rows(whole_, bin_begin_, bin_rows_);
        part_.set_total(whole_, f, count_inside(f));
    }

    // Does any plane have a value of the row?
    bool matters(int row) const {
        return instance_.costs().swing(row) > 0 || (weighted_ && instance_.costs().weight(row) > 0);
    }

    // Back to costs: a gain counts from what class 0 costs on those rows.
    std::int64_t cost(std::int64_t first, T gain) const {
        return weighted_ && gain > kNever<T> / 2 ? kInfinite : first + gain;
    }

    DepthTwoValues values(const PairView<T>& s, std::int64_t first, std::int64_t leaf) const {
        DepthTwoValues best{leaf};
        for (int m = 1; m < 4; ++m) best[m] = std::min(best[m - 1], cost(first, s.best[m - 1]));
        return best;
    }

    void read_sides(const Node& node, SideValues& sides) const {
        const PairView<T>& s = whole_.view();
        for (auto* side : {&sides.inside_leaf, &sides.outside_leaf, &sides.inside_best, &sides.outside_best})
            side->resize(s.features);
        for (int f = 0; f < s.features; ++f) {
            const std::int64_t in = node.inside(f).first, out = node.total().first - in;
            sides.inside_leaf[f] = cost(in, s.inside_leaf[f]);
            sides.outside_leaf[f] = cost(out, s.outside_leaf[f]);
            sides.inside_best[f] = cost(in, s.inside_best[f]);
            sides.outside_best[f] = cost(out, s.outside_best[f]);
        }
    }

    const Instance& instance_;
    const int planes_;
    const bool weighted_;
    const PairKernels<T> kernels_;
    const Node* node_ = nullptr;
    int counted_ = -1;      // the feature whose smaller side is in part_
    int tallied_ = -1;      // ... whose smaller side is in rows_, counts_ and swings_
    std::span<const int> rows_;
    const Count *counts_ = nullptr, *swings_ = nullptr;
    Buffer<T> tallies_;
    std::vector<int> outside_rows_, bin_begin_, bin_end_, bin_rows_;
    PairSweep<T> whole_, part_, rest_;
};

DepthTwo::DepthTwo(const Instance& instance, bool weighted, std::size_t bytes, Control& control)
    : instance_(instance), bytes_(bytes), control_(&control), weighted_(weighted) {}
DepthTwo::~DepthTwo() = default;

template <class T>
DepthTwo::Table& DepthTwo::table_of(std::unique_ptr<Table>& table) {
    if (!table) table = std::make_unique<TypedTable<T>>(instance_, planes(), weighted_);
    return *table;
}

// Bytes of a number that holds every sum of the node. With two classes, deltas of one sign add up to what one of them costs.
// Swings and counts, which are up to twice as large, are read as unsigned numbers.
int DepthTwo::number_bytes(const Node& node) const {
    const Sums& total = node.total();
    const std::int64_t size = planes() == 1 ? std::max(total.first, total.swing - total.first)
                                            : std::max(total.swing, weighted_ ? total.weight : 0);
    // A sum with a leaf that is not allowed must be beyond those without.
    const auto fits = [&]<class T>(T) {
        return has_loops_for<T>() && size <= (weighted_ ? kNever<T> / 2 - 1 : std::numeric_limits<T>::max());
    };
    if (!weighted_ && fits(std::int8_t{})) return 1;
    return fits(std::int16_t{}) ? 2 : fits(std::int32_t{}) ? 4 : 8;
}

DepthTwo::Table& DepthTwo::table_for(const Node& node) {
    switch (number_bytes(node)) {
        case 1: return table_of<std::int8_t>(table8_);
        case 2: return table_of<std::int16_t>(table16_);
        case 4: return table_of<std::int32_t>(table32_);
        default: return table_of<std::int64_t>(table64_);
    }
}

DepthTwoValues DepthTwo::solve(const Node& node, SideValues& sides) {
    ++generation_;
    return table_for(node).solve(node, false, control_, sides);
}

DepthTwoValues DepthTwo::solve_stumps(const Node& node, SideValues& sides) const {
    leaf_sides(instance_, node, weighted_, sides);
    sides.inside_best = sides.inside_leaf, sides.outside_best = sides.outside_leaf;
    std::int64_t best = node.leaf();
    for (int f = 0; f < node.features(); ++f) best = std::min(best, sides.inside_leaf[f] + sides.outside_leaf[f]);
    return {node.leaf(), best, best, best};
}

// Counts pay as long as they stay in the processor's cache. Beyond, it is faster to look at a side by itself: so many
// features are mostly thresholds, few of which tell its rows apart.
bool DepthTwo::can_open(const Node& node) const {
    constexpr std::size_t cached = std::size_t{4} << 20;
    const double pairs = static_cast<double>(node.features()) * node.features();
    return 2 * pairs * planes() * number_bytes(node) <= static_cast<double>(std::min(bytes_, cached));
}

DepthTwo::Opened DepthTwo::open(const Node& node, SideValues& sides, DepthTwoValues& values) {
    open_ = &table_for(node);
    values = open_->solve(node, true, control_, sides);
    return {++generation_};
}

DepthTwo::Table& DepthTwo::opened(Opened opened) const {
    if (opened.generation != generation_) throw std::logic_error("the counts are of another node");
    return *open_;
}

DepthTwoValues DepthTwo::solve_side(Opened which, int f, bool inside, std::int64_t leaf) {
    return opened(which).solve_side(f, inside, leaf);
}

DepthTwo::LeastParts DepthTwo::least_parts(Opened which, int f, bool inside) {
    return opened(which).least_parts(f, inside);
}

void DepthTwo::overlaps(Opened which, int f, std::vector<std::int64_t>& swings) const {
    opened(which).overlaps(f, swings);
}

}  // namespace goct
