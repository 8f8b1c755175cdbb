// A search for trees inside the convex hull of all trees' errors, where no linear question finds them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "front_visits.hpp"
#include "search.hpp"
#include "small_fronts.hpp"
#include "team.hpp"

namespace goct {

// Two criteria, the costs of false negatives and those of false positives: a node returns the points of its trees that
// no other one dominates, within a budget on the sum and a limit on each. The least sums of both sides of a split,
// which the scalar search knows or finds fast, say whether there can be such points at all.
//
// Only true least sums enter the cache and the bounds from similar nodes; what holds within limits stays here. The
// instance must keep the rows that cost the same under both labels, because they matter here.
//
// Threads join the loop over the features of a node. Its points are taken in the order of the features, whoever finishes
// first, so that the same points are visited in the same order, and by the same trees, however many threads there are.
class FrontSearch {
public:
    FrontSearch(const SearchContext& context, Units units, int depth, int jobs);
    // Another one for the same question, of a member of the crew.
    FrontSearch(const FrontSearch& first, int member);

    // Visits points of trees within the limits until each such tree is dominated by a visited point. False if stopped
    // before.
    bool run(int splits, const Limits& limits, const FrontVisit& visit, Keep keep);

    // What is kept of the wanted points, and their trees.
    const std::vector<Point>& wanted() const { return wanted_; }
    LabelledTree tree_of(const Point& wanted);

private:
    using Points = Front<Point>;
    class SideCosts;
    class Loop;
    friend class Crew<FrontSearch>;
    friend class CrewWork<FrontSearch>;
    // What is of interest by now.
    using Remaining = std::function<Limits()>;
    // Gets the points of both sides of a feature, inside and outside.
    using Take = std::function<void(int, const Points&, const Points&)>;

    void check() const;
    std::int64_t add_leaves(const Node& node, const Limits& limits, Points& front) const;
    std::int64_t search(int l, int depth, int splits, const Limits& limits, Points& front);
    std::int64_t walk(int l, int depth, int splits, const Remaining& remaining, const Take& take);
    bool shares(int l, int depth, int next) const;
    void write(int l, int depth, int splits, const Point& point, LabelledTree& tree);

    const SearchContext context_;
    const Units units_;
    Search<AnySplits> search_;
    SmallFronts small_;
    // About the whole problem.
    int depth_, splits_ = kUnlimited;
    std::vector<Point> wanted_;
    const int jobs_, member_ = 0;
    Crew<FrontSearch>* crew_ = nullptr;     // while there is one
};

}  // namespace goct
