#include <cstring>
#include <exception>

#include "check.hpp"

// All tests, or those with a word in their names.
int main(int count, char** words) {
    if (count > 1)
        std::erase_if(goct::test::cases, [&](const auto& test) { return !std::strstr(test.name, words[1]); });
    for (const auto& [name, run] : goct::test::cases) {
        const int before = goct::test::failures;
        try {
            run();
        } catch (const std::exception& error) {
            ++goct::test::failures;
            std::fprintf(stderr, "%s: %s\n", name, error.what());
        } catch (...) {
            ++goct::test::failures;
            std::fprintf(stderr, "%s: an exception\n", name);
        }
        if (goct::test::failures > before) std::fprintf(stderr, "%s failed\n", name);
    }
    std::printf("%zu tests of the core, %d failures\n", goct::test::cases.size(), goct::test::failures);
    return goct::test::failures > 0;
}
