// One vector type for the hot loops, and a way to compile a loop for more than one instruction set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace goct {

// Lines are padded to whole vectors of the widest instruction set; every processor has half of that, and wider ones than
// it has would be taken apart lane by lane.
inline constexpr int kVectorBytes = 32, kPortableBytes = 16;

#if defined(__GNUC__)

#define GOCT_INLINE inline __attribute__((always_inline))
// A lambda is a function of its own: without, it is compiled for the instruction set that every processor has.
#define GOCT_INLINE_LAMBDA __attribute__((always_inline))
#define GOCT_NOINLINE __attribute__((noinline))

// A few lanes of T. GCC and Clang translate the operators into whatever the enclosing function may use.
template <class T, int Bytes = kVectorBytes>
struct Vec {
    using Value = T;
    static constexpr int lanes = Bytes / sizeof(T);
    typedef T Native __attribute__((vector_size(Bytes)));
    Native v;

    static GOCT_INLINE Vec load(const T* p) {
        Vec r;
        std::memcpy(&r.v, p, sizeof r.v);
        return r;
    }
    static GOCT_INLINE Vec fill(T x) {
        Native r;
        for (int i = 0; i < lanes; ++i) r[i] = x;
        return {r};
    }
    GOCT_INLINE void store(T* p) const { std::memcpy(p, &v, sizeof v); }
    friend GOCT_INLINE Vec operator+(Vec a, Vec b) { return {a.v + b.v}; }
    friend GOCT_INLINE Vec operator-(Vec a, Vec b) { return {a.v - b.v}; }
    friend GOCT_INLINE Vec operator&(Vec a, Vec b) { return {a.v & b.v}; }
    friend GOCT_INLINE Vec min(Vec a, Vec b) { return {a.v < b.v ? a.v : b.v}; }
    friend GOCT_INLINE Vec max(Vec a, Vec b) { return {a.v < b.v ? b.v : a.v}; }
    friend GOCT_INLINE Vec where_less(Vec a, Vec b, Vec yes, Vec no) { return {a.v < b.v ? yes.v : no.v}; }
    // -1 in the lanes where a is less than b, 0 in the others.
    friend GOCT_INLINE Vec less(Vec a, Vec b) { return {(Native)(a.v < b.v)}; }
    friend GOCT_INLINE T least_lane(Vec a) { return least_of<Bytes>(a.v); }

private:
    // Half of the lanes against the other half, down to one.
    template <int Size, class Lanes>
    static GOCT_INLINE T least_of(Lanes a) {
        if constexpr (Size == 2 * sizeof(T)) {
            return a[0] < a[1] ? a[0] : a[1];
        } else {
            typedef T Half __attribute__((vector_size(Size / 2)));
            Half halves[2];
            std::memcpy(halves, &a, sizeof a);
            return least_of<Size / 2>(Half(halves[0] < halves[1] ? halves[0] : halves[1]));
        }
    }
};

#else

#define GOCT_INLINE inline
#define GOCT_INLINE_LAMBDA
#define GOCT_NOINLINE

template <class T, int Bytes = kVectorBytes>
struct Vec {
    using Value = T;
    static constexpr int lanes = Bytes / sizeof(T);
    T v[lanes];

    template <class F>
    static Vec make(F&& f) {
        Vec r;
        for (int i = 0; i < lanes; ++i) r.v[i] = static_cast<T>(f(i));
        return r;
    }
    static Vec load(const T* p) { return make([&](int i) { return p[i]; }); }
    static Vec fill(T x) { return make([&](int) { return x; }); }
    void store(T* p) const { std::memcpy(p, v, sizeof v); }
    friend Vec operator+(const Vec& a, const Vec& b) { return make([&](int i) { return a.v[i] + b.v[i]; }); }
    friend Vec operator-(const Vec& a, const Vec& b) { return make([&](int i) { return a.v[i] - b.v[i]; }); }
    friend Vec operator&(const Vec& a, const Vec& b) { return make([&](int i) { return a.v[i] & b.v[i]; }); }
    friend Vec min(const Vec& a, const Vec& b) {
        return make([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
    }
    friend Vec max(const Vec& a, const Vec& b) {
        return make([&](int i) { return a.v[i] < b.v[i] ? b.v[i] : a.v[i]; });
    }
    friend Vec where_less(const Vec& a, const Vec& b, const Vec& yes, const Vec& no) {
        return make([&](int i) { return a.v[i] < b.v[i] ? yes.v[i] : no.v[i]; });
    }
    friend Vec less(const Vec& a, const Vec& b) {
        return make([&](int i) { return a.v[i] < b.v[i] ? -1 : 0; });
    }
    friend T least_lane(const Vec& a) { return *std::min_element(a.v, a.v + lanes); }
};

#endif

// GOCT_PORTABLE: without, as on processors of another kind.
#if defined(__GNUC__) && defined(__x86_64__) && !defined(GOCT_PORTABLE)
#define GOCT_HAS_AVX2_CLONES 1
#define GOCT_TARGET_AVX2 __attribute__((target("avx2")))
inline bool cpu_has_avx2() { return __builtin_cpu_supports("avx2"); }
// Processors of this kind that are without AVX2 are few, and get by with the wider numbers: half of the loops need no second copy.
template <class T>
bool has_loops_for() { return sizeof(T) >= 4 || cpu_has_avx2(); }
#else
template <class T>
bool has_loops_for() { return true; }
#endif

// Bounds are kept in lines of whole vectors of 32-bit numbers.
inline std::size_t padded(std::size_t size) { return (size + kVectorBytes / 4 - 1) / (kVectorBytes / 4) * (kVectorBytes / 4); }

}  // namespace goct
