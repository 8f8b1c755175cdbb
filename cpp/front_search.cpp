#include "front_search.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
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

FrontSearch::FrontSearch(const SearchContext& context, Units units, int depth, int jobs)
    : context_(context), units_(units), search_(context, depth), small_(context.instance, units, context.control),
      depth_(depth), jobs_(jobs) {}

FrontSearch::FrontSearch(const FrontSearch& first, int member)
    : context_(first.context_), units_(first.units_), search_(first.search_, member),
      small_(context_.instance, units_, context_.control), depth_(first.depth_), jobs_(1), member_(member),
      crew_(first.crew_) {}

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
        const auto take = [&](int f, const Points& inside, const Points& outside) {
            each_planned_sum(node.feature(f), inside, outside, remaining(), splits,
                             [&](const Spot& sum, int used, auto&& make) { front.insert(sum, used, make); });
        };
        least = std::min(least, walk(l, depth, splits, remaining, take));
    }
    // Trees that others dominate were left out, but these are cheaper.
    return std::min(least, front.least_cost());
}

// The loop over the features of a node, shared with those who join. They take features in order, with the limits of that
// moment. Points are handed on in order, too: those of a feature wait for the ones before it. By then the limits may be
// narrower; within these nothing is missing, and the points are the same.
class FrontSearch::Loop final : public CrewWork<FrontSearch> {
public:
    Loop(FrontSearch& owner, int l, int depth, int splits, const Remaining& remaining, const Take& take)
        : CrewWork(owner, l), home_(owner.search_.home(l)), node_(owner.search_.node(l)),
          order_(owner.search_.order(l)), size_(static_cast<int>(order_.size())), depth_(depth), splits_(splits),
          remaining_(remaining), take_(take),
          least_(node_, owner.context_.techniques.similarity && owner.context_.instance.costs().min_leaf_weight() == 0) {}

    // Returns a lower bound on trees that were of interest all the time but for their cost.
    std::int64_t run() {
        CrewWork::run();
        if (error_) std::rethrow_exception(error_);
        owner_.search_.conclude(level, depth_);
        std::int64_t bound = kInfinite;
        for (int f = 0; f < node_.features(); ++f) {
            if (!node_.allows(owner_.context_.instance, f)) continue;
            recall(f, owner_.search_);
            bound = std::min(bound, least_.sum(f));
        }
        return bound;
    }

private:
    using Fronts = std::array<Points, 2>;   // outside and inside

    // The scalar search wants trees below a cutoff, and knows avoidable costs.
    std::int64_t cutoff(const Limits& limits) const { return limits.budget - node_.total().base + 1; }

    void join(FrontSearch& who) override { who.search_.join(level, *joint_); }

    void work(FrontSearch& who) override {
        Search<AnySplits>& own = who.search_;
        std::unique_lock guard(lock_);
        while (next_ < size_ && !error_) {
            who.check();
            const Limits limits = remaining_();
            if (cutoff(limits) <= 0) break;
            const int i = next_++, f = order_[i];
            exhausted = next_ == size_;
            if (!node_.allows(owner_.context_.instance, f)) continue;
            recall(f, own);
            if (least_.sum(f) > limits.budget) continue;
            running_.insert(i);
            guard.unlock();
            if (&who == &owner_ && !shared_ && owner_.shares(level, depth_, i + 1)) {
                joint_.emplace(owner_.search_.joint(level));
                share();
            }
            own.attempt(level, depth_, f, {cutoff(limits)});
            who.check();
            own.compare(level, f);
            guard.lock();
            raise(f, own);
            own.learn(level, depth_, f, home_);
            if (least_.sum(f) <= limits.budget) combine(who, i, limits, guard);
            running_.erase(i);
            hand_on();
        }
        next_ = size_;
        exhausted = true;
    }

    void recall(int f, Search<AnySplits>& own) {
        own.recall(level, f, home_);
        raise(f, own);
    }
    void raise(int f, const Search<AnySplits>& own) {
        least_.raise(f, true, own.side(level, true).bound[0] + node_.inside(f).base);
        least_.raise(f, false, own.side(level, false).bound[0] + node_.outside(f).base);
    }

    // The points of both sides of a feature. The larger side comes first: it is the one that the limits on x and y leave
    // without points most often. What it takes at least is not left to the other.
    void combine(FrontSearch& who, int i, const Limits& limits, std::unique_lock<std::mutex>& guard) {
        const int f = order_[i];
        const bool inside_first = 2 * node_.inside(f).count > node_.total().count;
        Fronts fronts;
        Limits left = limits;
        left.budget -= least_.get(f, !inside_first);
        int splits = less_splits(splits_, 1);
        for (const bool inside : {inside_first, !inside_first}) {
            Points& front = fronts[inside];
            guard.unlock();
            who.search_.enter(level, f, inside);
            const std::int64_t cost = who.search(level + 1, depth_ - 1, splits, left, front);
            guard.lock();
            // What holds within narrower limits says nothing about the other features.
            if (left.x == limits.x && left.y == limits.y && splits == less_splits(splits_, 1))
                least_.learn(f, inside, cost);
            if (front.empty()) return;
            const Spot taken = front.least();
            left = {limits.budget - front.least_cost(), limits.x - taken.x, limits.y - taken.y};
            splits = less_splits(splits, front.least_splits());
        }
        waiting_.emplace(i, std::move(fronts));
    }

    void hand_on() {
        while (!waiting_.empty() && (running_.empty() || waiting_.begin()->first < *running_.begin())) {
            const auto next = waiting_.extract(waiting_.begin());
            take_(order_[next.key()], next.mapped()[1], next.mapped()[0]);
        }
    }

    Search<AnySplits>::Home& home_;
    const Node& node_;
    const std::vector<int>& order_;
    const int size_, depth_, splits_;
    const Remaining& remaining_;
    const Take& take_;
    SideCosts least_;
    int next_ = 0;                  // in order
    std::set<int> running_;
    std::map<int, Fronts> waiting_;     // for those that run
    std::optional<Search<AnySplits>::Joint> joint_;
};

// Does somebody want to join the loop over the features of a node, from the next one in order on?
bool FrontSearch::shares(int l, int depth, int next) const {
    return crew_ && search_.is_worth_sharing(l, depth, next) && crew_->team.wants_work(l);
}

// Tries every feature at the root of the node at level l. Returns a lower bound on trees that were of interest all the
// time but for their cost.
std::int64_t FrontSearch::walk(int l, int depth, int splits, const Remaining& remaining, const Take& take) {
    const std::int64_t base = search_.node(l).total().base, cutoff = remaining().budget - base + 1;
    if (cutoff <= 0) return base;
    Search<AnySplits>::Values avoidable{0};
    if (!search_.prepare(l, depth, {cutoff}, avoidable)) return base + cutoff;
    return Loop(*this, l, depth, splits, remaining, take).run();
}

bool FrontSearch::run(int splits, const Limits& limits, const FrontVisit& visit, Keep keep) {
    FrontVisits visits(limits, visit, keep, context_.control);
    Crew<FrontSearch> crew(*this, jobs_, context_.control);
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
            walk(0, depth_, splits, remaining, [&](int f, const Points& inside, const Points& outside) {
                front.clear();
                each_planned_sum(node.feature(f), inside, outside, remaining(), splits,
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

LabelledTree FrontSearch::tree_of(const Point& wanted) {
    LabelledTree tree;
    search_.enter_root();
    write(0, depth_, splits_, wanted, tree);
    return tree;
}

void FrontSearch::write(int l, int depth, int splits, const Point& point, LabelledTree& tree) {
    const Node& node = search_.node(l);
    if (!point.plan) return small_.find(node, usable_depth(depth, splits), splits, point, tree);
    const Plan& plan = *point.plan;
    const int f = node.local(context_.instance.problem(), plan.feature);
    tree.code.push_back(plan.feature);
    for (const bool inside : {true, false}) {
        search_.enter(l, f, inside);
        write(l + 1, depth - 1, inside ? plan.inside_splits : plan.outside_splits,
              inside ? plan.inside : plan.outside, tree);
    }
}

}  // namespace goct
