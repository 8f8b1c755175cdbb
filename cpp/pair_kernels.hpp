// The inner loops of the depth-two solver.
#pragma once

#include "control.hpp"

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

template <class T>
struct PairKernels {
    void (*count)(const PairSweep<T>&);         // rows to column and matrix
    void (*evaluate)(const PairSweep<T>&);      // column and matrix to gains
    void (*sweep)(const PairSweep<T>&);         // rows to column and gains, without a matrix
    // Column and gains of the rows left when those of `part` are taken out of those of `whole`.
    void (*evaluate_rest)(const PairSweep<T>&, const PairSweep<T>& whole, const PairSweep<T>& part);
};

// The best kernels for this processor. `weighted`: there is a minimum leaf weight.
template <class T>
PairKernels<T> pair_kernels(int planes, bool weighted);

}  // namespace goct
