#include "side_bounds.hpp"

#include <algorithm>

#include "pair_kernels.hpp"

namespace goct {

// In numbers that hold four times the cost of all rows under both labels.
template <class T>
class SideBounds::Table {
public:
    Table(const Instance& instance, Control& control)
        : costs_(instance.costs()), control_(control), weighted_(costs_.min_leaf_weight() > 0),
          kernel_(limited_sweep<T>(weighted_)) {}

    const PairView<T>& find(const Node& node, const Limits& limits) {
        sweep_.reset(node, 2 + weighted_, 1, costs_.min_leaf_weight(), &control_);
        sweep_.set_rows(node, [this](int row, int plane) {
            return plane == 2 ? costs_.weight(row) : costs_.cost(row, plane);
        });
        kernel_(sweep_.view(), clipped(limits.x), clipped(limits.y));
        return sweep_.view();
    }

private:
    static T clipped(std::int64_t value) { return static_cast<T>(std::clamp<std::int64_t>(value, -1, kNever<T>)); }

    const Costs& costs_;
    Control& control_;
    const bool weighted_;
    const LimitedSweep<T> kernel_;
    PairSweep<T> sweep_;
};

SideBounds::SideBounds(const Instance& instance, Control& control) : instance_(instance), control_(control) {}
SideBounds::~SideBounds() = default;

template <class T>
void SideBounds::find_with(std::unique_ptr<Table<T>>& table, const Node& node, const Limits& limits) {
    if (!table) table = std::make_unique<Table<T>>(instance_, control_);
    const PairView<T>& sweep = table->find(node, limits);
    const auto read = [&](const T* from, std::vector<std::int64_t>& to) {
        to.resize(node.features());
        for (int f = 0; f < node.features(); ++f) to[f] = from[f] >= kNever<T> ? kInfinite : from[f];
    };
    read(sweep.inside_best, inside_);
    read(sweep.outside_best, outside_);
}

void SideBounds::find(const Node& node, const Limits& limits) {
    const Sums& all = node.total();
    const std::int64_t costs = 2 * all.base + all.swing;    // of both labels
    const std::int64_t size = std::max(costs, instance_.costs().min_leaf_weight() > 0 ? all.weight : 0);
    if (has_loops_for<std::int16_t>() && size < kNever<std::int16_t>)
        find_with(table16_, node, limits);
    else if (size < kNever<std::int32_t>)
        find_with(table32_, node, limits);
    else
        find_with(table64_, node, limits);
}

}  // namespace goct
