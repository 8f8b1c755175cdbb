#include "line_kernels.hpp"

#include <cstdint>
#include <type_traits>

#include "simd.hpp"

namespace goct {
namespace {

// Calls visit(n, at) for the whole width, with n vectors at a time, as a type.
template <class V, class Visit>
GOCT_INLINE void in_pairs(int width, Visit&& visit) {
    int at = 0;
    for (; at + 2 * V::lanes <= width; at += 2 * V::lanes) visit(std::integral_constant<int, 2>{}, at);
    if (at < width) visit(std::integral_constant<int, 1>{}, at);
}

template <class V, class T>
GOCT_INLINE void sum_before(const CellLines<T> s, const int* order, const int* ends, int count, T* sums) {
    in_pairs<V>(s.width, [=](auto vectors, int at) GOCT_INLINE_LAMBDA {
        V sum[vectors];
        for (int v = 0; v < vectors; ++v) sum[v] = V::fill(0);
        for (int i = 0, k = 0; i < count; ++i) {
            for (; k < ends[i]; ++k) {
                const T* const cell = s.cells + std::size_t(order[k]) * s.width + at;
                for (int v = 0; v < vectors; ++v) sum[v] = sum[v] + V::load(cell + v * V::lanes);
            }
            for (int v = 0; v < vectors; ++v) sum[v].store(sums + std::size_t(i) * s.width + at + v * V::lanes);
        }
    });
}

template <class V, class T>
GOCT_INLINE Reach<T> reach_of(const CellLines<T> s, const T* sums) {
    const V zero = V::fill(0);
    V least[2] = {zero, zero}, most[2] = {zero, zero};
    for (int at = 0; at < s.width; at += V::lanes) {
        const V before = V::load(sums + at), behind = V::load(s.all + at) - before;
        least[0] = min(least[0], before), most[0] = max(most[0], before);
        least[1] = min(least[1], behind), most[1] = max(most[1], behind);
    }
    return {{least_lane(least[0]), least_lane(least[1])},
            {static_cast<T>(-least_lane(zero - most[0])), static_cast<T>(-least_lane(zero - most[1]))}};
}

template <class V, class T>
GOCT_INLINE void widen(const CellLines<T> s, const int* order, const int* ends, const T* before, int count,
                       T* const (&leasts)[2], T* const (&mosts)[2]) {
    T *const least_0 = leasts[0], *const least_1 = leasts[1], *const most_0 = mosts[0], *const most_1 = mosts[1];
    in_pairs<V>(s.width, [=](auto vectors, int at) GOCT_INLINE_LAMBDA {
        V sum[vectors], least[2][vectors], most[2][vectors];
        for (int v = 0; v < vectors; ++v) {
            const int j = at + v * V::lanes;
            sum[v] = V::fill(0);
            least[0][v] = V::load(least_0 + j), least[1][v] = V::load(least_1 + j);
            most[0][v] = V::load(most_0 + j), most[1][v] = V::load(most_1 + j);
        }
        for (int i = 0, k = 0; i < count; ++i) {
            for (; k < ends[i]; ++k) {
                const T* const cell = s.cells + std::size_t(order[k]) * s.width + at;
                for (int v = 0; v < vectors; ++v) sum[v] = sum[v] + V::load(cell + v * V::lanes);
            }
            const V all = V::fill(before[i]);
            for (int v = 0; v < vectors; ++v) {
                const V outside = all - sum[v];
                least[0][v] = min(least[0][v], sum[v]), most[0][v] = max(most[0][v], sum[v]);
                least[1][v] = min(least[1][v], outside), most[1][v] = max(most[1][v], outside);
            }
        }
        for (int v = 0; v < vectors; ++v) {
            const int j = at + v * V::lanes;
            least[0][v].store(least_0 + j), least[1][v].store(least_1 + j);
            most[0][v].store(most_0 + j), most[1][v].store(most_1 + j);
        }
    });
}

#define GOCT_LINES_COPY(name, target, bytes)                                                                         \
    template <class T>                                                                                               \
    struct name {                                                                                                    \
        using V = Vec<T, bytes>;                                                                                     \
        target static void find(const CellLines<T>& s, const int* order, const int* ends, int count, T* sums,        \
                                Reach<T>* reach) {                                                                   \
            sum_before<V>(s, order, ends, count, sums);                                                              \
            for (int i = 0; i < count; ++i) reach[i] = reach_of<V>(s, sums + std::size_t(i) * s.width);              \
        }                                                                                                            \
        target static void widen_all(const CellLines<T>& s, const int* order, const int* ends, const T* before,      \
                                     int count, T* const (&least)[2], T* const (&most)[2]) {                         \
            widen<V>(s, order, ends, before, count, least, most);                                                    \
        }                                                                                                            \
    };

GOCT_LINES_COPY(PortableLines, GOCT_NOINLINE, kPortableBytes)
#ifdef GOCT_HAS_AVX2_CLONES
GOCT_LINES_COPY(Avx2Lines, GOCT_TARGET_AVX2, 32)
#endif

}  // namespace

template <class T>
void find_reach(const CellLines<T>& lines, const int* order, const int* ends, int count, T* sums, Reach<T>* reach) {
#ifdef GOCT_HAS_AVX2_CLONES
    if (sizeof(T) < 4 || cpu_has_avx2()) return Avx2Lines<T>::find(lines, order, ends, count, sums, reach);
    if constexpr (sizeof(T) >= 4)
#endif
        PortableLines<T>::find(lines, order, ends, count, sums, reach);
}

template <class T>
void widen_reach(const CellLines<T>& lines, const int* order, const int* ends, const T* before, int count,
                 T* const (&least)[2], T* const (&most)[2]) {
#ifdef GOCT_HAS_AVX2_CLONES
    if (sizeof(T) < 4 || cpu_has_avx2()) return Avx2Lines<T>::widen_all(lines, order, ends, before, count, least, most);
    if constexpr (sizeof(T) >= 4)
#endif
        PortableLines<T>::widen_all(lines, order, ends, before, count, least, most);
}

#define GOCT_LINES_OF(T)                                                                                             \
    template void find_reach(const CellLines<T>&, const int*, const int*, int, T*, Reach<T>*);                       \
    template void widen_reach(const CellLines<T>&, const int*, const int*, const T*, int, T* const (&)[2], T* const (&)[2]);
GOCT_LINES_OF(std::int8_t)
GOCT_LINES_OF(std::int16_t)
GOCT_LINES_OF(std::int32_t)
GOCT_LINES_OF(std::int64_t)

}  // namespace goct
