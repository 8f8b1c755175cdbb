#include "side_bounds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "buffer.hpp"
#include "pair_kernels.hpp"
#include "simd.hpp"

namespace goct {

// In numbers that hold four times the cost of all rows under both labels.
template <class T>
class SideBounds::Table {
public:
    static constexpr T kNever = std::numeric_limits<T>::max() / 4;

    Table(const Instance& instance, Control& control)
        : costs_(instance.costs()), control_(control), weighted_(costs_.min_leaf_weight() > 0),
          kernel_(limited_sweep<T>(weighted_)) {}

    const PairSweep<T>& find(const Node& node, const Limits& limits) {
        const int planes = 2 + weighted_, lanes = Vec<T>::lanes;
        const int width = std::max((node.features() + lanes - 1) / lanes * lanes, lanes);
        const std::size_t stride = static_cast<std::size_t>(planes) * width;
        T* out = lines_.get(2 * stride + 2 * static_cast<std::size_t>(width));
        T* const cells = cells_.get(node.rows() * stride);
        std::fill_n(total_, planes, T{0});
        const auto value = [this](int row, int plane) {
            return plane == 2 ? costs_.weight(row) : costs_.cost(row, plane);
        };
        lay_out_cells(node, planes, width, value, cells, total_);
        row_.resize(node.rows());
        std::iota(row_.begin(), row_.end(), 0);

        sweep_.rows = node.rows();
        sweep_.features = node.features();
        sweep_.width = width;
        sweep_.planes = planes;
        sweep_.row = row_.data();
        sweep_.cells = cells;
        sweep_.bin_begin = node.bin_begin();
        sweep_.bin_rows = node.bin_rows();
        sweep_.chain_begin = node.chain_begin();
        sweep_.least = clipped(costs_.min_leaf_weight());
        sweep_.never = kNever;
        sweep_.total = total_;
        sweep_.column = std::exchange(out, out + stride);
        sweep_.matrix = std::exchange(out, out + stride);
        sweep_.inside_best = std::exchange(out, out + width);
        sweep_.outside_best = out;
        sweep_.control = &control_;
        kernel_(sweep_, clipped(limits.x), clipped(limits.y));
        return sweep_;
    }

private:
    static T clipped(std::int64_t value) { return static_cast<T>(std::clamp<std::int64_t>(value, -1, kNever)); }

    const Costs& costs_;
    Control& control_;
    const bool weighted_;
    const LimitedSweep<T> kernel_;
    PairSweep<T> sweep_{};
    Buffer<T> lines_, cells_;
    std::vector<int> row_;
    T total_[3] = {};
};

SideBounds::SideBounds(const Instance& instance, Control& control) : instance_(instance), control_(control) {}
SideBounds::~SideBounds() = default;

template <class T>
void SideBounds::find_with(std::unique_ptr<Table<T>>& table, const Node& node, const Limits& limits) {
    if (!table) table = std::make_unique<Table<T>>(instance_, control_);
    const PairSweep<T>& sweep = table->find(node, limits);
    const auto read = [&](const T* from, std::vector<std::int64_t>& to) {
        to.resize(node.features());
        for (int f = 0; f < node.features(); ++f) to[f] = from[f] >= Table<T>::kNever ? kInfinite : from[f];
    };
    read(sweep.inside_best, inside_);
    read(sweep.outside_best, outside_);
}

void SideBounds::find(const Node& node, const Limits& limits) {
    const Sums& all = node.total();
    const std::int64_t costs = 2 * all.base + all.swing;    // of both labels
    const std::int64_t size = std::max(costs, instance_.costs().min_leaf_weight() > 0 ? all.weight : 0);
    if (size < Table<std::int16_t>::kNever)
        find_with(table16_, node, limits);
    else if (size < Table<std::int32_t>::kNever)
        find_with(table32_, node, limits);
    else
        find_with(table64_, node, limits);
}

}  // namespace goct
