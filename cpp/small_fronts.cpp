#include "small_fronts.hpp"

#include <algorithm>
#include <stdexcept>

namespace goct {
namespace {

void add_if(const Limits& limits, const Spot& spot, int splits, Front<Spot>& front) {
    if (limits.hold(spot)) front.insert(spot, splits, [&] { return spot; });
}

}  // namespace

SmallFronts::SmallFronts(const Instance& instance, Units units, Control& control)
    : instance_(instance), units_(units), control_(control), bounds_(instance, control) {}

void SmallFronts::check() const {
    control_.check();
}

void SmallFronts::load(const Node& node) {
    const auto read = [](const Sums& sums) {
        // With two classes: base + first is what class 0 costs. Both together cost base + (base + swing).
        return Leaf{sums.base + sums.first, sums.base + sums.swing - sums.first, sums.weight};
    };
    node_ = &node;
    total_ = read(node.total());
    inside_.resize(node.features());
    for (int f = 0; f < node.features(); ++f) inside_[f] = read(node.inside(f));
}

void SmallFronts::count_pairs(int f) {
    const Node& node = *node_;
    const Costs& costs = instance_.costs();
    both_.assign(node.features(), Leaf{});
    const auto add = [&](const auto& rows) {
        for (int r : rows) {
            const int row = node.row(r);
            const Leaf own{costs.cost(row, 0), costs.cost(row, 1), costs.weight(row)};
            for (const int* e = node.entries_begin(r); e != node.entries_end(r); ++e) both_[*e] += own;
        }
        for (int j = node.features() - 2; j >= 0; --j)
            if (node.chain_begin()[j] == node.chain_begin()[j + 1]) both_[j] += both_[j + 1];
    };
    // The smaller side is counted, whichever it is.
    if (2 * node.inside(f).count <= node.total().count) {
        add(node.inside_rows(f));
        return;
    }
    node.outside_rows(f, others_);
    add(others_);
    for (int j = 0; j < node.features(); ++j) both_[j] = inside_[j] - both_[j];
}

// One side of the feature last counted, as a leaf and with one split.
void SmallFronts::collect_side(int f, bool inside, int splits, const Limits& limits, Front<Spot>& front) const {
    front.clear();
    const Leaf all = side(f, inside);
    add_if(limits, {all.negative, 0}, 0, front);
    add_if(limits, {0, all.positive}, 0, front);
    if (splits < 1 || all.negative == 0 || all.positive == 0) return;
    const int layer = splits == kUnlimited ? 0 : 1;
    for (int j = 0; j < node_->features(); ++j) {
        const Leaf one = part(j, inside), two = all - one;
        if (!allowed(one) || !allowed(two)) continue;
        add_if(limits, {one.negative, two.positive}, layer, front);
        add_if(limits, {two.negative, one.positive}, layer, front);
    }
}

std::int64_t SmallFronts::collect(const Node& node, int depth, int splits, const Limits& limits, Front<Point>& front) {
    load(node);
    const auto add = [&](const Spot& spot, int used) {
        front.insert(spot, used, [&] { return Point{spot, nullptr}; });
    };
    if (depth == 1) {
        for (int f = 0; f < node.features(); ++f)
            for (const bool inside : {true, false}) {
                if (!node.allows(instance_, f)) continue;
                const Spot spot{side(f, inside).negative, side(f, !inside).positive};
                if (limits.hold(spot)) add(spot, splits == kUnlimited ? 0 : 1);
            }
        return node.total().base;
    }
    ++control_.depth_two;
    Limits left = beyond(front, limits, units_);
    if (left.budget < node.total().base) return node.total().base;
    bounds_.find(node, left);
    const auto bound = [&](int f) { return bounds_.inside(f) + bounds_.outside(f); };
    std::int64_t least = kInfinite;
    order_.clear();
    for (int f = 0; f < node.features(); ++f) {
        least = std::min(least, bound(f));
        if (bound(f) <= left.budget) order_.push_back(f);
    }
    std::sort(order_.begin(), order_.end(), [&](int f, int g) { return bound(f) < bound(g); });
    const int side_splits = less_splits(splits, 1);
    for (int f : order_) {
        left = beyond(front, limits, units_);
        if (bound(f) > left.budget) break;
        check();
        count_pairs(f);
        collect_side(f, true, side_splits, {left.budget - bounds_.outside(f), left.x, left.y}, fronts_[1]);
        if (fronts_[1].empty()) continue;
        const Spot taken = fronts_[1].least();
        collect_side(f, false, side_splits,
                     {left.budget - fronts_[1].least_cost(), left.x - taken.x, left.y - taken.y}, fronts_[0]);
        each_sum(fronts_[1], fronts_[0], left, splits,
                 [&](const Spot& sum, int used, const Spot&, const Spot&, int, int) { add(sum, used); });
    }
    return least;
}

void SmallFronts::find(const Node& node, int depth, int splits, const Spot& spot, LabelledTree& tree) {
    load(node);
    if (total_.negative <= spot.x) return tree.add_leaf(0);
    if (total_.positive <= spot.y) return tree.add_leaf(1);
    const Limits limits{spot.cost(), spot.x, spot.y};
    for (int f = 0; f < node.features() && depth > 0 && splits > 0; ++f) {
        if (!node.allows(instance_, f)) continue;
        count_pairs(f);
        for (const bool inside : {true, false})
            collect_side(f, inside, depth == 1 ? 0 : less_splits(splits, 1), limits, fronts_[inside]);
        bool any = false;
        Spot sides[2];
        each_sum(fronts_[1], fronts_[0], limits, splits,
                 [&](const Spot&, int, const Spot& inside, const Spot& outside, int, int) {
                     any = true;
                     sides[1] = inside, sides[0] = outside;
                 });
        if (!any) continue;
        tree.code.push_back(node.feature(f));
        for (const bool inside : {true, false}) find_side(f, inside, sides[inside], tree);
        return;
    }
    throw std::logic_error("no tree is where one was found");
}

void SmallFronts::find_side(int f, bool inside, const Spot& spot, LabelledTree& tree) const {
    const Leaf all = side(f, inside);
    if (all.negative <= spot.x) return tree.add_leaf(0);
    if (all.positive <= spot.y) return tree.add_leaf(1);
    for (int j = 0; j < node_->features(); ++j) {
        const Leaf one = part(j, inside), two = all - one;
        if (!allowed(one) || !allowed(two)) continue;
        for (const bool inner_negative : {true, false}) {
            const Spot own = inner_negative ? Spot{one.negative, two.positive} : Spot{two.negative, one.positive};
            if (own.x > spot.x || own.y > spot.y) continue;
            tree.code.push_back(node_->feature(j));
            tree.add_leaf(!inner_negative);
            tree.add_leaf(inner_negative);
            return;
        }
    }
    throw std::logic_error("no tree is where one was found");
}

}  // namespace goct
