// The inner loops of the depth-two solver: everything about the pairs of features of some rows of a node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "control.hpp"
#include "node.hpp"
#include "simd.hpp"

namespace goct {

// What a leaf below the minimum weight costs; four of them fit a number.
template <class T>
inline constexpr T kNever = std::numeric_limits<T>::max() / 4;

// What the kernels see of a PairSweep.
//
// `cells` holds, for each row, plane and feature, the row's delta if the row is inside the feature and 0 otherwise; the
// sum over the rows inside f is then one line of the matrix of pair counts. With a minimum leaf weight one more plane,
// the last, holds the row weights. Lines are padded with zeros to whole vectors. Of the line of f only the columns from
// the vector of its chain's first feature on are defined: the pairs before belong to the lines before.
template <class T>
struct PairView {
    int features, width, planes;
    int rows;                  // of the node; only read by the sweeps
    const T* cells;            // planes x width per row of the node
    const int* bin_begin;      // features + 1: the rows whose entry is f are ...
    const int* bin_rows;       // ... bin_rows[bin_begin[f]] to bin_rows[bin_begin[f + 1] - 1]
    const int* chain_begin;    // per feature
    T least;                   // minimum leaf weight; only read by the weighted kernels
    T limits[2];               // by class; only read by LimitedSweep
    const T* total;            // planes: sums over all rows
    T* column;                 // planes x width: sums inside each feature
    T* matrix;                 // lines of planes x width; the first is all zeros
    int* line;                 // per feature: its line. Features that hold the same rows may share one.
    // Per feature: gain (never positive) over predicting class 0 everywhere, of the rows inside and outside it
    T* inside_leaf;            // ... as one leaf,
    T* outside_leaf;
    T* inside_best;            // ... with at most one more split.
    T* outside_best;
    T* inside_most;            // scratch of the kernels for two classes
    T* outside_most;
    T* best;                   // 3: gain of the best tree with at most 1, 2 and 3 splits
    Control* control;          // throw SearchStopped when it says so
};

// Sets the cells of rows `begin` to `end` - 1 of the node; the values are by row and plane, and like the cells from row
// 0 on. One vector behind them is overwritten.
template <class T>
void lay_out_cells(const Node& node, int begin, int end, const T* values, int planes, int width, T* cells);

// Some rows of a node, and the memory for what the kernels find out about them.
template <class T>
class PairSweep {
public:
    // `lines`: of pair counts that are kept at once; one is enough to sweep.
    void reset(const Node& node, int planes, int lines, std::int64_t least, Control* control) {
        constexpr int lanes = Vec<T>::lanes;
        const int features = node.features(), width = std::max((features + lanes - 1) / lanes * lanes, lanes);
        const std::size_t stride = static_cast<std::size_t>(planes) * width;
        total_.assign(planes, 0);
        line_.resize(features);
        view_ = {};
        view_.features = features, view_.width = width, view_.planes = planes;
        view_.chain_begin = node.chain_begin();
        view_.least = static_cast<T>(std::min<std::int64_t>(least, kNever<T>));
        view_.total = total_.data();
        view_.matrix = matrix_.get((1 + lines) * stride);
        view_.line = line_.data();
        view_.control = control;
        T* out = lines_.get(stride + 7 * static_cast<std::size_t>(width));
        view_.column = std::exchange(out, out + stride);
        for (T** line : {&view_.inside_leaf, &view_.outside_leaf, &view_.inside_best, &view_.outside_best,
                         &view_.inside_most, &view_.outside_most, &view_.best})
            *line = std::exchange(out, out + width);
        std::fill_n(view_.matrix, stride, T{0});
        for (int k = 0; k < planes; ++k) std::fill_n(view_.column + k * width + features, width - features, T{0});
    }

    // All rows of the node; `value` is of a row of the problem and a plane.
    template <class Value>
    void set_rows(const Node& node, Value&& value) {
        const std::size_t stride = static_cast<std::size_t>(view_.planes) * view_.width;
        T* const cells = cells_.get(node.rows() * stride + Vec<T>::lanes);
        Pace pace(*view_.control);
        T* const values = values_.get(static_cast<std::size_t>(node.rows()) * view_.planes);
        for (int begin = 0, end; begin < node.rows(); begin = end) {
            end = std::min(begin + 256, node.rows());
            pace.step((end - begin) * stride);
            T* next = values + static_cast<std::size_t>(begin) * view_.planes;
            for (int r = begin; r < end; ++r)
                for (int k = 0; k < view_.planes; ++k, ++next)
                    total_[k] += *next = static_cast<T>(value(node.row(r), k));
            lay_out_cells(node, begin, end, values, view_.planes, view_.width, cells);
        }
        view_.rows = node.rows();
        view_.cells = cells;
        view_.bin_begin = node.bin_begin(), view_.bin_rows = node.bin_rows();
    }

    // Some rows of the node of another sweep, in bins.
    void set_rows(const PairSweep& whole, const std::vector<int>& bin_begin, const std::vector<int>& bin_rows) {
        view_.cells = whole.view_.cells;
        view_.bin_begin = bin_begin.data(), view_.bin_rows = bin_rows.data();
    }

    // The sums of the rows of another sweep that are inside or outside f.
    void set_total(const PairSweep& whole, int f, bool inside) {
        for (int k = 0; k < view_.planes; ++k) {
            const T sum = whole.view_.column[k * view_.width + f];
            total_[k] = inside ? sum : static_cast<T>(whole.total_[k] - sum);
        }
    }

    // Of two classes.
    void set_total(T sum) { total_[0] = sum; }

    const PairView<T>& view() const { return view_; }

private:
    PairView<T> view_{};
    Buffer<T> cells_, values_, lines_, matrix_;
    std::vector<T> total_;
    std::vector<int> line_;
};

template <class T>
struct PairKernels {
    void (*count)(const PairView<T>&);          // rows to column and matrix
    void (*evaluate)(const PairView<T>&);       // column and matrix to gains
    void (*trees)(const PairView<T>&);          // the last step of that: gains of the sides to those of the best trees
    void (*sweep)(const PairView<T>&);          // all rows of the node to column and gains, without a matrix
    // Column and gains of the rows left when those of `part` are taken out of those of `whole`.
    void (*evaluate_rest)(const PairView<T>&, const PairView<T>& whole, const PairView<T>& part);
    // How many of some rows are inside each feature, and the sums of their swings, both unsigned; rows that cost nothing are
    // left out.
    void (*tally)(const PairView<T>&, const int* rows, int count, T* counts, T* swings);
};

// Two planes, the costs of predicting class 0 and class 1, neither of them a delta; leaves that cost more than the
// limit of their class are not allowed. Counts and sets inside_best and outside_best, now to costs: kNever where there
// is no tree, which must be beyond every other cost.
template <class T>
using LimitedSweep = void (*)(const PairView<T>&, T limit_0, T limit_1);

template <class T>
LimitedSweep<T> limited_sweep(bool weighted);

// The best kernels for this processor. `weighted`: there is a minimum leaf weight, and T has more than 8 bits.
template <class T>
PairKernels<T> pair_kernels(int planes, bool weighted);

}  // namespace goct
