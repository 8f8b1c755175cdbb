#include "threshold_proof.hpp"

#include <algorithm>

namespace goct {

ThresholdProver::ThresholdProver(const RankedColumns& data, const Costs& costs, const Claim& claim, Control& control)
    : data_(data),
      costs_(costs),
      claim_(claim),
      control_(control),
      price_(costs.split_cost()),
      constrained_(costs.min_leaf_weight() > 0),
      begin_{0},
      facts_(claim.most_bytes, control) {
    for (int c = 0; c < data.columns(); ++c)
        begin_.push_back(begin_.back() + std::max(1, data.threshold(c + 1, 0) - data.threshold(c, 0)));
    for (auto& known : known_) known.resize(claim.depth + 1);
}

ThresholdProver::Level& ThresholdProver::level(int l) {
    while (static_cast<int>(levels_.size()) <= l) levels_.push_back(std::make_unique<Level>());
    return *levels_[l];
}

Proof ThresholdProver::prove() {
    Level& root = level(0);
    root.node.make_root(data_, costs_, false, control_);
    scans_ = make_stump_scans(costs_, root.node.swing(), control_);
    search(0, claim_.depth, constrained_ ? Leaves::heavy : Leaves::any, claim_.cutoffs);
    return facts_.trimmed();
}

// The depth of trees that can be below the best: those with more splits cannot pay them.
int ThresholdProver::usable(int depth, const Values& best) const {
    if (claim_.max_splits) return std::min(depth, *claim_.max_splits);
    if (price_ == 0) return depth;
    return static_cast<int>(std::clamp<std::int64_t>((best[0] - 1) / price_, 0, depth));
}

std::int32_t ThresholdProver::add(Level& at, int depth, bool relaxed, const Values& cutoffs) {
    std::ranges::sort(at.basis);
    at.basis.erase(std::unique(at.basis.begin(), at.basis.end()), at.basis.end());
    bool exact = !stopped_;
    for (std::size_t m = 0; m < at.best.size(); ++m) exact = exact && at.best[m] < cutoffs[m];
    const std::int32_t fact = facts_.add({at.usable > 2 ? Rule::split : Rule::listed_table, at.path, depth, relaxed, at.best,
                                          at.basis, at.node.key()});
    known_[!relaxed][depth][at.node.key()] = {fact, exact};
    return fact;
}

std::int32_t ThresholdProver::search(int l, int depth, Leaves leaves, const Values& cutoffs) {
    Level& at = level(l);
    const auto begin = [&] {
        at.basis.clear();
        at.best.assign(classes(depth), at.node.leaf());
        for (std::size_t m = 0; m < at.best.size(); ++m)
            at.best[m] = std::min(at.best[m], std::max<std::int64_t>(cutoffs[m], 0));
        at.usable = usable(depth, at.best);
    };
    begin();
    const Values goal = at.best;
    bool relaxed = true;
    if (at.usable > 0 && at.node.columns() > 0) {
        rank(at);
        if (leaves == Leaves::heavy && at.usable > 2) {
            // The relaxed problem first, which may be enough.
            const std::int32_t fact = search(l, depth, Leaves::any, cutoffs);
            if (facts_[fact].value >= goal || stopped_) return fact;
            begin();
        }
        relaxed = at.usable > 2 ? solve_intervals(l, depth, leaves) : solve_small(l, depth, leaves);
    }
    return add(at, depth, relaxed, cutoffs);
}

void ThresholdProver::rank(Level& at) const {
    const RankedNode& node = at.node;
    at.swings.resize(node.columns());
    for (int c = 0; c < node.columns(); ++c) {
        at.swings[c].resize(node.groups(c));
        std::int64_t sum = 0;
        for (int g = 0, k = 0; g < node.groups(c); ++g) {
            for (; k < node.ends(c)[g]; ++k) sum += costs_.swing(node.row(node.order(c)[k]));
            at.swings[c][g] = sum;
        }
    }
}

bool ThresholdProver::allows(const RankedNode& node, int c, int t) const {
    std::int64_t left = 0;
    for (int k = 0; k < node.ends(c)[t]; ++k) left += costs_.weight(node.row(node.order(c)[k]));
    const std::int64_t least = costs_.min_leaf_weight();
    return left >= least && node.weight() - left >= least;
}

// ---- larger depths ----

// Do bounds on both sides, by number of splits, leave nothing below the best?
bool ThresholdProver::covers(const Values& best, const Values& left, const Values& right) const {
    if (!claim_.max_splits) return left[0] + right[0] + price_ >= best[0];
    const int most = static_cast<int>(left.size()) - 1;
    for (int m = 1; m < static_cast<int>(best.size()); ++m)
        for (int i = 0; i < m && i <= most; ++i)
            if (left[i] + right[std::min(m - 1 - i, most)] < best[m]) return false;
    return true;
}

void ThresholdProver::lower(Values& best, const Values& left, const Values& right) const {
    if (!claim_.max_splits) {
        best[0] = std::min(best[0], left[0] + right[0] + price_);
        return;
    }
    const int most = static_cast<int>(left.size()) - 1;
    for (int m = 1; m < static_cast<int>(best.size()); ++m)
        for (int i = 0; i < m && i <= most; ++i) best[m] = std::min(best[m], left[i] + right[std::min(m - 1 - i, most)]);
}

// What a side would have to cost, given a fact about the other.
ThresholdProver::Values ThresholdProver::wanted(const Level& at, int depth, std::int32_t other) const {
    const int side_classes = classes(below(depth));
    Values cutoffs(side_classes, 0);
    if (!claim_.max_splits) {
        cutoffs[0] = at.best[0] - price_ - value(other, 0);
        return cutoffs;
    }
    for (int m = 1; m < static_cast<int>(at.best.size()); ++m)
        for (int i = 0; i < m && i < side_classes; ++i) {
            const int o = std::min(m - 1 - i, side_classes - 1);
            cutoffs[i] = std::max(cutoffs[i], at.best[m] - value(other, o));
        }
    return cutoffs;
}

// Bounds on the sides of a threshold between two others.
void ThresholdProver::side_values(const Level& at, int c, int t, const Solved& from, const Solved& to, int side_classes,
                                  Values& left, Values& right) const {
    const auto& swings = at.swings[c];
    const std::int64_t before = from.threshold < 0 ? 0 : swings[from.threshold];
    for (int m = 0; m < side_classes; ++m) {
        left[m] = std::max(value(from.fact[0], m), value(to.fact[0], m) - (swings[to.threshold] - swings[t]));
        right[m] = std::max(value(to.fact[1], m), value(from.fact[1], m) - (swings[t] - before));
    }
}

// Raises the bounds on all thresholds to the best, or lowers it. True if relaxed facts are enough.
bool ThresholdProver::solve_intervals(int l, int depth, Leaves leaves) {
    Level& at = level(l);
    ++control_.nodes;
    bool relaxed = true;
    const Values goal = at.best;
    const bool thorough = claim_.thorough && l == 0;
    Values lowered = at.best;
    for (int c = 0; c < at.node.columns(); ++c) {
        // From the right to the left; the next one to look at is the last.
        std::vector<Solved> stack{{at.node.groups(c) - 1, {kNothing, kNothing}}};
        Solved from{-1, {kNothing, kNothing}};
        while (!stack.empty()) {
            const std::size_t before = stack.size();
            const Solved to = stack.back();
            relaxed = solve_interval(l, depth, leaves, c, from, to, stack) && relaxed;
            if (thorough) {
                for (std::size_t m = 0; m < lowered.size(); ++m) lowered[m] = std::min(lowered[m], at.best[m]);
                at.best = goal;
            }
            if (stack.size() > before) continue;
            from = to;
            stack.pop_back();
        }
    }
    for (std::size_t m = 0; m < lowered.size(); ++m) at.best[m] = std::min(lowered[m], at.best[m]);
    return relaxed;
}

// Solves a threshold between two others and pushes it, if they do not bound all that are between them. False if facts
// about heavy leaves are needed.
bool ThresholdProver::solve_interval(int l, int depth, Leaves leaves, int c, const Solved& from, const Solved& to,
                                     std::vector<Solved>& stack) {
    Level& at = level(l);
    const int side_classes = classes(below(depth));
    Values left(side_classes), right(side_classes);
    int first = -1, last = -1;
    bool simple = true;
    for (int t = from.threshold + 1; t < to.threshold; ++t) {
        side_values(at, c, t, from, to, side_classes, left, right);
        if (covers(at.best, left, right)) continue;
        if (first < 0) first = t;
        last = t;
    }
    const auto use = [&](std::int32_t fact) {
        if (fact != kNothing) at.basis.push_back(fact);
    };
    if (first >= 0 && !stopped_) {
        const int t = (first + last) / 2;
        Solved solved{t, {kNothing, kNothing}};
        try {
            control_.check();
            solved.fact[0] = solve_side(l, depth, Leaves::any, c, t, false, wanted(at, depth, to.fact[1]));
            solved.fact[1] = solve_side(l, depth, Leaves::any, c, t, true, wanted(at, depth, from.fact[0]));
        } catch (const SearchStopped&) {
            stopped_ = true;
            control_.finish();
        }
        stack.push_back(solved);
        return true;
    }
    for (int t = from.threshold + 1; t < to.threshold; ++t) {      // after a stop
        side_values(at, c, t, from, to, side_classes, left, right);
        if (!covers(at.best, left, right)) lower(at.best, left, right);
        for (int m = 0; m < side_classes; ++m) left[m] = value(from.fact[0], m), right[m] = value(to.fact[1], m);
        simple = simple && covers(at.best, left, right);
    }
    if (to.threshold > from.threshold + 1) use(from.fact[0]), use(to.fact[1]);
    if (!simple) use(from.fact[1]), use(to.fact[0]);
    if (to.threshold == at.node.groups(c) - 1) return true;
    // The threshold at the end itself.
    for (int m = 0; m < side_classes; ++m) left[m] = value(to.fact[0], m), right[m] = value(to.fact[1], m);
    use(to.fact[0]), use(to.fact[1]);
    if (covers(at.best, left, right)) return true;
    if (leaves == Leaves::any) {
        lower(at.best, left, right);
        return true;
    }
    if (!allows(at.node, c, to.threshold)) return false;
    Values* const sides[2] = {&left, &right};
    for (const int side : {0, 1}) {
        if (stopped_) break;
        const std::int32_t other = to.fact[!side];
        const std::int32_t fact = solve_side(l, depth, Leaves::heavy, c, to.threshold, side, wanted(at, depth, other));
        if (fact == kNothing) continue;
        use(fact);
        for (int m = 0; m < side_classes; ++m) (*sides[side])[m] = std::max((*sides[side])[m], value(fact, m));
    }
    if (!covers(at.best, left, right)) lower(at.best, left, right);
    return false;
}

std::int32_t ThresholdProver::solve_side(int l, int depth, Leaves leaves, int c, int t, bool right,
                                         const Values& cutoffs) {
    if (std::ranges::all_of(cutoffs, [](std::int64_t cutoff) { return cutoff <= 0; })) return kNothing;
    const Level& at = level(l);
    const int side = below(depth);
    const auto& known = known_[leaves == Leaves::heavy][side];
    if (const auto found = known.find(at.node.side(data_, costs_, c, t, right).key); found != known.end()) {
        const auto& [fact, exact] = found->second;
        bool enough = true;
        for (std::size_t m = 0; m < cutoffs.size(); ++m) enough = enough && facts_[fact].value[m] >= cutoffs[m];
        if (exact || enough) return fact;
    }
    Level& child = level(l + 1);
    child.node.make_child(at.node, data_, costs_, c, t, right);
    child.path = at.path;
    child.path.push_back(2 * feature(at.node, c, t) + right);
    return search(l + 1, side, leaves, cutoffs);
}

// ---- depth two ----

// The sides of all thresholds as leaves.
void ThresholdProver::leaves_of(const Level& at, int c, Sides& sides) const {
    const RankedNode& node = at.node;
    const int count = node.groups(c) - 1, classes = costs_.classes();
    Values left(classes, 0), all(classes, 0);
    for (int i = 0; i < node.rows(); ++i)
        for (int k = 0; k < classes; ++k) all[k] += costs_.cost(node.row(i), k) - costs_.base(node.row(i));
    for (int side : {0, 1}) {
        sides.leaf[side].resize(count);
        sides.bound[side].assign(count, 0);
        sides.found[side].assign(count, -kInfinite);
    }
    sides.done.assign(count, 0);
    for (int t = 0, i = 0; t < count; ++t) {
        for (; i < node.ends(c)[t]; ++i) {
            const int r = node.row(node.order(c)[i]);
            for (int k = 0; k < classes; ++k) left[k] += costs_.cost(r, k) - costs_.base(r);
        }
        std::int64_t least[2] = {kInfinite, kInfinite};
        for (int k = 0; k < classes; ++k) {
            least[0] = std::min(least[0], left[k]);
            least[1] = std::min(least[1], all[k] - left[k]);
        }
        for (int side : {0, 1}) sides.leaf[side][t] = least[side];
    }
}

// What solved thresholds say about their neighbours.
void ThresholdProver::spread(const Level& at, int c, Sides& sides) const {
    const auto& swings = at.swings[c];
    const int count = static_cast<int>(sides.done.size());
    std::int64_t part = 0, whole = -kInfinite;
    for (int t = 0; t < count; ++t) {       // left sides grow: parts first; right sides shrink: larger ones first
        part = std::max(part, sides.found[0][t]);
        sides.bound[0][t] = std::max(sides.bound[0][t], part);
        whole = std::max(whole, sides.found[1][t] + swings[t]);
        sides.bound[1][t] = std::max(sides.bound[1][t], whole - swings[t]);
    }
    part = 0, whole = -kInfinite;
    for (int t = count; t-- > 0;) {
        part = std::max(part, sides.found[1][t]);
        sides.bound[1][t] = std::max(sides.bound[1][t], part);
        whole = std::max(whole, sides.found[0][t] - swings[t]);
        sides.bound[0][t] = std::max(sides.bound[0][t], whole + swings[t]);
    }
}

bool ThresholdProver::is_enough(const Level& at, const Sides& sides, int t) const {
    const auto& [leaf, bound, found, done] = sides;
    if (!claim_.max_splits)
        return (at.usable == 2 ? bound[0][t] + bound[1][t] : leaf[0][t] + leaf[1][t]) + price_ >= at.best[0];
    const std::size_t most = at.best.size();
    if (leaf[0][t] + leaf[1][t] < at.best[1]) return false;
    if (at.usable < 2 || most <= 2) return true;
    if (std::min(leaf[0][t] + bound[1][t], bound[0][t] + leaf[1][t]) < at.best[2]) return false;
    return most <= 3 || bound[0][t] + bound[1][t] >= at.best[3];
}

// Lists thresholds of a column whose sides bound all others, now that the best is known: few of those that were solved.
void ThresholdProver::list_needed(Level& at, int c, const Sides& solved) const {
    Sides chosen = solved;
    const int count = static_cast<int>(solved.done.size());
    std::ranges::fill(chosen.done, 0);
    for (const int side : {0, 1}) {
        std::ranges::fill(chosen.bound[side], 0);
        std::ranges::fill(chosen.found[side], -kInfinite);
    }
    std::vector<int> left;      // solved, not chosen
    for (int t = 0; t < count; ++t)
        if (solved.done[t]) left.push_back(t);
    while (!left.empty()) {
        std::vector<int> open;
        for (int t = 0; t < count; ++t)
            if (!chosen.done[t] && !is_enough(at, chosen, t)) open.push_back(t);
        if (open.empty()) return;
        const std::size_t number = std::min<std::size_t>(open.size(), 8);
        for (std::size_t i = 0; i < number && !left.empty(); ++i) {
            const int middle = open[(2 * i + 1) * open.size() / (2 * number)];
            auto nearest = std::ranges::lower_bound(left, middle);
            if (nearest == left.end() || (nearest != left.begin() && middle - nearest[-1] < *nearest - middle)) --nearest;
            const int t = *nearest;
            left.erase(nearest);
            for (const int side : {0, 1}) chosen.found[side][t] = chosen.bound[side][t] = solved.found[side][t];
            chosen.done[t] = 1;
            at.basis.push_back(feature(at.node, c, t));
        }
        spread(at, c, chosen);
    }
}

// Trees of depth two at most. True if smaller leaves make no difference.
bool ThresholdProver::solve_small(int l, int depth, Leaves leaves) {
    Level& at = level(l);
    const RankedNode& node = at.node;
    ++control_.depth_two;
    bool relaxed = true;
    // More splits than that cost at least as much.
    if (!claim_.max_splits && price_ > 0 && at.usable < depth) at.best[0] = std::min(at.best[0], (at.usable + 1) * price_);
    const auto take = [&](std::int64_t left_leaf, std::int64_t right_leaf, std::int64_t left, std::int64_t right) {
        if (!claim_.max_splits) {
            at.best[0] = std::min(at.best[0], (at.usable == 2 ? left + right : left_leaf + right_leaf) + price_);
            return;
        }
        const std::int64_t sums[4] = {kInfinite, left_leaf + right_leaf, std::min(left_leaf + right, left + right_leaf),
                                      left + right};
        for (std::size_t m = 1; m < at.best.size(); ++m)
            for (std::size_t k = 1; k <= m && k < 4; ++k) at.best[m] = std::min(at.best[m], sums[k]);
    };
    const auto with_split = [&](std::int64_t leaf, std::int64_t stump) { return std::min(leaf, stump + price_); };
    // The costs of a threshold that are below the best, if leaves count; false if it has none that are.
    const auto take_heavy = [&](int c, int t) {
        relaxed = false;
        if (!allows(node, c, t)) return;
        std::int64_t leaf[2], best[2];
        for (const int side : {0, 1}) {
            const Stump stump = find_stump(node, costs_, {c, t, side == 1}, costs_.min_leaf_weight(), control_);
            leaf[side] = stump.leaf, best[side] = with_split(stump.leaf, stump.cost);
        }
        take(leaf[0], leaf[1], best[0], best[1]);
    };
    std::vector<StumpScans::Lane> lanes;
    StumpScans::Values values;
    std::vector<Sides> solved;
    try {
        if (at.usable == 2) scans_->load(node);
        for (int c = 0; c < node.columns(); ++c) {
            Sides sides;
            leaves_of(at, c, sides);
            const int count = static_cast<int>(sides.done.size());
            if (at.usable < 2) {
                for (int t = 0; t < count; ++t) {
                    if (is_enough(at, sides, t)) continue;
                    if (leaves == Leaves::heavy)
                        take_heavy(c, t);
                    else
                        take(sides.leaf[0][t], sides.leaf[1][t], sides.leaf[0][t], sides.leaf[1][t]);
                }
                continue;
            }
            while (true) {
                control_.check();
                std::vector<int> open;
                for (int t = 0; t < count; ++t)
                    if (!sides.done[t] && !is_enough(at, sides, t)) open.push_back(t);
                if (open.empty()) break;
                lanes.clear();
                const std::size_t number = std::min(open.size(), kMostLanes);
                for (std::size_t i = 0; i < number; ++i) lanes.push_back({c, open[(2 * i + 1) * open.size() / (2 * number)]});
                scans_->solve(lanes.data(), static_cast<int>(lanes.size()), values);
                for (std::size_t i = 0; i < lanes.size(); ++i) {
                    const int t = lanes[i].threshold;
                    for (const int side : {0, 1})
                        sides.found[side][t] = sides.bound[side][t] =
                            with_split(values.leaf[side][i], values.stump[side][i]);
                    sides.done[t] = 1;
                    if (is_enough(at, sides, t)) continue;
                    if (leaves == Leaves::heavy)
                        take_heavy(c, t);
                    else
                        take(sides.leaf[0][t], sides.leaf[1][t], sides.bound[0][t], sides.bound[1][t]);
                }
                spread(at, c, sides);
            }
            solved.push_back(std::move(sides));
        }
        for (std::size_t c = 0; c < solved.size(); ++c) list_needed(at, static_cast<int>(c), solved[c]);
    } catch (const SearchStopped&) {
        stopped_ = true;
        control_.finish();
        std::ranges::fill(at.best, 0);
    }
    return relaxed;
}

}  // namespace goct
