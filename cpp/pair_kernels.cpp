#include "pair_kernels.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "simd.hpp"

namespace goct {
namespace {

// The functions below take the sweep by value: a local copy cannot be changed by the stores, so it stays in registers.

// `Vectors` vectors of a line, in one plane: those of `previous` plus the cells of some rows, which are given by their
// numbers or, without, all up to `count`. The vectors stay in registers over all rows.
template <int Vectors, class T>
GOCT_INLINE void add_to_vectors(const T* cells, std::size_t stride, const int* rows, int count, const T* previous,
                                T* line) {
    using V = Vec<T>;
    V sum[Vectors];
    for (int i = 0; i < Vectors; ++i) sum[i] = V::load(previous + i * V::lanes);
    for (int r = 0; r < count; ++r) {
        const T* cell = cells + (rows ? rows[r] : r) * stride;
        for (int i = 0; i < Vectors; ++i) sum[i] = sum[i] + V::load(cell + i * V::lanes);
    }
    for (int i = 0; i < Vectors; ++i) sum[i].store(line + i * V::lanes);
}

// Calls block(n, j) for the columns from `from` to `to`, up to four vectors at a time; n is how many, as a type.
template <class T, class Block>
GOCT_INLINE void in_blocks(int from, int to, Block&& block) {
    constexpr int lanes = Vec<T>::lanes;
    int j = from;
    for (; j + 4 * lanes <= to; j += 4 * lanes) block(std::integral_constant<int, 4>{}, j);
    switch ((to - j) / lanes) {
        case 3: return block(std::integral_constant<int, 3>{}, j);
        case 2: return block(std::integral_constant<int, 2>{}, j);
        case 1: return block(std::integral_constant<int, 1>{}, j);
    }
}

template <class T>
GOCT_INLINE void add_rows(const T* cells, std::size_t stride, const int* rows, int count, const T* previous, T* line,
                          int from, int to) {
    in_blocks<T>(from, to, [=](auto vectors, int j) GOCT_INLINE_LAMBDA {
        add_to_vectors<vectors>(cells + j, stride, rows, count, previous + j, line + j);
    });
}

template <class T, bool Weighted>
GOCT_INLINE Vec<T> leaf_gain(Vec<T> gain, Vec<T> weight, Vec<T> least, Vec<T> never) {
    if constexpr (Weighted) return where_less(weight, least, never, gain);
    return gain;
}

// How many of some rows are inside each feature, and the sums of their swings. Rows without any cost do not count.
template <class T, int Planes, bool Weighted>
GOCT_INLINE void tally_rows(const PairView<T> s, const int* rows, int count, T* counts, T* swings) {
    using V = Vec<T>;
    const int planes = Planes ? Planes : s.planes, deltas = planes - Weighted;
    const std::size_t stride = static_cast<std::size_t>(planes) * s.width;
    in_blocks<T>(0, s.width, [=](auto vectors, int j) GOCT_INLINE_LAMBDA {
        const V zero = V::fill(0);
        V number[vectors], swing[vectors];
        for (int i = 0; i < vectors; ++i) number[i] = swing[i] = zero;
        for (int r = 0; r < count; ++r)
            for (int i = 0; i < vectors; ++i) {
                const T* cell = s.cells + rows[r] * stride + j + i * V::lanes;
                V most = V::load(cell), least = most;
                for (int k = 1; k < deltas; ++k) {
                    const V delta = V::load(cell + k * s.width);
                    most = max(most, delta), least = min(least, delta);
                }
                V own = Planes == 1 ? max(most, zero - most) : max(most, zero) - min(least, zero);
                swing[i] = swing[i] + own;
                if constexpr (Weighted) own = max(own, V::load(cell + deltas * s.width));
                number[i] = number[i] - less(zero, own);
            }
        for (int i = 0; i < vectors; ++i) {
            number[i].store(counts + j + i * V::lanes);
            swing[i].store(swings + j + i * V::lanes);
        }
    });
}

// See lay_out_cells.
template <class T>
GOCT_INLINE void fill_cells(const Node& node, int begin, int end, const T* values, int planes, int width, T* cells) {
    using V = Vec<T>;
    const int* const chain_begin = node.chain_begin();
    const V zero = V::fill(0);
    values += static_cast<std::size_t>(begin) * planes;
    cells += static_cast<std::size_t>(begin) * planes * width;
    for (int r = begin; r < end; ++r) {
        for (int j = 0; j < planes * width; j += V::lanes) zero.store(cells + j);
        for (int k = 0; k < planes; ++k, cells += width) {
            // Whole vectors from the first feature of the chain to the entry; what they are too long is put right by
            // zeros, and by the entries after.
            const V own = V::fill(*values++);
            for (const int *e = node.entries_begin(r), *last = node.entries_end(r); e != last; ++e) {
                const int entry = *e;
                for (int j = chain_begin[entry]; j <= entry; j += V::lanes) own.store(cells + j);
                zero.store(cells + entry + 1);
            }
        }
    }
}

// What each feature gives as a single split.
template <class T, int Planes, bool Weighted>
GOCT_INLINE void single_splits(const PairView<T> s) {
    using V = Vec<T>;
    const int planes = Planes ? Planes : s.planes, deltas = planes - Weighted;
    const V zero = V::fill(0), least = V::fill(s.least), never = V::fill(kNever<T>);
    for (int j = 0; j < s.width; j += V::lanes) {
        V in = zero, out = zero;
        for (int k = 0; k < deltas; ++k) {
            const V inside = V::load(s.column + k * s.width + j);
            in = min(in, inside);
            out = min(out, V::fill(s.total[k]) - inside);
        }
        if constexpr (Weighted) {
            const V inside = V::load(s.column + deltas * s.width + j);
            in = leaf_gain<T, true>(in, inside, least, never);
            out = leaf_gain<T, true>(out, V::fill(s.total[deltas]) - inside, least, never);
        }
        for (T* line : {s.inside_leaf, s.inside_best}) in.store(line + j);
        for (T* line : {s.outside_leaf, s.outside_best}) out.store(line + j);
        if constexpr (Planes == 1)
            for (T* line : {s.inside_most, s.outside_most}) zero.store(line + j);
    }
}

// All pairs (f, j) with j in the vectors from f's on. Pairs that come along for alignment, (f, f), some j < f and the
// padding, are real pairs or equal to a single leaf, so they do no harm.
//
// With two classes, splitting rows with delta d into a part with p and the rest gains min(p, 0) + min(d - p, 0), which
// is min(0, p, d - p, d): the best split has the least p or the largest. So for now the best sides are those of least
// p, and the largest p are kept beside them.
template <class T, class Line>
GOCT_INLINE void extremes_of(const PairView<T> s, int f, Line&& line) {
    using V = Vec<T>;
    const V inside_f = V::fill(s.column[f]), outside_f = V::fill(static_cast<T>(s.total[0] - s.column[f]));
    V in_least = V::fill(0), in_most = in_least, out_least = in_least, out_most = in_least;
    for (int j = f / V::lanes * V::lanes; j < s.width; j += V::lanes) {
        const V both = line(0, j), only_f = inside_f - both, only_j = V::load(s.column + j) - both;
        in_least = min(in_least, both), in_most = max(in_most, both);
        out_least = min(out_least, only_j), out_most = max(out_most, only_j);
        min(V::load(s.inside_best + j), both).store(s.inside_best + j);
        max(V::load(s.inside_most + j), both).store(s.inside_most + j);
        min(V::load(s.outside_best + j), only_f).store(s.outside_best + j);
        max(V::load(s.outside_most + j), only_f).store(s.outside_most + j);
    }
    s.inside_best[f] = std::min(s.inside_best[f], least_lane(min(in_least, inside_f - in_most)));
    s.outside_best[f] = std::min(s.outside_best[f], least_lane(min(out_least, outside_f - out_most)));
}

template <class T, int Planes, bool Weighted, class Line>
GOCT_INLINE void pairs_of(const PairView<T> s, int f, Line&& line) {
    using V = Vec<T>;
    if constexpr (Planes == 1) return extremes_of(s, f, line);
    const int planes = Planes ? Planes : s.planes, deltas = planes - Weighted;
    const V zero = V::fill(0), least = V::fill(s.least), never = V::fill(kNever<T>);
    // With a known number of planes the constants of f are made once, not once per vector.
    V inside_f[Planes ? Planes : 1], outside_f[Planes ? Planes : 1];
    for (int k = 0; k < Planes; ++k) {
        const T inside = s.column[k * s.width + f];
        inside_f[k] = V::fill(inside), outside_f[k] = V::fill(static_cast<T>(s.total[k] - inside));
    }
    V in = Weighted ? never : zero, out = in;
    for (int j = f / V::lanes * V::lanes; j < s.width; j += V::lanes) {
        V c11 = zero, c10 = zero, c01 = zero, c00 = zero;
        V w11 = zero, w10 = zero, w01 = zero, w00 = zero;
        for (int k = 0; k < planes; ++k) {
            if constexpr (Planes == 0) {
                const T inside = s.column[k * s.width + f];
                inside_f[0] = V::fill(inside), outside_f[0] = V::fill(static_cast<T>(s.total[k] - inside));
            }
            const V both = line(k, j), only_f = inside_f[Planes ? k : 0] - both;
            const V only_j = V::load(s.column + k * s.width + j) - both;
            const V none = outside_f[Planes ? k : 0] - only_j;
            if (k < deltas) {
                c11 = min(c11, both), c10 = min(c10, only_f), c01 = min(c01, only_j), c00 = min(c00, none);
            } else {
                w11 = both, w10 = only_f, w01 = only_j, w00 = none;
            }
        }
        c11 = leaf_gain<T, Weighted>(c11, w11, least, never), c10 = leaf_gain<T, Weighted>(c10, w10, least, never);
        c01 = leaf_gain<T, Weighted>(c01, w01, least, never), c00 = leaf_gain<T, Weighted>(c00, w00, least, never);
        in = min(in, c11 + c10);
        out = min(out, c01 + c00);
        min(V::load(s.inside_best + j), c11 + c01).store(s.inside_best + j);
        min(V::load(s.outside_best + j), c10 + c00).store(s.outside_best + j);
    }
    s.inside_best[f] = std::min(s.inside_best[f], least_lane(in));
    s.outside_best[f] = std::min(s.outside_best[f], least_lane(out));
}

// From the sides of each feature to the best trees.
template <class T, int Planes>
GOCT_INLINE void best_trees(const PairView<T> s) {
    using V = Vec<T>;
    for (int j = 0; j < s.width && Planes == 1; j += V::lanes) {
        const V inside = V::load(s.column + j), outside = V::fill(s.total[0]) - inside;
        min(V::load(s.inside_best + j), inside - V::load(s.inside_most + j)).store(s.inside_best + j);
        min(V::load(s.outside_best + j), outside - V::load(s.outside_most + j)).store(s.outside_best + j);
    }
    V one = V::load(s.inside_leaf) + V::load(s.outside_leaf), two = one, three = one;
    for (int j = 0; j < s.width; j += V::lanes) {
        const V inside_leaf = V::load(s.inside_leaf + j), inside_best = V::load(s.inside_best + j);
        const V outside_leaf = V::load(s.outside_leaf + j), outside_best = V::load(s.outside_best + j);
        one = min(one, inside_leaf + outside_leaf);
        two = min(two, min(inside_best + outside_leaf, inside_leaf + outside_best));
        three = min(three, inside_best + outside_best);
    }
    s.best[0] = least_lane(one), s.best[1] = least_lane(two), s.best[2] = least_lane(three);
}

// Numbers added between two looks at the control: some milliseconds.
constexpr std::int64_t kWorkBetweenLooks = 1 << 24;

// The lines of the matrix from the last feature up: within a chain each is the next one plus the rows that join.
// `done` is called for those that differ from the next one. With Keep they stay, otherwise each overwrites the last.
template <class T, int Planes, bool Keep, class Done>
GOCT_INLINE void lines(const PairView<T> s, Done&& done) {
    using V = Vec<T>;
    const int planes = Planes ? Planes : s.planes;
    const std::size_t stride = static_cast<std::size_t>(planes) * s.width;
    std::int64_t work = 0;
    int number = 0;
    for (int f = s.features - 1; f >= 0; --f) {
        const int joining = s.bin_begin[f + 1] - s.bin_begin[f];
        const bool chain_starts = f + 1 == s.features || s.chain_begin[f + 1] != s.chain_begin[f];
        if (chain_starts) number = 0;
        if (joining > 0) {
            work += static_cast<std::int64_t>(joining + 8) * stride;
            if (work > kWorkBetweenLooks) {
                s.control->check();
                work = 0;
            }
            const T* previous = s.matrix + number * stride;
            number = Keep ? f + 1 : 1;
            T* line = s.matrix + number * stride;
            for (int k = 0; k < planes; ++k) {
                const std::size_t plane = static_cast<std::size_t>(k) * s.width;
                add_rows(s.cells + plane, stride, s.bin_rows + s.bin_begin[f], joining, previous + plane, line + plane,
                         s.chain_begin[f] / V::lanes * V::lanes, s.width);
            }
            done(f, line);
        }
        if constexpr (Keep) s.line[f] = number;
    }
}

// The sums inside each feature over all rows of the node.
template <class T, int Planes>
GOCT_INLINE void sum_columns(const PairView<T> s) {
    const int planes = Planes ? Planes : s.planes;
    const std::size_t stride = static_cast<std::size_t>(planes) * s.width;
    const int* const all = nullptr;
    add_rows(s.cells, stride, all, s.rows, s.matrix, s.column, 0, static_cast<int>(stride));
}

template <class T, int Planes, bool Weighted>
struct Kernels {
    static GOCT_INLINE void count(const PairView<T>& view) {
        const PairView<T> s = view;
        const int planes = Planes ? Planes : s.planes;
        lines<T, Planes, true>(s, [](int, const T*) GOCT_INLINE_LAMBDA {});
        const std::size_t stride = static_cast<std::size_t>(planes) * s.width;
        for (int f = 0; f < s.features; ++f)
            for (int k = 0; k < planes; ++k) s.column[k * s.width + f] = s.matrix[s.line[f] * stride + k * s.width + f];
    }
    // Of features that hold the same rows one is enough, so those that no rows join are left out.
    static GOCT_INLINE void evaluate(const PairView<T>& view) {
        const PairView<T> s = view;
        const std::size_t stride = static_cast<std::size_t>(Planes ? Planes : s.planes) * s.width;
        single_splits<T, Planes, Weighted>(s);
        for (int f = 0; f < s.features; ++f) {
            if (s.bin_begin[f] == s.bin_begin[f + 1]) continue;
            const T* line = s.matrix + s.line[f] * stride;
            pairs_of<T, Planes, Weighted>(
                s, f, [=](int k, int j) GOCT_INLINE_LAMBDA { return Vec<T>::load(line + k * s.width + j); });
        }
        best_trees<T, Planes>(s);
    }
    static GOCT_INLINE void sweep(const PairView<T>& view) {
        const PairView<T> s = view;
        sum_columns<T, Planes>(s);
        single_splits<T, Planes, Weighted>(s);
        lines<T, Planes, false>(s, [=](int f, const T* line) GOCT_INLINE_LAMBDA {
            pairs_of<T, Planes, Weighted>(
                s, f, [=](int k, int j) GOCT_INLINE_LAMBDA { return Vec<T>::load(line + k * s.width + j); });
        });
        best_trees<T, Planes>(s);
    }
    static GOCT_INLINE void evaluate_rest(const PairView<T>& view, const PairView<T>& whole, const PairView<T>& part) {
        using V = Vec<T>;
        const PairView<T> s = view;
        const std::size_t stride = static_cast<std::size_t>(Planes ? Planes : s.planes) * s.width;
        for (std::size_t j = 0; j < stride; j += V::lanes)
            (V::load(whole.column + j) - V::load(part.column + j)).store(s.column + j);
        single_splits<T, Planes, Weighted>(s);
        for (int f = 0; f < s.features; ++f) {
            if (whole.bin_begin[f + 1] - whole.bin_begin[f] == part.bin_begin[f + 1] - part.bin_begin[f]) continue;
            const T *a = whole.matrix + whole.line[f] * stride, *b = part.matrix + part.line[f] * stride;
            pairs_of<T, Planes, Weighted>(s, f, [=](int k, int j) GOCT_INLINE_LAMBDA {
                return V::load(a + k * s.width + j) - V::load(b + k * s.width + j);
            });
        }
        best_trees<T, Planes>(s);
    }
};

// The least cost of each side of each feature with at most one more split, see LimitedSweep.
template <class T, bool Weighted>
GOCT_INLINE void sweep_within_limits(const PairView<T>& sweep, T limit_0, T limit_1) {
    using V = Vec<T>;
    constexpr int planes = 2 + Weighted;
    const PairView<T> s = sweep;
    const V never = V::fill(kNever<T>), least = V::fill(s.least), limits[2] = {V::fill(limit_0), V::fill(limit_1)};
    // Both labels of a leaf.
    struct Leaf {
        V zero, one;
    };
    const auto leaf = [=](V zero, V one, V weight) GOCT_INLINE_LAMBDA {
        Leaf result{where_less(limits[0], zero, never, zero), where_less(limits[1], one, never, one)};
        if constexpr (Weighted) {
            result.zero = where_less(weight, least, never, result.zero);
            result.one = where_less(weight, least, never, result.one);
        }
        return result;
    };
    const auto split = [](const Leaf& a, const Leaf& b) GOCT_INLINE_LAMBDA {
        return min(a.zero + b.one, a.one + b.zero);
    };
    sum_columns<T, planes>(s);
    for (int j = 0; j < s.width; j += V::lanes) {
        V in[3] = {}, out[3] = {};
        for (int k = 0; k < planes; ++k) {
            in[k] = V::load(s.column + k * s.width + j);
            out[k] = V::fill(s.total[k]) - in[k];
        }
        const Leaf inside = leaf(in[0], in[1], in[2]), outside = leaf(out[0], out[1], out[2]);
        min(min(inside.zero, inside.one), never).store(s.inside_best + j);
        min(min(outside.zero, outside.one), never).store(s.outside_best + j);
    }
    lines<T, planes, false>(s, [=](int f, const T* line) GOCT_INLINE_LAMBDA {
        V inside_f[3] = {}, outside_f[3] = {};
        for (int k = 0; k < planes; ++k) {
            const T inside = s.column[k * s.width + f];
            inside_f[k] = V::fill(inside), outside_f[k] = V::fill(static_cast<T>(s.total[k] - inside));
        }
        V in = never, out = never;
        for (int j = f / V::lanes * V::lanes; j < s.width; j += V::lanes) {
            V both[3] = {}, only_f[3] = {}, only_j[3] = {}, none[3] = {};
            for (int k = 0; k < planes; ++k) {
                both[k] = V::load(line + k * s.width + j);
                only_f[k] = inside_f[k] - both[k];
                only_j[k] = V::load(s.column + k * s.width + j) - both[k];
                none[k] = outside_f[k] - only_j[k];
            }
            const Leaf leaf_11 = leaf(both[0], both[1], both[2]), leaf_10 = leaf(only_f[0], only_f[1], only_f[2]);
            const Leaf leaf_01 = leaf(only_j[0], only_j[1], only_j[2]), leaf_00 = leaf(none[0], none[1], none[2]);
            in = min(in, split(leaf_11, leaf_10));
            out = min(out, split(leaf_01, leaf_00));
            min(V::load(s.inside_best + j), split(leaf_11, leaf_01)).store(s.inside_best + j);
            min(V::load(s.outside_best + j), split(leaf_10, leaf_00)).store(s.outside_best + j);
        }
        s.inside_best[f] = std::min(s.inside_best[f], least_lane(in));
        s.outside_best[f] = std::min(s.outside_best[f], least_lane(out));
    });
}

// One copy of the kernels per instruction set.
#define GOCT_KERNEL_COPY(name, target)                                                                             \
    template <class T, int Planes, bool Weighted>                                                                  \
    struct name {                                                                                                  \
        using K = Kernels<T, Planes, Weighted>;                                                                    \
        target static void count(const PairView<T>& s) { K::count(s); }                                            \
        target static void evaluate(const PairView<T>& s) { K::evaluate(s); }                                      \
        target static void sweep(const PairView<T>& s) { K::sweep(s); }                                            \
        target static void rest(const PairView<T>& s, const PairView<T>& whole, const PairView<T>& part) {         \
            K::evaluate_rest(s, whole, part);                                                                      \
        }                                                                                                          \
        target static void tally(const PairView<T>& s, const int* rows, int count, T* counts, T* swings) {         \
            tally_rows<T, Planes, Weighted>(s, rows, count, counts, swings);                                       \
        }                                                                                                          \
        static constexpr PairKernels<T> all{name<T, Planes, false>::count, evaluate, sweep, rest, tally};          \
    };                                                                                                             \
    template <class T>                                                                                             \
    target void name##_cells(const Node& node, int begin, int end, const T* values, int planes, int width,         \
                             T* cells) {                                                                           \
        fill_cells<T>(node, begin, end, values, planes, width, cells);                                             \
    }                                                                                                              \
    template <class T, bool Weighted>                                                                              \
    target void name##_within_limits(const PairView<T>& s, T limit_0, T limit_1) {                                 \
        sweep_within_limits<T, Weighted>(s, limit_0, limit_1);                                                     \
    }

GOCT_KERNEL_COPY(Portable, )
#ifdef GOCT_HAS_AVX2_CLONES
GOCT_KERNEL_COPY(Avx2, GOCT_TARGET_AVX2)
#endif

// Kernels for a known number of planes are for the instruction set that most will use; the others get by with the
// general ones, for which zero stands.
template <class T, int Planes, bool Weighted>
PairKernels<T> best_kernels() {
#ifdef GOCT_HAS_AVX2_CLONES
    if (cpu_has_avx2()) return Avx2<T, Planes, Weighted>::all;
    return Portable<T, 0, Weighted>::all;
#else
    return Portable<T, Planes, Weighted>::all;
#endif
}

}  // namespace

template <class T>
PairKernels<T> pair_kernels(int planes, bool weighted) {
    if constexpr (sizeof(T) == 8) return weighted ? Portable<T, 0, true>::all : Portable<T, 0, false>::all;
    if constexpr (sizeof(T) == 1) assert(!weighted);
    if constexpr (sizeof(T) > 1)
        if (weighted) return planes == 2 ? best_kernels<T, 2, true>() : best_kernels<T, 0, true>();
    if (planes == 1) return best_kernels<T, 1, false>();
    if (planes == 2) return best_kernels<T, 2, false>();
    return best_kernels<T, 0, false>();
}

template <class T>
LimitedSweep<T> limited_sweep(bool weighted) {
#ifdef GOCT_HAS_AVX2_CLONES
    if constexpr (sizeof(T) < 8)
        if (cpu_has_avx2()) return weighted ? Avx2_within_limits<T, true> : Avx2_within_limits<T, false>;
#endif
    return weighted ? Portable_within_limits<T, true> : Portable_within_limits<T, false>;
}

template <class T>
void lay_out_cells(const Node& node, int begin, int end, const T* values, int planes, int width, T* cells) {
#ifdef GOCT_HAS_AVX2_CLONES
    if (cpu_has_avx2()) return Avx2_cells(node, begin, end, values, planes, width, cells);
#endif
    Portable_cells(node, begin, end, values, planes, width, cells);
}

template void lay_out_cells(const Node&, int, int, const std::int8_t*, int, int, std::int8_t*);
template void lay_out_cells(const Node&, int, int, const std::int16_t*, int, int, std::int16_t*);
template void lay_out_cells(const Node&, int, int, const std::int32_t*, int, int, std::int32_t*);
template void lay_out_cells(const Node&, int, int, const std::int64_t*, int, int, std::int64_t*);

template LimitedSweep<std::int16_t> limited_sweep(bool);
template LimitedSweep<std::int32_t> limited_sweep(bool);
template LimitedSweep<std::int64_t> limited_sweep(bool);

template PairKernels<std::int8_t> pair_kernels(int, bool);
template PairKernels<std::int16_t> pair_kernels(int, bool);
template PairKernels<std::int32_t> pair_kernels(int, bool);
template PairKernels<std::int64_t> pair_kernels(int, bool);

}  // namespace goct
