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
template <int Vectors, class V, class T>
GOCT_INLINE void add_to_vectors(const T* cells, std::size_t stride, const int* rows, int count, const T* previous,
                                T* line) {
    V sum[Vectors];
    for (int i = 0; i < Vectors; ++i) sum[i] = V::load(previous + i * V::lanes);
    for (int r = 0; r < count; ++r) {
        const T* cell = cells + (rows ? rows[r] : r) * stride;
        for (int i = 0; i < Vectors; ++i) sum[i] = sum[i] + V::load(cell + i * V::lanes);
    }
    for (int i = 0; i < Vectors; ++i) sum[i].store(line + i * V::lanes);
}

// Calls block(n, j) for the columns from `from` to `to`, up to four vectors at a time; n is how many, as a type.
template <class V, class Block>
GOCT_INLINE void in_blocks(int from, int to, Block&& block) {
    constexpr int lanes = V::lanes;
    int j = from;
    for (; j + 4 * lanes <= to; j += 4 * lanes) block(std::integral_constant<int, 4>{}, j);
    switch ((to - j) / lanes) {
        case 3: return block(std::integral_constant<int, 3>{}, j);
        case 2: return block(std::integral_constant<int, 2>{}, j);
        case 1: return block(std::integral_constant<int, 1>{}, j);
    }
}

template <class V, class T>
GOCT_INLINE void add_rows(const T* cells, std::size_t stride, const int* rows, int count, const T* previous, T* line,
                          int from, int to) {
    in_blocks<V>(from, to, [=](auto vectors, int j) GOCT_INLINE_LAMBDA {
        add_to_vectors<vectors, V>(cells + j, stride, rows, count, previous + j, line + j);
    });
}

template <bool Weighted, class V>
GOCT_INLINE V leaf_gain(V gain, V weight, V least, V never) {
    if constexpr (Weighted) return where_less(weight, least, never, gain);
    return gain;
}

// How many of some rows are inside each feature, and the sums of their swings. Rows without any cost do not count.
template <class V, int Planes, bool Weighted, class T>
GOCT_INLINE void tally_rows(const PairView<T> s, const int* rows, int count, T* counts, T* swings) {
    const int planes = Planes ? Planes : s.planes, deltas = planes - Weighted;
    const std::size_t stride = static_cast<std::size_t>(planes) * s.width;
    in_blocks<V>(0, s.width, [=](auto vectors, int j) GOCT_INLINE_LAMBDA {
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
template <class V, class T>
GOCT_INLINE void fill_cells(const Node& node, int begin, int end, const T* values, int planes, int width, T* cells) {
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
template <class V, int Planes, bool Weighted, class T>
GOCT_INLINE void single_splits(const PairView<T> s) {
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
            in = leaf_gain<true>(in, inside, least, never);
            out = leaf_gain<true>(out, V::fill(s.total[deltas]) - inside, least, never);
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
template <class V, class T, class Line>
GOCT_INLINE void extremes_of(const PairView<T> s, int f, Line&& line) {
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

template <class V, int Planes, bool Weighted, class T, class Line>
GOCT_INLINE void pairs_of(const PairView<T> s, int f, Line&& line) {
    if constexpr (Planes == 1) return extremes_of<V>(s, f, line);
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
        c11 = leaf_gain<Weighted>(c11, w11, least, never), c10 = leaf_gain<Weighted>(c10, w10, least, never);
        c01 = leaf_gain<Weighted>(c01, w01, least, never), c00 = leaf_gain<Weighted>(c00, w00, least, never);
        in = min(in, c11 + c10);
        out = min(out, c01 + c00);
        min(V::load(s.inside_best + j), c11 + c01).store(s.inside_best + j);
        min(V::load(s.outside_best + j), c10 + c00).store(s.outside_best + j);
    }
    s.inside_best[f] = std::min(s.inside_best[f], least_lane(in));
    s.outside_best[f] = std::min(s.outside_best[f], least_lane(out));
}

// From the sides of each feature to the best trees.
template <class V, int Planes, class T>
GOCT_INLINE void best_trees(const PairView<T> s) {
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

// What becomes of a line of the matrix.
template <class T>
using Visit = void (*)(const PairView<T>&, int f, const T* line);

// The lines of the matrix from the last feature up: within a chain each is the next one plus the rows that join.
// Without `visit` they stay; with it, it is called for those that differ from the next one, and each overwrites the last.
template <class V, class T>
GOCT_INLINE void add_lines(const PairView<T>& view, Visit<T> visit) {
    const PairView<T> s = view;
    const std::size_t stride = static_cast<std::size_t>(s.planes) * s.width;
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
            number = visit ? 1 : f + 1;
            T* line = s.matrix + number * stride;
            for (int k = 0; k < s.planes; ++k) {
                const std::size_t plane = static_cast<std::size_t>(k) * s.width;
                add_rows<V>(s.cells + plane, stride, s.bin_rows + s.bin_begin[f], joining, previous + plane, line + plane,
                            s.chain_begin[f] / V::lanes * V::lanes, s.width);
            }
            if (visit) visit(view, f, line);
        }
        if (!visit) s.line[f] = number;
    }
}

// The sums inside each feature over all rows of the node.
template <class V, class T>
GOCT_INLINE void sum_columns(const PairView<T> s) {
    const std::size_t stride = static_cast<std::size_t>(s.planes) * s.width;
    const int* const all = nullptr;
    add_rows<V>(s.cells, stride, all, s.rows, s.matrix, s.column, 0, static_cast<int>(stride));
}

// Trees whose leaves cost no more than the limit of their class, see LimitedSweep.
template <class V, bool Weighted>
struct Limited {
    using T = typename V::Value;
    static constexpr int planes = 2 + Weighted;

    // What the leaf costs with either label.
    struct Leaf {
        V zero, one;
    };
    static GOCT_INLINE Leaf leaf(const PairView<T>& s, const V* sums) {
        const V never = V::fill(kNever<T>);
        Leaf result{where_less(V::fill(s.limits[0]), sums[0], never, sums[0]),
                    where_less(V::fill(s.limits[1]), sums[1], never, sums[1])};
        if constexpr (Weighted) {
            const V least = V::fill(s.least);
            result.zero = where_less(sums[2], least, never, result.zero);
            result.one = where_less(sums[2], least, never, result.one);
        }
        return result;
    }
    static GOCT_INLINE V split(const Leaf& a, const Leaf& b) { return min(a.zero + b.one, a.one + b.zero); }

    // The sides of each feature as leaves.
    static GOCT_INLINE void single_splits(const PairView<T> s) {
        const V never = V::fill(kNever<T>);
        for (int j = 0; j < s.width; j += V::lanes) {
            V in[planes], out[planes];
            for (int k = 0; k < planes; ++k) {
                in[k] = V::load(s.column + k * s.width + j);
                out[k] = V::fill(s.total[k]) - in[k];
            }
            const Leaf inside = leaf(s, in), outside = leaf(s, out);
            min(min(inside.zero, inside.one), never).store(s.inside_best + j);
            min(min(outside.zero, outside.one), never).store(s.outside_best + j);
        }
    }

    static GOCT_INLINE void pairs(const PairView<T> s, int f, const T* line) {
        V inside_f[planes], outside_f[planes];
        for (int k = 0; k < planes; ++k) {
            const T inside = s.column[k * s.width + f];
            inside_f[k] = V::fill(inside), outside_f[k] = V::fill(static_cast<T>(s.total[k] - inside));
        }
        V in = V::fill(kNever<T>), out = in;
        for (int j = f / V::lanes * V::lanes; j < s.width; j += V::lanes) {
            V both[planes], only_f[planes], only_j[planes], none[planes];
            for (int k = 0; k < planes; ++k) {
                both[k] = V::load(line + k * s.width + j);
                only_f[k] = inside_f[k] - both[k];
                only_j[k] = V::load(s.column + k * s.width + j) - both[k];
                none[k] = outside_f[k] - only_j[k];
            }
            const Leaf leaf_11 = leaf(s, both), leaf_10 = leaf(s, only_f);
            const Leaf leaf_01 = leaf(s, only_j), leaf_00 = leaf(s, none);
            in = min(in, split(leaf_11, leaf_10));
            out = min(out, split(leaf_01, leaf_00));
            min(V::load(s.inside_best + j), split(leaf_11, leaf_01)).store(s.inside_best + j);
            min(V::load(s.outside_best + j), split(leaf_10, leaf_00)).store(s.outside_best + j);
        }
        s.inside_best[f] = std::min(s.inside_best[f], least_lane(in));
        s.outside_best[f] = std::min(s.outside_best[f], least_lane(out));
    }
};

// One copy of the loops per instruction set. A line takes longer than a call, so that those over lines and those over
// pairs are compiled once each, whoever asks for them.
#define GOCT_KERNEL_COPY(name, target, bytes)                                                                      \
    template <class T>                                                                                             \
    struct name##Rows {                                                                                            \
        using V = Vec<T, bytes>;                                                                                   \
        target static void lines(const PairView<T>& s, Visit<T> visit) { add_lines<V>(s, visit); }                 \
        target static void columns(const PairView<T>& s) { sum_columns<V>(s); }                                    \
        target static void cells(const Node& node, int begin, int end, const T* values, int planes, int width,     \
                                 T* cells) {                                                                       \
            fill_cells<V>(node, begin, end, values, planes, width, cells);                                         \
        }                                                                                                          \
    };                                                                                                             \
    template <class T, int Planes, bool Weighted>                                                                  \
    struct name {                                                                                                  \
        using Rows = name##Rows<T>;                                                                                \
        using V = typename Rows::V;                                                                                \
        target static void single(const PairView<T>& s) { single_splits<V, Planes, Weighted>(s); }                 \
        target static void pairs(const PairView<T>& s, int f, const T* line) {                                     \
            pairs_of<V, Planes, Weighted>(                                                                         \
                s, f, [=, width = s.width](int k, int j)                                                           \
                          GOCT_INLINE_LAMBDA { return V::load(line + k * width + j); });                           \
        }                                                                                                          \
        target static void pairs_between(const PairView<T>& s, int f, const T* a, const T* b) {                    \
            pairs_of<V, Planes, Weighted>(s, f, [=, width = s.width](int k, int j) GOCT_INLINE_LAMBDA {            \
                return V::load(a + k * width + j) - V::load(b + k * width + j);                                    \
            });                                                                                                    \
        }                                                                                                          \
        target static void trees(const PairView<T>& s) { best_trees<V, Planes>(s); }                               \
        target static void tally(const PairView<T>& s, const int* rows, int count, T* counts, T* swings) {         \
            tally_rows<V, Planes, Weighted>(s, rows, count, counts, swings);                                       \
        }                                                                                                          \
    };                                                                                                             \
    template <class T, bool Weighted>                                                                              \
    struct name##Limited {                                                                                         \
        using Rows = name##Rows<T>;                                                                                \
        using Trees = Limited<typename Rows::V, Weighted>;                                                         \
        target static void single(const PairView<T>& s) { Trees::single_splits(s); }                               \
        target static void pairs(const PairView<T>& s, int f, const T* line) { Trees::pairs(s, f, line); }         \
    };

GOCT_KERNEL_COPY(Portable, GOCT_NOINLINE, kPortableBytes)
#ifdef GOCT_HAS_AVX2_CLONES
GOCT_KERNEL_COPY(Avx2, GOCT_TARGET_AVX2, 32)
#endif

std::size_t stride_of(const auto& s) { return static_cast<std::size_t>(s.planes) * s.width; }

// The kernels, made of the loops of an instruction set.
template <class T, class Loops>
struct Kernels {
    static void count(const PairView<T>& s) {
        Loops::Rows::lines(s, nullptr);
        for (int f = 0; f < s.features; ++f)
            for (int k = 0; k < s.planes; ++k)
                s.column[k * s.width + f] = s.matrix[s.line[f] * stride_of(s) + k * s.width + f];
    }
    // Of features that hold the same rows one is enough, so those that no rows join are left out.
    static void evaluate(const PairView<T>& s) {
        Loops::single(s);
        for (int f = 0; f < s.features; ++f)
            if (s.bin_begin[f] < s.bin_begin[f + 1]) Loops::pairs(s, f, s.matrix + s.line[f] * stride_of(s));
        Loops::trees(s);
    }
    static void sweep(const PairView<T>& s) {
        Loops::Rows::columns(s);
        Loops::single(s);
        Loops::Rows::lines(s, Loops::pairs);
        Loops::trees(s);
    }
    static void evaluate_rest(const PairView<T>& s, const PairView<T>& whole, const PairView<T>& part) {
        const std::size_t stride = stride_of(s);
        for (std::size_t j = 0; j < stride; ++j) s.column[j] = whole.column[j] - part.column[j];
        Loops::single(s);
        for (int f = 0; f < s.features; ++f) {
            if (whole.bin_begin[f + 1] - whole.bin_begin[f] == part.bin_begin[f + 1] - part.bin_begin[f]) continue;
            Loops::pairs_between(s, f, whole.matrix + whole.line[f] * stride, part.matrix + part.line[f] * stride);
        }
        Loops::trees(s);
    }
    static constexpr PairKernels<T> all{count, evaluate, Loops::trees, sweep, evaluate_rest, Loops::tally};
};

template <class T, class Loops>
void sweep_within_limits(const PairView<T>& view, T limit_0, T limit_1) {
    PairView<T> s = view;
    s.limits[0] = limit_0, s.limits[1] = limit_1;
    Loops::Rows::columns(s);
    Loops::single(s);
    Loops::Rows::lines(s, Loops::pairs);
}

// Kernels for a known number of planes are for the instruction set that most will use; the others get by with the
// general ones, for which zero stands, if there are any, see has_loops_for.
template <class T, int Planes, bool Weighted>
PairKernels<T> best_kernels() {
#ifdef GOCT_HAS_AVX2_CLONES
    if constexpr (sizeof(T) < 4) return Kernels<T, Avx2<T, Planes, Weighted>>::all;
    else return cpu_has_avx2() ? Kernels<T, Avx2<T, Planes, Weighted>>::all : Kernels<T, Portable<T, 0, Weighted>>::all;
#else
    return Kernels<T, Portable<T, Planes, Weighted>>::all;
#endif
}

}  // namespace

template <class T>
PairKernels<T> pair_kernels(int planes, bool weighted) {
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
    if (sizeof(T) < 4 || cpu_has_avx2())
        return weighted ? sweep_within_limits<T, Avx2Limited<T, true>> : sweep_within_limits<T, Avx2Limited<T, false>>;
    if constexpr (sizeof(T) >= 4)
#endif
        return weighted ? sweep_within_limits<T, PortableLimited<T, true>>
                        : sweep_within_limits<T, PortableLimited<T, false>>;
}

template <class T>
void lay_out_cells(const Node& node, int begin, int end, const T* values, int planes, int width, T* cells) {
#ifdef GOCT_HAS_AVX2_CLONES
    if (sizeof(T) < 4 || cpu_has_avx2()) return Avx2Rows<T>::cells(node, begin, end, values, planes, width, cells);
    if constexpr (sizeof(T) >= 4)
#endif
        PortableRows<T>::cells(node, begin, end, values, planes, width, cells);
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
