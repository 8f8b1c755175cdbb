#include "front_search.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace goct {
namespace {

// A tree is not deeper than it has splits.
int usable_depth(int depth, int splits) { return std::min(depth, splits); }

// The sum of two points, with the plan that leads there.
template <class Visit>
void each_planned_sum(int feature, const Front<Point>& inside, const Front<Point>& outside, const Limits& limits,
                      int splits, Visit&& visit) {
    const bool counts = splits != kUnlimited;
    const auto plan = [&](const Spot& sum, int used, const Point& p, const Point& q, int i, int j) {
        visit(sum, used, [&] {
            const Plan way{feature, p, q, counts ? i : kUnlimited, counts ? j : kUnlimited};
            return Point{sum, std::make_shared<const Plan>(way)};
        });
    };
    each_sum(inside, outside, limits, splits, plan);
}

}  // namespace

FrontSearch::FrontSearch(const SearchContext& context, Units units)
    : context_(context), units_(units), search_(context), small_(context.instance, units, context.control) {}

void FrontSearch::check() const {
    if (context_.control.stopped()) throw SearchStopped{};
}

void FrontSearch::add_leaves(const Node& node, const Limits& limits, Points& front) const {
    const Sums& sums = node.total();
    for (const Spot& spot : {Spot{sums.base + sums.first, 0}, Spot{0, sums.base + sums.swing - sums.first}})
        if (limits.hold(spot)) front.insert(spot, 0, [&] { return Point{spot, nullptr}; });
}

void FrontSearch::search(int l, int depth, int splits, const Limits& limits, Points& front) {
    const Node& node = search_.node(l);
    add_leaves(node, limits, front);
    depth = usable_depth(depth, splits);
    if (depth == 0 || node.features() == 0) return;
    if (depth <= 2) {
        small_.collect(node, depth, splits, limits, front);
        return;
    }
    walk(
        l, depth, splits, [&] { return beyond(front, limits, units_); },
        [&](int f, const Points& inside, const Points& outside, const Limits& left) {
            each_planned_sum(node.feature(f), inside, outside, left, splits,
                             [&](const Spot& sum, int used, auto&& make) { front.insert(sum, used, make); });
        });
}

// Tries every feature at the root of the node at level l. `remaining` says what is of interest by now; `take` gets the
// feature, the points of its sides, and the limits on their sums.
template <class Remaining, class Take>
void FrontSearch::walk(int l, int depth, int splits, Remaining&& remaining, Take&& take) {
    const Node& node = search_.node(l);
    const std::int64_t base = node.total().base;
    // The scalar search wants trees below a cutoff, and knows avoidable costs.
    const auto cutoff = [&](const Limits& limits) { return limits.budget - base + 1; };
    if (cutoff(remaining()) <= 0 || !search_.prepare(l, depth, cutoff(remaining()))) return;
    for (int f : search_.order(l)) {
        check();
        const Limits limits = remaining();
        if (cutoff(limits) <= 0) return;
        const Search::Attempt known = search_.bounds(l, f);
        if (known.inside + known.outside >= cutoff(limits)) continue;
        const Search::Attempt least = search_.attempt(l, depth, f, known, cutoff(limits), scratch_);
        check();
        if (least.solved) combine(l, depth, splits, f, least, limits, take);
        search_.learn(l, f, least);
    }
    search_.conclude(l, depth);
}

// The points of both sides of feature f, given their least costs. What the first side, the smaller one, takes at least
// is not left to the other.
template <class Take>
void FrontSearch::combine(int l, int depth, int splits, int f, const Search::Attempt& least, const Limits& limits,
                          Take&& take) {
    const Node& node = search_.node(l);
    const bool inside_first = 2 * node.inside(f).count <= node.total().count;
    std::int64_t costs[2] = {least.outside + node.outside(f).base, least.inside + node.inside(f).base};
    Points fronts[2];
    Limits left = limits;
    int side_splits = less_splits(splits, 1);
    for (const bool inside : {inside_first, !inside_first}) {
        left.budget = limits.budget - costs[!inside];
        search_.enter(l, f, inside);
        search(l + 1, depth - 1, side_splits, left, fronts[inside]);
        if (fronts[inside].empty()) return;
        const Spot taken = fronts[inside].least();
        costs[inside] = fronts[inside].least_cost();
        left.x = limits.x - taken.x, left.y = limits.y - taken.y;
        side_splits = less_splits(side_splits, fronts[inside].least_splits());
    }
    take(f, fronts[1], fronts[0], limits);
}

bool FrontSearch::run(int depth, int splits, const Limits& limits, const Visit& visit) {
    limits_ = limits;
    splits_ = splits;
    depth_ = usable_depth(depth, splits);
    visited_.clear();
    wanted_.reset();
    const Node& node = search_.enter_root();
    // At the root only errors count, however many splits are left over.
    const auto remaining = [&] { return beyond(visited_, limits_, units_); };
    try {
        check();
        Points front;
        add_leaves(node, limits_, front);
        show(front, visit);
        if (depth_ == 0 || node.features() == 0) return true;
        if (depth_ <= 2) {
            front.clear();
            small_.collect(node, depth_, splits, remaining(), front);
            show(front, visit);
            return true;
        }
        walk(0, depth_, splits, remaining,
             [&](int f, const Points& inside, const Points& outside, const Limits& left) {
                 front.clear();
                 each_planned_sum(node.feature(f), inside, outside, left, splits,
                                  [&](const Spot& sum, int, auto&& make) {
                                      if (!visited_.dominates(sum)) front.insert(sum, 0, make);
                                  });
                 show(front, visit);
             });
    } catch (const SearchStopped&) {
        return false;
    }
    return true;
}

// Visits the points, the cheapest first: those behind it may be unwanted by then.
void FrontSearch::show(const Points& front, const Visit& visit) {
    std::vector<const Point*> points;
    for (int s = 0; s < front.layers(); ++s)
        for (const Point& point : front.layer(s)) points.push_back(&point);
    std::stable_sort(points.begin(), points.end(), [](auto* a, auto* b) { return a->cost() < b->cost(); });
    for (const Point* point : points) {
        if (!limits_.hold(*point) || visited_.dominates(*point)) continue;
        check();
        const std::optional<Limits> wanted = visit(*point);
        visited_.remove_dominated(*point);
        visited_.insert(*point);
        if (!wanted) continue;
        wanted_ = *point;
        limits_ = {std::min(limits_.budget, wanted->budget), std::min(limits_.x, wanted->x),
                   std::min(limits_.y, wanted->y)};
    }
}

LabelledTree FrontSearch::wanted_tree() {
    LabelledTree tree;
    search_.enter_root();
    write(0, depth_, splits_, *wanted_, tree);
    return tree;
}

void FrontSearch::write(int l, int depth, int splits, const Point& point, LabelledTree& tree) {
    const Node& node = search_.node(l);
    if (!point.plan) return small_.find(node, usable_depth(depth, splits), splits, point, tree);
    const Plan& plan = *point.plan;
    const int f = local_feature(node, plan.feature);
    tree.code.push_back(plan.feature);
    for (const bool inside : {true, false}) {
        search_.enter(l, f, inside);
        write(l + 1, depth - 1, inside ? plan.inside_splits : plan.outside_splits,
              inside ? plan.inside : plan.outside, tree);
    }
}

}  // namespace goct
