#include "stump_fronts.hpp"

#include <stdexcept>

namespace goct {

void StumpFronts::load(const RankedNode& node) {
    node_ = &node;
    rows_.clear();
    total_ = {};
    for (int i = 0; i < node.rows(); ++i) {
        const int r = node.row(i);
        rows_.push_back({costs_.cost(r, 0), costs_.cost(r, 1), costs_.weight(r)});
        total_ += rows_.back();
    }
    pace_.step(8 * rows_.size());
}

// The two ways to label the parts of a split, until one is enough.
template <class Visit>
bool StumpFronts::any_split(const Leaf& all, const Leaf& one, std::int64_t min_leaf_weight, Visit&& visit) const {
    const Leaf two = all - one;
    if (one.weight < min_leaf_weight || two.weight < min_leaf_weight) return false;
    return visit(Spot{one.negative, two.positive}, 0) || visit(Spot{two.negative, one.positive}, 1);
}

void StumpFronts::collect(int c, int t, const Limits (&limits)[2], bool counts, std::int64_t min_leaf_weight,
                          Front<Point> (&fronts)[2]) {
    const RankedNode& node = *node_;
    Leaf all[2];
    on_left_.assign(rows_.size(), Leaf{});
    for (int k = 0; t >= 0 && k < node.ends(c)[t]; ++k) {
        const int i = node.order(c)[k];
        on_left_[i] = rows_[i];
        all[0] += rows_[i];
    }
    all[1] = total_ - all[0];
    const auto add = [&](int side, const Spot& spot, int splits) {
        if (limits[side].hold(spot)) fronts[side].insert(spot, splits, [&] { return Point{spot, nullptr}; });
        return false;
    };
    for (int side = 0; side < 2; ++side) {
        add(side, {all[side].negative, 0}, 0);
        add(side, {0, all[side].positive}, 0);
    }
    for (int d = 0; d < node.columns(); ++d) {
        pace_.step(8 * rows_.size());
        const int *const order = node.order(d), *const ends = node.ends(d);
        Leaf sum, left;
        for (int g = 0, k = 0; g < node.groups(d) - 1; ++g) {
            for (; k < ends[g]; ++k) {
                sum += rows_[order[k]];
                left += on_left_[order[k]];
            }
            any_split(all[0], left, min_leaf_weight,
                      [&](const Spot& spot, int) { return add(0, spot, counts); });
            any_split(all[1], sum - left, min_leaf_weight,
                      [&](const Spot& spot, int) { return add(1, spot, counts); });
        }
    }
}

void StumpFronts::find(const Spot& spot, int splits, std::int64_t min_leaf_weight, LabelledTree& tree) {
    const RankedNode& node = *node_;
    if (total_.negative <= spot.x) return tree.add_leaf(0);
    if (total_.positive <= spot.y) return tree.add_leaf(1);
    for (int c = 0; c < node.columns() && splits > 0; ++c) {
        Leaf left;
        for (int g = 0, k = 0; g < node.groups(c) - 1; ++g) {
            for (; k < node.ends(c)[g]; ++k) left += rows_[node.order(c)[k]];
            const bool found = any_split(total_, left, min_leaf_weight, [&](const Spot& own, int label) {
                if (own.x > spot.x || own.y > spot.y) return false;
                tree.code.push_back(node.name(data_, c, g));
                tree.add_leaf(label);
                tree.add_leaf(!label);
                return true;
            });
            if (found) return;
        }
    }
    throw std::logic_error("no tree is where one was found");
}

}  // namespace goct
