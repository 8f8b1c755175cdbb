#include "search.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "order.hpp"
#include "simd.hpp"

namespace goct {
namespace {

// When a search takes long, in seconds, or as a share of the time there is; and the shares for a better start.
#ifdef NDEBUG
constexpr double kLong = 2.0;
#else
constexpr double kLong = 0.0003;    // the tests want starts that end at any moment
#endif
constexpr double kEarly = 0.05, kShare = 0.2, kFirst = 0.5;
// The smaller depths of a search that takes long end here.
constexpr int kDeepStart = 9;
constexpr int kFewFeatures = 64;
// Where few splits pay, all trees are often searched sooner than the first trees are found; so many nodes are tried.
constexpr std::uint64_t kFewNodes = 1000;
// The first step by which the bounds of two sides are raised in turns, in splits.
constexpr int kFirstSplits = 2;
// After so much of the features of the first node, or so many, it is better to go on than to ask anew: the first ones take
// most of the time.
constexpr double kEnough = 0.25;
constexpr int kMostEnough = 12;
// Deeper searches have first trees of their own: so many features are looked at by greedy trees, of no larger depth.
constexpr int kShallow = 5, kCandidates = 12, kDeepGreedy = 12;
// A unit has as many features as take so many seconds, but no more than these. It ends after a second: then the rest is asked
// for again, with what is known by then.
constexpr double kUnitTime = 0.25, kLongestUnit = 1;
constexpr int kMostStarts = 64;
// After a feature that took too long as a unit, so many are divided before that is tried again: the first ones take longest.
constexpr int kDividedAtOnce = 3;
// Sides of thresholds are searched one part in so many further than is needed, for the next question.
constexpr std::int64_t kPartMore = 32;
// At most so many features of a node are tried in the search for first trees.
constexpr int kMostTries = 5;
// How often the bound of a search is worked out for those who watch, in seconds.
constexpr double kBetweenReports = 0.005;
// Rows x features^2 or so that are worth the trouble of two threads.
#ifdef NDEBUG
constexpr double kWorkToShare = 3e6;
#else
constexpr double kWorkToShare = 0;
#endif

int size_of(const auto& values) { return static_cast<int>(values.size()); }

void raise(auto& bounds, const auto& by) {
    for (int m = 0; m < size_of(bounds); ++m) bounds[m] = std::max(bounds[m], by[m]);
}

void lower(auto& values, const auto& by) {
    for (int m = 0; m < size_of(values); ++m) values[m] = std::min(values[m], by[m]);
}

// See Search::learn: what the values of the two sides of a feature leave after the swings that the sides of the others
// have not, or have.
struct Remains {
    Bound inside_less, outside_less, inside, outside, twice;
};

template <int Bytes>
GOCT_INLINE void raise_all(const Remains v, int features, const Bound* swings, const Bound* overlaps, Bound* insides,
                           Bound* outsides) {
    using V = Vec<Bound, Bytes>;
    const V zero = V::fill(0), twice = V::fill(v.twice), inside_less = V::fill(v.inside_less),
            outside_less = V::fill(v.outside_less), inside = V::fill(v.inside), outside = V::fill(v.outside);
    const auto combine = [&](V a, V b) GOCT_INLINE_LAMBDA {
        a = max(a, zero), b = max(b, zero);
        return max(max(a, b), a + b - twice);
    };
    for (int j = 0; j < features; j += V::lanes) {
        const V both = V::load(overlaps + j), only_j = V::load(swings + j) - both;
        max(V::load(insides + j), combine(inside_less + both, outside_less + only_j)).store(insides + j);
        max(V::load(outsides + j), combine(inside - both, outside - only_j)).store(outsides + j);
    }
}

void portable_raise_all(const Remains& v, int features, const Bound* swings, const Bound* overlaps, Bound* insides,
                        Bound* outsides) {
    raise_all<kPortableBytes>(v, features, swings, overlaps, insides, outsides);
}
#ifdef GOCT_HAS_AVX2_CLONES
GOCT_TARGET_AVX2 void avx2_raise_all(const Remains& v, int features, const Bound* swings, const Bound* overlaps,
                                     Bound* insides, Bound* outsides) {
    raise_all<kVectorBytes>(v, features, swings, overlaps, insides, outsides);
}
const auto raise_by_overlaps = [] { return cpu_has_avx2() ? avx2_raise_all : portable_raise_all; };
#else
const auto raise_by_overlaps = [] { return portable_raise_all; };
#endif

// Is anything in `values` below its limit?
bool any_below(const auto& values, const auto& limits) {
    for (int m = 0; m < size_of(values); ++m)
        if (values[m] < limits[m]) return true;
    return false;
}

}  // namespace

template <class V>
Search<V>::Search(const SearchContext& context, int depth, int classes)
    : context_(context), depth_(depth), constrained_(context.instance.costs().min_leaf_weight() > 0),
      split_cost_(context.instance.costs().split_cost()), classes_(depth + 1, classes),
      depth_two_(context.instance, false, context.matrix_bytes, context.control),
      allowed_depth_two_(context.instance, true, context.matrix_bytes, context.control), greedy_(context.instance),
      shelves_(std::make_shared<std::vector<Archive::Shelf>>(depth + 1)),
      delegation_(std::make_shared<Delegation>()) {
    for (int d = depth - 1; d >= 0; --d) classes_[d] = V::classes(d, classes_[d + 1]);
    for (int r = 0; r < context.instance.problem().rows(); ++r)
        if (const std::int64_t swing = context.instance.row(r).swing) smallest_error_ = std::min(smallest_error_, swing);
}

template <class V>
Search<V>::Search(const Search& first, int member) : Search(first.context_, first.depth_, first.classes_[first.depth_]) {
    shelves_ = first.shelves_;
    delegation_ = first.delegation_;
    crew_ = first.crew_;
    member_ = member;
    enter_root();
}

template <class V>
typename Search<V>::Level& Search<V>::level(int l) {
    while (size_of(levels_) <= l) {
        levels_.push_back(std::make_unique<Level>());
        const int depth = depth_ == kAnyDepth ? depth_ : depth_ - (size_of(levels_) - 1);
        if (depth < 1) continue;
        Level& at = *levels_.back();
        at.side_classes = classes_[below(depth)];
        for (Outcome& side : at.side) side.reset(at.side_classes);
        V::template resize<std::int64_t>(at.left, at.side_classes);
        for (Values* values : {&at.limits, &at.unsolved, &at.sums})
            V::template resize<std::int64_t>(*values, classes_[depth]);
    }
    return *levels_[l];
}

template <class V>
Archive& Search<V>::archive(int depth) {
    if (size_of(archives_) <= depth) archives_.resize(depth + 1);
    if (!archives_[depth]) archives_[depth] = std::make_unique<Archive>(context_.instance, (*shelves_)[depth]);
    return *archives_[depth];
}

template <class V>
void Search<V>::make_child(int l, int f, bool inside) {
    Level& child = level(l + 1);
    child.ranked = false;
    level(l).child = &child.node;
    const int name = level(l).node.name(context_.instance.problem(), f);
    child.step = inside ? name : ~name;
    child.node.make_child(context_.instance, level(l).node, f, inside, splits_);
}

// Adds what the cache knows; true if that answers the question.
template <class V>
bool Search<V>::probe(const Sums& rows, int depth, const Values& cutoffs, Outcome& out) const {
    const auto bound_of = [&](const CacheValue& found) -> std::int64_t {
        if (found.costs == context_.costs_number) return found.value - rows.base;
        return context_.techniques.transfer ? context_.ratios[found.costs].scaled_up(found.value) - rows.base : 0;
    };
    const auto answered = [&](int m) { return out.cost[m] <= out.bound[m] || out.bound[m] >= cutoffs[m]; };
    // A narrow search takes no tree from it: which ones are there depends on what was searched before, and by whom.
    const bool takes_trees = !narrow() || depth <= width_.exact;
    bool all = true;
    for (int m = 0; m < size_of(cutoffs); ++m) {
        if (context_.techniques.cache && constrained_) {
            if (const auto found = context_.cache.find(rows.key, relaxed_slot(V::slot(depth, m)))) {
                out.relaxed[m] = std::max(out.relaxed[m], bound_of(*found));
                out.bound[m] = std::max(out.bound[m], out.relaxed[m]);
            }
        }
        if (context_.techniques.cache && !answered(m)) {
            if (const auto found = context_.cache.find(rows.key, V::slot(depth, m))) {
                out.bound[m] = std::max(out.bound[m], bound_of(*found));
                if (takes_trees && found->exact && found->costs == context_.costs_number) {
                    out.cost[m] = out.bound[m];
                    out.tree[m].assign(1, code_of(depth <= 2 ? StandIn::small : StandIn::known, m));
                }
            }
        }
        all = all && answered(m);
    }
    return all;
}

template <class V>
void Search<V>::prefetch(const Level& at, int depth, int f, bool inside) const {
    if (is_wide(at, f)) return;
    const Sums rows = inside ? at.node.inside(f) : at.node.outside(f);
    for (int m = 0; m < at.side_classes; ++m) context_.cache.prefetch(rows.key, V::slot(depth, m));
}

template <class V>
void Search<V>::remember(const Sums& rows, int depth, const Outcome& out) {
    if (!context_.techniques.cache) return;
    const int number = context_.costs_number;
    for (int m = 0; m < size_of(out.bound); ++m) {
        // What came from the cache itself is there, or lost.
        const bool exact = out.cost[m] <= out.bound[m] && out.tree[m].front() != code_of(StandIn::known, m);
        if (exact || out.bound[m] > 0)
            context_.cache.store(rows.key, V::slot(depth, m),
                                 {out.bound[m] + rows.base, exact ? out.tree[m].front() : kLeaf, number, exact});
    }
    if (constrained_) remember_relaxed(rows, depth, out.relaxed);
}

template <class V>
void Search<V>::remember_relaxed(const Sums& rows, int depth, const Values& relaxed) {
    for (int m = 0; m < size_of(relaxed) && context_.techniques.cache; ++m)
        context_.cache.store(rows.key, relaxed_slot(V::slot(depth, m)),
                             {relaxed[m] + rows.base, kLeaf, context_.costs_number, false});
}

// The best depth-two trees of the node, and from their parts the order in which features are tried and first bounds.
template <class V>
void Search<V>::rank_features(int l, int depth, const Values& cutoffs) {
    Level& at = level(l);
    const Node& node = at.node;
    at.open.reset();
    at.allowed_open.reset();
    if (wants_open(at, depth, cutoffs))
        at.open = depth_two_.open(node, at.sides, at.small);
    else
        at.small = depth_two_.solve(node, at.sides);
    at.ranked = true;
    const int features = node.features();
    at.order.resize(features);
    std::iota(at.order.begin(), at.order.end(), 0);
    for (const auto& best : at.sides.wide) at.order.push_back(best.cut);
    if (context_.techniques.order) {
        std::vector<std::int64_t> costs(at.sides.wide.empty() ? features : node.cuts());
        for (int f = 0; f < features; ++f) costs[f] = at.sides.inside_best[f] + at.sides.outside_best[f];
        for (const auto& best : at.sides.wide) costs[best.cut] = best.cost;
        sort_by(at.order, costs);
    }
    at.solved.resize(at.sides.wide.size());
    for (int c = 0; c < size_of(at.solved); ++c) {
        // Trees of depth two bound the sides at the ends of the columns of a node of depth three.
        Solved first{-1, at.left, at.left}, last{node.wide().groups(c) - 1, at.left, at.left};
        for (int m = 0; m < at.side_classes; ++m) {
            first.left[m] = last.right[m] = 0;
            first.right[m] = last.left[m] = depth == 3 ? V::least(at.small, m, split_cost_) : 0;
        }
        at.solved[c] = {first, last};
    }
    if (width_.looks_ahead && depth > 3) look_ahead(at, depth);
    for (const bool inside : {false, true}) {
        at.bound[inside].resize(at.side_classes * padded(features));
        const auto& leaf = inside ? at.sides.inside_leaf : at.sides.outside_leaf;
        const auto& stump = inside ? at.sides.inside_best : at.sides.outside_best;
        for (int f = 0; f < features; ++f) {
            // The best trees of the node bound those of its parts. Two splits never need more than two levels, three
            // may.
            const std::int64_t lost = inside ? node.outside(f).swing : node.inside(f).swing;
            const auto part = [&](int s) -> std::int64_t {
                return context_.techniques.similarity ? std::max<std::int64_t>(at.small[s] - lost, 0) : 0;
            };
            const DepthTwoValues errors{leaf[f], stump[f], part(2), depth == 3 ? part(3) : 0};
            for (int m = 0; m < at.side_classes; ++m)
                at.bounds(inside, m)[f] = context_.instance.rounded(V::least(errors, m, split_cost_));
        }
    }
}

// Puts the most promising features first, by what greedy trees make of their sides. Passes come to the same nodes.
template <class V>
void Search<V>::look_ahead(Level& at, int depth) {
    std::vector<int>& promising = promising_[{at.node.total().key, depth}];
    if (promising.empty()) promising = rank_by_greedy_trees(at, depth);
    auto front = at.order.begin();
    for (const int feature : promising) {
        // Another node of the same rows may know the split by another feature.
        const Problem& problem = context_.instance.problem();
        const auto place = std::find_if(front, at.order.end(), [&](int f) { return at.node.name(problem, f) == feature; });
        if (place != at.order.end()) std::rotate(front++, place, place + 1);
    }
}

template <class V>
std::vector<int> Search<V>::rank_by_greedy_trees(const Level& at, int depth) {
    const int side_depth = std::min(below(depth), kDeepGreedy);
    std::vector<std::pair<std::int64_t, int>> ranked;   // by cost
    std::vector<int> rows, best;
    for (int i = 0; i < std::min(size_of(at.order), kCandidates); ++i) {
        const int f = at.order[i];
        const std::int64_t limit = size_of(ranked) < kMostTries ? kInfinite : ranked[kMostTries - 1].first;
        rows.assign(at.node.inside_rows(f).begin(), at.node.inside_rows(f).end());
        std::int64_t cost = greedy_.find(at.node, rows, side_depth, limit);
        at.node.outside_rows(f, rows);
        cost += greedy_.find(at.node, rows, side_depth, limit - cost);
        const auto place = std::find_if(ranked.begin(), ranked.end(), [&](auto& other) { return cost < other.first; });
        ranked.insert(place, {cost, at.node.name(context_.instance.problem(), f)});
    }
    for (const auto& [cost, feature] : ranked) best.push_back(feature);
    return best;
}

// Are the sides of the node best solved by trees of depth two?
template <class V>
bool Search<V>::wants_open(const Level& at, int depth, const Values& limits) const {
    return (depth == 3 || affords_only(3, limits)) &&
           (constrained_ ? allowed_depth_two_ : depth_two_).can_open(at.node);
}

// Do trees of more than so many splits cost more than the limits allow?
template <class V>
bool Search<V>::affords_only(int splits, const Values& limits) const {
    if (split_cost_ == 0 || !context_.techniques.price) return false;
    return std::all_of(limits.begin(), limits.end(), [&](auto limit) { return limit <= price_beyond(splits); });
}

// Does it pay to solve all sides of the node by trees of depth two before any of them is searched? With a price per
// split, and few features, it does: most sides cannot afford more.
template <class V>
bool Search<V>::looks_at_sides(const Level& at, int depth) const {
    return context_.techniques.price && split_cost_ > 0 && !constrained_ && !narrow() && !at.open && depth > 3 &&
           context_.instance.costs().planes() == 1 && at.node.wide().columns() == 0 &&
           at.node.features() <= kFewFeatures && depth_two_.can_open(at.node);
}

template <class V>
void Search<V>::look_at_sides(Level& at, Outcome& out) {
    open_now(at);
    for (const int f : at.order) {
        recall(at, f, at);
        sum_up(at);
        if (!any_below(at.sums, at.limits)) continue;
        for (const bool inside : {false, true}) {
            Outcome& side = at.side[inside];
            const std::int64_t leaf = inside ? at.sides.inside_leaf[f] : at.sides.outside_leaf[f];
            const DepthTwoValues values = depth_two_.solve_side(*at.open, f, inside, leaf);
            // Trees of three splits or more that are not among these: some part of three or four is a leaf, or has one
            // split.
            const auto parts = depth_two_.least_parts(*at.open, f, inside);
            const std::int64_t beyond =
                std::min({price_beyond(2) + parts.leaf, price_beyond(3) + parts.stump, price_beyond(4)});
            for (int m = 0; m < at.side_classes; ++m) {
                take_tree(values, m, leaf, side);
                Bound& bound = at.bounds(inside, m)[f];
                side.bound[m] = std::max(context_.instance.unrounded(bound), std::min(side.cost[m], beyond));
                bound = context_.instance.rounded(side.bound[m]);
            }
        }
        compose(at, f, at.limits, out);
    }
    at.open.reset();
}

// From the bounds on the sides of all features to one on the node.
template <class V>
void Search<V>::relax(int l, Values& bound) {
    Level& at = level(l);
    for (int m = 0; m < size_of(bound); ++m) at.sums[m] = V::least(at.small, m, split_cost_);
    V::each_share(size_of(bound), at.side_classes, [&](int m, int i, int j) {
        const Bound *inside = at.bounds(true, i), *outside = at.bounds(false, j);
        for (int f = 0; f < at.node.features(); ++f)
            at.sums[m] = std::min(at.sums[m], context_.instance.unrounded(inside[f] + outside[f]) + split_cost_);
    });
    raise(bound, at.sums);
}

template <class V>
void Search<V>::recall(Level& from, int f, Level& to) const {
    if (is_wide(from, f)) {
        const auto [c, t] = from.node.wide().place_of(f - from.node.features());
        const auto next = std::find_if(from.solved[c].begin(), from.solved[c].end(),
                                       [t = t](const Solved& each) { return each.threshold >= t; });
        return bound_sides(next->threshold == t ? *next : *(next - 1), *next, to);
    }
    for (const bool inside : {false, true}) {
        Outcome& side = to.side[inside];
        for (int m = 0; m < from.side_classes; ++m) {
            side.bound[m] = side.relaxed[m] = context_.instance.unrounded(from.bounds(inside, m)[f]);
            side.cost[m] = kInfinite;
        }
    }
}

// The sides of every threshold from one to another. Inside is what lies above it.
template <class V>
void Search<V>::bound_sides(const Solved& from, const Solved& to, Level& at) const {
    for (const bool inside : {false, true}) {
        Outcome& side = at.side[inside];
        for (int m = 0; m < at.side_classes; ++m) {
            side.bound[m] = side.relaxed[m] = inside ? to.right[m] : from.left[m];
            side.cost[m] = kInfinite;
        }
    }
}

template <class V>
Sums Search<V>::sums_of(const Level& at, int f, bool inside) const {
    if (is_wide(at, f)) return inside ? at.inside : at.node.total() - at.inside;
    return inside ? at.node.inside(f) : at.node.outside(f);
}

template <class V>
std::int64_t Search<V>::leaf_of(const Level& at, int f, bool inside) const {
    if (!is_wide(at, f)) return inside ? at.sides.inside_leaf[f] : at.sides.outside_leaf[f];
    const Sums sums = sums_of(at, f, inside);
    return std::min(sums.first, sums.swing - sums.first);
}

// What is known about the sides of a threshold by now.
template <class V>
void Search<V>::note_threshold(const Level& from, int f, Level& to) const {
    const auto [c, t] = to.node.wide().place_of(f - to.node.features());
    std::vector<Solved>& solved = to.solved[c];
    const auto next = std::find_if(solved.begin(), solved.end(),
                                   [t = t](const Solved& each) { return each.threshold >= t; });
    const Solved news{t, relaxed(from.side[0]), relaxed(from.side[1])};
    if (next->threshold != t) {
        solved.insert(next, news);
    } else {
        raise(next->left, news.left);
        raise(next->right, news.right);
    }
}

// The thresholds of the wide columns, after the best one of each: an interval of them is left out as a whole, or one inside it
// is solved and makes two of it.
template <class V>
class Search<V>::Thresholds {
public:
    Thresholds(Search& search, int l, int depth, Outcome& out)
        : search_(search), at_(search.level(l)), l_(l), depth_(depth), out_(out), limits_(at_.limits), first_(out.bound.size(), -1) {
        const RankedNode& wide = at_.node.wide();
        for (int c = 0; c < wide.columns(); ++c) {
            auto& swings = swings_.emplace_back();
            std::int64_t sum = 0;
            for (int g = 0, k = 0; g < wide.groups(c); ++g) {
                for (; k < wide.ends(c)[g]; ++k) sum += search.context_.instance.row(at_.node.row(wide.order(c)[k])).swing;
                swings.push_back(sum);
            }
            for (std::size_t i = 0; i + 1 < at_.solved[c].size(); ++i) add(c, at_.solved[c][i], at_.solved[c][i + 1]);
        }
    }

    void run(bool only_bounds) {
        while (!open_.empty()) {
            std::pop_heap(open_.begin(), open_.end(), later);
            const Interval interval = std::move(open_.back());
            open_.pop_back();
            search_.bound_sides(interval.from, interval.to, at_);
            search_.sum_up(at_);
            if (!only_bounds && !search_.context_.control.stopped()) {
                const auto [begin, end] = alive(interval);
                if (begin < end) {
                    solve(interval, middle(begin, end));
                    continue;
                }
                raise(at_.sums, limits_);
            }
            lower(at_.unsolved, at_.sums);
        }
    }

private:
    struct Interval {
        std::int64_t bound;     // on the largest class
        int column;
        Solved from, to;
    };
    static bool later(const Interval& a, const Interval& b) {
        return std::tie(a.bound, a.column, a.from.threshold) > std::tie(b.bound, b.column, b.from.threshold);
    }
    // The roundest number near the middle: searches with other limits, whose intervals differ a little, solve the same ones.
    static int middle(int begin, int end) {
        const int quarter = (end - begin) / 4;
        const auto low = static_cast<unsigned>(begin + quarter), high = static_cast<unsigned>(end - 1 - quarter);
        return static_cast<int>(low == 0 ? 0u : high & ~(std::bit_floor((low - 1) ^ high) - 1));
    }

    void add(int c, const Solved& from, const Solved& to) {
        if (from.threshold + 1 >= to.threshold) return;
        search_.bound_sides(from, to, at_);
        search_.sum_up(at_);
        open_.push_back({at_.sums[size_of(at_.sums) - 1], c, from, to});
        std::push_heap(open_.begin(), open_.end(), later);
    }

    // Of equal trees that begin with a threshold the first one is taken, where that matters.
    void set_limits(int c, int t) {
        const int number = at_.node.wide().cut(c, t);
        for (int m = 0; m < size_of(limits_); ++m)
            limits_[m] = at_.limits[m] + (l_ == search_.first_level_ && number < first_[m]);
    }

    // The thresholds of an interval whose bounds are below the limits, for the sums at hand: no tree of any class for others.
    std::pair<int, int> alive(const Interval& interval) {
        const auto& [bound, c, from, to] = interval;
        set_limits(c, from.threshold + 1);
        if (!any_below(at_.sums, limits_)) return {0, 0};
        if (!search_.context_.techniques.similarity) return {from.threshold + 1, to.threshold};
        // How far those near an end may be below it, by swing, and yet not below their limits.
        const auto swings = swings_[c].begin();
        const std::int64_t before = from.threshold < 0 ? 0 : swings[from.threshold], behind = swings[to.threshold];
        const auto room = [&](const Solved& end) {
            search_.bound_sides(end, end, at_);
            search_.sum_up(at_);
            std::int64_t least = kInfinite;
            for (int m = 0; m < size_of(limits_); ++m)
                if (limits_[m] > 0) least = std::min(least, at_.sums[m] - limits_[m]);
            return least;
        };
        const std::int64_t from_room = room(from), to_room = room(to);
        search_.bound_sides(from, to, at_);
        search_.sum_up(at_);
        const auto first = std::partition_point(swings + from.threshold + 1, swings + to.threshold,
                                                [&](std::int64_t sum) { return sum - before <= from_room; });
        const auto last = std::partition_point(first, swings + to.threshold,
                                               [&](std::int64_t sum) { return behind - sum > to_room; });
        return {static_cast<int>(first - swings), static_cast<int>(last - swings)};
    }

    // Both sides are solved as far as that says something about the interval.
    void solve(const Interval& interval, int t) {
        const auto& [bound, c, from, to] = interval;
        const int cut = at_.node.wide().cut(c, t), f = at_.node.features() + cut;
        set_limits(c, t);
        at_.child = nullptr;
        at_.inside = at_.node.sums(search_.context_.instance, f, true);
        const bool cuts_off = search_.context_.techniques.cutoffs;
        for (const bool inside : {false, true}) {
            const Values& other = inside ? from.left : to.right;
            for (auto& left : at_.left) left = cuts_off ? 0 : kInfinite;
            V::each_share(size_of(limits_), at_.side_classes, [&](int m, int i, int j) {
                std::int64_t& left = at_.left[inside ? i : j];
                left = std::max(left, limits_[m] - search_.split_cost_ - other[inside ? j : i]);
            });
            for (auto& left : at_.left) left = std::min(left + left / kPartMore, kInfinite);
            if (any_below(at_.side[inside].bound, at_.left) && !search_.context_.control.stopped())
                search_.search_side(l_, below(depth_), f, inside, at_.left, at_.side[inside]);
        }
        compose(f, cut);
        search_.sum_up(at_);
        if (!search_.context_.control.stopped()) {
            search_.compare(at_, f);
            search_.learn(at_, depth_, f, at_);
        }
        lower(at_.unsolved, at_.sums);
        search_.note_threshold(at_, f, at_);
        const Solved news{t, search_.relaxed(at_.side[0]), search_.relaxed(at_.side[1])};
        add(c, from, news);
        add(c, news, to);
    }

    void compose(int f, int cut) {
        const Values before = limits_;
        search_.compose(at_, f, limits_, out_);
        for (int m = 0; m < size_of(limits_); ++m) {
            if (limits_[m] >= before[m]) continue;
            at_.limits[m] = limits_[m];
            first_[m] = cut;
        }
        if (l_ == 0 && limits_ != before) search_.report_incumbent(out_.cost[size_of(out_.cost) - 1]);
    }

    Search& search_;
    Level& at_;
    const int l_, depth_;
    Outcome& out_;
    Values limits_;
    std::vector<int> first_;                            // by class: the threshold at the root of the best tree, if it is one of these
    std::vector<std::vector<std::int64_t>> swings_;     // by column: of all groups up to each one
    std::vector<Interval> open_;                        // a heap
};

// What the bounds on the sides of the feature at hand leave for the node.
template <class V>
void Search<V>::sum_up(Level& at) const {
    for (auto& sum : at.sums) sum = kInfinite;
    V::each_share(size_of(at.sums), at.side_classes, [&](int m, int i, int j) {
        at.sums[m] = std::min(at.sums[m], at.side[1].bound[i] + at.side[0].bound[j] + split_cost_);
    });
}

template <class V>
void Search<V>::take_tree(const DepthTwoValues& values, int m, std::int64_t leaf, Outcome& out) const {
    out.cost[m] = V::least(values, m, split_cost_);
    out.tree[m].assign(1, out.cost[m] == leaf ? kLeaf : code_of(StandIn::small, m));
}

// The best trees of depth two that are allowed. With a minimum leaf weight nobody asks for them if the relaxed ones
// are not below their cutoffs either.
template <class V>
template <class Solve>
std::optional<DepthTwoValues> Search<V>::allowed_values(const DepthTwoValues& relaxed, const Values& cutoffs,
                                                        Solve&& solve) const {
    if (!constrained_) return relaxed;
    for (int m = 0; m < size_of(cutoffs); ++m)
        if (V::least(relaxed, m, split_cost_) < cutoffs[m]) return solve();
    return std::nullopt;
}

// For rows of which trees of depth two are the best there are, or are all that the cutoffs can pay for.
template <class V>
template <class Solve>
void Search<V>::take_small(const Sums& rows, int depth, std::int64_t leaf, const DepthTwoValues& relaxed,
                           const Values& cutoffs, Solve&& solve, Outcome& out) {
    ++context_.control.depth_two;
    const auto values = allowed_values(relaxed, cutoffs, solve);
    const std::int64_t beyond = beyond_small(depth);
    for (int m = 0; m < size_of(cutoffs); ++m) {
        out.relaxed[m] = std::max(out.relaxed[m], std::min(V::least(relaxed, m, split_cost_), beyond));
        if (values) take_tree(*values, m, leaf, out);
        out.bound[m] = std::max(out.bound[m], values ? std::min(out.cost[m], beyond) : out.relaxed[m]);
    }
    remember(rows, depth, out);
}

template <class V>
DepthTwoValues Search<V>::solve_small(DepthTwo& solver, const Node& node, int depth, SideValues& sides) {
    return depth == 1 ? solver.solve_stumps(node, sides) : solver.solve(node, sides);
}

// The same for trees that are allowed. A node that is open is opened for them, too, unless it has so few rows that its
// sides are counted faster one by one.
template <class V>
DepthTwoValues Search<V>::solve_allowed(int l, int depth) {
    Level& at = level(l);
    if (depth != 3 || !open_allowed(at)) return solve_small(allowed_depth_two_, at.node, depth, at.allowed_sides);
    return at.allowed_small;
}

template <class V>
bool Search<V>::open_allowed(Level& at) {
    if (!at.open || at.node.rows() < at.node.features()) return false;
    if (!at.allowed_open) at.allowed_open = allowed_depth_two_.open(at.node, at.allowed_sides, at.allowed_small);
    return true;
}

// Raises the bounds of `out`. Trees that cost less than their cutoffs are found, and the bounds are their costs then;
// a narrow or stopped search may miss them.
template <class V>
void Search<V>::search(int l, int depth, const Values& cutoffs, Outcome& out) {
    Level& at = level(l);
    const Node& node = at.node;
    // A split costs at least the split cost.
    if (depth == 0 || node.cuts() == 0 || node.leaf() <= split_cost_) {
        for (int m = 0; m < size_of(cutoffs); ++m) {
            out.bound[m] = out.relaxed[m] = out.cost[m] = node.leaf();
            out.tree[m].assign(1, kLeaf);
        }
        return;
    }
    const auto solve_allowed = [&] { return this->solve_allowed(l, depth); };
    if (depth <= 2 || affords_only(2, cutoffs)) {
        at.open.reset(), at.allowed_open.reset();   // these were of another node
        const DepthTwoValues values = solve_small(depth_two_, node, depth, at.sides);
        return take_small(node.total(), depth, node.leaf(), values, cutoffs, solve_allowed, out);
    }
    Values& relaxed = constrained_ ? out.relaxed : out.bound;
    const bool open = prepare(l, depth, cutoffs, relaxed);
    raise(out.bound, relaxed);
    if (!open) return;
    if (start(l, cutoffs, allowed_values(at.small, cutoffs, solve_allowed), out)) {
        if (!at.open && depth > 3 && wants_open(at, depth, at.limits))
            open_now(at);
        else if (looks_at_sides(at, depth))
            look_at_sides(at, out);
        if (l == 0 && !narrow())
            Loop(*this, l, depth, 0, out).run();
        else
            try_features(l, depth, out);
        if (narrow()) return;
        if (!at.solved.empty()) Thresholds(*this, l, depth, out).run(l == 0 && has_enough_);
        if (context_.control.stopped() || (l == 0 && has_enough_)) return raise(out.bound, at.unsolved);
        for (int m = 0; m < size_of(cutoffs); ++m)
            out.bound[m] = out.cost[m] < cutoffs[m] ? out.cost[m] : std::max(out.bound[m], at.unsolved[m]);
    }
    if (constrained_) relax(l, out.relaxed);
    remember(node.total(), depth, out);
    // Which of several equal thresholds was found depends on what was known: the first one is looked for when it is wanted.
    for (int m = 0; m < size_of(cutoffs) && !at.solved.empty() && l != first_level_; ++m)
        if (out.cost[m] <= out.bound[m] && out.tree[m].size() > 1) out.tree[m].assign(1, code_of(StandIn::known, m));
    if (context_.techniques.inheritance)
        archive(depth).add(node, this->relaxed(out), at.bound[1], at.bound[0], at.side_classes);
}

template <class V>
bool Search<V>::prepare(int l, int depth, const Values& cutoffs, Values& bound) {
    Level& at = level(l);
    ++context_.control.nodes;
    for (auto& value : bound) value = std::max(value, split_cost_);
    if (context_.techniques.inheritance) {
        archive(depth).match(at.node, *std::max_element(cutoffs.begin(), cutoffs.end()), bound);
        if (!any_below(bound, cutoffs)) return false;
    }
    rank_features(l, depth, cutoffs);
    if (context_.techniques.inheritance)
        archive(depth).inherit(at.node, at.bound[1], at.bound[0], at.side_classes);
    return true;
}

// Takes trees of depth two and sets the limits below which larger ones are wanted. False if there are none.
template <class V>
bool Search<V>::start(int l, const Values& cutoffs, const std::optional<DepthTwoValues>& small, Outcome& out) {
    Level& at = level(l);
    bool open = false;
    for (int m = 0; m < size_of(cutoffs); ++m) {
        const std::int64_t value = V::least(small ? *small : at.small, m, split_cost_);
        at.unsolved[m] = value;
        at.limits[m] = 0;
        if (out.cost[m] <= out.bound[m]) continue;
        // Trees of depth three have at least three splits.
        out.bound[m] = std::max(out.bound[m], std::min(value, price_beyond(2)));
        const bool settled = V::is_small(m) || value <= std::max(3 * split_cost_, out.bound[m]);
        if (small && (settled || value < cutoffs[m])) take_tree(*small, m, at.node.leaf(), out);
        if (settled) out.bound[m] = std::max(out.bound[m], value);
        if (settled || out.bound[m] >= cutoffs[m]) continue;
        at.limits[m] = std::min(value, cutoffs[m]);
        open = true;
    }
    return open;
}

template <class V>
int Search<V>::tries(const Level& at) const {
    const int cuts = size_of(at.order);
    if (!narrow()) return cuts;
    return std::min(width_.discrepancies < 0 ? width_.features : width_.discrepancies + 1, cuts);
}

// Of the features from one in order to another, those after the first to ask others for. Leaves the first at hand.
template <class V>
std::vector<Unit::Start> Search<V>::next_starts(Level& at, int depth, int from, int to) const {
    std::vector<Unit::Start> next;
    for (int j = from + 1; j < to; ++j) {
        const int g = at.order[j];
        if (constrained_ && !at.node.allows(context_.instance, g)) continue;
        recall(at, g, at);
        if (!is_answered(at, depth, g, at.limits)) next.push_back(start_of(at, g));
    }
    if (from + 1 < to) recall(at, at.order[from], at);
    return next;
}

template <class V>
void Search<V>::try_features(int l, int depth, Outcome& out) {
    Level& at = level(l);
    const int discrepancies = width_.discrepancies;
    answered_.clear();
    for (int i = 0; i < tries(at); ++i) {
        const int f = at.order[i];
        if (constrained_ && !at.node.allows(context_.instance, f)) continue;
        recall(at, f, at);
        sum_up(at);
        if (any_below(at.sums, at.limits) && !context_.control.stopped()) {
            if (shares(l, depth, i + 1)) return Loop(*this, l, depth, i, out).run();
            if (discrepancies >= 0) width_.discrepancies = discrepancies - i;
            if (at.open && i + 1 < tries(at))
                for (const bool inside : {true, false}) prefetch(at, below(depth), at.order[i + 1], inside);
            attempt(l, depth, f, at.limits, next_starts(at, depth, i, std::min(i + batch(l, tries(at) - i), tries(at))));
            width_.discrepancies = discrepancies;
            compose(at, f, at.limits, out);
            sum_up(at);
            if (!narrow()) {
                compare(at, f);
                learn(at, depth, f, at);
            }
        }
        lower(at.unsolved, at.sums);
        if (is_wide(at, f)) note_threshold(at, f, at);
    }
}

// Tight cutoffs let a child end early, with a weak bound that says little about similar row sets. Below the root a better
// one pays: where its sides are soon solved, and in searches with many features and few rows on all levels.
template <class V>
std::int64_t Search<V>::with_slack(int l, int depth, std::int64_t left) const {
    if (!context_.techniques.slack || !V::kSlackPays || l == 0 || depth <= 3 || levels_[l]->open) return left;
    const Node& root = levels_[0]->node;
    if (root.features() > root.rows()) return std::min(2 * left + 2 * smallest_error_, kInfinite);
    return depth == 4 ? std::min(left + left / 4, kInfinite) : left;
}

// Feature f at the root of the node at level l: the side with more to gain first.
template <class V>
void Search<V>::attempt(int l, int depth, int f, const Values& limits, std::span<const Unit::Start> next) {
    Level& at = level(l);
    at.child = nullptr;
    if (is_wide(at, f)) at.inside = at.node.sums(context_.instance, f, true);
    if (delegates() && ask_others(l, depth, f, limits, next)) return;
    if (is_answered(at, depth, f, limits)) return;
    const bool inside_first = leaf_of(at, f, true) >= leaf_of(at, f, false);
    if (depth == kAnyDepth && !narrow() && !at.open) raise_in_turns(l, f, inside_first, limits);
    if (constrained_ && at.open && !relax_sides(l, below(depth), f, inside_first, limits)) return;
    for (const bool inside : {inside_first, !inside_first}) {
        // The first side needs a tree, or there is nothing to add the other one to.
        const Values& other = inside == inside_first ? at.side[!inside].bound : at.side[!inside].cost;
        bool useful = false;
        for (auto& left : at.left) left = context_.techniques.cutoffs ? 0 : kInfinite;
        V::each_share(size_of(limits), at.side_classes, [&](int m, int i, int j) {
            const int own = inside ? i : j;
            const std::int64_t left = limits[m] - split_cost_ - other[inside ? j : i];
            at.left[own] = std::max(at.left[own], left);
            useful = useful || at.side[inside].bound[own] < left;
        });
        if (!useful || context_.control.stopped()) return;
        for (auto& left : at.left) left = with_slack(l, depth, left);
        search_side(l, below(depth), f, inside, at.left, at.side[inside]);
    }
}

template <class V>
std::vector<int> Search<V>::path_to(int l) const {
    std::vector<int> path;
    for (int i = 1; i <= l; ++i) path.push_back(levels_[i]->step);
    return path;
}

// How many features, of those that are left, are asked for at the same time?
template <class V>
int Search<V>::batch(int l, int left) const {
    if (!delegates()) return 1;
    const double pace = delegation_->at(l).pace, most = pace > 0 ? kUnitTime / pace : 1;
    const int share = l == 0 ? left / (2 * context_.delegate->helpers) : left;     // below, all have nodes of their own
    return static_cast<int>(std::clamp<double>(std::min<double>(most, share), 1, kMostStarts));
}

template <class V>
Unit::Start Search<V>::start_of(const Level& at, int f) const {
    Unit::Start start{at.node.feature(f), {}};
    for (const bool inside : {false, true}) {
        const Values& bounds = relaxed(at.side[inside]);
        start.bounds[inside].assign(bounds.begin(), bounds.end());
    }
    return start;
}

// Adds what the cache knows about the sides of f; true if they need not be searched.
template <class V>
bool Search<V>::is_answered(Level& at, int depth, int f, const Values& limits) const {
    bool known = true;
    for (auto& left : at.left) left = kInfinite;
    for (const bool inside : {false, true})
        known = probe(sums_of(at, f, inside), below(depth), at.left, at.side[inside]) && known;
    sum_up(at);
    return known || !any_below(at.sums, limits);
}

// attempt() by somebody else. What is known here may do, and what they find out is remembered here, too. False if it takes
// them so long that the sides are better searched from here, by many.
template <class V>
bool Search<V>::ask_others(int l, int depth, int f, const Values& limits, std::span<const Unit::Start> next) {
    Level& at = level(l);
    const auto place = [&](int feature) { return std::tuple(at.node.total().key, depth, feature); };
    if (is_answered(at, depth, f, limits)) return true;
    if (const auto found = answered_.extract(place(at.node.feature(f)))) return take_answer(l, depth, f, found.mapped());

    const bool divisible = below(depth) > 2 && l < kDeepestUnits;
    auto& [pace, divided] = delegation_->at(l);
    if (divisible && divided > 0 && divided-- > 0) return false;
    Unit unit{std::is_same_v<V, SplitBudgets>, classes_[depth_], depth_, path_to(l), {limits.begin(), limits.end()}, {}};
    unit.starts.push_back(start_of(at, f));
    unit.starts.insert(unit.starts.end(), next.begin(), next.end());
    Control& control = context_.control;
    Delegate& others = *context_.delegate;
    const double longest = std::min(others.long_unit * double(unit.starts.size()), std::max(others.long_unit, kLongestUnit));
    const auto answer = others.solve(unit, divisible ? longest : std::numeric_limits<double>::infinity());
    if (!answer) {
        if (!control.stopped()) control.interrupt();
        throw SearchStopped{};
    }
    context_.cache.learn(answer->notes, context_.costs_number);
    const int ended = std::max(size_of(answer->sides) - !answer->ended, 0);
    const double seconds = answer->seconds / std::max(ended, 1);
    pace = pace == 0 ? seconds : 0.7 * pace + 0.3 * seconds;
    answered_.clear();
    for (int i = 1; i < ended; ++i) answered_[place(unit.starts[i].feature)] = answer->sides[i];
    if (!answer->sides.empty()) take_answer(l, depth, f, answer->sides[0]);
    if (ended == 0)     // trees of which only the beginning has come are in the cache
        for (Outcome& side : at.side)
            for (auto& cost : side.cost) cost = kInfinite;
    if (ended == 0) divided = kDividedAtOnce;
    return ended > 0;
}

template <class V>
bool Search<V>::take_answer(int l, int depth, int f, const std::array<UnitAnswer::Side, 2>& found) {
    Level& at = level(l);
    for (const bool inside : {false, true}) {
        Outcome& side = at.side[inside];
        raise(side.bound, found[inside].bound);
        raise(side.relaxed, found[inside].relaxed);
        for (int m = 0; m < at.side_classes; ++m) {
            if (found[inside].cost[m] > found[inside].bound[m] || side.cost[m] <= side.bound[m]) continue;
            side.cost[m] = found[inside].cost[m];
            side.tree[m] = found[inside].tree[m];
        }
        remember(inside ? at.node.inside(f) : at.node.outside(f), below(depth), side);
    }
    return true;
}

// Before any side is solved, their bounds are raised in turns, in steps that grow, until they say together that no tree
// is below the limit. If trees may have any depth, one side alone would search long to make up for what is not known
// about the other.
template <class V>
void Search<V>::raise_in_turns(int l, int f, bool inside_first, const Values& limits) {
    Level& at = level(l);
    const std::int64_t limit = limits.back() - split_cost_;
    for (std::int64_t step = kFirstSplits * split_cost_;; step *= 2) {
        for (const bool inside : {inside_first, !inside_first}) {
            Outcome& side = at.side[inside];
            const std::int64_t bound = side.bound.back(), left = limit - at.side[!inside].bound.back();
            // Solved, refuted, or so near to it that the whole question is next.
            if (side.cost.back() <= bound || bound + step >= left || context_.control.stopped()) return;
            at.left.back() = bound + step;
            search_side(l, kAnyDepth, f, inside, at.left, side);
        }
    }
}

// Bounds on both sides of f by trees of depth two with smaller leaves, which are soon found; false if these suffice.
template <class V>
bool Search<V>::relax_sides(int l, int depth, int f, bool inside_first, const Values& limits) {
    Level& at = level(l);
    for (const bool inside : {inside_first, !inside_first}) {
        Outcome& side = at.side[inside];
        if (!any_below(side.bound, side.cost)) continue;
        const Sums rows = inside ? at.node.inside(f) : at.node.outside(f);
        const std::int64_t leaf = inside ? at.sides.inside_leaf[f] : at.sides.outside_leaf[f];
        const DepthTwoValues values = depth_two_.solve_side(*at.open, f, inside, leaf);
        for (int m = 0; m < at.side_classes; ++m)
            side.relaxed[m] = std::max(side.relaxed[m], std::min(V::least(values, m, split_cost_), beyond_small(depth)));
        raise(side.bound, side.relaxed);
        remember_relaxed(rows, depth, side.relaxed);
        sum_up(at);
        if (!any_below(at.sums, limits)) return false;
    }
    return true;
}

// One side of feature f of the node at level l, with what can be said without looking at its rows first.
template <class V>
void Search<V>::search_side(int l, int depth, int f, bool inside, const Values& cutoffs, Outcome& out) {
    Level& at = level(l);
    const std::int64_t leaf = leaf_of(at, f, inside);
    // Nothing is known yet about the stumps of a threshold of a wide column, and no tree with a split costs less than that.
    const std::int64_t stump = is_wide(at, f) ? kInfinite : inside ? at.sides.inside_best[f] : at.sides.outside_best[f];
    // Any other tree has two splits or more.
    const bool leaf_wins = leaf <= split_cost_ || (stump < kInfinite && leaf <= 2 * split_cost_ && leaf <= stump + split_cost_);
    const bool stump_wins = !constrained_ && (stump <= split_cost_ || (stump < kInfinite && leaf <= 2 * split_cost_));
    if (leaf_wins || stump_wins) {
        for (int m = 0; m < size_of(cutoffs); ++m) {
            take_tree({leaf, leaf_wins ? leaf : stump, leaf_wins ? leaf : stump, leaf_wins ? leaf : stump}, m, leaf, out);
            out.bound[m] = out.relaxed[m] = out.cost[m];
        }
        return;
    }
    const Sums rows = sums_of(at, f, inside);
    if (probe(rows, depth, cutoffs, out)) return;
    if (!at.open) {
        make_child(l, f, inside);
        const Width width = width_;
        if (depth <= width.exact) width_ = {};
        search(l + 1, depth, cutoffs, out);
        width_ = width;
        return;
    }
    const auto solve_allowed_side = [&] {
        if (open_allowed(at)) return allowed_depth_two_.solve_side(*at.allowed_open, f, inside, leaf);
        make_child(l, f, inside);
        return solve_small(allowed_depth_two_, level(l + 1).node, depth, at.allowed_sides);
    };
    take_small(rows, depth, leaf, depth_two_.solve_side(*at.open, f, inside, leaf), cutoffs, solve_allowed_side, out);
}

// Trees with feature f at the root, where they cost less than the limits: these are lowered.
template <class V>
void Search<V>::compose(const Level& at, int f, Values& limits, Outcome& out) const {
    V::each_share(size_of(limits), at.side_classes, [&](int m, int i, int j) {
        const std::int64_t cost = at.side[1].cost[i] + at.side[0].cost[j] + split_cost_;
        if (cost >= limits[m]) return;
        limits[m] = out.cost[m] = cost;
        Preorder& tree = out.tree[m];
        tree.assign(1, at.node.name(context_.instance.problem(), f));
        for (const Preorder* part : {&at.side[1].tree[i], &at.side[0].tree[j]})
            tree.insert(tree.end(), part->begin(), part->end());
    });
}

template <class V>
bool Search<V>::has_news(const Level& from) const {
    const auto positive = [&](bool inside) {
        const Values& values = relaxed(from.side[inside]);
        return std::any_of(values.begin(), values.end(), [](std::int64_t value) { return value > 0; });
    };
    return context_.techniques.similarity && (positive(true) || positive(false));
}

template <class V>
void Search<V>::compare(Level& from, int f) {
    if (!has_news(from)) return;
    if (from.open)
        depth_two_.overlaps(*from.open, f, from.overlap);
    else
        from.node.overlaps(context_.instance, f, from.child, from.overlap);
    from.rounded_overlap.resize(padded(from.overlap.size()));
    for (std::size_t j = 0; j < from.overlap.size(); ++j)
        from.rounded_overlap[j] = context_.instance.rounded(from.overlap[j]);
}

// A tree for one row set, used on another, costs at most the swings of the rows that only the first one has less. So
// the values of f's sides bound those of every other feature j: the rows that j shares with either side are bounded
// apart and added up. With split costs the splits of the tree are counted twice then.
template <class V>
void Search<V>::learn(const Level& from, int depth, int f, Level& to) const {
    if (!has_news(from)) return;
    const Values &in = relaxed(from.side[1]), &out = relaxed(from.side[0]);
    const Node& node = from.node;
    const Instance& instance = context_.instance;
    const std::int64_t inside = sums_of(from, f, true).swing, outside = node.total().swing - inside;
    const int splits = most_splits(below(depth), 64);
    const std::int64_t twice = split_cost_ == 0 ? 0 : splits < 64 ? splits * split_cost_ : kInfinite;
    // What is subtracted from what was rounded down may be too small by one.
    const Bound one = instance.rounds();
    for (int m = 0; m < from.side_classes; ++m) {
        if (in[m] <= 0 && out[m] <= 0) continue;
        const Bound in_m = instance.rounded(in[m]), out_m = instance.rounded(out[m]);
        const Remains remains{in_m - instance.rounded_up(inside), out_m - instance.rounded_up(outside) - one, in_m - one,
                              out_m - one, instance.rounded_up(twice)};
        raise_by_overlaps()(remains, node.features(), node.swings(), from.rounded_overlap.data(), to.bounds(true, m),
                            to.bounds(false, m));
    }
}

template <class V>
void Search<V>::conclude(int l, int depth) {
    if (!context_.techniques.inheritance) return;
    Level& at = level(l);
    Values bound = at.limits;
    for (auto& value : bound) value = 0;
    relax(l, bound);
    archive(depth).add(at.node, bound, at.bound[1], at.bound[0], at.side_classes);
}

template <class V>
typename Search<V>::Joint Search<V>::joint(int l) const {
    const Level& at = *levels_[l];
    return {at.node, at.sides, at.small, at.ranked, at.open.has_value(), path_to(l)};
}

template <class V>
void Search<V>::join(int l, const Joint& joint) {
    Level& at = level(l);
    at.node = joint.node;
    at.sides = joint.sides;
    at.small = joint.small;
    at.ranked = joint.ranked;
    for (int i = 1; i <= l; ++i) level(i).step = joint.path[i - 1];
    at.open.reset(), at.allowed_open.reset();
    if (joint.open) open_now(at);
}

// The loop over the features of a node, some of them done, shared with those who join. They take features in order and
// know each other's bounds. Of several best features the first in order wins, whoever finishes first.
template <class V>
class Search<V>::Loop final : public SharedWork {
public:
    Loop(Search& owner, int l, int depth, int next, Outcome& out)
        : SharedWork(l), owner_(owner), home_(owner.level(l)), control_(owner.context_.control), depth_(depth),
          width_(owner.width_), out_(out), next_(next), size_(std::min(owner.tries(home_), size_of(home_.order))), last_(size_),
          enough_(l == 0 && owner.takes_any_ ? std::min(static_cast<int>(kEnough * last_), kMostEnough) : 0),
          best_(out.bound.size(), -1), done_(home_.order.size()) {
        std::fill_n(done_.begin(), next, true);
        scratch_.side_classes = home_.side_classes;
        scratch_.sums = home_.sums;
        for (Outcome& side : scratch_.side) side.reset(home_.side_classes);
    }

    void run() {
        guarded(owner_, home_);
        if (shared_) owner_.crew_->team.withdraw(*this, owner_.member_);
        if (error_) std::rethrow_exception(error_);
        owner_.width_ = width_;
        if (owner_.narrow()) return;
        owner_.has_enough_ = last_ < size_;
        if (level == 0) owner_.tried_ = static_cast<double>(next_) / std::max(size_, 1);
        for (; next_ < size_; ++next_) {
            sum_up(home_.order[next_], home_);
            lower(home_.unsolved, home_.sums);
        }
    }

    void help(int member) override {
        try {
            Search& search = owner_.crew_->member(member);
            search.join(level, *shared_);
            guarded(search, search.level(level));
        } catch (const SearchStopped&) {
        } catch (...) {
            fail();
        }
    }

private:
    // A feature before the best one wins already with the same cost.
    std::int64_t limit(int i, int m) const { return home_.limits[m] + (i < best_[m]); }

    void sum_up(int f, Level& into) {
        owner_.recall(home_, f, into);
        owner_.sum_up(into);
    }

    void fail() {
        const std::lock_guard guard(lock_);
        error_ = std::current_exception();
        control_.interrupt();
    }

    void guarded(Search& search, Level& own) {
        try {
            work(search, own);
        } catch (...) {
            fail();
        }
    }

    void work(Search& search, Level& own) {
        Outcome found;
        std::vector<std::pair<int, int>> own_ones;      // in order; and where in starts those after it begin
        std::vector<Unit::Start> starts;                // of those that others are asked for, the first one excepted
        std::unique_lock guard(lock_);
        Values limits = home_.limits;
        int at_hand = -1;       // own is about it
        const auto is_open = [&](int i) {
            at_hand = i;
            sum_up(home_.order[i], own);
            for (int m = 0; m < size_of(limits); ++m) limits[m] = limit(i, m);
            done_[i] = !any_below(own.sums, limits) || control_.stopped();
            if (done_[i]) lower(home_.unsolved, own.sums);
            return !done_[i];
        };
        search.answered_.clear();
        report();
        while (next_ < last_ && !control_.stopped()) {
            own_ones.clear(), starts.clear();
            const int most = search.batch(level, last_ - next_);
            while (size_of(own_ones) < most && next_ < last_) {
                const int i = next_++, f = home_.order[i];
                exhausted = next_ == size_;
                done_[i] = owner_.constrained_ && !home_.node.allows(owner_.context_.instance, f);
                if (done_[i] || !is_open(i)) continue;
                if (!own_ones.empty() && !search.is_answered(own, depth_, f, limits)) starts.push_back(search.start_of(own, f));
                own_ones.emplace_back(i, size_of(starts));
                if (size_of(own_ones) > 1) at_hand = -1;
            }
            for (const auto& [i, after] : own_ones) {
                const int f = home_.order[i];
                if (at_hand != i && !is_open(i)) continue;
                at_hand = -1;
                guard.unlock();
                if (&search == &owner_ && !shared_ && owner_.shares(level, depth_, i + 1)) share();
                found.reset(size_of(limits));
                search.width_ = width_;
                if (width_.discrepancies >= 0) search.width_.discrepancies -= i;
                const bool ended = attempt(search, own, f, limits, std::span(starts).subspan(after), found);
                search.width_ = width_;
                search.sum_up(own);
                const bool learns = ended && !search.narrow();      // else a child may be half made
                if (learns) search.compare(own, f);
                guard.lock();
                lower(home_.unsolved, own.sums);
                // The first feature that has a tree will do, even if one after it was faster with a better one.
                const bool is_enough = i < enough_ && i < last_ && found.cost.back() < kInfinite;
                if (is_enough) last_ = i;
                for (int m = 0; m < size_of(limits); ++m) {
                    if (!is_enough && (i > last_ || found.cost[m] >= limit(i, m))) continue;
                    home_.limits[m] = out_.cost[m] = found.cost[m];
                    out_.tree[m] = found.tree[m];
                    best_[m] = i;
                    if (level == 0 && m + 1 == size_of(limits)) owner_.report_incumbent(found.cost[m]);
                }
                done_[i] = true;
                if (learns) search.learn(own, depth_, f, home_);
                if (owner_.is_wide(home_, f)) owner_.note_threshold(own, f, home_);
                report();
            }
        }
        exhausted = true;
    }

    void share() {
        shared_.emplace(owner_.joint(level));
        owner_.crew_->team.offer(*this);
    }

    // False if it was stopped in the middle.
    bool attempt(Search& search, Level& own, int f, Values& limits, std::span<const Unit::Start> next,
                 Outcome& found) {
        try {
            search.attempt(level, depth_, f, limits, next);
            search.compose(own, f, limits, found);
            if (level > 0 || search.narrow()) return true;
            bool any = false;
            for (int m = 0; m < size_of(limits); ++m) {
                if (found.cost[m] == kInfinite) continue;
                any = true;
                if (search.expand(found.tree[m], !search.is_long())) continue;
                if (!control_.stopped()) throw std::logic_error("a found tree could not be worked out");
                found.cost[m] = kInfinite;
            }
            if (any && search.is_long()) search.open_again(own);
            return true;
        } catch (const SearchStopped&) {
            return false;
        }
    }

    // The bound on the largest class, which bounds them all.
    void report() {
        if (level > 0 || width_.features || !owner_.watched_ || control_.elapsed() < next_report_) return;
        next_report_ = control_.elapsed() + kBetweenReports;
        const int last = size_of(home_.limits) - 1;
        std::int64_t bound = std::min(home_.unsolved[last], home_.limits[last]);
        for (int i = 0; i < size_; ++i) {
            if (done_[i]) continue;
            sum_up(home_.order[i], scratch_);
            bound = std::min(bound, scratch_.sums[last]);
        }
        for (const auto& solved : home_.solved)
            for (std::size_t i = 0; i + 1 < solved.size(); ++i) {
                owner_.bound_sides(solved[i], solved[i + 1], scratch_);
                owner_.sum_up(scratch_);
                bound = std::min(bound, scratch_.sums[last]);
            }
        owner_.report_bound(bound);
    }

    Search& owner_;
    Level& home_;
    Control& control_;
    const int depth_;
    const Width width_;
    Outcome& out_;
    std::mutex lock_;
    int next_;
    const int size_;
    int last_;
    const int enough_;          // a tree with one of so many features ends a search for any tree
    std::vector<int> best_;     // by class, in order
    std::vector<bool> done_;    // bounds of the others are not in unsolved yet
    Level scratch_;
    double next_report_ = 0;
    std::optional<Joint> shared_;
    std::exception_ptr error_;
};

template <class V>
bool Search<V>::is_worth_sharing(int l, int depth, int next) const {
    const Level& at = *levels_[l];
    const double left = std::min(tries(at), size_of(at.order)) - next, sweep = double(at.node.rows()) * at.node.features();
    return left > 0 && left * sweep * (depth > 3 && !at.open ? at.node.features() : 1) >= kWorkToShare;
}

// Does somebody want to join the loop over the features of a node, from the next one in order on?
template <class V>
bool Search<V>::shares(int l, int depth, int next) const {
    if (!crew_ || (context_.delegate && !delegates())) return false;
    if (!is_worth_sharing(l, depth, next)) return false;
    // Threads that ask others begin now, and want the first loop; its owner will not look again for long.
    return crew_->team.wants_work(l) || (context_.delegate && l == 0);
}

template <class V>
const Node& Search<V>::enter_root() {
    level(0).ranked = false;
    level(0).node.make_root(context_.instance, splits_);
    return level(0).node;
}

template <class V>
typename Search<V>::Outcome Search<V>::solve(const Values& cutoffs, int jobs, Effort effort, bool deepen) {
    jobs_ = jobs;
    watched_ = deepen;
    Crew<Search> crew(*this, jobs, context_.control);
    Outcome best;
    best.reset(size_of(cutoffs));
    const Node& root = enter_root();
    bool known = probe(root.total(), depth_, cutoffs, best);
    settled_.resize(cutoffs.size());
    for (int m = 0; m < size_of(cutoffs); ++m) {
        if (best.cost[m] < kInfinite && !expand(best.tree[m], true)) best.cost[m] = kInfinite;
        settled_[m] = best.cost[m] < kInfinite;
    }
    if (!known && depth_ > 2 && context_.techniques.first_pass) known = find_first(cutoffs, effort, best);
    takes_any_ = effort == Effort::any_tree;
    const auto is_enough = [&] { return takes_any_ && any_below(best.cost, cutoffs); };
    known = known || (effort == Effort::first_trees && depth_ > 2) || is_enough();
    Control& control = context_.control;
    const bool delegates = context_.delegate && deepen && depth_ > 2;
    if (!known && delegates) {
        // Most questions are soon answered. What is found until then must not decide which tree is taken, if any will do.
        Outcome first = best;
        control.pause_at(control.elapsed() + context_.delegate->alone);
        pass({}, cutoffs, first);
        known = !control.stopped();
        if (known || !takes_any_ || control.reason() != StopReason::none)
            best = first;
        else
            raise(best.bound, first.bound);
        control.resume();
        delegation_->begun = true;
    }
    if (!known && depth_ > 3 && deepen && context_.techniques.deepening) {
        // Only a search that takes long needs a better start; and none that takes any tree, which must not depend on time.
        if (!takes_any_ && !delegates) {
            control.pause_at(std::min(kLong, kEarly * control.limit()));
            pass({}, cutoffs, best);
            known = !control.paused();
            if (!known) find_better(cutoffs, best);
        }
        if (!known) {
            control.pause_at(kHalf * control.limit());
            pass({}, cutoffs, best);
            known = !control.paused() || is_enough();
            if (!known && tried_ < kPromising) climb(cutoffs, best);
        }
        control.resume();
    }
    if (!known) pass({}, cutoffs, best);
    delegation_->begun = false;
    for (int m = 0; m < size_of(cutoffs); ++m) {
        if (best.cost[m] >= std::min(kInfinite, cutoffs[m])) {
            const bool leaf = context_.control.stopped() && root.leaf() < cutoffs[m];
            best.cost[m] = leaf ? root.leaf() : kInfinite;
            best.tree[m].assign(leaf, kLeaf);
        }
        best.bound[m] = std::min(best.bound[m], best.cost[m]);
    }
    if (depth_ > 0 && !context_.control.stopped()) remember(root.total(), depth_, best);
    report_bound(best.bound[size_of(cutoffs) - 1]);
    return best;
}

// Is the node of the unit, with what is known about it, that of the last one? Depth-two solutions for its sides must still
// be all that the limits allow.
template <class V>
bool Search<V>::is_followed(const Unit& unit, int depth, const Values& limits) const {
    if (followed_ != unit.path) return false;
    const Level& at = *levels_[unit.path.size()];
    return !at.open || wants_open(at, depth, limits);
}

template <class V>
void Search<V>::follow(const Unit& unit, int depth, const Values& limits) {
    followed_.reset();
    enter_root();
    int l = 0;
    for (const int step : unit.path) {
        make_child(l, level(l).node.local(context_.instance.problem(), std::max(step, ~step)), step >= 0);
        ++l;
    }
    rank_features(l, depth, limits);
    followed_ = unit.path;
}

template <class V>
UnitAnswer Search<V>::solve_unit(const Unit& unit, int jobs) {
    watched_ = false;
    Crew<Search> crew(*this, jobs, context_.control);
    const int l = size_of(unit.path), depth = depth_ == kAnyDepth ? depth_ : depth_ - l;
    Values limits;
    V::template resize<std::int64_t>(limits, classes_[depth], 0);
    std::copy_n(unit.limits.begin(), limits.size(), limits.begin());
    UnitAnswer answer;
    std::size_t i = 0;
    try {
        if (!is_followed(unit, depth, limits)) follow(unit, depth, limits);
        Level& at = level(l);
        for (bool ended = true; i < unit.starts.size() && ended; i += ended) {
            const int f = at.node.local(context_.instance.problem(), unit.starts[i].feature);
            recall(l, f);
            for (const bool inside : {false, true}) {
                raise(at.side[inside].bound, unit.starts[i].bounds[inside]);
                raise(at.side[inside].relaxed, unit.starts[i].bounds[inside]);
            }
            sum_up(at);
            if (any_below(at.sums, limits)) attempt(l, depth, f, limits);
            if (!context_.control.stopped()) {
                compare(at, f);
                learn(at, depth, f, at);
            }
            ended = write_down(l, depth, f, limits, answer.sides.emplace_back());
        }
        answer.ended = i == unit.starts.size();
    } catch (const SearchStopped&) {
        answer.sides.resize(i);
        auto& last = answer.sides.emplace_back();
        for (const bool inside : {false, true}) {
            const Unit::Numbers& bounds = unit.starts[i].bounds[inside];
            last[inside] = {bounds, bounds, Unit::Numbers(bounds.size(), kInfinite), std::vector<Preorder>(bounds.size())};
        }
    }
    if (!answer.ended) followed_.reset();
    answer.seconds = context_.control.elapsed();
    return answer;
}

// The sides of f as others can read them; lowers the limits by what was found. False if the search was stopped.
template <class V>
bool Search<V>::write_down(int l, int depth, int f, Values& limits, std::array<UnitAnswer::Side, 2>& sides) {
    Level& at = level(l);
    std::vector<bool> wanted[2];
    for (auto& each : wanted) each.resize(at.side_classes);
    const Values before = limits;
    V::each_share(size_of(limits), at.side_classes, [&](int m, int i, int j) {
        const std::int64_t cost = at.side[1].cost[i] + at.side[0].cost[j] + split_cost_;
        if (cost < before[m]) wanted[1][i] = wanted[0][j] = true;
        limits[m] = std::min(limits[m], cost);
    });
    for (const bool inside : {false, true}) {
        const Outcome& from = at.side[inside];
        UnitAnswer::Side& to = sides[inside];
        to = {{from.bound.begin(), from.bound.end()}, {from.relaxed.begin(), from.relaxed.end()},
              Unit::Numbers(at.side_classes, kInfinite), std::vector<Preorder>(at.side_classes)};
    }
    for (const bool inside : {false, true}) {
        const Outcome& from = at.side[inside];
        UnitAnswer::Side& to = sides[inside];
        if (std::find(wanted[inside].begin(), wanted[inside].end(), true) != wanted[inside].end()) make_child(l, f, inside);
        for (int m = 0; m < at.side_classes; ++m) {
            if (from.cost[m] > from.bound[m]) continue;
            const int* code = from.tree[m].data();
            if (!wanted[inside][m])
                to.tree[m].assign(1, *code);
            else if (!expand_at(l + 1, below(depth), code, true, to.tree[m]))
                return false;
            to.cost[m] = from.cost[m];
        }
    }
    return !context_.control.stopped();
}

// Searches all rows for trees that are better than the best. Which trees the starts find may depend on the time, so a
// wide search looks for one of the same cost, too: the first in order, as if there had been no start.
template <class V>
void Search<V>::pass(Width width, const Values& cutoffs, Outcome& best) {
    Outcome out = best;
    Values limits = best.cost;
    width_ = width;
    for (int m = 0; m < size_of(limits); ++m)
        if (!narrow() && !settled_[m]) limits[m] = std::min(limits[m] + 1, kInfinite), out.cost[m] = kInfinite;
    lower(limits, cutoffs);
    try {
        search(0, depth_, limits, out);
    } catch (const SearchStopped&) {
    }
    width_ = {};
    raise(best.bound, out.bound);
    raise(best.relaxed, out.relaxed);
    for (int m = 0; m < size_of(cutoffs); ++m)
        if (out.cost[m] < limits[m] && expand(out.tree[m], !is_long())) take(m, out, m, best);
}

template <class V>
void Search<V>::take(int m, const Outcome& found, int from, Outcome& best) {
    best.cost[m] = found.cost[from];
    best.tree[m] = found.tree[from];
    if (m + 1 == size_of(best.cost)) report_incumbent(best.cost[m]);
}

// First trees, in a time that no depth makes long: along the best features, deep trees along those that greedy trees
// make most of; then, if there is time, off that way once, twice and so on (limited discrepancy). Those of smaller depths
// are tried, too, so that a larger one is none the worse for it; some early if splits cost something, as larger trees
// are often no better then. If these trees are the answer, it is not the clock that says so. True if the question is answered.
template <class V>
bool Search<V>::find_first(const Values& cutoffs, Effort effort, Outcome& best) {
    Control& control = context_.control;
    std::vector<Width> widths{{1}};
    widths.push_back(depth_ > kShallow ? Width{1, 0, true, 3} : Width{3});
    const auto first = widths.size();
    if (depth_ > kShallow)
        for (const int exact : {3, 4})
            for (int discrepancies = 1; discrepancies < kMostTries && exact + 1 < depth_; ++discrepancies)
                widths.push_back({discrepancies + 1, discrepancies, true, exact});
    const Node& root = levels_[0]->node;
    const double size = static_cast<double>(root.rows()) * root.features() * root.features();
    const double most = effort != Effort::all ? std::numeric_limits<double>::infinity()
                        : context_.delegate   ? context_.delegate->alone
                                              : kLong;
    const double end = std::min(most, kFirst * control.limit());
    double work = 0;
    const auto inherit = [&](double most_work) {
        for (int depth = depth_ - 1; depth >= kShallow && depth_ < kAnyDepth && watched_; --depth) {
            if (!any_below(best.bound, best.cost)) break;
            control.pause_at(end);
            start_from(depth, cutoffs, Effort::first_trees, best, most_work);
        }
    };
    for (std::size_t i = 0; i < widths.size() && !control.stopped(); ++i) {
        if (i == 1 && depth_ == kAnyDepth && watched_) {
            // By one thread, so that it does not depend on their number how far it comes.
            const auto crew = std::exchange(crew_, nullptr);
            control.pause_at(kEarly * control.limit(), kFewNodes);
            pass({}, cutoffs, best);
            const bool known = !control.stopped();
            control.resume();
            crew_ = crew;
            if (known) return true;
        }
        if (i == first + 2 && split_cost_ > 0) inherit(size * kDeepGreedy);     // off the way once
        if (i >= first) work += size * std::min(depth_ - widths[i].exact, kDeepGreedy) * (widths[i].exact == 3 ? 1 : 4);
        if (effort != Effort::all && work > first_work_) break;
        if (watched_ && i >= first) control.pause_at(end);
        if (!control.stopped()) pass(widths[i], cutoffs, best);
        if (watched_) control.resume();
        for (int m = 0; m < size_of(cutoffs); ++m)
            if (i < first && best.cost[m] == 0) settled_[m] = true;     // the clock had no say
    }
    inherit(first_work_ / std::max(depth_ - kShallow, 1));      // all together as much as this one
    promising_.clear();
    return false;
}

// Raises the bound as far as the time allows: it is proven that nothing is below a cutoff between the bound and the best
// tree, then below a higher one. That takes a small part of the time of a whole proof, and what was learnt helps the
// next step.
template <class V>
void Search<V>::climb(const Values& cutoffs, Outcome& best) {
    Control& control = context_.control;
    double share = kFirstStep, spent = 0;
    Values limits;
    while (control.reason() == StopReason::none) {
        if (spent == 0) {
            limits = cutoffs;
            lower(limits, best.cost);
            bool last = true;
            for (int m = 0; m < size_of(limits); ++m) {
                const std::int64_t room = limits[m] - best.bound[m], step = static_cast<std::int64_t>(share * double(room));
                if (room <= 0 || step + 1 >= room) continue;
                limits[m] = best.bound[m] + step + 1;
                last = false;
            }
            if (last) break;    // the whole question is next
        }
        const double now = control.elapsed(), left = std::max(control.limit() - now, 0.0);
        control.pause_at(now + kStepTime * left);
        pass({}, limits, best);
        spent += control.elapsed() - now;
        // What was done is remembered. If the rest will take no more time than there is, the step goes on.
        if (control.paused() && spent * (1 - tried_) < left * tried_) continue;
        share = control.paused() ? share / 3 : std::min(1.0, share * 1.5);
        spent = 0;
    }
}

// Better trees than the first passes have found, within a share of the time: the best ones of smaller depth, then those
// of wider passes.
template <class V>
void Search<V>::find_better(const Values& cutoffs, Outcome& best) {
    Control& control = context_.control;
    const double now = control.elapsed(), share = kShare * std::min(control.limit(), 5 * now);
    for (int depth = 3; depth < std::min(depth_, kDeepStart) && control.elapsed() < now + share / 2; ++depth) {
        control.pause_at(now + share / 2);
        start_from(depth, cutoffs, Effort::all, best, 0);
    }
    std::vector<Width> widths{{5}, {10}, {20}};
    if (depth_ == kShallow)     // what deeper searches begin with
        for (int times = kMostTries - 1; times >= 0; --times)
            widths.insert(widths.begin(), Width{times + 1, times, true, 3});
    for (const Width& width : widths) {
        control.pause_at(now + share);
        if (!control.stopped()) pass(width, cutoffs, best);
    }
    promising_.clear();
}

template <class V>
void Search<V>::start_from(int depth, const Values& cutoffs, Effort effort, Outcome& best, double most_work) {
    const int classes = std::min(size_of(cutoffs), V::most_classes(depth));
    const auto limit = [&](int m) { return std::min(cutoffs[m], best.cost[m]); };
    Search smaller(context_, depth, classes);
    smaller.first_work_ = most_work;
    Values limits;
    V::template resize<std::int64_t>(limits, classes, 0);
    for (int m = 0; m < size_of(cutoffs); ++m)
        limits[std::min(m, classes - 1)] = std::max(limits[std::min(m, classes - 1)], limit(m));
    Outcome found;
    try {
        found = smaller.solve(limits, jobs_, effort, false);
    } catch (const SearchStopped&) {
        return;
    }
    context_.control.resume();
    for (int m = 0; m < size_of(cutoffs); ++m) {
        const int from = std::min(m, classes - 1);
        if (found.cost[from] < limit(m) && smaller.expand(found.tree[from], false)) take(m, found, from, best);
    }
}

// After trees were worked out, for which the depth-two solvers had to look at other nodes.
template <class V>
void Search<V>::open_again(Level& at) {
    at.allowed_open.reset();
    if (at.open) open_now(at);
}

template <class V>
void Search<V>::open_now(Level& at) {
    at.open.reset();
    at.open = depth_two_.open(at.node, at.sides, at.small);
}

template <class V>
bool Search<V>::expand(Preorder& tree, bool known_only) {
    const auto todo = [&](int code) { return is_stand_in(code) && (!known_only || kind_of(code) == StandIn::known); };
    if (std::none_of(tree.begin(), tree.end(), todo)) return true;
    Preorder out;
    const int* code = tree.data();
    try {
        if (!expand_at(0, depth_, code, known_only, out)) return false;
    } catch (const SearchStopped&) {
        return false;
    }
    tree = std::move(out);
    return true;
}

template <class V>
bool Search<V>::expand_at_last(Preorder& tree) {
    context_.control.finish();
    takes_any_ = false;
    return expand(tree, false);
}

// Reads one tree from `code` and writes it without stand-ins; the rows are those of the node at level l.
template <class V>
bool Search<V>::expand_at(int l, int depth, const int*& code, bool known_only, Preorder& out) {
    const int root = *code++;
    if (root == kLeaf || (known_only && is_stand_in(root) && kind_of(root) == StandIn::small)) {
        out.push_back(root);
        return true;
    }
    if (is_stand_in(root)) {
        const Preorder tree = work_out(l, depth, kind_of(root), class_of(root));
        const int* inner = tree.data();
        return !tree.empty() && expand_at(l, depth, inner, known_only, out);
    }
    const int f = level(l).node.local(context_.instance.problem(), root);
    out.push_back(root);
    for (const bool inside : {true, false}) {
        make_child(l, f, inside);
        if (!expand_at(l + 1, below(depth), code, known_only, out)) return false;
    }
    return true;
}

// How the tree of a stand-in begins; empty if the search was stopped.
template <class V>
Preorder Search<V>::work_out(int l, int depth, StandIn kind, int m) {
    Level& at = level(l);
    if (kind == StandIn::small) {
        if (at.ranked && !constrained_)
            return best_small_tree(context_.instance, at.node, at.small, at.sides,
                                   V::splits(at.small, m, split_cost_));
        DepthTwo& solver = constrained_ ? allowed_depth_two_ : depth_two_;
        const DepthTwoValues values = solve_small(solver, at.node, depth, at.allowed_sides);
        return best_small_tree(context_.instance, at.node, values, at.allowed_sides,
                               V::splits(values, m, split_cost_));
    }
    const auto known = context_.cache.find(at.node.total().key, V::slot(depth, m));
    const bool usable = known && known->exact && known->costs == context_.costs_number;
    if (usable && known->root < 0) return {known->root};
    Outcome out;
    out.reset(classes_[depth]);
    Values limits = out.bound;
    if (usable && at.node.wide().columns() == 0) {
        limits[m] = known->value - at.node.total().base + 1;
        rank_features(l, depth, limits);
        answered_.clear();
        const int f = at.node.local(context_.instance.problem(), known->root);
        recall(l, f);
        attempt(l, depth, f, limits);
        compose(at, f, limits, out);
    } else {
        limits[m] = usable ? known->value - at.node.total().base + 1 : kInfinite;
        struct Restore {
            int &level, before;
            ~Restore() { level = before; }
        } const restore{first_level_, std::exchange(first_level_, l)};
        search(l, depth, limits, out);
    }
    return out.cost[m] < kInfinite && !context_.control.stopped() ? out.tree[m] : Preorder{};
}

template class Search<AnySplits>;
template class Search<SplitBudgets>;

}  // namespace goct
