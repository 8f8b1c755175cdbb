// What the unit tests of the core are written with: TEST(name) { CHECK(condition); }
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace goct::test {

struct Case {
    const char* name;
    void (*run)();
};
inline std::vector<Case> cases;
inline int failures = 0;

struct Register {
    Register(const char* name, void (*run)()) { cases.push_back({name, run}); }
};

inline void check(bool holds, const char* what, const char* file, int line) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
}

template <class Error, class Work>
bool throws(Work&& work) {
    try {
        work();
    } catch (const Error&) {
        return true;
    }
    return false;
}

using Random = std::mt19937;
inline int draw(Random& random, int least, int most) { return std::uniform_int_distribution(least, most)(random); }

// More problems by GOCT_TEST_SCALE=100.
inline int scale() {
    const char* const factor = std::getenv("GOCT_TEST_SCALE");
    return factor ? std::max(std::atoi(factor), 1) : 1;
}

}  // namespace goct::test

#define TEST(name)                                               \
    static void name();                                          \
    static const goct::test::Register name##_case(#name, name);  \
    static void name()
#define CHECK(...) goct::test::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
