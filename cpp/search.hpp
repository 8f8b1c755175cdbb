// Depth-first branch and bound over trees.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "archive.hpp"
#include "cache.hpp"
#include "control.hpp"
#include "costs.hpp"
#include "depth_two.hpp"
#include "node.hpp"
#include "preorder.hpp"

namespace goct {

// What can be switched off, to measure what it gains. None of it changes the result.
struct Techniques {
    bool reduce = true;         // drop duplicate features at every node, not only constant ones
    bool order = true;          // best depth-two trees first
    bool similarity = true;     // a solved row set bounds those that overlap it
    bool inheritance = true;    // ... and so do their children those of similar nodes elsewhere
    bool cache = true;          // remember solved row sets
    bool transfer = true;       // use what is remembered from other costs
    bool cutoffs = true;        // a child need not beat what its sibling leaves
    bool first_pass = true;     // search narrow before searching wide
};

// What all threads of a call share.
struct SearchContext {
    const Instance& instance;
    const Techniques& techniques;
    Cache& cache;
    int costs_number;                   // of the instance's costs, in cache entries
    const std::vector<Ratio>& ratios;   // by number: how bounds under other costs carry over
    Control& control;
    std::size_t matrix_bytes;           // for each thread's pair counts
};

// One thread's search. All values are avoidable costs (see Costs) plus split costs.
class Search {
public:
    explicit Search(const SearchContext& context);

    // The tree of the given depth for all rows that costs least, if that is below `cutoff`: then the cost is returned
    // and `tree` set. Otherwise returns a lower bound; one of at least `cutoff`, unless the search was stopped.
    std::int64_t solve(int depth, std::int64_t cutoff, int jobs, Preorder& tree);

    // Replaces the stand-ins of a tree that solve() left, after which this search is over.
    bool expand_at_last(int depth, Preorder& tree);

    // For those who walk the nodes themselves and want bounds on the way: the node of a level is a side of the one
    // above it. The levels below the node at hand are overwritten by attempts.
    struct Attempt {
        std::int64_t inside, outside;   // values of the two sides, or lower bounds
        bool solved = false;            // both are values, and below the cutoff together
    };
    const Node& node(int l) { return level(l).node; }
    const Node& enter_root();
    void enter(int l, int f, bool inside) { make_child(l, f, inside); }
    // Ranks the features of the node for trees of depth three and more; false if no tree is below the cutoff.
    bool prepare(int l, int depth, std::int64_t cutoff);
    const std::vector<int>& order(int l) const { return levels_[l]->order; }
    Attempt bounds(int l, int f) const;
    Attempt attempt(int l, int depth, int f, Attempt known, std::int64_t cutoff, Preorder& tree);
    void learn(int l, int f, const Attempt& result);
    // After all features: leaves what was learned to similar nodes.
    void conclude(int l, int depth);

private:
    struct Level {
        Node node;
        SideValues sides;
        bool open = false;      // the depth-two solver has the counts of the node at hand
        std::vector<int> order;
        std::vector<std::int64_t> inside_bound, outside_bound, overlap;
        std::int64_t small = 0;     // of the best depth-two tree
    };
    struct Probe {
        std::int64_t bound = 0;
        bool exact = false;
    };
    class RootLoop;

    std::int64_t solve_root(int depth, std::int64_t cutoff, int jobs, const Probe& known, Preorder& tree);
    Level& level(int l);
    Archive& archive(int depth);
    bool similarity_holds() const { return context_.instance.costs().min_leaf_weight() == 0; }
    bool inherits() const { return context_.techniques.inheritance && similarity_holds(); }
    void make_child(int l, int f, bool inside);
    std::int64_t cheapest(const DepthTwoValues& values) const;
    std::int64_t least(std::int64_t leaf, std::int64_t stump) const;
    Probe probe(const Sums& rows, int depth) const;
    void remember(const Sums& rows, int depth, std::int64_t value, int root, bool exact);
    DepthTwoValues rank_features(int l, int depth);
    std::int64_t search(int l, int depth, std::int64_t cutoff, Preorder& tree);
    std::int64_t search_side(int l, int depth, int f, bool inside, std::int64_t cutoff, Preorder& tree);
    bool expand(int depth, Preorder& tree);
    Preorder small_tree(int l, int depth, const DepthTwoValues& values);
    bool expand_at(int l, int depth, const int*& code, Preorder& out);

    SearchContext context_;
    std::int64_t split_cost_;
    DepthTwo depth_two_;
    SplitSet splits_;
    std::vector<std::unique_ptr<Level>> levels_;
    std::vector<std::unique_ptr<Archive>> archives_;    // by depth
    int width_ = 0;     // features tried per node; 0: all, and only then results are proofs
};

}  // namespace goct
