#include "search.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace goct {

Search::Search(const SearchContext& context)
    : context_(context), split_cost_(context.instance.costs().split_cost()),
      depth_two_(context.instance, context.matrix_bytes, context.control) {}

Search::Level& Search::level(int l) {
    while (static_cast<int>(levels_.size()) <= l) levels_.push_back(std::make_unique<Level>());
    return *levels_[l];
}

Archive& Search::archive(int depth) {
    while (static_cast<int>(archives_.size()) <= depth)
        archives_.push_back(std::make_unique<Archive>(context_.instance));
    return *archives_[depth];
}

void Search::make_child(int l, int f, bool inside) {
    Level& child = level(l + 1);
    child.node.make_child(context_.instance, level(l).node, f, inside, context_.techniques.reduce, splits_);
}

std::int64_t Search::cheapest(const DepthTwoValues& values) const {
    std::int64_t best = values[0];
    for (int m = 1; m < 4; ++m) best = std::min(best, values[m] + m * split_cost_);
    return best;
}

// A bound for rows that cost so much as a leaf, and with at most one split: any other tree has two splits or more.
std::int64_t Search::least(std::int64_t leaf, std::int64_t stump) const {
    return std::min({leaf, stump + split_cost_, 2 * split_cost_});
}

Search::Probe Search::probe(const Sums& rows, int depth) const {
    if (!context_.techniques.cache) return {};
    const auto found = context_.cache.find(rows.key, {depth, kAnySplits});
    if (!found) return {};
    if (found->costs == context_.costs_number) return {found->value - rows.base, found->exact};
    if (!context_.techniques.transfer) return {};
    return {std::max<std::int64_t>(context_.ratios[found->costs].scaled_up(found->value) - rows.base, 0), false};
}

void Search::remember(const Sums& rows, int depth, std::int64_t value, int root, bool exact) {
    if (context_.techniques.cache)
        context_.cache.store(rows.key, {depth, kAnySplits}, {value + rows.base, root, context_.costs_number, exact});
}

// The best depth-two tree of the node, and from its parts the order in which features are tried.
DepthTwoValues Search::rank_features(int l, int depth) {
    Level& at = level(l);
    const Node& node = at.node;
    at.open = depth == 3 && depth_two_.can_open(node);
    const DepthTwoValues values = at.open ? depth_two_.open(node, at.sides) : depth_two_.solve(node, at.sides);
    at.order.resize(node.features());
    std::iota(at.order.begin(), at.order.end(), 0);
    if (context_.techniques.order) {
        std::stable_sort(at.order.begin(), at.order.end(), [&](int f, int g) {
            return at.sides.inside_best[f] + at.sides.outside_best[f] <
                   at.sides.inside_best[g] + at.sides.outside_best[g];
        });
    }
    at.inside_bound.resize(node.features());
    at.outside_bound.resize(node.features());
    for (int f = 0; f < node.features(); ++f) {
        at.inside_bound[f] = least(at.sides.inside_leaf[f], at.sides.inside_best[f]);
        at.outside_bound[f] = least(at.sides.outside_leaf[f], at.sides.outside_best[f]);
    }
    if (depth == 3 && context_.techniques.similarity && similarity_holds()) {
        // The node as a whole is solved at depth two, which bounds both its parts.
        const std::int64_t value = cheapest(values);
        for (int f = 0; f < node.features(); ++f) {
            at.inside_bound[f] = std::max(at.inside_bound[f], value - node.outside(f).swing);
            at.outside_bound[f] = std::max(at.outside_bound[f], value - node.inside(f).swing);
        }
    }
    return values;
}

std::int64_t Search::search(int l, int depth, std::int64_t cutoff, Preorder& tree) {
    Level& at = level(l);
    const Node& node = at.node;
    const auto finish = [&](std::int64_t value, int root) {
        if (value < cutoff) tree.assign(1, root);
        return value;
    };
    // A split costs at least the split cost.
    if (depth == 0 || node.features() == 0 || node.leaf() <= split_cost_) return finish(node.leaf(), kLeaf);

    if (depth <= 2) {
        ++context_.control.depth_two;
        DepthTwoValues values = depth_two_.solve(node, at.sides);
        if (depth == 1) values[2] = values[3] = values[1];
        const std::int64_t value = cheapest(values);
        const int root = value == node.leaf() ? kLeaf : kDepthTwo;
        remember(node.total(), depth, value, root, true);
        return finish(value, root);
    }

    ++context_.control.nodes;
    std::int64_t lower = split_cost_;
    if (inherits()) {
        lower = std::max(lower, archive(depth).match(node, cutoff));
        if (lower >= cutoff) return lower;
    }
    const std::int64_t best = cheapest(rank_features(l, depth));
    if (inherits()) archive(depth).inherit(node, at.inside_bound, at.outside_bound);
    const int root = best == node.leaf() ? kLeaf : kDepthTwo;
    // Trees of depth three have at least three splits.
    if (best <= std::max(lower, 3 * split_cost_)) {
        remember(node.total(), depth, best, root, true);
        return finish(best, root);
    }
    std::int64_t limit = std::min(best, cutoff), unsolved = best;
    int best_root = root;
    if (best < cutoff) tree.assign(1, root);

    Preorder candidate;
    const int tries = width_ ? std::min(width_, node.features()) : node.features();
    for (int i = 0; i < tries; ++i) {
        const int f = at.order[i];
        const std::int64_t bound = at.inside_bound[f] + at.outside_bound[f] + split_cost_;
        if (bound >= limit || context_.control.stopped()) {
            unsolved = std::min(unsolved, bound);
            continue;
        }
        const Attempt result = attempt(l, depth, f, bounds(l, f), limit, candidate);
        const std::int64_t value = result.inside + result.outside + split_cost_;
        if (result.solved) {
            limit = value;
            best_root = node.feature(f);
            tree.swap(candidate);
        }
        unsolved = std::min(unsolved, value);
        if (width_ == 0) learn(l, f, result);
    }
    const bool found = limit < cutoff || best < cutoff;
    if (width_ || context_.control.stopped()) return width_ == 0 ? unsolved : found ? limit : cutoff;
    const std::int64_t value = found ? limit : std::max(unsolved, cutoff);
    remember(node.total(), depth, value, best_root, found);
    if (inherits()) archive(depth).add(node, value, at.inside_bound, at.outside_bound);
    return value;
}

const Node& Search::enter_root() {
    level(0).node.make_root(context_.instance, splits_);
    return level(0).node;
}

bool Search::prepare(int l, int depth, std::int64_t cutoff) {
    Level& at = level(l);
    ++context_.control.nodes;
    if (inherits() && archive(depth).match(at.node, cutoff) >= cutoff) return false;
    at.small = cheapest(rank_features(l, depth));
    if (inherits()) archive(depth).inherit(at.node, at.inside_bound, at.outside_bound);
    return true;
}

void Search::conclude(int l, int depth) {
    if (!inherits()) return;
    Level& at = level(l);
    std::int64_t bound = at.small;
    for (int f = 0; f < at.node.features(); ++f)
        bound = std::min(bound, at.inside_bound[f] + at.outside_bound[f] + split_cost_);
    archive(depth).add(at.node, bound, at.inside_bound, at.outside_bound);
}

// One side of feature f of the node at level l, with what can be said without looking at its rows first.
std::int64_t Search::search_side(int l, int depth, int f, bool inside, std::int64_t cutoff, Preorder& tree) {
    Level& at = level(l);
    const std::int64_t leaf = inside ? at.sides.inside_leaf[f] : at.sides.outside_leaf[f];
    const std::int64_t stump = inside ? at.sides.inside_best[f] : at.sides.outside_best[f];
    if (leaf <= 2 * split_cost_ || stump <= split_cost_) {
        const std::int64_t value = std::min(leaf, stump + split_cost_);
        tree.assign(1, value == leaf ? kLeaf : kDepthTwo);
        return value;
    }
    const Sums rows = inside ? at.node.inside(f) : at.node.outside(f);
    const Probe known = probe(rows, depth);
    if (known.exact || known.bound >= cutoff) {
        if (known.exact) tree.assign(1, depth == 2 ? kDepthTwo : kKnown);
        return known.bound;
    }
    if (at.open) {
        ++context_.control.depth_two;
        const std::int64_t value = cheapest(depth_two_.solve_side(f, inside, leaf));
        const int root = value == leaf ? kLeaf : kDepthTwo;
        remember(rows, depth, value, root, true);
        tree.assign(1, root);
        return value;
    }
    make_child(l, f, inside);
    return std::max(search(l + 1, depth, cutoff, tree), known.bound);
}

Search::Attempt Search::bounds(int l, int f) const {
    return {levels_[l]->inside_bound[f], levels_[l]->outside_bound[f]};
}

// Feature f at the root of the node at level l, given bounds on its sides: the side with more to gain first.
Search::Attempt Search::attempt(int l, int depth, int f, Attempt result, std::int64_t cutoff, Preorder& tree) {
    Level& at = level(l);
    const bool inside_first = at.sides.inside_leaf[f] >= at.sides.outside_leaf[f];
    Preorder parts[2];
    for (const bool inside : {inside_first, !inside_first}) {
        std::int64_t& own = inside ? result.inside : result.outside;
        const std::int64_t other = inside ? result.outside : result.inside;
        const std::int64_t left = context_.techniques.cutoffs ? cutoff - split_cost_ - other : kInfinite;
        const std::int64_t value = search_side(l, depth - 1, f, inside, left, parts[inside]);
        own = std::max(own, value);
        if (own + other + split_cost_ >= cutoff || context_.control.stopped()) return result;
    }
    result.solved = true;
    tree.assign(1, at.node.feature(f));
    tree.insert(tree.end(), parts[1].begin(), parts[1].end());
    tree.insert(tree.end(), parts[0].begin(), parts[0].end());
    return result;
}

// A tree for one row set, used on another, costs at most the swings of the rows that only the first one has less. So
// the values of f's sides bound those of every other feature. Without split costs the rows that two sets share and the
// rest can be bounded apart and added up; with them the splits would be counted twice.
void Search::learn(int l, int f, const Attempt& result) {
    if (!context_.techniques.similarity || !similarity_holds()) return;
    if (result.inside <= 0 && result.outside <= 0) return;
    Level& at = level(l);
    const Node& node = at.node;
    const std::vector<std::int64_t>* overlap = at.open ? depth_two_.overlaps(f) : nullptr;
    if (!overlap) {
        node.overlaps(context_.instance, f, at.overlap);
        overlap = &at.overlap;
    }
    const std::int64_t inside = node.inside(f).swing, outside = node.total().swing - inside;
    const auto combine = [&](std::int64_t a, std::int64_t b) {
        a = std::max<std::int64_t>(a, 0), b = std::max<std::int64_t>(b, 0);
        return split_cost_ == 0 ? a + b : std::max(a, b);
    };
    for (int j = 0; j < node.features(); ++j) {
        const std::int64_t both = (*overlap)[j], only_j = node.inside(j).swing - both;
        const std::int64_t inside_j = combine(result.inside - (inside - both), result.outside - (outside - only_j));
        const std::int64_t outside_j = combine(result.inside - both, result.outside - only_j);
        at.inside_bound[j] = std::max(at.inside_bound[j], inside_j);
        at.outside_bound[j] = std::max(at.outside_bound[j], outside_j);
    }
}

// The loop over the features of the first node, shared by the threads. They take features in order and know each
// other's bounds. Of several best features the first in order wins, whoever finishes first.
class Search::RootLoop {
public:
    RootLoop(Search& first, int depth, std::int64_t limit, std::int64_t fallback)
        : first_(first), root_(first.level(0)), control_(first.context_.control), depth_(depth), limit_(limit),
          unsolved_(fallback), done_(root_.order.size()) {}

    // Returns a lower bound; if a tree below the limit was found, `value` and `tree` are it.
    std::int64_t run(int jobs, std::int64_t& value, Preorder& tree) {
        std::vector<std::unique_ptr<Search>> others;
        std::vector<std::thread> threads;
        for (int t = 1; t < std::min(jobs, size()); ++t) {
            others.push_back(std::make_unique<Search>(first_.context_));
            others.back()->level(0) = root_;
        }
        for (auto& other : others) {
            try {
                threads.emplace_back([this, &other] { guarded(*other); });
            } catch (const std::system_error&) {
                break;  // the system has no more threads; those there are do the work
            }
        }
        guarded(first_);
        for (auto& thread : threads) thread.join();
        if (error_) std::rethrow_exception(error_);
        for (; next_ < size(); ++next_) unsolved_ = std::min(unsolved_, bound(root_.order[next_]));
        if (best_ >= 0) {
            value = limit_;
            tree = tree_;
        }
        return unsolved_;
    }

private:
    int size() const { return static_cast<int>(root_.order.size()); }
    std::int64_t bound(int f) const { return root_.inside_bound[f] + root_.outside_bound[f] + first_.split_cost_; }
    // A feature before the best one wins already with the same cost.
    std::int64_t cutoff(int i) const { return limit_ + (i < best_); }

    void guarded(Search& search) {
        try {
            work(search);
        } catch (...) {
            const std::lock_guard guard(lock_);
            error_ = std::current_exception();
            control_.interrupt();
        }
    }

    void work(Search& search) {
        Preorder candidate;
        std::unique_lock guard(lock_);
        report();
        while (next_ < size() && !control_.stopped()) {
            const int i = next_++, f = root_.order[i];
            if (bound(f) >= cutoff(i)) {
                unsolved_ = std::min(unsolved_, bound(f));
                done_[i] = true;
                continue;
            }
            const Attempt known = first_.bounds(0, f);
            const std::int64_t target = cutoff(i);
            guard.unlock();
            Attempt result = known;
            try {
                result = search.attempt(0, depth_, f, known, target, candidate);
                if (result.solved && !search.expand(depth_, candidate)) result.solved = false;
            } catch (const SearchStopped&) {
                result.solved = false;
            }
            const std::int64_t value = result.inside + result.outside + search.split_cost_;
            guard.lock();
            unsolved_ = std::min(unsolved_, value);
            if (result.solved && value < cutoff(i)) {
                limit_ = value;
                best_ = i;
                tree_ = candidate;
                control_.incumbent = value;
            }
            done_[i] = true;
            first_.learn(0, f, result);
            report();
        }
    }

    void report() {
        std::int64_t bound_now = std::min(unsolved_, limit_);
        for (int i = 0; i < size(); ++i)
            if (!done_[i]) bound_now = std::min(bound_now, bound(root_.order[i]));
        control_.bound = bound_now;
    }

    Search& first_;
    Level& root_;
    Control& control_;
    const int depth_;
    std::mutex lock_;
    int next_ = 0, best_ = -1;
    std::int64_t limit_, unsolved_;
    std::vector<bool> done_;    // bounds of the others are not in unsolved_ yet
    Preorder tree_;
    std::exception_ptr error_;
};

std::int64_t Search::solve(int depth, std::int64_t cutoff, int jobs, Preorder& tree) {
    level(0).node.make_root(context_.instance, splits_);
    const Node& root = level(0).node;
    const Probe known = probe(root.total(), depth);
    if (known.bound >= cutoff) return known.bound;
    try {
        return solve_root(depth, cutoff, jobs, known, tree);
    } catch (const SearchStopped&) {
        width_ = 0;
        if (tree.empty()) tree.assign(root.leaf() < cutoff, kLeaf);
        return known.bound;
    }
}

std::int64_t Search::solve_root(int depth, std::int64_t cutoff, int jobs, const Probe& known, Preorder& tree) {
    const Node& root = level(0).node;
    if (known.exact) {
        Preorder candidate{kKnown};
        if (expand(depth, candidate))
            tree = candidate;
        else
            tree.assign(root.leaf() < cutoff, kLeaf);
        return known.bound;
    }
    if (depth <= 2 || root.features() == 0 || root.leaf() <= split_cost_) return search(0, depth, cutoff, tree);
    const DepthTwoValues small = rank_features(0, depth);
    const std::int64_t start = cheapest(small);
    std::int64_t best = cutoff;
    if (start < cutoff) {
        best = start;
        tree = small_tree(0, depth, small);
        context_.control.incumbent = best;
    }
    if (best <= 3 * split_cost_) return best;
    if (context_.techniques.first_pass) {
        for (const int width : {1, 3}) {
            Preorder candidate;
            width_ = width;
            const std::int64_t value = search(0, depth, best, candidate);
            width_ = 0;
            if (value < best && expand(depth, candidate)) {
                best = value;
                tree = candidate;
                context_.control.incumbent = best;
            }
        }
        rank_features(0, depth);
    }
    level(depth);   // all levels exist before other threads look at the first
    RootLoop loop(*this, depth, best, start);
    std::int64_t bound = loop.run(depth > 3 ? jobs : 1, best, tree);
    if (context_.control.stopped()) {
        bound = std::max(std::min(bound, best), known.bound);
    } else {
        const bool found = best < cutoff;
        bound = found ? best : std::max(bound, cutoff);
        const int first = tree.empty() ? kLeaf : tree.front();
        remember(root.total(), depth, bound, first, found && first != kKnown);
    }
    context_.control.bound = bound;
    return bound;
}

bool Search::expand(int depth, Preorder& tree) {
    const auto stand_in = [](int code) { return code == kDepthTwo || code == kKnown; };
    if (std::none_of(tree.begin(), tree.end(), stand_in)) return true;
    Preorder out;
    const int* code = tree.data();
    const bool done = expand_at(0, depth, code, out);
    // The solver was busy with other nodes meanwhile.
    if (level(0).open) depth_two_.open(level(0).node, level(0).sides);
    if (done) tree = std::move(out);
    return done;
}

bool Search::expand_at_last(int depth, Preorder& tree) {
    depth_two_.ignore_control();
    return expand(depth, tree);
}

// The tree that has the value cheapest() says.
Preorder Search::small_tree(int l, int depth, const DepthTwoValues& values) {
    int splits = 0;
    for (int m = 1; m <= (depth == 1 ? 1 : 3); ++m)
        if (values[m] + m * split_cost_ < values[splits] + splits * split_cost_) splits = m;
    return best_small_tree(context_.instance, level(l).node, values, level(l).sides, splits);
}

// Reads one tree from `code` and writes it without stand-ins; the rows are those of the node at level l.
bool Search::expand_at(int l, int depth, const int*& code, Preorder& out) {
    Level& at = level(l);
    const int root = *code++;
    if (root == kLeaf) {
        out.push_back(root);
        return true;
    }
    if (root >= 0) {
        const int f = local_feature(at.node, root);
        out.push_back(root);
        for (const bool inside : {true, false}) {
            make_child(l, f, inside);
            if (!expand_at(l + 1, depth - 1, code, out)) return false;
        }
        return true;
    }
    Preorder tree;
    if (root == kKnown) {
        const auto known = context_.cache.find(at.node.total().key, {depth, kAnySplits});
        if (!known || !known->exact || known->costs != context_.costs_number) {
            search(l, depth, kInfinite, tree);
        } else if (known->root < 0) {
            tree.assign(1, known->root);
        } else {
            rank_features(l, depth);
            const int f = local_feature(at.node, known->root);
            attempt(l, depth, f, bounds(l, f), known->value - at.node.total().base + 1, tree);
        }
        if (context_.control.stopped() || tree.empty()) return false;
    } else {
        tree = small_tree(l, depth, depth_two_.solve(at.node, at.sides));
    }
    const int* inner = tree.data();
    return expand_at(l, depth, inner, out);
}

}  // namespace goct
