#include "stumps.hpp"

#include <algorithm>

namespace goct {
namespace {

// Sums of rows by class.
class ClassSums {
public:
    explicit ClassSums(const Costs& costs) : costs_(costs), sums_(costs.classes(), 0) {}

    void add(int row) {
        for (int k = 0; k < costs_.classes(); ++k) sums_[k] += costs_.cost(row, k) - costs_.base(row);
        weight_ += costs_.weight(row);
    }
    std::int64_t least() const { return *std::min_element(sums_.begin(), sums_.end()); }
    std::int64_t least_of_rest(const ClassSums& all) const {
        std::int64_t least = kInfinite;
        for (int k = 0; k < costs_.classes(); ++k) least = std::min(least, all.sums_[k] - sums_[k]);
        return least;
    }
    std::int64_t weight() const { return weight_; }

private:
    const Costs& costs_;
    std::vector<std::int64_t> sums_;
    std::int64_t weight_ = 0;
};

}  // namespace

Stump find_stump(const RankedNode& node, const Costs& costs, const Part& part, std::int64_t min_leaf_weight,
                 Control& control) {
    Pace pace(control);
    ClassSums all(costs);
    for (int i = 0; i < node.rows(); ++i)
        if (part.holds(node, i)) all.add(node.row(i));
    Stump best{all.least(), all.least()};
    for (int c = 0; c < node.columns(); ++c) {
        ClassSums left(costs);
        const int *const order = node.order(c), *const ends = node.ends(c);
        for (int g = 0, k = 0; g < node.groups(c) - 1; ++g) {
            pace.step(8 * (ends[g] - k));
            for (; k < ends[g]; ++k)
                if (part.holds(node, order[k])) left.add(node.row(order[k]));
            if (left.weight() < min_leaf_weight || all.weight() - left.weight() < min_leaf_weight) continue;
            const std::int64_t cost = left.least() + left.least_of_rest(all);
            if (cost < best.cost) best = {best.leaf, cost, c, g};
        }
    }
    return best;
}

}  // namespace goct
