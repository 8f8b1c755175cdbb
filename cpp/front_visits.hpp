// What a search for points has shown to whoever wants them.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "control.hpp"
#include "front.hpp"

namespace goct {

// Says whether a point is wanted: then the new limits, which replace the old ones, otherwise nothing.
using FrontVisit = std::function<std::optional<Limits>(const Spot&)>;
// Of which wanted points trees are wanted: the last one, or all that no other one dominates.
enum class Keep { last, undominated };

class FrontVisits {
public:
    FrontVisits(const Limits& limits, const FrontVisit& visit, Keep keep, Control& control)
        : limits_(limits), visit_(visit), keep_(keep), control_(control) {}

    const Limits& limits() const { return limits_; }
    // What is of interest by now.
    Limits remaining(Units units) const { return beyond(seen_, limits_, units); }
    bool dominates(const Spot& spot) const { return seen_.dominates(spot); }
    // What is kept of the wanted points, in the order of their visits.
    const std::vector<Point>& wanted() const { return wanted_; }

    // Visits the points, the cheapest first: those behind it may be unwanted by then.
    void show(const Front<Point>& front) {
        std::vector<const Point*> points;
        for (int s = 0; s < front.layers(); ++s)
            for (const Point& point : front.layer(s)) points.push_back(&point);
        std::stable_sort(points.begin(), points.end(), [](auto* a, auto* b) { return a->cost() < b->cost(); });
        for (const Point* point : points) {
            if (!limits_.hold(*point) || seen_.dominates(*point)) continue;
            control_.check();
            const std::optional<Limits> wanted = visit_(*point);
            seen_.remove_dominated(*point);
            seen_.insert(*point);
            if (!wanted) continue;
            std::erase_if(wanted_, [&](const Point& p) {
                return keep_ == Keep::last || (p.x >= point->x && p.y >= point->y);
            });
            wanted_.push_back(*point);
            limits_ = {std::min(limits_.budget, wanted->budget), std::min(limits_.x, wanted->x),
                       std::min(limits_.y, wanted->y)};
        }
    }

private:
    Limits limits_;
    const FrontVisit& visit_;
    const Keep keep_;
    Control& control_;
    Staircase<Spot> seen_;
    std::vector<Point> wanted_;
};

}  // namespace goct
