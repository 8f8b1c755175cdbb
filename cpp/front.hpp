// Sets of points in the plane of errors, none of which dominates another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace goct {

// What the false negatives and the false positives of a tree cost: x and y. A point dominates those that have neither
// less x nor less y.
struct Spot {
    std::int64_t x = 0, y = 0;

    std::int64_t cost() const { return x + y; }
};

struct Plan;

// A spot, and how to get there. Without a plan: by a tree of depth two at most, which is found again when it is wanted.
struct Point : Spot {
    std::shared_ptr<const Plan> plan;
};

// A split of a feature of the problem, the spots of its sides, and how many splits they may have.
struct Plan {
    int feature;
    Point inside, outside;
    int inside_splits, outside_splits;
};

// Only points with x + y <= budget, x <= limits.x, y <= limits.y are of interest.
struct Limits {
    std::int64_t budget, x, y;

    bool hold(const Spot& p) const { return p.cost() <= budget && p.x <= x && p.y <= y; }
};

// Additive properties of the rows in a leaf.
struct Leaf {
    std::int64_t negative = 0, positive = 0, weight = 0;    // what it costs to predict so

    Leaf& operator+=(const Leaf& o) {
        negative += o.negative, positive += o.positive, weight += o.weight;
        return *this;
    }
    friend Leaf operator-(const Leaf& a, const Leaf& b) {
        return {a.negative - b.negative, a.positive - b.positive, a.weight - b.weight};
    }
};

// The least steps of x and y.
struct Units {
    std::int64_t x, y;
};

// Points by rising x, and so by falling y.
template <class P>
class Staircase {
public:
    bool empty() const { return points_.empty(); }
    auto begin() const { return points_.begin(); }
    auto end() const { return points_.end(); }
    const P& front() const { return points_.front(); }
    const P& back() const { return points_.back(); }
    void clear() { points_.clear(); }

    bool dominates(const Spot& p) const {
        const auto after = std::upper_bound(begin(), end(), p.x, [](std::int64_t x, const P& q) { return x < q.x; });
        return after != begin() && std::prev(after)->y <= p.y;
    }
    void remove_dominated(const Spot& p) {
        const auto first = at(p.x);
        auto last = first;
        while (last != points_.end() && last->y >= p.y) ++last;
        points_.erase(first, last);
    }
    // Neither dominates p nor is dominated.
    void insert(P p) { points_.insert(at(p.x), std::move(p)); }

private:
    auto at(std::int64_t x) {
        return std::lower_bound(points_.begin(), points_.end(), x, [](const P& q, std::int64_t v) { return q.x < v; });
    }

    std::vector<P> points_;
};

// The remaining splits of a search that does not count them.
inline constexpr int kUnlimited = std::numeric_limits<int>::max();

inline int less_splits(int splits, int used) { return splits == kUnlimited ? kUnlimited : splits - used; }

// Points in layers by their number of splits, of which less is better too. All are in the first layer if splits do not
// count.
template <class P>
class Front {
public:
    bool empty() const {
        return std::all_of(layers_.begin(), layers_.end(), [](const auto& layer) { return layer.empty(); });
    }
    int layers() const { return static_cast<int>(layers_.size()); }
    const Staircase<P>& layer(int splits) const { return layers_[splits]; }
    void clear() {
        for (auto& layer : layers_) layer.clear();
    }

    bool dominates(const Spot& p, int splits) const {
        for (int s = 0; s < layers() && s <= splits; ++s)
            if (layers_[s].dominates(p)) return true;
        return false;
    }
    // `make` is called with nothing and returns the point, if there is none that dominates it.
    template <class Make>
    void insert(const Spot& p, int splits, Make&& make) {
        if (dominates(p, splits)) return;
        if (layers() <= splits) layers_.resize(splits + 1);
        for (int s = splits; s < layers(); ++s) layers_[s].remove_dominated(p);
        layers_[splits].insert(make());
    }

    // Of a front that is not empty.
    Spot least() const {
        Spot least{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
        for (const auto& layer : layers_)
            if (!layer.empty()) least = {std::min(least.x, layer.front().x), std::min(least.y, layer.back().y)};
        return least;
    }
    std::int64_t least_cost() const {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (const auto& layer : layers_)
            for (const P& p : layer) least = std::min(least, p.cost());
        return least;
    }
    int least_splits() const {
        int s = 0;
        while (layers_[s].empty()) ++s;
        return s;
    }

private:
    std::vector<Staircase<P>> layers_;
};

// The limits within which a point that the staircase does not dominate can lie. Such a point lies in a corner between
// two steps; the most expensive corner is the new budget.
template <class P>
Limits beyond(const Staircase<P>& stairs, Limits limits, Units units) {
    if (stairs.empty()) return limits;
    if (stairs.front().x == 0) limits.y = std::min(limits.y, stairs.front().y - units.y);
    if (stairs.back().y == 0) limits.x = std::min(limits.x, stairs.back().x - units.x);
    std::int64_t most = -1, below = limits.y;
    const auto corner = [&](std::int64_t x, std::int64_t y) {
        x = std::min(x, limits.x), y = std::min(y, limits.y);
        if (x >= 0 && y >= 0) most = std::max(most, x + y);
    };
    for (const P& p : stairs) {
        corner(p.x - units.x, below);
        below = p.y - units.y;
        if (p.x > limits.x) break;
    }
    if (stairs.back().x <= limits.x) corner(limits.x, below);
    limits.budget = std::min(limits.budget, most);
    return limits;
}

// The same for points that have at least one split: those with one split or none count against all of them.
template <class P>
Limits beyond(const Front<P>& front, Limits limits, Units units) {
    for (int s = 0; s < std::min(front.layers(), 2); ++s) limits = beyond(front.layer(s), limits, units);
    return limits;
}

// All sums of a point of each front within the limits and, with the split above them, the number of splits, until one is
// enough. `visit` gets the sum, its splits, the two points, and their splits, and says whether it is. Returns whether.
template <class P, class Visit>
bool any_sum(const Front<P>& inside, const Front<P>& outside, const Limits& limits, int splits, Visit&& visit) {
    for (int i = 0; i < inside.layers(); ++i)
        for (int j = 0; j < outside.layers() && (splits == kUnlimited || i + j + 1 <= splits); ++j) {
            const auto& others = outside.layer(j);
            for (const P& p : inside.layer(i)) {
                if (p.x > limits.x) break;
                auto q = std::partition_point(others.begin(), others.end(),
                                              [&](const P& other) { return p.y + other.y > limits.y; });
                for (; q != others.end() && p.x + q->x <= limits.x; ++q) {
                    const Spot sum{p.x + q->x, p.y + q->y};
                    if (sum.cost() <= limits.budget && visit(sum, splits == kUnlimited ? 0 : i + j + 1, p, *q, i, j))
                        return true;
                }
            }
        }
    return false;
}

// The same for all of them.
template <class P, class Visit>
void each_sum(const Front<P>& inside, const Front<P>& outside, const Limits& limits, int splits, Visit&& visit) {
    any_sum(inside, outside, limits, splits, [&](const auto&... sum) {
        visit(sum...);
        return false;
    });
}

// ... of planned points, with the plan that leads there: `visit` gets the sum, its splits, and what makes the point.
template <class Visit>
void each_planned_sum(int feature, const Front<Point>& inside, const Front<Point>& outside, const Limits& limits,
                      int splits, Visit&& visit) {
    const bool counts = splits != kUnlimited;
    each_sum(inside, outside, limits, splits,
             [&](const Spot& sum, int used, const Point& p, const Point& q, int i, int j) {
                 visit(sum, used, [&] {
                     const Plan way{feature, p, q, counts ? i : kUnlimited, counts ? j : kUnlimited};
                     return Point{sum, std::make_shared<const Plan>(way)};
                 });
             });
}

}  // namespace goct
