// Branch and bound for every split budget at once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search.hpp"

namespace goct {

// One number per split budget m = 0, 1, ...: the least cost with at most m splits, a bound on it, or a limit.
using BudgetValues = std::vector<std::int64_t>;

// The same search as Search, with values that are vectors: all budgets share the nodes, the counts and the order. The
// costs must come without a split cost; whoever has one puts it into the cutoffs.
class BudgetSearch {
public:
    explicit BudgetSearch(const SearchContext& context);

    // For each budget the least avoidable cost, if it is below its cutoff: then it is returned and the tree set.
    // Otherwise a lower bound, of at least the cutoff unless the search was stopped; a cutoff of zero switches a budget
    // off.
    BudgetValues solve(int depth, const BudgetValues& cutoffs, std::vector<Preorder>& trees);

    // Replaces the stand-ins; the last thing to do. False if stopped before it was done.
    bool expand(int depth, Preorder& tree);

    // The most splits a tree of this depth can have, if that is below `limit`.
    static int most_splits(int depth, int limit);

private:
    struct Level {
        Node node;
        SideValues sides;
        bool open = false;
        std::vector<int> order;
        std::vector<BudgetValues> inside_bound, outside_bound;  // by feature
        std::vector<std::int64_t> overlap;
    };
    struct Side {
        BudgetValues values;            // exact where below the cutoff they were asked with
        std::vector<Preorder> trees;
    };

    void first_pass(int depth, int width, BudgetValues& limits, std::vector<Preorder>& trees);
    Level& level(int l);
    void make_child(int l, int f, bool inside);
    bool probe(const Sums& rows, int depth, const BudgetValues& cutoffs, Side& result) const;
    void remember(const Sums& rows, int depth, const BudgetValues& cutoffs, const BudgetValues& values,
                  const std::vector<int>& roots);
    DepthTwoValues rank_features(int l, int depth, int child_budgets);
    void search(int l, int depth, const BudgetValues& cutoffs, Side& result);
    void search_side(int l, int depth, int f, bool inside, const BudgetValues& cutoffs, Side& result);
    bool attempt(int l, int depth, int f, const BudgetValues& limits, Side (&sides)[2]);
    void learn(int l, int f, const BudgetValues& inside, const BudgetValues& outside);
    bool expand_at(int l, int depth, const int*& code, bool known_only, Preorder& out);
    bool expand(int depth, bool known_only, Preorder& tree);

    SearchContext context_;
    DepthTwo depth_two_;
    SplitSet splits_;
    std::vector<std::unique_ptr<Level>> levels_;
    int width_ = 0;
};

}  // namespace goct
