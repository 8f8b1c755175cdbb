#include "depth_two.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "line_kernels.hpp"
#include "pair_kernels.hpp"
#include "stumps.hpp"

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

SideValues::Best best_wide_split(const Instance& instance, const Node& node) {
    SideValues::Best best;
    const RankedNode& wide = node.wide();
    const Sums& all = node.total();
    for (int c = 0; c < wide.columns(); ++c) {
        std::int64_t first = 0, swing = 0;
        for (int g = 0, k = 0; g + 1 < wide.groups(c); ++g) {
            for (; k < wide.ends(c)[g]; ++k) {
                const Sums& row = instance.row(node.row(wide.order(c)[k]));
                first += row.first, swing += row.swing;
            }
            const std::int64_t left = std::min(first, swing - first);
            const std::int64_t right = std::min(all.first - first, all.swing - swing - (all.first - first));
            if (left + right < best.cost) best = {node.features() + wide.cut(c, g), left + right};
        }
    }
    return best;
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
        if (node.cuts() == 0) {
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
        DepthTwoValues best;
        if (node.wide().columns() == 0) {
            best = values(whole_.view(), node.total().first, node.leaf());
            sides.root.fill(-1);
            sides.wide.clear();
        } else {
            widen_sides(whole_.view(), node.wide(), {});
            best = values(whole_.view(), node.total().first, node.leaf());
            try_wide(node.wide(), whole_.view(), node.total().first, best, &sides);
        }
        read_sides(node, sides);
        return best;
    }

    DepthTwoValues solve_side(int f, bool inside, std::int64_t leaf) override {
        const Node& node = *node_;
        if (counted_ != f) {
            counted_ = -1;
            load_part(f);
            kernels_.count(part_.view());
            counted_ = f;
        }
        const bool is_part = inside == count_inside(f);
        if (is_part) {
            kernels_.evaluate(part_.view());
        } else {
            set_total(rest_, f, inside);
            kernels_.evaluate_rest(rest_.view(), whole_.view(), part_.view());
        }
        const PairView<T>& s = (is_part ? part_ : rest_).view();
        const std::int64_t first = node.sums(instance_, f, inside).first;
        if (node.wide().columns() == 0) return values(s, first, leaf);
        if (is_part) {
            side_rows_.assign(rows_.begin(), rows_.end());
        } else if (inside) {
            const auto rows = node.inside_rows(f);
            side_rows_.assign(rows.begin(), rows.end());
        } else {
            node.outside_rows(f, side_rows_);
        }
        wide_side_.make_child(node.wide(), side_rows_);
        if (wide_side_.columns() == 0) return values(s, first, leaf);
        widen_sides(s, wide_side_, side_rows_);
        DepthTwoValues best = values(s, first, leaf);
        try_wide(wide_side_, s, first, best, nullptr);
        return best;
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

    bool count_inside(int f) const {
        return 2 * static_cast<std::int64_t>(node_->inside_rows(f).size()) <= node_->total().count;
    }

    // The sums of the rows inside or outside the cut f.
    void set_total(PairSweep<T>& part, int f, bool inside) {
        if (f < node_->features()) return part.set_total(whole_, f, inside);
        T sum = 0;      // of the rows that were tallied, the smaller side
        for (const int r : rows_) sum += static_cast<T>(*instance_.costs().delta(node_->row(r)));
        part.set_total(inside == count_inside(f) ? sum : static_cast<T>(*whole_.view().total - sum));
    }

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
        set_total(part_, f, count_inside(f));
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

    // ---- wide columns: two classes, and no minimum leaf weight ----

    // One split of a side may be by a wide column. `rows` of the node, by row of `wide`; without, all of them.
    void widen_sides(const PairView<T>& s, const RankedNode& wide, std::span<const int> rows) {
        const int n = wide.rows();
        orders_.resize(static_cast<std::size_t>(n) * wide.columns());
        for (int c = 0; c < wide.columns(); ++c)
            for (int k = 0; k < n; ++k)
                orders_[static_cast<std::size_t>(c) * n + k] = rows.empty() ? wide.order(c)[k] : rows[wide.order(c)[k]];
        if (s.features == 0) return;
        T* line = reach_.get(static_cast<std::size_t>(4) * s.width);
        std::fill_n(line, 4 * s.width, T{0});
        T *least[2], *most[2];
        for (T** each : {&least[0], &least[1], &most[0], &most[1]}) *each = std::exchange(line, line + s.width);
        for (int c = 0; c < wide.columns(); ++c) {
            const int* const order = orders_.data() + static_cast<std::size_t>(c) * n;
            find_turns(wide, c, order);
            widen_reach(CellLines<T>{whole_.view().cells, s.width, s.column}, order, turns_.data(), before_turn_.data(),
                        static_cast<int>(turns_.size()), least, most);
        }
        for (int f = 0; f < s.features; ++f) {
            const T inside = s.column[f], outside = static_cast<T>(*s.total - inside);
            s.inside_best[f] = std::min({s.inside_best[f], least[0][f], static_cast<T>(inside - most[0][f])});
            s.outside_best[f] = std::min({s.outside_best[f], least[1][f], static_cast<T>(outside - most[1][f])});
        }
        kernels_.trees(s);
    }

    // Where the costs turn: no best split of rows lies among groups of the same sign.
    void find_turns(const RankedNode& wide, int c, const int* order) {
        turns_.clear();
        before_turn_.clear();
        T sum = 0;
        int sign = 0;       // of the groups since the last turn; 0 if they cost nothing
        for (int g = 0, k = 0; g < wide.groups(c); ++g) {
            int low = 0, high = 0;
            T own = 0;
            const int begin = k;
            for (; k < wide.ends(c)[g]; ++k) {
                const T cost = static_cast<T>(*instance_.costs().delta(node_->row(order[k])));
                own += cost, low |= cost < 0, high |= cost > 0;
            }
            const int next = high - low;
            const bool is_mixed = low && high;
            if (begin > 0 && (is_mixed || sign == 2 || (sign != 0 && next != 0 && sign != next))) {
                turns_.push_back(begin);
                before_turn_.push_back(sum);
                sign = 0;
            }
            sign = is_mixed ? 2 : next ? next : sign;
            sum += own;
        }
    }

    struct Point {          // a solved threshold, and what the best trees of its sides cost
        int threshold;
        std::int64_t leaf[2], stump[2];
    };

    // Lowers `best` by trees with a threshold of a wide column at the root. Intervals of thresholds are left out as a whole
    // where their ends say so, as in ThresholdSearch.
    void try_wide(const RankedNode& wide, const PairView<T>& s, std::int64_t first, DepthTwoValues& best,
                  SideValues* sides) {
        const int n = wide.rows();
        int root[4] = {-1, -1, -1, -1};
        first_.resize(wide.columns()), beyond_.resize(wide.columns()), swing_.resize(wide.columns());
        std::vector<SideValues::Best> by_column(wide.columns(), {-1, kInfinite});
        const std::int64_t beyond = *s.total;
        const auto leaf = [](std::int64_t first, std::int64_t beyond) { return first + std::min<std::int64_t>(beyond, 0); };
        const auto take = [&](int splits, std::int64_t cost, int c, int t) {
            if (cost >= best[splits]) return;
            for (int m = splits; m < 4; ++m)
                if (cost < best[m]) best[m] = cost, root[m] = wide.cut(c, t);
        };
        for (int c = 0; c < wide.columns(); ++c) {
            for (auto* sums : {&first_[c], &beyond_[c], &swing_[c]}) sums->assign(wide.groups(c), 0);
            std::int64_t first_sum = 0, beyond_sum = 0, swing_sum = 0;
            const int* const order = orders_.data() + static_cast<std::size_t>(c) * n;
            for (int g = 0, k = 0; g < wide.groups(c); ++g) {
                for (; k < wide.ends(c)[g]; ++k) {
                    const Sums& row = instance_.row(node_->row(order[k]));
                    first_sum += row.first, swing_sum += row.swing;
                    beyond_sum += row.swing - 2 * row.first;
                }
                first_[c][g] = first_sum, beyond_[c][g] = beyond_sum, swing_[c][g] = swing_sum;
                if (g + 1 == wide.groups(c)) break;
                const std::int64_t cost = leaf(first_sum, beyond_sum) + leaf(first - first_sum, beyond - beyond_sum);
                if (cost < by_column[c].cost) by_column[c] = {wide.cut(c, g), cost};
                take(1, cost, c, g);
            }
        }
        is_loaded_ = false;
        for (int c = 0; c < wide.columns(); ++c) {
            const std::int64_t all[2] = {leaf(first, beyond), best[1]};
            points_ = {{-1, {0, all[0]}, {0, all[1]}}, {wide.groups(c) - 1, {all[0], 0}, {all[1], 0}}};
            std::int64_t least = kInfinite;
            while (pick(c, best)) {
                solve_lanes(wide, c, first, beyond, s);
                for (const Point& point : news_) {
                    const auto& [t, leaves, stumps] = point;
                    take(2, std::min(stumps[0] + leaves[1], leaves[0] + stumps[1]), c, t);
                    take(3, stumps[0] + stumps[1], c, t);
                    if (stumps[0] + stumps[1] < least) least = stumps[0] + stumps[1], by_column[c] = {wide.cut(c, t), least};
                }
                points_.insert(points_.end(), news_.begin(), news_.end());
                std::sort(points_.begin(), points_.end(),
                          [](const Point& a, const Point& b) { return a.threshold < b.threshold; });
            }
        }
        if (!sides) return;
        const int features = node_->features();
        for (int m = 0; m < 4; ++m) sides->root[m] = root[m] < 0 ? -1 : features + root[m];
        sides->wide = std::move(by_column);
        for (auto& [cut, cost] : sides->wide) cut += features;
    }

    // Thresholds to solve next: all that may be better, or some spread over them.
    bool pick(int c, const DepthTwoValues& best) {
        ranges_.clear();
        int total = 0;
        const std::vector<std::int64_t>& swing = swing_[c];
        for (std::size_t i = 0; i + 1 < points_.size(); ++i) {
            const Point &from = points_[i], &to = points_[i + 1];
            if (from.threshold + 1 >= to.threshold) continue;
            const auto costs = [](const Point& left, const Point& right) -> std::array<std::int64_t, 2> {
                return {std::min(left.stump[0] + right.leaf[1], left.leaf[0] + right.stump[1]),
                        left.stump[0] + right.stump[1]};
            };
            const auto between = costs(from, to), before = costs(from, from), behind = costs(to, to);
            std::int64_t from_before = kInfinite, from_behind = kInfinite;
            for (int m : {0, 1}) {
                if (between[m] >= best[m + 2]) continue;
                from_before = std::min(from_before, before[m] - best[m + 2]);
                from_behind = std::min(from_behind, behind[m] - best[m + 2]);
            }
            if (from_before == kInfinite) continue;
            // Whoever is nearer to an end than it is above the best is above it, too.
            const std::int64_t start = from.threshold < 0 ? 0 : swing[from.threshold], end = swing[to.threshold];
            const auto begin = swing.begin() + from.threshold + 1, behind_all = swing.begin() + to.threshold;
            const auto first = std::partition_point(begin, behind_all, [&](auto sum) { return sum - start <= from_before; });
            const auto last = std::partition_point(first, behind_all, [&](auto sum) { return end - sum > from_behind; });
            if (first == last) continue;
            ranges_.push_back({static_cast<int>(first - swing.begin()), static_cast<int>(last - first)});
            total += ranges_.back().second;
        }
        lanes_.clear();
        const std::int64_t count = std::min(total, StumpScans::kMost);
        std::int64_t before = 0, i = 0;
        for (const auto& [begin, size] : ranges_) {
            for (; i < count; ++i) {
                const std::int64_t position = (2 * i + 1) * total / (2 * count) - before;
                if (position >= size) break;
                lanes_.push_back({c, begin + static_cast<int>(position)});
            }
            before += size;
        }
        return !lanes_.empty();
    }

    void solve_lanes(const RankedNode& wide, int c, std::int64_t first, std::int64_t beyond, const PairView<T>& s) {
        if (!scans_) {
            std::int64_t swing = 0;
            for (int r = 0; r < instance_.problem().rows(); ++r) swing += instance_.row(r).swing;
            scans_ = make_stump_scans(instance_.costs(), swing, instance_.control());
        }
        if (!std::exchange(is_loaded_, true)) scans_->load(wide);
        const int count = static_cast<int>(lanes_.size());
        StumpScans::Values values;
        scans_->solve(lanes_.data(), count, values);
        int ends[StumpScans::kMost];
        Reach<T> reach[StumpScans::kMost] = {};
        for (int i = 0; i < count; ++i) ends[i] = wide.ends(c)[lanes_[i].threshold];
        if (s.features > 0)
            find_reach(CellLines<T>{whole_.view().cells, s.width, s.column}, orders_.data() + static_cast<std::size_t>(c) * wide.rows(),
                       ends, count, sums_.get(static_cast<std::size_t>(StumpScans::kMost) * s.width), reach);
        news_.clear();
        for (int i = 0; i < count; ++i) {
            const int t = lanes_[i].threshold;
            Point& point = news_.emplace_back();
            point.threshold = t;
            for (int side = 0; side < 2; ++side) {
                const std::int64_t own = side ? first - first_[c][t] : first_[c][t];
                const std::int64_t more = side ? beyond - beyond_[c][t] : beyond_[c][t];
                point.leaf[side] = values.leaf[side][i];
                point.stump[side] = std::min(values.stump[side][i], own + std::min<std::int64_t>(reach[i].least[side],
                                                                                              more - reach[i].most[side]));
            }
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

    // Of wide columns: the side at hand; its rows by column; what the groups up to each one cost; the thresholds at hand.
    RankedNode wide_side_;
    std::vector<int> side_rows_, orders_, turns_;
    std::vector<T> before_turn_;
    Buffer<T> reach_, sums_;
    std::vector<std::vector<std::int64_t>> first_, beyond_, swing_;
    std::vector<Point> points_, news_;
    std::vector<std::pair<int, int>> ranges_;
    std::vector<StumpScans::Lane> lanes_;
    std::unique_ptr<StumpScans> scans_;
    bool is_loaded_ = false;
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
    sides.root.fill(-1);
    if (const auto wide = best_wide_split(instance_, node); wide.cost < best) {
        best = wide.cost;
        sides.root.fill(wide.cut);
    }
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
