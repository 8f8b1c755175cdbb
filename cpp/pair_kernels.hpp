// The inner loops of the depth-two solver.
#pragma once

#include <algorithm>
#include <cstddef>

#include "control.hpp"
#include "node.hpp"

namespace goct {

// Everything about the pairs of features of one row set.
//
// `cells` holds, for each row, plane and feature, the row's delta if the row is inside the feature and 0 otherwise; the
// sum over the rows inside f is then one line of the matrix of pair counts. With a minimum leaf weight one more plane,
// the last, holds the row weights. Lines are padded with zeros to whole vectors. Of the line of f only the columns from
// the vector of its chain's first feature on are defined: the pairs before belong to the lines before.
template <class T>
struct PairSweep {
    int rows, features, width, planes;
    const int* row;            // which rows of `cells` to count
    const T* cells;            // planes x width per row
    const int* bin_begin;      // features + 1: the rows whose entry is f are ...
    const int* bin_rows;       // ... bin_rows[bin_begin[f]] to bin_rows[bin_begin[f + 1] - 1]
    const int* chain_begin;    // per feature
    T least;                   // minimum leaf weight; only read by the weighted kernels
    T never;                   // cost of a leaf below it
    const T* total;            // planes: sums over all rows
    T* column;                 // planes x width: sums inside each feature
    T* matrix;                 // features x planes x width: the lines; one line of scratch for `sweep`
    // Per feature: gain (never positive) over predicting class 0 everywhere, of the rows inside and outside it
    T* inside_leaf;            // ... as one leaf,
    T* outside_leaf;
    T* inside_best;            // ... with at most one more split.
    T* outside_best;
    Control* control;          // throw SearchStopped when it says so; null: never
    T* best;                   // 3: gain of the best tree with at most 1, 2 and 3 splits
};

// Lays the cells of a node's rows out, and sums them up; `value` is of a row of the problem and a plane.
template <class T, class Value>
void lay_out_cells(const Node& node, int planes, int width, Value&& value, T* cells, T* total) {
    const std::size_t stride = static_cast<std::size_t>(planes) * width;
    std::fill_n(cells, node.rows() * stride, T{0});
    for (int r = 0; r < node.rows(); ++r)
        for (int k = 0; k < planes; ++k) {
            const T own = static_cast<T>(value(node.row(r), k));
            total[k] += own;
            T* const line = cells + r * stride + static_cast<std::size_t>(k) * width;
            for (const int* e = node.entries_begin(r); e != node.entries_end(r); ++e)
                std::fill(line + node.chain_begin()[*e], line + *e + 1, own);
        }
}

template <class T>
struct PairKernels {
    void (*count)(const PairSweep<T>&);         // rows to column and matrix
    void (*evaluate)(const PairSweep<T>&);      // column and matrix to gains
    void (*sweep)(const PairSweep<T>&);         // rows to column and gains, without a matrix
    // Column and gains of the rows left when those of `part` are taken out of those of `whole`.
    void (*evaluate_rest)(const PairSweep<T>&, const PairSweep<T>& whole, const PairSweep<T>& part);
};

// Two planes, the costs of predicting class 0 and class 1, neither of them a delta; leaves that cost more than the
// limit of their class are not allowed. Counts and sets inside_best and outside_best, now to costs: `never` where there
// is no tree, which must be beyond every other cost.
template <class T>
using LimitedSweep = void (*)(const PairSweep<T>&, T limit_0, T limit_1);

template <class T>
LimitedSweep<T> limited_sweep(bool weighted);

// The best kernels for this processor. `weighted`: there is a minimum leaf weight.
template <class T>
PairKernels<T> pair_kernels(int planes, bool weighted);

}  // namespace goct
