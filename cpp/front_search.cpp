#include "front_search.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace goct {
namespace {

// A tree is not deeper than it has splits.
int usable_depth(int depth, int splits) { return std::min(depth, splits); }

}  // namespace

// What the sides of a node's features cost at least within the limits on x and y. These only shrink, so what was found
// stays true. A tree that keeps to them on some rows does so on fewer, and costs no more: in a chain of nested sets a
// side bounds all that hold it. With a minimum leaf weight it need not be a tree there.
class FrontSearch::SideCosts {
public:
    SideCosts(const Node& node, bool nested)
        : node_(node), nested_(nested), costs_{std::vector<std::int64_t>(node.features(), 0), {}} {
        costs_[1] = costs_[0];
    }

    std::int64_t get(int f, bool inside) const { return costs_[inside][f]; }
    std::int64_t sum(int f) const { return costs_[0][f] + costs_[1][f]; }
    void raise(int f, bool inside, std::int64_t cost) { costs_[inside][f] = std::max(costs_[inside][f], cost); }
    // The same, and for the sides that hold this one.
    void learn(int f, bool inside, std::int64_t cost) {
        const int chain = node_.chain_begin()[f], step = inside ? -1 : 1;
        for (int j = f; j >= chain && j < node_.features() && node_.chain_begin()[j] == chain; j += step) {
            raise(j, inside, cost);
            if (!nested_) return;
        }
    }

private:
    const Node& node_;
    const bool nested_;
    std::vector<std::int64_t> costs_[2];    // by side and feature
};

FrontSearch::FrontSearch(const SearchContext& context, Units units, int depth)
    : context_(context), units_(units), search_(context, depth), small_(context.instance, units, context.control),
      depth_(depth) {}

void FrontSearch::check() const {
    context_.control.check();
}

// Returns what a leaf costs at least that keeps to the limits on x and y.
std::int64_t FrontSearch::add_leaves(const Node& node, const Limits& limits, Points& front) const {
    const Sums& sums = node.total();
    std::int64_t least = kInfinite;
    for (const Spot& spot : {Spot{sums.base + sums.first, 0}, Spot{0, sums.base + sums.swing - sums.first}}) {
        if (spot.x <= limits.x && spot.y <= limits.y) least = std::min(least, spot.cost());
        if (limits.hold(spot)) front.insert(spot, 0, [&] { return Point{spot, nullptr}; });
    }
    return least;
}

// Adds the node's points to an empty front. Returns a lower bound on what its trees cost that keep to the limits on x
// and y, whatever their sum.
std::int64_t FrontSearch::search(int l, int depth, int splits, const Limits& limits, Points& front) {
    const Node& node = search_.node(l);
    std::int64_t least = add_leaves(node, limits, front);
    depth = usable_depth(depth, splits);
    if (depth == 0 || node.features() == 0) return least;
    if (depth <= 2) {
        least = std::min(least, small_.collect(node, depth, splits, limits, front));
    } else {
        const auto remaining = [&] { return beyond(front, limits, units_); };
        const auto take = [&](int f, const Points& inside, const Points& outside, const Limits& left) {
            each_planned_sum(node.feature(f), inside, outside, left, splits,
                             [&](const Spot& sum, int used, auto&& make) { front.insert(sum, used, make); });
        };
        least = std::min(least, walk(l, depth, splits, remaining, take));
    }
    // Trees that others dominate were left out, but these are cheaper.
    return std::min(least, front.least_cost());
}

// Tries every feature at the root of the node at level l. `remaining` says what is of interest by now; `take` gets the
// feature, the points of its sides, and the limits on their sums. Returns a lower bound on trees that were of interest
// all the time but for their cost.
template <class Remaining, class Take>
std::int64_t FrontSearch::walk(int l, int depth, int splits, Remaining&& remaining, Take&& take) {
    const Node& node = search_.node(l);
    const std::int64_t base = node.total().base;
    // The scalar search wants trees below a cutoff, and knows avoidable costs.
    const auto cutoff = [&](const Limits& limits) { return limits.budget - base + 1; };
    const std::int64_t first_cutoff = cutoff(remaining());
    if (first_cutoff <= 0) return base;
    Search<AnySplits>::Values avoidable{0};
    if (!search_.prepare(l, depth, {first_cutoff}, avoidable)) return base + first_cutoff;
    SideCosts least(node, context_.techniques.similarity && context_.instance.costs().min_leaf_weight() == 0);
    const auto raise = [&](int f) {
        least.raise(f, true, search_.side(l, true).bound[0] + node.inside(f).base);
        least.raise(f, false, search_.side(l, false).bound[0] + node.outside(f).base);
    };
    for (int f : search_.order(l)) {
        check();
        const Limits limits = remaining();
        if (cutoff(limits) <= 0) break;
        if (!node.allows(context_.instance, f)) continue;
        search_.recall(l, f);
        raise(f);
        if (least.sum(f) > limits.budget) continue;
        search_.attempt(l, depth, f, {cutoff(limits)});
        check();
        raise(f);
        search_.learn(l, depth, f);
        if (least.sum(f) <= limits.budget) combine(l, depth, splits, f, least, limits, take);
    }
    search_.conclude(l, depth);
    std::int64_t bound = kInfinite;
    for (int f = 0; f < node.features(); ++f) {
        if (!node.allows(context_.instance, f)) continue;
        search_.recall(l, f);
        raise(f);
        bound = std::min(bound, least.sum(f));
    }
    return bound;
}

// The points of both sides of feature f. The larger side comes first: it is the one that the limits on x and y leave
// without points most often. What it takes at least is not left to the other.
template <class Take>
void FrontSearch::combine(int l, int depth, int splits, int f, SideCosts& least, const Limits& limits, Take&& take) {
    const Node& node = search_.node(l);
    const bool inside_first = 2 * node.inside(f).count > node.total().count;
    Points fronts[2];
    Limits left = limits;
    left.budget -= least.get(f, !inside_first);
    int side_splits = less_splits(splits, 1);
    for (const bool inside : {inside_first, !inside_first}) {
        search_.enter(l, f, inside);
        const std::int64_t cost = search(l + 1, depth - 1, side_splits, left, fronts[inside]);
        // What holds within narrower limits says nothing about the other features.
        if (left.x == limits.x && left.y == limits.y && side_splits == less_splits(splits, 1))
            least.learn(f, inside, cost);
        if (fronts[inside].empty()) return;
        const Spot taken = fronts[inside].least();
        left = {limits.budget - fronts[inside].least_cost(), limits.x - taken.x, limits.y - taken.y};
        side_splits = less_splits(side_splits, fronts[inside].least_splits());
    }
    take(f, fronts[1], fronts[0], limits);
}

bool FrontSearch::run(int splits, const Limits& limits, const FrontVisit& visit) {
    FrontVisits visits(limits, visit, context_.control);
    splits_ = splits;
    depth_ = usable_depth(depth_, splits);
    const Node& node = search_.enter_root();
    // At the root only errors count, however many splits are left over.
    const auto remaining = [&] { return visits.remaining(units_); };
    bool is_done = true;
    try {
        check();
        Points front;
        add_leaves(node, limits, front);
        visits.show(front);
        front.clear();
        if (node.features() == 0) depth_ = 0;
        if (depth_ == 1 || depth_ == 2) {
            small_.collect(node, depth_, splits, remaining(), front);
            visits.show(front);
        } else if (depth_ > 2) {
            walk(0, depth_, splits, remaining,
                 [&](int f, const Points& inside, const Points& outside, const Limits& left) {
                     front.clear();
                     each_planned_sum(node.feature(f), inside, outside, left, splits,
                                      [&](const Spot& sum, int, auto&& make) {
                                          if (!visits.dominates(sum)) front.insert(sum, 0, make);
                                      });
                     visits.show(front);
                 });
        }
    } catch (const SearchStopped&) {
        is_done = false;
    }
    wanted_ = visits.wanted();
    return is_done;
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
