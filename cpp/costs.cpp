#include "costs.hpp"

#include <algorithm>
#include <stdexcept>

namespace goct {
namespace {

// Sums that stay in 60 bits, or an error: afterwards no addition in the search can overflow.
class CheckedSum {
public:
    void add(std::int64_t value) {
        if (value < 0 || value >= kInfinite - total_) throw std::overflow_error("costs are too large for exact sums");
        total_ += value;
    }

private:
    std::int64_t total_ = 0;
};

// a * b as high and low words, for exact comparisons of fractions of 60-bit numbers.
struct Wide {
    std::uint64_t high, low;
    auto operator<=>(const Wide&) const = default;
};

Wide multiply(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t al = a & 0xFFFFFFFFu, ah = a >> 32, bl = b & 0xFFFFFFFFu, bh = b >> 32;
    const std::uint64_t low = al * bl, cross = ah * bl + (low >> 32), middle = al * bh + (cross & 0xFFFFFFFFu);
    return {ah * bh + (cross >> 32) + (middle >> 32), (middle << 32) | (low & 0xFFFFFFFFu)};
}

}  // namespace

Costs::Costs(const std::int64_t* costs, int rows, int classes, std::int64_t split_cost,
             const std::int64_t* row_weights, std::int64_t min_leaf_weight)
    : rows_(rows), classes_(classes), split_cost_(split_cost), min_leaf_weight_(min_leaf_weight) {
    CheckedSum sum, weights;
    for (int split = 0; split < std::min(rows, 64); ++split) sum.add(split_cost);
    for (int r = 0; r < rows; ++r) {
        const std::int64_t* row = costs + std::size_t(r) * classes;
        const auto [least, most] = std::minmax_element(row, row + classes);
        if (*least <= -kInfinite || *most >= kInfinite) throw std::overflow_error("costs are too large for exact sums");
        const std::int64_t shift = std::min<std::int64_t>(*least, 0);
        sum.add(*most - shift);
        sum.add(-shift);
        shift_ += shift;
        for (int k = 0; k < classes; ++k) cost_.push_back(row[k] - shift);
        base_.push_back(*least - shift);
        swing_.push_back(*most - *least);
        for (int k = 1; k < classes; ++k) delta_.push_back(row[k] - row[0]);
        weight_.push_back(row_weights ? row_weights[r] : 1);
        weights.add(weight_.back());
    }
}

bool Costs::operator==(const Costs& other) const {
    return classes_ == other.classes_ && split_cost_ == other.split_cost_ && shift_ == other.shift_ &&
           min_leaf_weight_ == other.min_leaf_weight_ && cost_ == other.cost_ && weight_ == other.weight_;
}

std::int64_t Ratio::scaled_up(std::int64_t bound) const {
    if (numerator == 0 || bound <= 0) return 0;
    // Whole and fractional part apart; a part whose product could leave 64 bits is given up, which is safe for a bound.
    const std::int64_t whole = bound / denominator, rest = bound % denominator, most = kInfinite / numerator;
    if (whole > most) return 0;
    return whole * numerator + (rest > most ? 0 : (rest * numerator + denominator - 1) / denominator);
}

Ratio least_ratio(const Costs& from, const Costs& to) {
    // A smaller minimum leaf weight allows more trees, so bounds only carry over to an equal or larger one.
    if (from.rows() != to.rows() || from.classes() != to.classes() || to.min_leaf_weight() < from.min_leaf_weight())
        return {};
    Ratio least{kInfinite, 1};
    const auto include = [&](std::int64_t before, std::int64_t after) {
        if (before > 0 && multiply(after, least.denominator) < multiply(least.numerator, before))
            least.numerator = after, least.denominator = before;
    };
    include(from.split_cost(), to.split_cost());
    for (int r = 0; r < from.rows(); ++r)
        for (int k = 0; k < from.classes(); ++k) {
            const std::int64_t before = from.cost(r, k), after = to.cost(r, k);
            include(before, after);
            if (before > 0) least.largest = std::max(least.largest, double(after) / double(before));
        }
    return least.numerator == kInfinite ? Ratio{} : least;
}

}  // namespace goct
