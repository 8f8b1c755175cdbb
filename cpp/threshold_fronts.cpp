#include "threshold_fronts.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>

namespace goct {

ThresholdFronts::ThresholdFronts(const ThresholdContext& context, Units units, int depth, int jobs)
    : context_(context), units_(units), search_(context), stumps_(context.data, context.costs, context.control),
      constrained_(context.costs.min_leaf_weight() > 0), size_{depth, kUnlimited}, jobs_(jobs) {}

ThresholdFronts::ThresholdFronts(const ThresholdFronts& first, int member)
    : context_(first.context_), units_(first.units_), search_(first.search_, member),
      stumps_(context_.data, context_.costs, context_.control), constrained_(first.constrained_), size_(first.size_),
      jobs_(1), member_(member), crew_(first.crew_) {}

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

bool ThresholdFronts::run(int splits, const Limits& limits, const FrontVisit& visit, Keep keep) {
    FrontVisits visits(limits, visit, keep, context_.control);
    Crew<ThresholdFronts> crew(*this, jobs_, context_.control);
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

// The intervals of a node, those of the least bound first.
class ThresholdFronts::Loop final : public CrewWork<ThresholdFronts> {
public:
    Loop(ThresholdFronts& owner, const Walk& walk, const std::vector<std::vector<Known>>& ends)
        : CrewWork(owner, walk.l), search_(owner.search_), home_(search_.home(walk.l)), walk_(walk) {
        for (int c = 0; c < static_cast<int>(ends.size()); ++c) push(c, ends[c][0], ends[c][1]);
    }

    void run() {
        CrewWork::run();
        if (error_) std::rethrow_exception(error_);
    }

private:
    static constexpr std::size_t kAhead = 4;

    struct Open : Interval {
        Known first, last;
    };
    struct Later {
        bool operator()(const Open& a, const Open& b) const {
            return std::tie(a.bound, a.column, a.from.threshold) > std::tie(b.bound, b.column, b.from.threshold);
        }
    };
    struct Task {
        Open interval;
        int threshold;
        Limits limits;
        std::optional<Known> found;
    };

    void join(ThresholdFronts& who) override { who.search_.join(level, home_); }

    void work(ThresholdFronts& who) override {
        std::unique_lock guard(lock_);
        for (advance(); begun_ < tasks_.size() && !error_;) {
            Task& task = tasks_[begun_++];
            const auto& [interval, t, limits, found] = task;
            exhausted = begun_ == tasks_.size();
            guard.unlock();
            if (&who == &owner_ && !shared_ && !exhausted && owner_.shares(walk_)) share();
            const Solved solved =
                who.search_.solve_sides(level, who.shares(walk_.size), interval, t, who.room(walk_, limits) + 1);
            Known known = who.look(walk_, interval.column, solved, interval.first, interval.last, limits);
            guard.lock();
            task.found = std::move(known);
            advance();
            if (begun_ < tasks_.size()) renew();
        }
        exhausted = true;
    }

    // Begins tasks as long as there are few. Then the oldest one has to be done before there is another one, so that it
    // does not matter who is the first to finish.
    void advance() {
        while (!error_) {
            if (tasks_.size() < kAhead && begin()) continue;
            if (tasks_.empty() || !tasks_.front().found) return;
            const auto& [interval, t, limits, found] = tasks_.front();
            owner_.take(walk_, interval.column, *found);
            push(interval.column, interval.first, *found);
            push(interval.column, *found, interval.last);
            tasks_.pop_front();
            --begun_;
        }
    }

    bool begin() {
        while (!open_.empty()) {
            owner_.context_.control.check();
            const Limits limits = walk_.remaining();
            const std::int64_t limit = owner_.room(walk_, limits) + 1;
            if (open_.top().bound >= limit) return false;
            const Open interval = open_.top();
            open_.pop();
            const ThresholdSearch::Range range = search_.alive(level, interval, limit);
            if (range.size() == 0 || !owner_.matters(walk_, interval.first, interval.last, limits)) continue;
            tasks_.push_back({interval, range.middle(), limits, {}});
            return true;
        }
        return false;
    }

    void push(int c, const Known& from, const Known& to) { open_.push({search_.between(c, from, to), from, to}); }

    ThresholdSearch& search_;
    const ThresholdSearch::Home& home_;
    const Walk& walk_;
    std::priority_queue<Open, std::vector<Open>, Later> open_;
    std::deque<Task> tasks_;        // in order; the first ones are begun, or done
    std::size_t begun_ = 0;
};

// Is there somebody to join a walk, and enough to do?
bool ThresholdFronts::shares(const Walk& walk) {
    return crew_ && ThresholdSearch::is_worth_sharing(search_.node(walk.l)) && crew_->team.wants_work(walk.l);
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
        Loop(*this, walk, ends).run();
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
                                             const Known& to, const Limits& limits) {
    const RankedNode& node = search_.node(walk.l);
    const int t = solved.threshold;
    Known known{solved, {}, {}, {}};
    known.base[0] = node.side(context_.data, context_.costs, c, t, false).base;
    known.base[1] = node.base() - known.base[0];
    const std::int64_t most = room(walk, limits);
    if (solved.left + solved.right > most) return known;
    // The limits leave to one side what the other needs at least, for all thresholds up to those two.
    const auto least = [](const std::shared_ptr<const Points>& front) { return front ? front->least() : Spot{}; };
    const Spot left = least(from.front[0]), right = least(to.front[1]);
    const Limits sides[2] = {{most - to.right + known.base[0], limits.x - right.x, limits.y - right.y},
                             {most - from.left + known.base[1], limits.x - left.x, limits.y - left.y}};
    const auto find = [&](bool strict, std::shared_ptr<const Points> (&into)[2]) {
        Points fronts[2];
        find_fronts(walk.l, c, t, below(walk.size), strict, sides, fronts);
        for (int side = 0; side < 2; ++side) into[side] = std::make_shared<Points>(std::move(fronts[side]));
    };
    find(false, known.front);
    const bool any = !known.front[0]->empty() && !known.front[1]->empty();
    if (any && walk.strict && search_.allows(node, c, t)) find(true, known.allowed);
    return known;
}

void ThresholdFronts::take(const Walk& walk, int c, const Known& known) {
    const auto& [left, right] = walk.strict ? known.allowed : known.front;
    if (left) walk.take(search_.node(walk.l).name(context_.data, c, known.threshold), *left, *right, walk.remaining());
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
            for (const Solved& found : search_.scan(lanes, shares(walk.size))) {
                const auto to = std::lower_bound(column.begin(), column.end(), found.threshold,
                                                 [](const Known& known, int t) { return known.threshold < t; });
                take(walk, c, *column.insert(to, look(walk, c, found, *std::prev(to), *to, walk.remaining())));
            }
        }
    }
}

LabelledTree ThresholdFronts::tree_of(const Point& wanted) {
    LabelledTree tree;
    write(0, size_, wanted, tree);
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
