// Sums over rows of which each has a line: what it adds to the sums inside many features at once. Two classes.
#pragma once

#include <cstddef>

namespace goct {

template <class T>
struct CellLines {
    const T* cells;     // a line per row: its cost inside each feature, 0 outside
    int width;          // of lines, whole vectors
    const T* all;       // sums over all rows
};

// How far the sums inside any feature go, of the rows before an end and of those behind it; none at all is 0.
template <class T>
struct Reach {
    T least[2], most[2];
};

// For each of some ends in an order of rows. `sums` has room for as many lines.
template <class T>
void find_reach(const CellLines<T>& lines, const int* order, const int* ends, int count, T* sums, Reach<T>* reach);

// The other way round, by feature: how far the sums of the rows inside it, and outside it, that come before any of the ends
// go. `before` has what all rows before each end cost. The lines of `least` and `most`, inside [0] and outside [1], are
// lowered and raised.
template <class T>
void widen_reach(const CellLines<T>& lines, const int* order, const int* ends, const T* before, int count,
                 T* const (&least)[2], T* const (&most)[2]);

}  // namespace goct
