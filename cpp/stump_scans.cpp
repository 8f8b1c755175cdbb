#include <algorithm>
#include <limits>

#include "buffer.hpp"
#include "simd.hpp"
#include "stumps.hpp"

namespace goct {
namespace {

static_assert(Vec<std::int16_t>::lanes == StumpScans::kMost);

// Everything that one scan of a column needs: the rows by value, in groups that end at `ends`; for each the group in the
// column of the thresholds, and what it costs.
template <class T>
struct Scan {
    const int* order;           // rows, or entries' rows
    const int* ends;
    int groups;
    const T* root_group;        // by row
    const T* cost;              // in order
    const T* thresholds;        // kMost of them; a row is on the left if its group is below
    // Of two classes: cost of class 1 beyond class 0. The least and the largest sum over the groups up to any, per side.
    T *least[2], *most[2];
    // Of several classes: entries are (row, class, gain). The best sum of gains of two leaves, per side.
    const int* label;
    int classes;
    T *sums, *halves, *gain[2];
};

template <class T>
GOCT_INLINE void scan_two_classes(const Scan<T>& scan, int at) {
    using V = Vec<T>;
    const V thresholds = V::load(scan.thresholds + at);
    V least[2], most[2], left = V::fill(0);
    for (int side = 0; side < 2; ++side) {
        least[side] = V::load(scan.least[side] + at);
        most[side] = V::load(scan.most[side] + at);
    }
    T all = 0;
    for (int g = 0, k = 0; g < scan.groups; ++g) {
        for (const int end = scan.ends[g]; k < end; ++k) {
            const T cost = scan.cost[k];
            left = left + (V::fill(cost) & less(V::fill(scan.root_group[scan.order[k]]), thresholds));
            all = static_cast<T>(all + cost);
        }
        const V right = V::fill(all) - left;
        least[0] = min(least[0], left);
        most[0] = max(most[0], left);
        least[1] = min(least[1], right);
        most[1] = max(most[1], right);
    }
    for (int side = 0; side < 2; ++side) {
        least[side].store(scan.least[side] + at);
        most[side].store(scan.most[side] + at);
    }
}

// Once from the left, keeping the best class so far after each group, and once from the right.
template <class T>
GOCT_INLINE void scan_classes(const Scan<T>& scan, int at) {
    using V = Vec<T>;
    constexpr int lanes = V::lanes;
    const V thresholds = V::load(scan.thresholds + at), zero = V::fill(0);
    V best[2] = {zero, zero};
    const auto add = [&](int k) GOCT_INLINE_LAMBDA {
        const V gain = V::fill(scan.cost[k]);
        const V left_gain = gain & less(V::fill(scan.root_group[scan.order[k]]), thresholds);
        T* const sums = scan.sums + 2 * lanes * scan.label[k];
        const V left = V::load(sums) + left_gain, right = V::load(sums + lanes) + (gain - left_gain);
        left.store(sums);
        right.store(sums + lanes);
        best[0] = max(best[0], left);
        best[1] = max(best[1], right);
    };
    const auto clear = [&]() GOCT_INLINE_LAMBDA {
        for (int k = 0; k < 2 * scan.classes; ++k) zero.store(scan.sums + lanes * k);
        best[0] = best[1] = zero;
    };
    clear();
    for (int g = 0, k = 0; g < scan.groups; ++g) {
        for (const int end = scan.ends[g]; k < end; ++k) add(k);
        best[0].store(scan.halves + 2 * lanes * g);
        best[1].store(scan.halves + 2 * lanes * g + lanes);
    }
    V gain[2] = {max(V::load(scan.gain[0] + at), best[0]), max(V::load(scan.gain[1] + at), best[1])};
    clear();
    for (int g = scan.groups - 1; g > 0; --g) {
        for (int k = scan.ends[g]; k-- > scan.ends[g - 1];) add(k);
        const T* const halves = scan.halves + 2 * lanes * (g - 1);
        gain[0] = max(gain[0], best[0] + V::load(halves));
        gain[1] = max(gain[1], best[1] + V::load(halves + lanes));
    }
    gain[0].store(scan.gain[0] + at);
    gain[1].store(scan.gain[1] + at);
}

template <class T>
GOCT_INLINE void scan_column(const Scan<T>& scan, int count) {
    for (int at = 0; at < count; at += Vec<T>::lanes)
        scan.label ? scan_classes(scan, at) : scan_two_classes(scan, at);
}

#ifdef GOCT_HAS_AVX2_CLONES
template <class T>
GOCT_TARGET_AVX2 void scan_column_avx2(const Scan<T>& scan, int count) {
    scan_column(scan, count);
}
#endif

template <class T>
void run(const Scan<T>& scan, int count) {
#ifdef GOCT_HAS_AVX2_CLONES
    static const bool avx2 = cpu_has_avx2();
    if (avx2) return scan_column_avx2(scan, count);
#endif
    scan_column(scan, count);
}

template <class T>
class Scans final : public StumpScans {
public:
    Scans(const Costs& costs, Control& control) : costs_(costs), pace_(control) {}

    void load(const RankedNode& node) override {
        node_ = &node;
        const std::size_t rows = node.rows(), columns = node.columns();
        T* const groups = groups_.get(rows * columns);
        std::copy_n(node.group(0), rows * columns, groups);
        costs_.classes() == 2 ? load_two_classes() : load_classes();
    }

    void solve(int c, const int* thresholds, int count, Values& values) override {
        sum_up(c, thresholds, count, values);
        // Lanes without a threshold have everything on the right.
        T lanes[kMost] = {}, least[2][kMost] = {}, most[2][kMost] = {};
        for (int i = 0; i < count; ++i) lanes[i] = static_cast<T>(thresholds[i] + 1);
        const std::size_t rows = node_->rows();
        for (int d = 0; d < node_->columns(); ++d) {
            pace_.step(rows * ((count + Vec<T>::lanes - 1) / Vec<T>::lanes) * (two_classes() ? 2 : 8));
            Scan<T> scan{};
            scan.groups = node_->groups(d);
            scan.root_group = groups_.get(0) + c * rows;
            scan.thresholds = lanes;
            if (two_classes()) {
                scan.order = node_->order(d);
                scan.ends = node_->ends(d);
                scan.cost = cost_.get(0) + d * rows;
                for (int side = 0; side < 2; ++side) scan.least[side] = least[side], scan.most[side] = most[side];
            } else {
                scan.order = entry_row_.data() + d * entries_;
                scan.cost = cost_.get(0) + d * entries_;
                scan.label = entry_label_.data() + d * entries_;
                scan.ends = entry_ends_.data() + (node_->ends(d) - node_->ends(0));
                scan.classes = costs_.classes();
                scan.sums = sums_.get(2 * kMost * scan.classes);
                scan.halves = halves_.get(std::size_t(2) * kMost * scan.groups);
                for (int side = 0; side < 2; ++side) scan.gain[side] = most[side];
            }
            run(scan, count);
        }
        for (int side = 0; side < 2; ++side)
            for (int i = 0; i < count; ++i) {
                const PartSums& part = part_[side][i];
                values.stump[side][i] =
                    two_classes() ? part.first + std::min<std::int64_t>(part.beyond - most[side][i], least[side][i])
                                  : part.swing - most[side][i];
            }
    }

private:
    struct PartSums {
        std::int64_t first, beyond, swing;
    };

    bool two_classes() const { return costs_.classes() == 2; }

    void load_two_classes() {
        const std::size_t rows = node_->rows();
        T* cost = cost_.get(rows * node_->columns());
        beyond_.resize(rows);
        for (std::size_t i = 0; i < rows; ++i) beyond_[i] = static_cast<T>(*costs_.delta(node_->row(i)));
        for (int c = 0; c < node_->columns(); ++c)
            for (std::size_t k = 0; k < rows; ++k) *cost++ = beyond_[node_->order(c)[k]];
    }

    // What predicting a class saves beside the worst prediction.
    void load_classes() {
        const RankedNode& node = *node_;
        gains_.clear();
        gains_begin_.assign(1, 0);
        for (int i = 0; i < node.rows(); ++i) {
            const int r = node.row(i);
            for (int k = 0; k < costs_.classes(); ++k) {
                const std::int64_t gain = costs_.swing(r) - (costs_.cost(r, k) - costs_.base(r));
                if (gain > 0) gains_.push_back({static_cast<T>(gain), k});
            }
            gains_begin_.push_back(static_cast<int>(gains_.size()));
        }
        entries_ = gains_.size();
        T* cost = cost_.get(entries_ * node.columns());
        entry_row_.clear();
        entry_label_.clear();
        entry_ends_.clear();
        for (int c = 0; c < node.columns(); ++c) {
            int count = 0;
            for (int g = 0, k = 0; g < node.groups(c); ++g) {
                for (; k < node.ends(c)[g]; ++k) {
                    const int i = node.order(c)[k];
                    for (int e = gains_begin_[i]; e < gains_begin_[i + 1]; ++e, ++count) {
                        *cost++ = gains_[e].gain;
                        entry_row_.push_back(i);
                        entry_label_.push_back(gains_[e].label);
                    }
                }
                entry_ends_.push_back(count);
            }
        }
    }

    // The leaves of both sides of all thresholds.
    void sum_up(int c, const int* thresholds, int count, Values& values) {
        const int classes = costs_.classes();
        std::vector<std::int64_t> sums(classes, 0), all(classes, 0);
        std::int64_t swing = 0;
        const auto add = [&](int i, std::vector<std::int64_t>& to) {
            const int r = node_->row(i);
            for (int k = 0; k < classes; ++k) to[k] += costs_.cost(r, k) - costs_.base(r);
        };
        for (int i = 0; i < node_->rows(); ++i) add(i, all);
        for (int i = 0, k = 0; i < count; ++i) {
            for (; k < node_->ends(c)[thresholds[i]]; ++k) {
                add(node_->order(c)[k], sums);
                swing += costs_.swing(node_->row(node_->order(c)[k]));
            }
            std::int64_t rest = kInfinite;
            for (int m = 0; m < classes; ++m) rest = std::min(rest, all[m] - sums[m]);
            values.leaf[0][i] = *std::min_element(sums.begin(), sums.end());
            values.leaf[1][i] = rest;
            const auto beyond = [&](const auto& s) { return classes == 2 ? s[1] - s[0] : 0; };
            part_[0][i] = {sums[0], beyond(sums), swing};
            part_[1][i] = {all[0] - sums[0], beyond(all) - beyond(sums), node_->swing() - swing};
        }
    }

    struct Gain {
        T gain;
        int label;
    };

    const Costs& costs_;
    Pace pace_;
    const RankedNode* node_ = nullptr;
    Buffer<T> groups_, cost_, sums_, halves_;
    std::vector<T> beyond_;
    std::vector<Gain> gains_;
    std::vector<int> gains_begin_, entry_row_, entry_ends_;
    std::vector<int> entry_label_;
    std::size_t entries_ = 0;
    PartSums part_[2][kMost];
};

}  // namespace

std::unique_ptr<StumpScans> make_stump_scans(const Costs& costs, std::int64_t most_swing, Control& control) {
    // Without a minimum leaf weight every row has some swing, so groups are not more.
    const std::int64_t most = std::max<std::int64_t>(most_swing, costs.rows());
    if (most < std::numeric_limits<std::int16_t>::max()) return std::make_unique<Scans<std::int16_t>>(costs, control);
    if (most < std::numeric_limits<std::int32_t>::max()) return std::make_unique<Scans<std::int32_t>>(costs, control);
    return std::make_unique<Scans<std::int64_t>>(costs, control);
}

}  // namespace goct
