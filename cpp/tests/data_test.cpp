// From 0/1 cells to chains, and costs.
#include <map>
#include <stdexcept>
#include <string>

#include "../columns.hpp"
#include "../costs.hpp"
#include "../group_rows.hpp"
#include "../problem.hpp"
#include "check.hpp"

using namespace goct;
using namespace goct::test;

namespace {

struct Cells {
    std::size_t rows, columns;
    std::vector<std::uint8_t> values;
    int operator()(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
};

// Noise, and thresholds of a few variables, which form chains.
Cells draw_cells(Random& random, int rows, int columns) {
    Cells cells{std::size_t(rows), std::size_t(columns), std::vector<std::uint8_t>(std::size_t(rows) * columns)};
    std::vector<int> variable(rows);
    for (int c = 0; c < columns; ++c) {
        const bool noise = draw(random, 0, 2) == 0;
        if (c % 7 == 0)
            for (int& value : variable) value = draw(random, 0, 20);
        const int threshold = draw(random, -1, 20), turned = draw(random, 0, 1);
        for (int r = 0; r < rows; ++r)
            cells.values[std::size_t(r) * columns + c] =
                static_cast<std::uint8_t>(noise ? draw(random, 0, 1) : (variable[r] <= threshold) ^ turned);
    }
    return cells;
}

std::string column_text(const Cells& cells, std::size_t c, bool turned) {
    std::string text;
    for (std::size_t r = 0; r < cells.rows; ++r) text += static_cast<char>('0' + (cells(r, c) ^ int(turned)));
    return text;
}

bool holds(const Problem& problem, int row, int feature) {
    for (const int* e = problem.entries_begin(row); e != problem.entries_end(row); ++e)
        if (problem.chain(*e) == problem.chain(feature)) return *e >= feature;
    return false;
}

}  // namespace

TEST(columns_know_their_first_equal) {
    Random random(1);
    for (int trial = 0; trial < 60; ++trial) {
        const Cells cells = draw_cells(random, draw(random, 1, 150), draw(random, 0, 40));
        Control control;
        const auto firsts = Columns(cells.values.data(), cells.rows, cells.columns, control).firsts(control);
        std::map<std::string, std::int64_t> seen;
        for (std::size_t c = 0; c < cells.columns; ++c) {
            const std::string text = column_text(cells, c, cells(0, c));
            const bool constant = text.find('1') == std::string::npos;
            CHECK(firsts[c] == (constant ? -1 : seen.emplace(text, c).first->second));
        }
    }
}

TEST(problem_describes_the_cells) {
    Random random(2);
    for (int trial = 0; trial < 60; ++trial) {
        const Cells cells = draw_cells(random, draw(random, 1, 150), draw(random, 0, 60));
        Control control;
        const Problem problem(cells.values.data(), cells.rows, cells.columns, control);
        std::map<std::string, int> different;
        for (std::size_t c = 0; c < cells.columns; ++c) ++different[column_text(cells, c, cells(0, c))];
        different.erase(std::string(cells.rows, '0'));
        CHECK(problem.features() == static_cast<int>(different.size()));
        for (int f = 0; f < problem.features(); ++f) {
            int inside = 0;
            for (std::size_t r = 0; r < cells.rows; ++r) {
                const bool in = holds(problem, static_cast<int>(r), f);
                inside += in;
                CHECK(in == (cells(r, problem.column(f)) ^ int(problem.flipped(f))));
            }
            CHECK(2 * inside <= problem.rows());
            CHECK(f == 0 || problem.chain(f) - problem.chain(f - 1) == 0 || problem.chain(f) - problem.chain(f - 1) == 1);
        }
    }
}

// Set-up may be stopped at every stripe of 64 rows, every column and every chain.
TEST(set_up_listens_to_the_control) {
    Random random(3);
    const Cells cells = draw_cells(random, 640, 50);
    for (const std::int64_t polls : {0, 1, 9, 10, 59, 60, 80}) {
        Control control;
        control.stop_after(polls);
        CHECK(throws<SearchStopped>([&] { Problem(cells.values.data(), cells.rows, cells.columns, control); }));
    }
    Control control;
    control.stop_after(600);
    CHECK(throws<SearchStopped>([&] { group_rows(cells.values.data(), cells.rows, cells.columns, control); }));
}

TEST(rows_are_grouped) {
    Random random(4);
    for (int trial = 0; trial < 60; ++trial) {
        const Cells cells = draw_cells(random, draw(random, 0, 80), draw(random, 0, 7));
        Control control;
        const RowGroups groups = group_rows(cells.values.data(), cells.rows, cells.columns, control);
        std::map<std::vector<std::uint8_t>, std::size_t> first;
        const auto row = [&](std::size_t r) {
            const auto begin = cells.values.begin() + static_cast<std::ptrdiff_t>(r * cells.columns);
            return std::vector<std::uint8_t>(begin, begin + static_cast<std::ptrdiff_t>(cells.columns));
        };
        for (std::size_t r = 0; r < cells.rows; ++r) first.emplace(row(r), r);
        CHECK(groups.first.size() == first.size());
        std::size_t g = 0;
        for (const auto& [content, r] : first) CHECK(groups.first[g++] == static_cast<std::int64_t>(r));
        for (std::size_t r = 0; r < cells.rows; ++r) CHECK(row(groups.first[groups.group[r]]) == row(r));
    }
}

TEST(costs_are_taken_apart) {
    const std::int64_t matrix[] = {3, 1, 4, -2, 5, 0};
    const std::int64_t weights[] = {2, 7};
    const Costs costs(matrix, 2, 3, 5, weights, 1);
    CHECK(costs.shift() == -2);
    CHECK(costs.base(0) == 1);
    CHECK(costs.base(1) == 0);
    CHECK(costs.first(0) == 2);
    CHECK(costs.swing(0) == 3);
    CHECK(costs.swing(1) == 7);
    CHECK(costs.weight(1) == 7);
    CHECK(costs.delta(0)[0] == -2 && costs.delta(0)[1] == 1);
    const std::int64_t large[] = {kInfinite / 2, 0, kInfinite / 2, 0};
    CHECK(throws<std::overflow_error>([&] { Costs(large, 2, 2, 0, nullptr, 0); }));
    CHECK(!throws<std::overflow_error>([&] { Costs(large, 1, 2, 0, nullptr, 0); }));
}

// No tree costs less under the second costs than the ratio says, and no larger ratio holds for all single cells.
TEST(ratios_are_the_largest_that_hold) {
    Random random(5);
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<std::int64_t> a(8), b(8);
        for (auto& cost : a) cost = draw(random, 0, 9);
        for (auto& cost : b) cost = draw(random, 0, 9);
        const Costs from(a.data(), 4, 2, 1, nullptr, 0), to(b.data(), 4, 2, 3, nullptr, 0);
        const Ratio ratio = least_ratio(from, to);
        bool tight = ratio.numerator == 3 * ratio.denominator;
        for (int i = 0; i < 8; ++i) {
            CHECK(b[i] * ratio.denominator >= a[i] * ratio.numerator);
            tight = tight || (a[i] > 0 && b[i] * ratio.denominator == a[i] * ratio.numerator);
        }
        CHECK(tight);
        for (std::int64_t bound = 0; bound < 20; ++bound)
            CHECK(ratio.scaled_up(bound) ==
                  (bound * ratio.numerator + ratio.denominator - 1) / ratio.denominator);
    }
    CHECK(Ratio{kInfinite - 1, 1}.scaled_up(kInfinite - 1) == 0);   // given up, not wrong
}
