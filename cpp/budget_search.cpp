#include "budget_search.hpp"

#include <algorithm>
#include <numeric>

namespace goct {
namespace {

// Calls visit(i, j) for all ways to share m splits between the root and two sides with budgets up to `most`.
template <class Visit>
void each_share(int m, int most, Visit&& visit) {
    for (int i = std::max(0, m - 1 - most); i <= std::min(most, m - 1); ++i) visit(i, m - 1 - i);
}

// The least cost of each budget that bounds on the two sides allow.
std::int64_t least_sum(int m, const BudgetValues& a, const BudgetValues& b) {
    std::int64_t least = kInfinite;
    each_share(m, static_cast<int>(a.size()) - 1, [&](int i, int j) { least = std::min(least, a[i] + b[j]); });
    return least;
}

bool can_improve(const BudgetValues& limits, const BudgetValues& a, const BudgetValues& b) {
    for (int m = 1; m < static_cast<int>(limits.size()); ++m)
        if (least_sum(m, a, b) < limits[m]) return true;
    return false;
}

// What a side must be below, by budget, to be of use with the other side's bounds.
BudgetValues what_is_left(const BudgetValues& limits, const BudgetValues& other) {
    BudgetValues left(other.size(), 0);
    for (int m = 1; m < static_cast<int>(limits.size()); ++m)
        each_share(m, static_cast<int>(other.size()) - 1,
                   [&](int i, int j) { left[i] = std::max(left[i], limits[m] - other[j]); });
    return left;
}

void raise(BudgetValues& bounds, const BudgetValues& by) {
    for (std::size_t m = 0; m < bounds.size(); ++m) bounds[m] = std::max(bounds[m], by[m]);
}

}  // namespace

BudgetSearch::BudgetSearch(const SearchContext& context)
    : context_(context), depth_two_(context.instance, context.matrix_bytes, context.control) {}

int BudgetSearch::most_splits(int depth, int limit) {
    return depth >= 30 ? limit : std::min(limit, (1 << depth) - 1);
}

BudgetSearch::Level& BudgetSearch::level(int l) {
    while (static_cast<int>(levels_.size()) <= l) levels_.push_back(std::make_unique<Level>());
    return *levels_[l];
}

void BudgetSearch::make_child(int l, int f, bool inside) {
    Level& child = level(l + 1);
    child.node.make_child(context_.instance, level(l).node, f, inside, context_.techniques.reduce, splits_);
}

// Fills in what the cache knows; true if that answers the question.
bool BudgetSearch::probe(const Sums& rows, int depth, const BudgetValues& cutoffs, Side& result) const {
    const int budgets = static_cast<int>(cutoffs.size());
    result.values.assign(budgets, 0);
    result.trees.assign(budgets, {});
    if (!context_.techniques.cache) return false;
    const auto bound_of = [&](const CacheValue& found) {
        if (found.costs == context_.costs_number) return found.value - rows.base;
        if (!context_.techniques.transfer) return std::int64_t{0};
        return std::max<std::int64_t>(context_.ratios[found.costs].scaled_up(found.value) - rows.base, 0);
    };
    // Whatever holds without a budget bounds every budget.
    const auto free = context_.cache.find(rows.key, {depth, kAnySplits});
    const std::int64_t least = free ? bound_of(*free) : 0;
    bool answered = true;
    for (int m = 0; m < budgets; ++m) {
        const auto found = context_.cache.find(rows.key, {depth, m});
        result.values[m] = std::max(least, found ? bound_of(*found) : 0);
        const bool exact = found && found->exact && found->costs == context_.costs_number;
        if (exact && result.values[m] < cutoffs[m]) result.trees[m] = {kKnown, m};
        answered = answered && (exact || result.values[m] >= cutoffs[m]);
    }
    return answered;
}

void BudgetSearch::remember(const Sums& rows, int depth, const BudgetValues& cutoffs, const BudgetValues& values,
                            const std::vector<int>& roots) {
    if (!context_.techniques.cache) return;
    for (int m = 0; m < static_cast<int>(values.size()); ++m)
        if (values[m] > 0 || cutoffs[m] > 0)
            context_.cache.store(rows.key, {depth, m},
                                 {values[m] + rows.base, roots[m], context_.costs_number, values[m] < cutoffs[m]});
}

DepthTwoValues BudgetSearch::rank_features(int l, int depth, int child_budgets) {
    Level& at = level(l);
    const Node& node = at.node;
    at.open = depth == 3 && depth_two_.can_open(node);
    const DepthTwoValues values = at.open ? depth_two_.open(node, at.sides) : depth_two_.solve(node, at.sides);
    at.order.resize(node.features());
    std::iota(at.order.begin(), at.order.end(), 0);
    if (context_.techniques.order)
        std::stable_sort(at.order.begin(), at.order.end(), [&](int f, int g) {
            return at.sides.inside_best[f] + at.sides.outside_best[f] <
                   at.sides.inside_best[g] + at.sides.outside_best[g];
        });
    at.inside_bound.assign(node.features(), BudgetValues(child_budgets, 0));
    at.outside_bound = at.inside_bound;
    if (context_.techniques.similarity && context_.instance.costs().min_leaf_weight() == 0) {
        // The whole node's value bounds its parts. Two splits never need more than two levels, three may.
        for (int m = 0; m < std::min(child_budgets, depth == 3 ? 4 : 3); ++m)
            for (int f = 0; f < node.features(); ++f) {
                at.inside_bound[f][m] = std::max<std::int64_t>(values[m] - node.outside(f).swing, 0);
                at.outside_bound[f][m] = std::max<std::int64_t>(values[m] - node.inside(f).swing, 0);
            }
    }
    return values;
}

void BudgetSearch::search(int l, int depth, const BudgetValues& cutoffs, Side& result) {
    Level& at = level(l);
    const Node& node = at.node;
    const int budgets = static_cast<int>(cutoffs.size());
    if (depth == 0 || node.features() == 0 || node.leaf() == 0) {
        result.values.assign(budgets, node.leaf());
        result.trees.assign(budgets, {kLeaf});
        return;
    }
    if (probe(node.total(), depth, cutoffs, result)) return;
    const BudgetValues known = result.values;

    const int child_budgets = most_splits(depth - 1, std::max(budgets - 2, 0)) + 1;
    const DepthTwoValues small = depth > 2 ? rank_features(l, depth, child_budgets) : depth_two_.solve(node, at.sides);
    ++(depth > 2 ? context_.control.nodes : context_.control.depth_two);
    const int most = depth == 1 ? 1 : 3;
    BudgetValues limits = cutoffs, unsolved(budgets);
    std::vector<int> roots(budgets, kLeaf);
    for (int m = 0; m < budgets; ++m) {
        unsolved[m] = small[std::min(m, most)];
        if (unsolved[m] >= limits[m]) continue;
        limits[m] = unsolved[m];
        roots[m] = limits[m] == node.leaf() ? kLeaf : kDepthTwo;
        result.trees[m] = roots[m] == kLeaf ? Preorder{kLeaf} : Preorder{kDepthTwo, std::min(m, most)};
    }
    if (depth > 2) {
        const int tries = width_ ? std::min(width_, node.features()) : node.features();
        for (int i = 0; i < tries; ++i) {
            const int f = at.order[i];
            Side sides[2] = {{at.outside_bound[f], {}}, {at.inside_bound[f], {}}};
            if (!context_.control.stopped() && attempt(l, depth, f, limits, sides)) {
                for (int m = 1; m < budgets; ++m)
                    each_share(m, child_budgets - 1, [&](int inner, int outer) {
                        const std::int64_t value = sides[1].values[inner] + sides[0].values[outer];
                        if (value >= limits[m]) return;
                        limits[m] = value;
                        roots[m] = node.feature(f);
                        result.trees[m] = {node.feature(f)};
                        for (const Preorder* part : {&sides[1].trees[inner], &sides[0].trees[outer]})
                            result.trees[m].insert(result.trees[m].end(), part->begin(), part->end());
                    });
            }
            for (int m = 1; m < budgets; ++m)
                unsolved[m] = std::min(unsolved[m], least_sum(m, sides[1].values, sides[0].values));
            if (width_ == 0) learn(l, f, sides[1].values, sides[0].values);
        }
    }
    const bool proof = depth <= 2 || (width_ == 0 && !context_.control.stopped());
    for (int m = 0; m < budgets; ++m) {
        const bool found = limits[m] < cutoffs[m];
        if (proof)
            result.values[m] = found ? limits[m] : std::max(known[m], unsolved[m]);
        else if (width_)
            result.values[m] = found ? limits[m] : cutoffs[m];
        else
            result.values[m] = std::max(known[m], unsolved[m]);
    }
    if (proof) remember(node.total(), depth, cutoffs, result.values, roots);
}

void BudgetSearch::search_side(int l, int depth, int f, bool inside, const BudgetValues& cutoffs, Side& result) {
    Level& at = level(l);
    const std::int64_t leaf = inside ? at.sides.inside_leaf[f] : at.sides.outside_leaf[f];
    if (leaf == 0) {
        result.values.assign(cutoffs.size(), 0);
        result.trees.assign(cutoffs.size(), {kLeaf});
        return;
    }
    const Sums rows = inside ? at.node.inside(f) : at.node.outside(f);
    if (at.open) {
        if (probe(rows, depth, cutoffs, result)) return;
        ++context_.control.depth_two;
        const DepthTwoValues values = depth_two_.solve_side(f, inside, leaf);
        std::vector<int> roots;
        for (int m = 0; m < static_cast<int>(cutoffs.size()); ++m) {
            roots.push_back(values[m] == leaf ? kLeaf : kDepthTwo);
            result.values[m] = values[m];
            result.trees[m] = roots[m] == kLeaf ? Preorder{kLeaf} : Preorder{kDepthTwo, m};
        }
        remember(rows, depth, BudgetValues(cutoffs.size(), kInfinite), result.values, roots);
        return;
    }
    make_child(l, f, inside);
    search(l + 1, depth, cutoffs, result);
}

// Feature f at the root of the node at level l. On entry sides[inside] has bounds; on return values or better bounds,
// and true if they may improve a limit, in which case those that do are exact.
bool BudgetSearch::attempt(int l, int depth, int f, const BudgetValues& limits, Side (&sides)[2]) {
    Level& at = level(l);
    const bool inside_first = at.sides.inside_leaf[f] >= at.sides.outside_leaf[f];
    for (const bool inside : {inside_first, !inside_first}) {
        if (!can_improve(limits, sides[1].values, sides[0].values)) return false;
        Side& own = sides[inside];
        const BudgetValues bounds = own.values;
        const BudgetValues left = context_.techniques.cutoffs ? what_is_left(limits, sides[!inside].values)
                                                              : BudgetValues(bounds.size(), kInfinite);
        search_side(l, depth - 1, f, inside, left, own);
        raise(own.values, bounds);
        if (context_.control.stopped()) return false;
    }
    return can_improve(limits, sides[1].values, sides[0].values);
}

// See Search::learn; the bounds hold for each budget.
void BudgetSearch::learn(int l, int f, const BudgetValues& in, const BudgetValues& out) {
    if (!context_.techniques.similarity || context_.instance.costs().min_leaf_weight() > 0) return;
    Level& at = level(l);
    const Node& node = at.node;
    const std::vector<std::int64_t>* overlap = at.open ? depth_two_.overlaps(f) : nullptr;
    if (!overlap) {
        node.overlaps(context_.instance, f, at.overlap);
        overlap = &at.overlap;
    }
    const std::int64_t inside = node.inside(f).swing, outside = node.total().swing - inside;
    const auto sum = [](std::int64_t a, std::int64_t b) {
        return std::max<std::int64_t>(a, 0) + std::max<std::int64_t>(b, 0);
    };
    for (int j = 0; j < node.features(); ++j) {
        const std::int64_t both = (*overlap)[j], only_j = node.inside(j).swing - both;
        for (std::size_t m = 0; m < in.size(); ++m) {
            auto& inside_j = at.inside_bound[j][m];
            auto& outside_j = at.outside_bound[j][m];
            inside_j = std::max(inside_j, sum(in[m] - (inside - both), out[m] - (outside - only_j)));
            outside_j = std::max(outside_j, sum(in[m] - both, out[m] - only_j));
        }
    }
}

BudgetValues BudgetSearch::solve(int depth, const BudgetValues& cutoffs, std::vector<Preorder>& trees) {
    level(0).node.make_root(context_.instance, splits_);
    BudgetValues limits = cutoffs;
    trees.assign(cutoffs.size(), {});
    Side result{BudgetValues(cutoffs.size(), 0), std::vector<Preorder>(cutoffs.size())};
    try {
        if (context_.techniques.first_pass && depth > 2)
            for (const int width : {1, 3}) first_pass(depth, width, limits, trees);
        search(0, depth, limits, result);
    } catch (const SearchStopped&) {
        result.values.assign(cutoffs.size(), 0);
    }
    width_ = 0;
    const bool stopped = context_.control.stopped();
    const std::int64_t leaf = level(0).node.leaf();
    for (std::size_t m = 0; m < limits.size(); ++m) {
        const Preorder& found = result.trees[m];
        if (stopped) {
            result.values[m] = std::min(result.values[m], limits[m]);
            if (!found.empty() && std::find(found.begin(), found.end(), kKnown) == found.end()) trees[m] = found;
            if (trees[m].empty() && leaf < cutoffs[m]) trees[m] = {kLeaf};
        } else if (result.values[m] < limits[m]) {
            if (expand(depth, true, result.trees[m])) trees[m] = result.trees[m];
        } else if (limits[m] < cutoffs[m]) {
            result.values[m] = limits[m];   // the first pass had found it
        }
    }
    return result.values;
}

// A narrow search for good trees; lowers the limits to what it finds.
void BudgetSearch::first_pass(int depth, int width, BudgetValues& limits, std::vector<Preorder>& trees) {
    Side result;
    width_ = width;
    search(0, depth, limits, result);
    width_ = 0;
    for (std::size_t m = 0; m < limits.size(); ++m)
        if (result.values[m] < limits[m] && expand(depth, true, result.trees[m])) {
            limits[m] = result.values[m];
            trees[m] = result.trees[m];
        }
}

bool BudgetSearch::expand(int depth, Preorder& tree) {
    depth_two_.ignore_control();
    return expand(depth, false, tree);
}

bool BudgetSearch::expand(int depth, bool known_only, Preorder& tree) {
    Preorder out;
    const int* code = tree.data();
    if (!expand_at(0, depth, code, known_only, out)) return false;
    tree = std::move(out);
    return true;
}

bool BudgetSearch::expand_at(int l, int depth, const int*& code, bool known_only, Preorder& out) {
    Level& at = level(l);
    const int root = *code++;
    out.push_back(root);
    if (root == kLeaf) return true;
    if (root >= 0) {
        const int f = local_feature(at.node, root);
        for (const bool inside : {true, false}) {
            make_child(l, f, inside);
            if (!expand_at(l + 1, depth - 1, code, known_only, out)) return false;
        }
        return true;
    }
    const int budget = *code++;
    if (root == kDepthTwo && known_only) {
        out.push_back(budget);
        return true;
    }
    out.pop_back();
    if (root == kDepthTwo) {
        const DepthTwoValues values = depth_two_.solve(at.node, at.sides);
        const Preorder tree = best_small_tree(context_.instance, at.node, values, at.sides, budget);
        out.insert(out.end(), tree.begin(), tree.end());
        return true;
    }
    const auto known = context_.cache.find(at.node.total().key, {depth, budget});
    const bool usable = known && known->exact && known->costs == context_.costs_number;
    Preorder tree;
    if (usable && known->root < 0) {
        tree = known->root == kLeaf ? Preorder{kLeaf} : Preorder{kDepthTwo, std::min(budget, depth == 1 ? 1 : 3)};
    } else if (usable) {
        // The root is known; share the budget between its sides as the value demands.
        const int f = local_feature(at.node, known->root);
        const std::int64_t value = known->value - at.node.total().base;
        BudgetValues limits(budget + 1, 0);
        limits[budget] = value + 1;
        rank_features(l, depth, most_splits(depth - 1, budget - 1) + 1);
        Side sides[2] = {{at.outside_bound[f], {}}, {at.inside_bound[f], {}}};
        if (!attempt(l, depth, f, limits, sides)) return false;
        each_share(budget, static_cast<int>(sides[0].values.size()) - 1, [&](int i, int j) {
            if (!tree.empty() || sides[1].values[i] + sides[0].values[j] != value) return;
            tree.push_back(known->root);
            for (const Preorder* part : {&sides[1].trees[i], &sides[0].trees[j]})
                tree.insert(tree.end(), part->begin(), part->end());
        });
    } else {
        Side result;
        BudgetValues cutoffs(budget + 1, 0);
        cutoffs[budget] = kInfinite;
        search(l, depth, cutoffs, result);
        tree = result.trees[budget];
    }
    if (context_.control.stopped() || tree.empty()) return false;
    const int* inner = tree.data();
    return expand_at(l, depth, inner, known_only, out);
}

}  // namespace goct
