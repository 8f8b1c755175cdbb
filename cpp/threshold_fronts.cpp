#include "threshold_fronts.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace goct {

ThresholdFronts::ThresholdFronts(const ThresholdContext& context, Units units, int depth)
    : context_(context), units_(units), search_(context), stumps_(context.data, context.costs, context.control),
      constrained_(context.costs.min_leaf_weight() > 0), size_{depth, kUnlimited} {}

// Bounds on both sides, as if each had all splits that are left.
ThresholdSearch::Shares ThresholdFronts::shares(Size size) const {
    const auto side = ThresholdSearch::usable(
        {size.depth - 1, size.splits == kUnlimited ? kAnySplits : size.splits - 1});
    return {side, side};
}

void ThresholdFronts::add_leaves(const RankedNode& node, const Limits& limits, Points& front) const {
    Spot negative, positive;
    for (int i = 0; i < node.rows(); ++i) {
        negative.x += context_.costs.cost(node.row(i), 0);
        positive.y += context_.costs.cost(node.row(i), 1);
    }
    for (const Spot& spot : {negative, positive})
        if (limits.hold(spot)) front.insert(spot, 0, [&] { return Point{spot, nullptr}; });
}

bool ThresholdFronts::run(int splits, const Limits& limits, const FrontVisit& visit) {
    FrontVisits visits(limits, visit, context_.control);
    size_ = {std::min(size_.depth, splits), splits};
    const RankedNode& node = search_.node(0);
    bool is_done = true;
    try {
        context_.control.check();
        Points front;
        add_leaves(node, limits, front);
        visits.show(front);
        front.clear();
        if (size_.depth == 1) {
            search(0, size_, constrained_, visits.remaining(units_), front);
            visits.show(front);
        } else if (size_.depth > 1) {
            // Only errors count, however many splits are left over.
            go({0, size_, constrained_, [&] { return visits.remaining(units_); },
                [&](const Spot& spot, int) { return visits.dominates(spot); },
                [&](int threshold, const Points& left, const Points& right, const Limits& now) {
                    front.clear();
                    each_planned_sum(threshold, left, right, now, splits, [&](const Spot& sum, int, auto&& make) {
                        if (!visits.dominates(sum)) front.insert(sum, 0, make);
                    });
                    visits.show(front);
                }});
        }
    } catch (const SearchStopped&) {
        is_done = false;
    }
    wanted_ = visits.wanted();
    return is_done;
}

// Adds the node's points to an empty front.
void ThresholdFronts::search(int l, Size size, bool strict, const Limits& limits, Points& front) {
    const RankedNode& node = search_.node(l);
    size.depth = std::min(size.depth, size.splits);
    if (size.depth <= 1) {
        stumps_.load(node);
        const Limits sides[2] = {{-1, -1, -1}, limits};
        Points fronts[2];
        if (size.depth == 1) stumps_.collect(0, -1, sides, size.splits != kUnlimited, least_leaf(strict), fronts);
        front = std::move(fronts[1]);
    }
    add_leaves(node, limits, front);
    if (size.depth <= 1) return;
    go({l, size, strict, [&] { return beyond(front, limits, units_); },
        [&](const Spot& spot, int splits) { return front.dominates(spot, splits); },
        [&](int threshold, const Points& left, const Points& right, const Limits& now) {
            each_planned_sum(threshold, left, right, now, size.splits,
                             [&](const Spot& sum, int used, auto&& make) { front.insert(sum, used, make); });
        }});
}

std::int64_t ThresholdFronts::room(const Walk& walk, const Limits& limits) {
    return limits.budget - search_.node(walk.l).base();
}

// Tries every threshold at the root of a node, in trees of depth two and more.
void ThresholdFronts::go(const Walk& walk) {
    const RankedNode& node = search_.node(walk.l);
    const std::int64_t most = room(walk, walk.remaining());
    if (most < 0 || node.columns() == 0) return;
    const std::int64_t whole = search_.prepare(walk.l, shares(walk.size), most + 1);
    const auto nothing = std::make_shared<Points>();
    nothing->insert({0, 0}, 0, [] { return Point{}; });
    std::vector<std::vector<Known>> ends(node.columns());
    for (int c = 0; c < node.columns(); ++c)
        ends[c] = {{{-1, 0, whole}, {0, node.base()}, {nothing, nullptr}},
                   {{node.groups(c) - 1, whole, 0}, {node.base(), 0}, {nullptr, nothing}}};
    if (walk.size.depth == 2) {
        stumps_.load(node);
        walk_pairs(walk, std::move(ends));
    } else {
        ++context_.control.nodes;
        walk_intervals(walk, ends);
    }
}

// Can there be points of interest between two thresholds?
bool ThresholdFronts::matters(const Walk& walk, const Known& from, const Known& to, const Limits& limits) {
    if (!from.front[0] || !to.front[1]) return true;
    // Whatever the rows between them cost, this part cannot be avoided.
    const std::int64_t between = search_.node(walk.l).base() - from.base[0] - to.base[1];
    return any_sum(*from.front[0], *to.front[1], {limits.budget - between, limits.x, limits.y}, walk.size.splits,
                   [&](const Spot& sum, int used, const auto&...) { return !walk.dominates(sum, used); });
}

// Finds the points of a threshold between two others, if its least sums leave room for any.
ThresholdFronts::Known ThresholdFronts::look(const Walk& walk, int c, const Solved& solved, const Known& from,
                                             const Known& to) {
    const RankedNode& node = search_.node(walk.l);
    const int t = solved.threshold;
    Known known{solved, {}, {}};
    known.base[0] = node.side(context_.data, context_.costs, c, t, false).base;
    known.base[1] = node.base() - known.base[0];
    const Limits limits = walk.remaining();
    const std::int64_t most = room(walk, limits);
    if (solved.left + solved.right > most) return known;
    // The limits leave to one side what the other needs at least, for all thresholds up to those two.
    const auto least = [](const std::shared_ptr<const Points>& front) { return front ? front->least() : Spot{}; };
    const Spot left = least(from.front[0]), right = least(to.front[1]);
    const Limits sides[2] = {{most - to.right + known.base[0], limits.x - right.x, limits.y - right.y},
                             {most - from.left + known.base[1], limits.x - left.x, limits.y - left.y}};
    Points fronts[2];
    find_fronts(walk.l, c, t, below(walk.size), false, sides, fronts);
    const bool any = !fronts[0].empty() && !fronts[1].empty();
    if (any && !walk.strict) walk.take(node.name(context_.data, c, t), fronts[0], fronts[1], limits);
    if (any && walk.strict && search_.allows(node, c, t)) {
        Points allowed[2];
        find_fronts(walk.l, c, t, below(walk.size), true, sides, allowed);
        walk.take(node.name(context_.data, c, t), allowed[0], allowed[1], limits);
    }
    for (int side = 0; side < 2; ++side) known.front[side] = std::make_shared<Points>(std::move(fronts[side]));
    return known;
}

void ThresholdFronts::find_fronts(int l, int c, int t, Size size, bool strict, const Limits (&limits)[2],
                                  Points (&fronts)[2]) {
    if (size.depth == 1)
        return stumps_.collect(c, t, limits, size.splits != kUnlimited, least_leaf(strict), fronts);
    for (const bool right : {false, true}) {
        search_.enter(l, c, t, right);
        search(l + 1, size, strict, limits[right], fronts[right]);
    }
}

void ThresholdFronts::walk_pairs(const Walk& walk, std::vector<std::vector<Known>> solved) {
    std::vector<StumpScans::Lane> lanes;
    for (bool any = true; any;) {
        any = false;
        for (int c = 0; c < static_cast<int>(solved.size()); ++c) {
            const Limits limits = walk.remaining();
            std::vector<Known>& column = solved[c];
            std::vector<ThresholdSearch::Range> ranges;
            for (std::size_t i = 0; i + 1 < column.size(); ++i)
                if (const auto range = search_.alive(walk.l, search_.between(c, column[i], column[i + 1]), room(walk, limits) + 1);
                    range.size() > 0 && matters(walk, column[i], column[i + 1], limits))
                    ranges.push_back(range);
            ThresholdSearch::spread(c, ranges, lanes);
            if (lanes.empty()) continue;
            any = true;
            for (const Solved& found : search_.scan(walk.l, lanes, shares(walk.size))) {
                const auto to = std::lower_bound(column.begin(), column.end(), found.threshold,
                                                 [](const Known& known, int t) { return known.threshold < t; });
                Known known = look(walk, c, found, *std::prev(to), *to);
                column.insert(to, std::move(known));
            }
        }
    }
}

void ThresholdFronts::walk_intervals(const Walk& walk, const std::vector<std::vector<Known>>& ends) {
    struct Open : Interval {
        Known first, last;
    };
    const auto later = [](const Open& a, const Open& b) {
        return std::tie(a.bound, a.column, a.from.threshold) > std::tie(b.bound, b.column, b.from.threshold);
    };
    std::priority_queue<Open, std::vector<Open>, decltype(later)> open(later);
    const auto push = [&](int c, const Known& from, const Known& to) {
        open.push({search_.between(c, from, to), from, to});
    };
    for (int c = 0; c < static_cast<int>(ends.size()); ++c) push(c, ends[c][0], ends[c][1]);
    while (!open.empty()) {
        context_.control.check();
        const Limits limits = walk.remaining();
        const std::int64_t limit = room(walk, limits) + 1;
        if (open.top().bound >= limit) return;
        const Open interval = open.top();
        open.pop();
        const ThresholdSearch::Range range = search_.alive(walk.l, interval, limit);
        if (range.size() == 0 || !matters(walk, interval.first, interval.last, limits)) continue;
        const int best = search_.most_promising(walk.l, interval.column);
        const int t = range.first <= best && best <= range.last ? best : range.middle();
        const Solved solved = search_.solve_sides(walk.l, shares(walk.size), interval, t, limit);
        const Known known = look(walk, interval.column, solved, interval.first, interval.last);
        push(interval.column, interval.first, known);
        push(interval.column, known, interval.last);
    }
}

LabelledTree ThresholdFronts::wanted_tree() {
    LabelledTree tree;
    write(0, size_, *wanted_, tree);
    return tree;
}

void ThresholdFronts::write(int l, Size size, const Point& point, LabelledTree& tree) {
    const RankedNode& node = search_.node(l);
    if (!point.plan) {
        stumps_.load(node);
        return stumps_.find(point, std::min(size.depth, size.splits), least_leaf(constrained_), tree);
    }
    const Plan& plan = *point.plan;
    const auto [c, t] = node.place(context_.data, plan.feature);
    tree.code.push_back(plan.feature);
    for (const bool right : {false, true}) {
        search_.enter(l, c, t, right);
        write(l + 1, {size.depth - 1, right ? plan.outside_splits : plan.inside_splits},
              right ? plan.outside : plan.inside, tree);
    }
}

}  // namespace goct
