#include "depth_two.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "buffer.hpp"
#include "pair_kernels.hpp"
#include "simd.hpp"

namespace goct {

class DepthTwo::Table {
public:
    virtual ~Table() = default;
    virtual DepthTwoValues solve(const Node& node, bool keep, Control* control, SideValues& sides) = 0;
    virtual DepthTwoValues solve_side(int f, bool inside, std::int64_t leaf) = 0;
    virtual const std::vector<std::int64_t>* overlaps(int f) const = 0;
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
        control_ = control;
        counted_ = -1;
        load(keep);
        if (keep) {
            kernels_.count(whole_.sweep);
            kernels_.evaluate(whole_.sweep);
        } else {
            kernels_.sweep(whole_.sweep);
        }
        read_sides(sides);
        return values(whole_.sweep, node.total().first, node.leaf());
    }

    DepthTwoValues solve_side(int f, bool inside, std::int64_t leaf) override {
        const bool count_inside = 2 * node_->inside(f).count <= node_->total().count;
        if (counted_ != f) {
            counted_ = -1;
            load_part(f, count_inside);
            kernels_.count(part_.sweep);
            counted_ = f;
        }
        const std::int64_t first = inside ? node_->inside(f).first : node_->outside(f).first;
        if (inside == count_inside) {
            kernels_.evaluate(part_.sweep);
            return values(part_.sweep, first, leaf);
        }
        for (int k = 0; k < planes_; ++k) rest_.total[k] = whole_.total[k] - part_.total[k];
        kernels_.evaluate_rest(rest_.sweep, whole_.sweep, part_.sweep);
        return values(rest_.sweep, first, leaf);
    }

    const std::vector<std::int64_t>* overlaps(int f) const override { return counted_ == f ? &overlap_ : nullptr; }

private:
    static constexpr T kNever = std::numeric_limits<T>::max() / 4;

    struct RowSet {
        PairSweep<T> sweep{};
        Buffer<T> lines, matrix;
        std::vector<int> row, bin_begin, bin_rows;
        std::vector<T> total;
    };

    std::int64_t value(int row, int plane) const {
        const bool weight = weighted_ && plane + 1 == planes_;
        return weight ? instance_.costs().weight(row) : instance_.costs().delta(row)[plane];
    }

    // What all row sets of the node have in common.
    void set_up(RowSet& set, int width, std::size_t matrix_lines) {
        const std::size_t stride = static_cast<std::size_t>(planes_) * width;
        PairSweep<T>& s = set.sweep;
        set.total.assign(planes_, 0);
        s.features = node_->features();
        s.width = width;
        s.planes = planes_;
        s.control = control_;
        s.chain_begin = node_->chain_begin();
        s.least = static_cast<T>(weighted_ ? std::min<std::int64_t>(instance_.costs().min_leaf_weight(), kNever) : 0);
        s.never = kNever;
        s.total = set.total.data();
        s.matrix = set.matrix.get(matrix_lines * stride);
        T* out = set.lines.get(stride + 5 * static_cast<std::size_t>(width));
        s.column = std::exchange(out, out + stride);
        for (T** line : {&s.inside_leaf, &s.outside_leaf, &s.inside_best, &s.outside_best, &s.best})
            *line = std::exchange(out, out + width);
    }

    // Lays out the cells of the node's rows.
    void load(bool keep) {
        const Node& node = *node_;
        const int lanes = Vec<T>::lanes, width = std::max((node.features() + lanes - 1) / lanes * lanes, lanes);
        const std::size_t stride = static_cast<std::size_t>(planes_) * width;
        set_up(whole_, width, keep ? node.features() : 1);
        T* const cells = cells_.get(node.rows() * stride);
        const auto of = [this](int row, int plane) { return value(row, plane); };
        lay_out_cells(node, planes_, width, of, cells, whole_.total.data());
        whole_.row.resize(node.rows());
        std::iota(whole_.row.begin(), whole_.row.end(), 0);
        whole_.sweep.rows = node.rows();
        whole_.sweep.row = whole_.row.data();
        whole_.sweep.cells = cells;
        whole_.sweep.bin_begin = node.bin_begin();
        whole_.sweep.bin_rows = node.bin_rows();
        if (keep) {
            set_up(part_, width, node.features());
            set_up(rest_, width, 0);
        }
    }

    // The rows of one side of f, by entry.
    void load_part(int f, bool inside) {
        const Node& node = *node_;
        if (inside) {
            const auto rows = node.inside_rows(f);
            part_.row.assign(rows.begin(), rows.end());
        } else {
            node.outside_rows(f, part_.row);
        }
        std::fill(part_.total.begin(), part_.total.end(), T{0});
        picked_.assign(node.rows(), 0);
        swing_.assign(node.rows(), 0);
        for (int r : part_.row) {
            picked_[r] = 1;
            swing_[r] = instance_.row(node.row(r)).swing;
            for (int k = 0; k < planes_; ++k) part_.total[k] += static_cast<T>(value(node.row(r), k));
        }
        // The node's bins, without the other rows; the swings in them add up along the way.
        part_.bin_begin.resize(node.features() + 1);
        part_.bin_rows.resize(node.bin_begin()[node.features()] + 1);
        overlap_.resize(node.features());
        int* const rows = part_.bin_rows.data();
        int kept = 0;
        for (int j = 0; j < node.features(); ++j) {
            part_.bin_begin[j] = kept;
            std::int64_t swing = 0;
            for (int i = node.bin_begin()[j]; i < node.bin_begin()[j + 1]; ++i) {
                const int r = node.bin_rows()[i];
                rows[kept] = r;
                kept += picked_[r];
                swing += swing_[r];
            }
            overlap_[j] = swing;
        }
        part_.bin_begin[node.features()] = kept;
        for (int j = node.features() - 2; j >= 0; --j)
            if (node.chain_begin()[j] == node.chain_begin()[j + 1]) overlap_[j] += overlap_[j + 1];
        if (!inside)
            for (int j = 0; j < node.features(); ++j) overlap_[j] = node.inside(j).swing - overlap_[j];
        part_.sweep.rows = static_cast<int>(part_.row.size());
        part_.sweep.row = part_.row.data();
        part_.sweep.cells = whole_.sweep.cells;
        part_.sweep.bin_begin = part_.bin_begin.data();
        part_.sweep.bin_rows = part_.bin_rows.data();
    }

    // Back to costs: a gain counts from what class 0 costs on those rows.
    std::int64_t cost(std::int64_t first, T gain) const {
        return weighted_ && gain > kNever / 2 ? kInfinite : first + gain;
    }

    DepthTwoValues values(const PairSweep<T>& s, std::int64_t first, std::int64_t leaf) const {
        DepthTwoValues best{leaf};
        for (int m = 1; m < 4; ++m) best[m] = std::min(best[m - 1], cost(first, s.best[m - 1]));
        return best;
    }

    void read_sides(SideValues& sides) const {
        const PairSweep<T>& s = whole_.sweep;
        for (auto* side : {&sides.inside_leaf, &sides.outside_leaf, &sides.inside_best, &sides.outside_best})
            side->resize(s.features);
        for (int f = 0; f < s.features; ++f) {
            const std::int64_t in = node_->inside(f).first, out = node_->total().first - in;
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
    Control* control_ = nullptr;
    int counted_ = -1;      // the feature whose smaller side is in part_
    std::vector<std::uint8_t> picked_;      // by row of the node: is it in part_?
    std::vector<std::int64_t> swing_;       // ... and its swing if so
    std::vector<std::int64_t> overlap_;
    Buffer<T> cells_;
    RowSet whole_, part_, rest_;
};

DepthTwo::DepthTwo(const Instance& instance, bool weighted, std::size_t bytes, Control& control)
    : instance_(instance), bytes_(bytes), control_(&control), weighted_(weighted) {}
DepthTwo::~DepthTwo() = default;

template <class T>
DepthTwo::Table& DepthTwo::table_of(std::unique_ptr<Table>& table) {
    if (!table) table = std::make_unique<TypedTable<T>>(instance_, planes(), weighted_);
    return *table;
}

DepthTwo::Table& DepthTwo::table_for(const Node& node) {
    const std::int64_t size = std::max(node.total().swing, weighted_ ? node.total().weight : 0);
    // Weighted tables need room for kNever, four of which fit a number.
    if (weighted_ && size >= std::int64_t{1} << 28) return table_of<std::int64_t>(table64_);
    if (weighted_) return table_of<std::int32_t>(table32_);
    if (size <= std::numeric_limits<std::int8_t>::max()) return table_of<std::int8_t>(table8_);
    if (size <= std::numeric_limits<std::int16_t>::max()) return table_of<std::int16_t>(table16_);
    if (size <= std::numeric_limits<std::int32_t>::max()) return table_of<std::int32_t>(table32_);
    return table_of<std::int64_t>(table64_);
}

DepthTwoValues DepthTwo::solve(const Node& node, SideValues& sides) {
    ++generation_;
    return table_for(node).solve(node, false, control_, sides);
}

bool DepthTwo::can_open(const Node& node) const {
    const double pairs = static_cast<double>(node.features()) * node.features();
    return 2 * pairs * planes() * sizeof(std::int64_t) <= static_cast<double>(bytes_);
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

const std::vector<std::int64_t>* DepthTwo::overlaps(Opened which, int f) const { return opened(which).overlaps(f); }

}  // namespace goct
