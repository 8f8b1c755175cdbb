// The search for trees inside the hull, over thresholds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "front_visits.hpp"
#include "stump_fronts.hpp"
#include "threshold_search.hpp"

namespace goct {

// As FrontSearch. A tree has no more errors of either kind on fewer rows, so what holds for the least sums of two
// thresholds s < u and those between them (see ThresholdSearch) holds for fronts: each point of a tree with a threshold t
// between them is dominated by the sum of a point of the left side of s and one of the right side of u. If no such sum is
// of interest, the interval is cut off. Least sums come first: they are found fast, and most thresholds need no more.
//
// With a minimum leaf weight, that is true of trees with smaller leaves, too; for thresholds that these leave, the
// points of the allowed trees follow.
//
// Threads join the loop over the intervals of a node. Which thresholds are solved next, and what is of interest by then,
// follows from those before them but the last few, whose points are taken in the same order, too. So the same points are
// visited in the same order, and by the same trees, however many threads there are and whatever is remembered.
class ThresholdFronts {
public:
    // The context must be one to walk in.
    ThresholdFronts(const ThresholdContext& context, Units units, int depth, int jobs);
    // Another one for the same question, of a member of the crew.
    ThresholdFronts(const ThresholdFronts& first, int member);

    // Visits points of trees within the limits until each such tree is dominated by a visited point. False if stopped
    // before.
    bool run(int splits, const Limits& limits, const FrontVisit& visit, Keep keep);

    // What is kept of the wanted points, and their trees.
    const std::vector<Point>& wanted() const { return wanted_; }
    LabelledTree tree_of(const Point& wanted);

private:
    using Points = Front<Point>;
    using Solved = ThresholdSearch::Solved;
    using Interval = ThresholdSearch::Interval;
    class Loop;
    friend class Crew<ThresholdFronts>;
    friend class CrewWork<ThresholdFronts>;
    struct Size {
        int depth, splits;      // kUnlimited if splits do not count
    };
    // A solved threshold; the unavoidable costs and, if they were of interest, the points of its sides. If the minimum leaf
    // weight counts, the ones to be taken are others.
    struct Known : Solved {
        std::int64_t base[2]{};
        std::shared_ptr<const Points> front[2]{}, allowed[2]{};
    };
    // A walk through the thresholds of a node.
    struct Walk {
        int l;
        Size size;
        bool strict;                                            // does the minimum leaf weight count?
        std::function<Limits()> remaining;                      // what is of interest by now
        std::function<bool(const Spot&, int splits)> dominates; // is a point not?
        // Gets the points of both sides of a threshold, and the limits on their sums.
        std::function<void(int threshold, const Points& left, const Points& right, const Limits&)> take;
    };

    ThresholdSearch::Shares shares(Size size) const;
    Size below(Size size) const { return {size.depth - 1, less_splits(size.splits, 1)}; }
    std::int64_t least_leaf(bool strict) const { return strict ? context_.costs.min_leaf_weight() : 0; }
    void add_leaves(const RankedNode& node, const Limits& limits, Points& front) const;
    void search(int l, Size size, bool strict, const Limits& limits, Points& front);
    bool shares(const Walk& walk);
    void go(const Walk& walk);
    void walk_pairs(const Walk& walk, std::vector<std::vector<Known>> solved);
    // What the limits leave for avoidable costs.
    std::int64_t room(const Walk& walk, const Limits& limits);
    bool matters(const Walk& walk, const Known& from, const Known& to, const Limits& limits);
    Known look(const Walk& walk, int c, const Solved& solved, const Known& from, const Known& to, const Limits& limits);
    void take(const Walk& walk, int c, const Known& known);
    void find_fronts(int l, int c, int t, Size size, bool strict, const Limits (&limits)[2], Points (&fronts)[2]);
    void write(int l, Size size, const Point& point, LabelledTree& tree);

    const ThresholdContext context_;
    const Units units_;
    ThresholdSearch search_;
    StumpFronts stumps_;
    const bool constrained_;
    Size size_;
    std::vector<Point> wanted_;
    const int jobs_, member_ = 0;
    Crew<ThresholdFronts>* crew_ = nullptr;     // while there is one
};

}  // namespace goct
