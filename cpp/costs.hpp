// The integer costs of one call, in the form the search wants them.
#pragma once

#include <cstdint>
#include <vector>

namespace goct {

// Beyond every cost that passes the check, with room to add a few of them.
inline constexpr std::int64_t kInfinite = std::int64_t{1} << 60;

// What a tree costs: cost[row][class] for predicting the class in the row, plus a cost per split; every leaf holds at
// least `min_leaf_weight` of the row weights (a tree without splits is always allowed).
//
// Inside the search each row is shifted so that its best class costs nothing: the cost that no tree can avoid
// (identical rows with different labels) is taken out once, and a lower bound of zero is the equivalent-points bound.
class Costs {
public:
    // Throws std::overflow_error if some sum of costs could leave 60 bits.
    Costs(const std::int64_t* costs, int rows, int classes, std::int64_t split_cost,
          const std::int64_t* row_weights, std::int64_t min_leaf_weight);

    int rows() const { return rows_; }
    int classes() const { return classes_; }
    int planes() const { return classes_ - 1; }
    std::int64_t split_cost() const { return split_cost_; }
    std::int64_t min_leaf_weight() const { return min_leaf_weight_; }
    std::int64_t shift() const { return shift_; }  // add to a non-negative cost to get back to the input's

    std::int64_t cost(int row, int label) const { return cost_[std::size_t(row) * classes_ + label]; }  // non-negative
    std::int64_t base(int row) const { return base_[row]; }        // the row's least cost, paid by every tree
    std::int64_t first(int row) const { return cost(row, 0) - base_[row]; }  // avoidable cost of class 0
    std::int64_t swing(int row) const { return swing_[row]; }      // largest avoidable cost
    std::int64_t weight(int row) const { return weight_[row]; }
    // Cost of class k + 1 beyond class 0, for k = 0 .. planes() - 1.
    const std::int64_t* delta(int row) const { return delta_.data() + std::size_t(row) * planes(); }

    // Does the row matter? A row that costs the same under every class is a constant.
    bool active(int row) const { return swing_[row] > 0 || min_leaf_weight_ > 0; }

    bool operator==(const Costs& other) const;

private:
    int rows_, classes_;
    std::int64_t split_cost_, min_leaf_weight_, shift_ = 0;
    std::vector<std::int64_t> cost_, base_, swing_, weight_, delta_;
};

// The largest known factor with: every tree costs under `to` at least numerator/denominator times what it costs under
// `from`. This carries lower bounds from one call to the next. It is zero where nothing can be said.
struct Ratio {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;
    double largest = 0;         // no cost of a leaf grows by more than this

    // Is it almost the same for all rows, but for one part in so many?
    bool is_close(double parts) const {
        return parts * double(numerator) / double(denominator) >= (parts - 1) * largest;
    }
    std::int64_t scaled_up(std::int64_t bound) const;  // ceil(bound * ratio)
};

Ratio least_ratio(const Costs& from, const Costs& to);

}  // namespace goct
