#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "buffer.hpp"
#include "line_kernels.hpp"
#include "simd.hpp"
#include "stumps.hpp"

namespace goct {
namespace {

// Thresholds are lanes. Those of one column cut the rows into buckets by their group; a row of bucket b is on the left
// of thresholds b, b + 1, ... A table has a line per bucket and value of the costs, which says what such a row adds to
// the left sides of all thresholds. If they are of several columns, every row gets a line of its own.
constexpr int kMost = StumpScans::kMost, kLines = kMost + 1;
// Columns with so many thresholds have few.
constexpr int kFew = 4;
// With more values than these the lines are masks, and the costs are looked up.
constexpr std::size_t kMostValues = 64;
static_assert(kMostValues * kLines <= 1 << 16);
// Large row sets with few values are scanned in blocks of about so many rows.
#ifdef NDEBUG
constexpr int kBlockRows = 256;
constexpr std::size_t kManyRows = 1 << 16, kFewValues = 8;
#else
constexpr int kBlockRows = 3;       // the tests treat every set so
constexpr std::size_t kManyRows = 0, kFewValues = kMostValues;
#endif

enum class Lines { values, masks, rows };

// One column, with its costs in runs: no best stump splits inside a run. Of two classes, there is one cost per row, of
// class 1 beyond class 0; of several, a row has some costs, each of which says what predicting a class saves, and a run
// has one class.
template <class T>
struct Scan {
    const int* order;           // costs
    Lines lines;
    const T* table;
    int stride;                 // of its lines
    const std::uint16_t* line;  // by cost, unless every row has a line
    const T* cost;              // by cost
    const int* ends;            // by run, in the order
    const T* all;               // by run: sum of it and those before it, of its class
    int runs;
    T *least[2], *most[2];      // two classes: of sums up to any run, per side. Several: most is the best of two leaves
    // Of several classes, by run:
    const int* label;
    const T* rest;              // sum of it and those behind it, of its class
    const T* is_cut;            // are all bits set: may a stump split behind it?
    int classes;
    T *sums, *halves;
};

template <class V, int Width>
struct Lanes {
    using T = typename V::Value;
    V v[Width];

    static GOCT_INLINE Lanes load(const T* p) {
        Lanes r;
        for (int i = 0; i < Width; ++i) r.v[i] = V::load(p + i * V::lanes);
        return r;
    }
    static GOCT_INLINE Lanes fill(T x) {
        Lanes r;
        for (int i = 0; i < Width; ++i) r.v[i] = V::fill(x);
        return r;
    }
    GOCT_INLINE void store(T* p) const {
        for (int i = 0; i < Width; ++i) v[i].store(p + i * V::lanes);
    }
    GOCT_INLINE void add_cost(const Scan<T>& scan, Lines kind, const T* table, int e) {
        const T* const line = kind == Lines::rows ? table + std::size_t(e) * scan.stride
                                                  : table + kMost * std::size_t{scan.line[e]};
        for (int i = 0; i < Width; ++i) {
            const V found = V::load(line + i * V::lanes);
            v[i] = v[i] + (kind == Lines::masks ? found & V::fill(scan.cost[e]) : found);
        }
    }
    friend GOCT_INLINE Lanes operator&(Lanes a, const Lanes& b) {
        for (int i = 0; i < Width; ++i) a.v[i] = a.v[i] & b.v[i];
        return a;
    }
    friend GOCT_INLINE Lanes operator+(Lanes a, const Lanes& b) {
        for (int i = 0; i < Width; ++i) a.v[i] = a.v[i] + b.v[i];
        return a;
    }
    friend GOCT_INLINE Lanes operator-(Lanes a, const Lanes& b) {
        for (int i = 0; i < Width; ++i) a.v[i] = a.v[i] - b.v[i];
        return a;
    }
    GOCT_INLINE void lower(const Lanes& by) {
        for (int i = 0; i < Width; ++i) v[i] = min(v[i], by.v[i]);
    }
    GOCT_INLINE void raise(const Lanes& by) {
        for (int i = 0; i < Width; ++i) v[i] = max(v[i], by.v[i]);
    }
};

template <class V, int Width, class T>
GOCT_INLINE void scan_two_classes(const Scan<T>& scan, Lines kind, int at) {
    using L = Lanes<V, Width>;
    const T* const table = scan.table + at;
    L left = L::fill(0);
    L least0 = L::load(scan.least[0] + at), least1 = L::load(scan.least[1] + at);
    L most0 = L::load(scan.most[0] + at), most1 = L::load(scan.most[1] + at);
    // Behind the last run there is nothing to split.
    for (int run = 0, k = 0; run < scan.runs - 1; ++run) {
        for (const int end = scan.ends[run]; k < end; ++k) left.add_cost(scan, kind, table, scan.order[k]);
        const L right = L::fill(scan.all[run]) - left;
        least0.lower(left);
        most0.raise(left);
        least1.lower(right);
        most1.raise(right);
    }
    least0.store(scan.least[0] + at);
    least1.store(scan.least[1] + at);
    most0.store(scan.most[0] + at);
    most1.store(scan.most[1] + at);
}

// Once from the left, keeping the best class so far after each run, and once from the right.
template <class V, int Width, class T>
GOCT_INLINE void scan_classes(const Scan<T>& scan, Lines kind, int at) {
    using L = Lanes<V, Width>;
    constexpr int lanes = Width * V::lanes;
    const T* const table = scan.table + at;
    L best0 = L::fill(0), best1 = L::fill(0);
    const auto add = [&](int run, int begin, int end, T all) GOCT_INLINE_LAMBDA {
        T* const sums = scan.sums + lanes * scan.label[run];
        L left = L::load(sums);
        for (int k = begin; k < end; ++k) left.add_cost(scan, kind, table, scan.order[k]);
        left.store(sums);
        best0.raise(left);
        best1.raise(L::fill(all) - left);
    };
    for (int k = 0; k < scan.classes; ++k) L::fill(0).store(scan.sums + lanes * k);
    for (int run = 0, k = 0; run < scan.runs - 1; ++run) {
        add(run, k, scan.ends[run], scan.all[run]);
        k = scan.ends[run];
        best0.store(scan.halves + 2 * lanes * run);
        best1.store(scan.halves + 2 * lanes * run + lanes);
    }
    L gain0 = L::load(scan.most[0] + at), gain1 = L::load(scan.most[1] + at);
    for (int k = 0; k < scan.classes; ++k) L::fill(0).store(scan.sums + lanes * k);
    best0 = best1 = L::fill(0);
    for (int run = scan.runs - 1; run > 0; --run) {
        add(run, scan.ends[run - 1], scan.ends[run], scan.rest[run]);
        const T* const halves = scan.halves + 2 * lanes * (run - 1);
        const L cut = L::fill(scan.is_cut[run - 1]);
        // Only where it is a cut are the rows of both halves different ones, and the sum in range.
        gain0.raise((best0 & cut) + (L::load(halves) & cut));
        gain1.raise((best1 & cut) + (L::load(halves + lanes) & cut));
    }
    gain0.store(scan.most[0] + at);
    gain1.store(scan.most[1] + at);
}

// Inlined with a constant kind, the loops are made for it.
template <class V, int Width, class T>
GOCT_INLINE void scan_any(const Scan<T>& scan, Lines kind, int at) {
    scan.label ? scan_classes<V, Width>(scan, kind, at) : scan_two_classes<V, Width>(scan, kind, at);
}

template <class V, int Width, class T>
GOCT_INLINE void scan_lanes(const Scan<T>& scan, int at) {
    switch (scan.lines) {
        case Lines::values: return scan_any<V, Width>(scan, Lines::values, at);
        case Lines::masks: return scan_any<V, Width>(scan, Lines::masks, at);
        case Lines::rows: return scan_any<V, Width>(scan, Lines::rows, at);
    }
}

#ifdef GOCT_HAS_AVX2_CLONES
template <class T>
GOCT_TARGET_AVX2 void scan_column_avx2(const Scan<T>& scan, int count) {
    constexpr int lanes = Vec<T>::lanes;
    int at = 0;
    if constexpr (sizeof(T) == 8) {     // rarely: one loop for all kinds of lines and numbers of vectors
        for (; at < count; at += 2 * lanes) scan_any<Vec<T>, 2>(scan, scan.lines, at);
    } else {
        for (; at + lanes < count; at += 2 * lanes) scan_lanes<Vec<T>, 2>(scan, at);
        if (at < count) scan_lanes<Vec<T>, 1>(scan, at);
    }
}
#endif

template <class T>
void run(const Scan<T>& scan, int count) {
    using V = Vec<T, kPortableBytes>;
#ifdef GOCT_HAS_AVX2_CLONES
    if (sizeof(T) < 4 || cpu_has_avx2()) return scan_column_avx2(scan, count);
    // Few processors come here, so one loop is enough for them, too.
    if constexpr (sizeof(T) >= 4)
        for (int at = 0; at < count; at += 2 * V::lanes) scan_any<V, 2>(scan, scan.lines, at);
#else
    for (int at = 0; at < count; at += 2 * V::lanes) scan_lanes<V, 2>(scan, at);
#endif
}

// Two classes, many rows, and wide numbers, of which few fit a register. Counting the rows of a block by line is faster than
// adding them up, and says how far the sums can go inside the block. Only where that is beyond what the ends of all
// blocks reach, the block is read again.
template <class T>
class BlockScan {
public:
    // The values of the costs, and for each block of a column its first run, then the number of runs.
    void run(const Scan<T>& scan, const std::vector<std::int64_t>& values, const int* blocks, int count_of_blocks, int lanes) {
        blocks_.resize(count_of_blocks);
        std::array<T, kMost> left{};
        for (int b = 0; b < count_of_blocks; ++b) {
            const int from = first_row(scan, blocks[b]), to = scan.ends[blocks[b + 1] - 1];
            Block& block = blocks_[b];
            block.left = left;
            block.all = blocks[b] ? scan.all[blocks[b] - 1] : 0;
            count(scan, values, from, to, block);
            for (int i = 0; i < kMost; ++i) left[i] += block.rise[i] + block.fall[i];
            if (b + 1 < count_of_blocks) reach(scan, left, scan.all[blocks[b + 1] - 1]);
        }
        for (int b = 0; b < count_of_blocks; ++b)
            if (blocks[b + 1] - blocks[b] > 1 && is_beyond(scan, blocks_[b], lanes))
                read_again(scan, blocks_[b], blocks[b], blocks[b + 1]);
    }

private:
    struct Block {
        std::array<T, kMost> left;          // sums before it
        std::array<T, kMost> rise, fall;    // of its positive and negative costs on the left
        T all, all_rise, all_fall;          // the same for both sides
    };

    static int first_row(const Scan<T>& scan, int run) { return run ? scan.ends[run - 1] : 0; }

    void count(const Scan<T>& scan, const std::vector<std::int64_t>& values, int from, int to, Block& block) {
        counts_.assign(values.size() * kLines, 0);
        for (int k = from; k < to; ++k) ++counts_[scan.line[scan.order[k]]];
        std::array<T, kLines> up{}, down{};
        for (std::size_t v = 0; v < values.size(); ++v)
            for (int bucket = 0; bucket < kLines; ++bucket)
                (values[v] > 0 ? up : down)[bucket] += static_cast<T>(values[v] * counts_[v * kLines + bucket]);
        T rise = 0, fall = 0;
        for (int i = 0; i < kMost; ++i) {
            block.rise[i] = rise += up[i];
            block.fall[i] = fall += down[i];
        }
        block.all_rise = rise + up[kMost];
        block.all_fall = fall + down[kMost];
    }

    static void reach(const Scan<T>& scan, const std::array<T, kMost>& left, T all) {
        for (int i = 0; i < kMost; ++i) {
            const T right = all - left[i];
            scan.least[0][i] = std::min(scan.least[0][i], left[i]);
            scan.most[0][i] = std::max(scan.most[0][i], left[i]);
            scan.least[1][i] = std::min(scan.least[1][i], right);
            scan.most[1][i] = std::max(scan.most[1][i], right);
        }
    }

    static bool is_beyond(const Scan<T>& scan, const Block& block, int lanes) {
        for (int i = 0; i < lanes; ++i) {
            const T left = block.left[i], right = block.all - left;
            if (left + block.fall[i] < scan.least[0][i] || left + block.rise[i] > scan.most[0][i] ||
                right + (block.all_fall - block.fall[i]) < scan.least[1][i] ||
                right + (block.all_rise - block.rise[i]) > scan.most[1][i])
                return true;
        }
        return false;
    }

    static void read_again(const Scan<T>& scan, const Block& block, int first, int last) {
        std::array<T, kMost> left = block.left;
        for (int run = first, k = first_row(scan, first); run < last - 1; ++run) {
            for (; k < scan.ends[run]; ++k) {
                const T* const line = scan.table + kMost * std::size_t{scan.line[scan.order[k]]};
                for (int i = 0; i < kMost; ++i) left[i] += line[i];
            }
            reach(scan, left, scan.all[run]);
        }
    }

    std::vector<Block> blocks_;
    std::vector<std::uint32_t> counts_;     // by line
};

// A node's costs, in runs by column, and the leaves of its thresholds: what the numbers of the scans do not matter for.
class NodeCosts : public StumpScans {
protected:
    NodeCosts(const Costs& costs, Control& control) : costs_(costs), pace_(control) {
        for (int r = 0; r < costs.rows(); ++r)
            each_cost(r, [&](std::int64_t cost, int) { values_.push_back(cost); });
        std::sort(values_.begin(), values_.end());
        values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
        masked_ = values_.size() > kMostValues;
        if (masked_) values_.assign(1, -1);
    }

    bool two_classes() const { return costs_.classes() == 2; }

    template <class Visit>
    void each_cost(int r, Visit&& visit) const {
        if (two_classes()) return visit(*costs_.delta(r), 0);
        for (int k = 0; k < costs_.classes(); ++k) {
            const std::int64_t gain = costs_.swing(r) - (costs_.cost(r, k) - costs_.base(r));
            if (gain > 0) visit(gain, k);
        }
    }

    void read(const RankedNode& node) {
        node_ = &node;
        for (auto* list : {&row_, &label_, &order_, &run_begin_, &run_end_, &run_label_, &scanned_}) list->clear();
        few_.clear();
        for (auto* list : {&cost_, &avoidable_, &run_all_, &run_rest_}) list->clear();
        run_cut_.clear();
        first_.assign(1, 0);
        total_.assign(costs_.classes() + 1, 0);
        for (int i = 0; i < node.rows(); ++i) {
            const int r = node.row(i);
            for (int k = 0; k < costs_.classes(); ++k) {
                avoidable_.push_back(costs_.cost(r, k) - costs_.base(r));
                total_[k] += avoidable_.back();
            }
            total_.back() += costs_.swing(r);
            each_cost(r, [&](std::int64_t cost, int label) {
                row_.push_back(i);
                label_.push_back(label);
                cost_.push_back(cost);
            });
            first_.push_back(static_cast<int>(row_.size()));
        }
        for (int c = 0; c < node.columns(); ++c) {
            pace_.step(8 * row_.size());
            if (two_classes() && node.groups(c) <= kFew + 1) {
                for (int t = 0; t + 1 < node.groups(c); ++t) few_.push_back({c, t});
                continue;
            }
            scanned_.push_back(c);
            run_begin_.push_back(static_cast<int>(run_end_.size()));
            add_runs(c);
            sum_runs();
        }
        run_begin_.push_back(static_cast<int>(run_end_.size()));
        first_line_.clear();
        for (const std::int64_t cost : cost_) {
            const auto value = std::lower_bound(values_.begin(), values_.end(), cost);
            first_line_.push_back(masked_ ? 0 : kLines * static_cast<int>(value - values_.begin()));
        }
        line_.resize(row_.size());
    }

    // The runs of each column in blocks.
    void add_blocks() {
        block_.clear();
        block_begin_.assign(1, 0);
        for (std::size_t d = 0; d < scanned_.size(); ++d) {
            const int* const ends = run_end_.data() + run_begin_[d];
            const int runs = run_begin_[d + 1] - run_begin_[d];
            for (int run = 0, end = 0; run < runs; ++run) {
                if (run > 0 && ends[run] <= end) continue;
                block_.push_back(run);
                end = (run ? ends[run - 1] : 0) + kBlockRows;
            }
            block_.push_back(runs);
            block_begin_.push_back(static_cast<int>(block_.size()));
        }
    }

    void fill_lines(int c) {
        const int* const group = node_->group(c);
        for (std::size_t e = 0; e < row_.size(); ++e)
            line_[e] = static_cast<std::uint16_t>(first_line_[e] + bucket_[group[row_[e]]]);
    }

    // In which bucket each group of the thresholds' column is.
    void find_buckets(const Lane* lanes, int count) {
        const int c = lanes[0].column;
        bucket_.clear();
        for (int g = 0, b = 0; g < node_->groups(c); ++g) {
            while (b < count && lanes[b].threshold < g) ++b;
            bucket_.push_back(b);
        }
    }

    // The leaves of both sides of all thresholds of a column.
    void add_buckets(int c, int count, Values& values) {
        const int classes = costs_.classes();
        const int* const group = node_->group(c);
        bucket_sums_.assign(std::size_t(kLines) * (classes + 1), 0);
        for (int i = 0; i < node_->rows(); ++i) {
            std::int64_t* const sums = bucket_sums_.data() + std::size_t(bucket_[group[i]]) * (classes + 1);
            const std::int64_t* const costs = avoidable_.data() + std::size_t(i) * classes;
            std::int64_t most = 0;
            for (int k = 0; k < classes; ++k) sums[k] += costs[k], most = std::max(most, costs[k]);
            sums[classes] += most;
        }
        std::vector<std::int64_t> left(classes + 1, 0), right(classes + 1, 0);
        for (int b = 0; b <= count; ++b)
            for (int k = 0; k <= classes; ++k) right[k] += bucket_sums_[std::size_t(b) * (classes + 1) + k];
        for (int i = 0; i < count; ++i) {
            for (int k = 0; k <= classes; ++k) {
                left[k] += bucket_sums_[std::size_t(i) * (classes + 1) + k];
                right[k] -= bucket_sums_[std::size_t(i) * (classes + 1) + k];
            }
            set_leaves(i, left, right, values);
        }
    }

    // The same for one threshold.
    void add_lane(const Lane& lane, int i, Values& values) {
        const int classes = costs_.classes();
        std::vector<std::int64_t> left(classes + 1, 0), right(total_);
        const int* const order = node_->order(lane.column);
        for (int k = 0; k < node_->ends(lane.column)[lane.threshold]; ++k) {
            const std::int64_t* const costs = avoidable_.data() + std::size_t(order[k]) * classes;
            for (int m = 0; m < classes; ++m) left[m] += costs[m];
            left[classes] += *std::max_element(costs, costs + classes);
        }
        for (int m = 0; m <= classes; ++m) right[m] -= left[m];
        set_leaves(i, left, right, values);
    }

    // The sums are by class, and the swing.
    void set_leaves(int i, const std::vector<std::int64_t>& left, const std::vector<std::int64_t>& right,
                    Values& values) {
        for (int side = 0; side < 2; ++side) {
            const auto& sums = side ? right : left;
            values.leaf[side][i] = *std::min_element(sums.begin(), sums.end() - 1);
            part_[side][i] = {sums[0], sums[1] - sums[0], sums.back()};
        }
    }

    struct PartSums {
        std::int64_t first, beyond, swing;
    };

    const Costs& costs_;
    Pace pace_;
    std::vector<std::int64_t> values_;          // of the costs
    bool masked_ = false;

    // About the node: its costs, by row; the columns that are scanned, the order of each, its runs.
    const RankedNode* node_ = nullptr;
    std::vector<int> scanned_;
    std::vector<std::int64_t> avoidable_;       // by row and class
    std::vector<std::int64_t> total_;           // by class, and the swing
    std::vector<int> row_, label_;              // by cost
    std::vector<std::int64_t> cost_;
    std::vector<int> first_;                    // by row: its first cost
    std::vector<int> order_, run_begin_, run_end_, run_label_;
    std::vector<std::int64_t> run_all_, run_rest_;
    std::vector<bool> run_cut_;
    std::vector<int> first_line_;               // by cost
    std::vector<int> block_, block_begin_;      // where blocks begin, and the number of runs; by column

    // About the thresholds of a call.
    std::vector<int> bucket_;                   // by group
    std::vector<std::uint16_t> line_;           // by cost
    std::vector<std::int64_t> bucket_sums_;
    PartSums part_[2][kMost];

private:
    // What all costs of some rows have in common: their sign or class; kNone without costs, kMixed if they differ.
    static constexpr int kNone = -2, kMixed = -3;
    int kind(int e) const { return two_classes() ? (cost_[e] > 0) - (cost_[e] < 0) : label_[e]; }
    static int common(int a, int b) { return a == kNone || a == b ? b : b == kNone ? a : kMixed; }

    // Groups of one kind are a run: a stump is best with all or none of it on a side, because every sum over a part of it
    // rises or falls from one end to the other (two classes), and the sum of two maxima of linear functions is convex
    // (several). Of several classes a mixed group is a run per class, and is cut only behind the last one.
    void add_runs(int c) {
        const int *const order = node_->order(c), *const ends = node_->ends(c);
        const auto before = order_.size();
        int last = kNone;
        for (int g = 0, k = 0; g < node_->groups(c); ++g) {
            const auto begin = order_.size();
            int all = kNone;
            for (; k < ends[g]; ++k)
                for (int e = first_[order[k]]; e < first_[order[k] + 1]; ++e) {
                    order_.push_back(e);
                    all = common(all, two_classes() && cost_[e] == 0 ? kNone : kind(e));
                }
            if (last == kMixed || common(last, all) == kMixed) {
                close_run(static_cast<int>(begin - before), true);
                last = kNone;
            }
            last = common(last, all);
            if (last != kMixed || two_classes()) continue;
            std::stable_sort(order_.begin() + begin, order_.end(), [&](int e, int f) { return label_[e] < label_[f]; });
            for (auto e = begin + 1; e < order_.size(); ++e)
                if (label_[order_[e]] != label_[order_[e - 1]]) close_run(static_cast<int>(e - before), false);
        }
        close_run(static_cast<int>(order_.size() - before), true);
        if (two_classes()) put_longest_last();
    }

    // The last column from behind, if that saves more: sums from the other end do as well, and the last run is not read.
    void put_longest_last() {
        const auto ends = run_end_.begin() + run_begin_.back(), last = run_end_.end() - 1;
        const int all = *last;
        if (ends == last || *ends <= all - *(last - 1)) return;
        std::reverse(order_.end() - all, order_.end());
        std::reverse(ends, last);
        for (auto end = ends; end != last; ++end) *end = all - *end;
    }

    void close_run(int end, bool is_cut) {
        run_end_.push_back(end);
        run_cut_.push_back(is_cut);
    }

    // The sums of the last column's runs.
    void sum_runs() {
        const int* const order = order_.data() + order_.size() - row_.size();
        std::vector<std::int64_t> sums(costs_.classes(), 0);
        const int begin = run_begin_.back(), end = static_cast<int>(run_end_.size());
        const auto each_run = [&](auto&& visit) {
            for (int run = begin, k = 0; run < end; ++run) {
                const int label = k < run_end_[run] ? label_[order[k]] : 0;
                std::int64_t sum = 0;
                for (; k < run_end_[run]; ++k) sum += cost_[order[k]];
                visit(label, sum);
            }
        };
        each_run([&](int label, std::int64_t sum) {
            sums[label] += sum;
            run_label_.push_back(label);
            run_all_.push_back(sums[label]);
        });
        if (two_classes()) return;
        each_run([&](int label, std::int64_t sum) {
            run_rest_.push_back(sums[label]);
            sums[label] -= sum;
        });
    }
};

template <class T>
class Scans final : public NodeCosts {
public:
    Scans(const Costs& costs, Control& control) : NodeCosts(costs, control) {
        for (const std::int64_t value : values_)
            for (int bucket = 0; bucket < kLines; ++bucket)
                for (int i = 0; i < kMost; ++i) table_.push_back(i < bucket ? T{0} : static_cast<T>(value));
    }

    void load(const RankedNode& node) override {
        read(node);
        cost_of_.assign(cost_.begin(), cost_.end());
        all_.assign(run_all_.begin(), run_all_.end());
        rest_.assign(run_rest_.begin(), run_rest_.end());
        cut_.clear();
        for (const bool is_cut : run_cut_) cut_.push_back(static_cast<T>(is_cut ? -1 : 0));
        if (in_blocks()) add_blocks();
        lay_out_few();
    }

    void solve(const Lane* lanes, int count, Values& values) override {
        const bool is_one_column = lanes[0].column == lanes[count - 1].column;
        if (is_one_column) {
            find_buckets(lanes, count);
            fill_lines(lanes[0].column);
            add_buckets(lanes[0].column, count, values);
        } else {
            fill_rows(lanes, count);
            for (int i = 0; i < count; ++i) add_lane(lanes[i], i, values);
        }
        T least[2][kMost] = {}, most[2][kMost] = {};
        if (few_lines_.width > 0) reach_few(lanes, count, least, most);
        for (std::size_t d = 0; d < scanned_.size(); ++d) {
            pace_.step(row_.size() * count / 8 + 1);
            Scan<T> scan = scan_of(d);
            scan.lines = !is_one_column ? Lines::rows : masked_ ? Lines::masks : Lines::values;
            scan.table = is_one_column ? table_.data() : rows_.get(0);
            scan.stride = kMost;
            scan.line = line_.data();
            for (int side = 0; side < 2; ++side) scan.least[side] = least[side], scan.most[side] = most[side];
            if (!two_classes()) {
                const int begin = run_begin_[d];
                scan.label = run_label_.data() + begin;
                scan.rest = rest_.data() + begin;
                scan.is_cut = cut_.data() + begin;
                scan.classes = costs_.classes();
                scan.sums = sums_.get(std::size_t(kMost) * scan.classes);
                scan.halves = halves_.get(std::size_t(2) * kMost * scan.runs);
            }
            if constexpr (kMayBlock)
                if (is_one_column && in_blocks()) {
                    const int first = block_begin_[d];
                    block_scan_.run(scan, values_, block_.data() + first, block_begin_[d + 1] - first - 1, count);
                    continue;
                }
            run(scan, count);
        }
        for (int side = 0; side < 2; ++side)
            for (int i = 0; i < count; ++i)
                values.stump[side][i] =
                    std::min(values.leaf[side][i], split_cost(part_[side][i], least[side][i], most[side][i]));
    }

    void solve_few(std::vector<Sides>& sides) override {
        sides.resize(few_.size());
        const int width = few_lines_.width, few = static_cast<int>(few_.size());
        T *least[2], *most[2];
        T* line = few_reach_.get(std::size_t(4) * width);
        std::fill_n(line, std::size_t(4) * width, T{0});
        for (T** each : {&least[0], &least[1], &most[0], &most[1]}) *each = std::exchange(line, line + width);
        for (int i = 0, last; i < few; i = last) {
            for (last = i + 1; last < few && few_[last].column == few_[i].column;) ++last;
            reach_column(few_.data() + i, last - i, [&](int j, const Reach<T>& reach) {
                for (int side = 0; side < 2; ++side)
                    least[side][i + j] = reach.least[side], most[side][i + j] = reach.most[side];
            });
        }
        for (std::size_t d = 0; d < scanned_.size(); ++d) {
            pace_.step(row_.size() * few / 8 + 1);
            Scan<T> scan = scan_of(d);
            scan.lines = Lines::rows;
            scan.table = few_lines_.cells;
            scan.stride = width;
            for (int side = 0; side < 2; ++side) scan.least[side] = least[side], scan.most[side] = most[side];
            run(scan, few);
        }
        const std::int64_t first = total_[0], beyond = total_[1] - total_[0];
        for (int i = 0; i < few; ++i) {
            const PartSums left{few_first_[i], few_all_[i], 0}, right{first - left.first, beyond - left.beyond, 0};
            for (int side = 0; side < 2; ++side) {
                const PartSums& part = side ? right : left;
                sides[i].leaf[side] = part.first + std::min<std::int64_t>(part.beyond, 0);
                sides[i].stump[side] =
                    std::min(sides[i].leaf[side], split_cost(part, least[side][i], most[side][i]));
            }
        }
    }

private:
    Scan<T> scan_of(std::size_t d) const {
        const int begin = run_begin_[d];
        Scan<T> scan{};
        scan.order = order_.data() + d * row_.size();
        scan.cost = cost_of_.data();
        scan.ends = run_end_.data() + begin;
        scan.all = all_.data() + begin;
        scan.runs = run_begin_[d + 1] - begin;
        return scan;
    }

    // The best stump of a part, from how far the sums of its costs go.
    std::int64_t split_cost(const PartSums& part, T least, T most) const {
        return two_classes() ? part.first + std::min<std::int64_t>(part.beyond - most, least) : part.swing - most;
    }

    // ---- columns with few thresholds ----

    void lay_out_few() {
        const int few = static_cast<int>(few_.size()), width = (few + kMost - 1) / kMost * kMost;
        few_lines_ = {};
        if (few == 0) return;
        const std::size_t rows = row_.size();
        T* const cells = cells_.get((rows + 1) * width);
        std::fill_n(cells, (rows + 1) * width, T{0});
        T* const all = cells + rows * width;
        few_first_.assign(few, 0);
        few_all_.assign(few, 0);
        for (int i = 0; i < few; ++i) {
            const auto [c, t] = few_[i];
            const int *const order = node_->order(c), *const ends = node_->ends(c);
            for (int k = 0; k < ends[t]; ++k) {
                const int row = order[k];
                cells[std::size_t(row) * width + i] = cost_of_[row];
                few_first_[i] += avoidable_[2 * std::size_t(row)];
                few_all_[i] += cost_[row];
            }
            pace_.step(8 * ends[t]);
            all[i] = static_cast<T>(few_all_[i]);
        }
        few_lines_ = {cells, width, all};
    }

    // Says of thresholds of one column how far the sums on both sides go.
    template <class Visit>
    void reach_column(const Lane* lanes, int count, Visit&& visit) {
        int ends[kMost];
        Reach<T> reach[kMost];
        const int c = lanes[0].column;
        for (int i = 0; i < count; ++i) ends[i] = lanes[i].threshold < 0 ? 0 : node_->ends(c)[lanes[i].threshold];
        pace_.step(static_cast<std::size_t>(ends[count - 1]) * few_lines_.width / 8);
        find_reach(few_lines_, node_->order(c), ends, count, before_.get(std::size_t(kMost) * few_lines_.width), reach);
        for (int i = 0; i < count; ++i) visit(i, reach[i]);
    }

    void reach_few(const Lane* lanes, int count, T (&least)[2][kMost], T (&most)[2][kMost]) {
        for (int i = 0, last; i < count; i = last) {
            for (last = i + 1; last < count && lanes[last].column == lanes[i].column;) ++last;
            reach_column(lanes + i, last - i, [&](int j, const Reach<T>& reach) {
                for (int side = 0; side < 2; ++side)
                    least[side][i + j] = reach.least[side], most[side][i + j] = reach.most[side];
            });
        }
    }

    static constexpr bool kMayBlock = sizeof(T) > 2;

    bool in_blocks() const {
        return kMayBlock && two_classes() && !masked_ && values_.size() <= kFewValues && row_.size() >= kManyRows;
    }

    void fill_rows(const Lane* lanes, int count) {
        T* line = rows_.get(row_.size() * kMost);
        const int* groups[kMost];
        for (int i = 0; i < count; ++i) groups[i] = node_->group(lanes[i].column);
        for (std::size_t e = 0; e < row_.size(); ++e, line += kMost) {
            for (int i = 0; i < count; ++i) line[i] = groups[i][row_[e]] <= lanes[i].threshold ? cost_of_[e] : 0;
            std::fill(line + count, line + kMost, T{0});    // whole vectors are added
        }
        pace_.step(row_.size() * count);
    }

    std::vector<T> table_;

    // About the node, in these numbers: its costs; its runs.
    std::vector<T> cost_of_, all_, rest_, cut_;
    BlockScan<T> block_scan_;
    CellLines<T> few_lines_{};
    std::vector<std::int64_t> few_first_, few_all_;     // sums of the rows on the left, see PartSums
    Buffer<T> cells_, before_, few_reach_;

    // About the thresholds of a call.
    Buffer<T> rows_;                            // a line per cost
    Buffer<T> sums_, halves_;
};

}  // namespace

std::unique_ptr<StumpScans> make_stump_scans(const Costs& costs, std::int64_t most_swing, Control& control) {
    if (has_loops_for<std::int16_t>() && most_swing < std::numeric_limits<std::int16_t>::max())
        return std::make_unique<Scans<std::int16_t>>(costs, control);
    if (most_swing < std::numeric_limits<std::int32_t>::max())
        return std::make_unique<Scans<std::int32_t>>(costs, control);
    return std::make_unique<Scans<std::int64_t>>(costs, control);
}

}  // namespace goct
