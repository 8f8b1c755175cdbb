// Depth-first branch and bound over trees of thresholds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cache.hpp"
#include "control.hpp"
#include "costs.hpp"
#include "preorder.hpp"
#include "ranked_columns.hpp"
#include "ranked_node.hpp"
#include "search.hpp"
#include "stumps.hpp"
#include "team.hpp"

namespace goct {

// What a search over thresholds works with.
struct ThresholdContext {
    const RankedColumns& data;
    const Costs& costs;
    const Techniques& techniques;
    Cache& cache;
    int costs_number;                   // as in SearchContext
    const std::vector<Ratio>& ratios;
    Control& control;
    bool is_walked = false;             // by a caller, to whom all rows matter; nothing is reported then
};

// Let v be the least avoidable cost of a row set's trees of some size. A tree costs no more on fewer rows, so v never
// rises when rows are taken away, and it falls by no more than their swing. With the thresholds of a column in order,
// the left sides grow and the right sides shrink. So two thresholds s < u bound all those between them:
//
//     v(left t) + v(right t) >= v(left s) + v(right u),
//
// and each one bounds its neighbours by the swing of the rows that lie between. An interval of thresholds is cut off
// as a whole, or a threshold inside it is solved and makes two of it. At depth two, the sides of many thresholds are
// solved by one scan of the rows.
//
// With a minimum leaf weight, these bounds hold for the relaxed trees, which may have smaller leaves, and these are
// solved first. All trees are in preorder: threshold, tree of the left side, tree of the right side.
//
// Of several best trees the first one is taken: with the fewest levels, then the fewest splits allowed on the left, then
// the first column and threshold, and the first trees of their sides. Cutoffs, what is remembered and the order of the
// search have no part in it, so that threads may join the loop over the intervals of a node: which tree is found depends
// neither on their number nor on time.
class ThresholdSearch {
    struct Level;

public:
    struct Size {
        int depth;
        int splits = kAnySplits;
    };
    struct Outcome {
        std::int64_t bound = 0;             // no tree costs less
        std::int64_t cost = kInfinite;      // of the tree, kInfinite without one
        Preorder tree;                      // empty if only its cost is known
        bool is_close = false;              // the bound is remembered from the same costs, or almost the same
    };

    struct Solved {             // a threshold, and bounds on its sides
        int threshold;
        std::int64_t left, right;
    };
    struct Interval {           // the thresholds between two others
        std::int64_t bound;
        int column;
        Solved from, to;
    };
    struct Range {              // of thresholds
        int first, last;
        int size() const { return std::max(last - first + 1, 0); }
        // A threshold near the middle: the roundest number there, so that searches with other limits or costs, whose
        // ranges differ a little, solve the same thresholds and find them remembered.
        int middle() const {
            const auto low = static_cast<unsigned>(first + size() / 4), high = static_cast<unsigned>(last - size() / 4);
            // All bits below the first one in which the least number and what precedes it differ are free.
            return static_cast<int>(low == 0 ? 0u : high & ~(std::bit_floor((low - 1) ^ high) - 1));
        }
    };
    using Shares = std::array<Size, 2>;     // what is left for the two sides

    explicit ThresholdSearch(const ThresholdContext& context);
    // Another one for the same question, of a member of the crew.
    ThresholdSearch(const ThresholdSearch& first, int member);

    // The same trees: none is deeper than it has splits, or needs more splits than its depth has room for.
    static Size usable(Size size);

    // The tree for all rows that costs least, if that is below the cutoff: then bound and cost are equal. Otherwise the
    // bound is at least the cutoff. If the search was stopped, the bound is true and the tree the best so far.
    Outcome solve(Size size, std::int64_t cutoff, int jobs);

    // For those who walk the nodes themselves and want bounds on the way, smaller leaves allowed: the node of a level is
    // a side of the one above it, that of level 0 has all rows. The levels below the node at hand are overwritten. What
    // they are told does not depend on what is remembered: least costs, or the cutoff if these are not below it.
    const RankedNode& node(int l) { return level(l).node; }
    void enter(int l, int c, int t, bool right);
    // Do both sides of a threshold hold the minimum leaf weight?
    bool allows(const RankedNode& node, int c, int t) const;
    // What the node costs at least, and its thresholds before any is solved. At depth two, scan() may follow.
    std::int64_t prepare(int l, const Shares& shares, std::int64_t cutoff);
    Interval between(int c, const Solved& from, const Solved& to) const;
    // The thresholds of an interval whose bounds are below the limit.
    Range alive(int l, const Interval& interval, std::int64_t limit) { return alive(level(l), interval, limit); }
    Solved solve_sides(int l, const Shares& shares, const Interval& interval, int t, std::int64_t limit);
    // Some thresholds spread over all of these, and what their sides cost, at depth two.
    static void spread(int c, const std::vector<Range>& ranges, std::vector<StumpScans::Lane>& lanes);
    std::vector<Solved> scan(const std::vector<StumpScans::Lane>& lanes, const Shares& shares);
    // For those who do so together: each has a search of its own, and joins a node of another one.
    using Home = Level;
    const Home& home(int l) { return level(l); }
    void join(int l, const Home& home) { level(l) = home; }
    // Is there enough to do at a node for more than one?
    static bool is_worth_sharing(const RankedNode& node);

private:
    enum class Leaves { any, allowed };     // does the minimum leaf weight count?
    enum class Wanted { cost, tree, first_tree };       // of several best trees, any one or the first
    class Loop;
    class PairLoop;
    friend class Crew<ThresholdSearch>;
    friend class CrewWork<ThresholdSearch>;

    struct Level {
        RankedNode node;
        // Once it is ranked, by column:
        bool ranked = false;
        std::vector<std::vector<std::int64_t>> swings;      // per threshold, of the rows on its left; then of all
        std::vector<int> best;                              // the threshold whose sides have the best stumps
        std::vector<std::int64_t> best_cost;
    };
    struct Found {              // the root of the best tree so far
        int column = -1, threshold = 0;
        std::int64_t sides[2]{};        // what these cost; not at depth two
    };
    struct Question {
        Size size;
        Leaves leaves;
        std::int64_t cutoff;
        Wanted wanted;
    };
    struct Attempt {            // a solved threshold; if a tree was below the limit its cost, and perhaps the tree
        Solved solved;
        Found found;
        std::int64_t cost = kInfinite;
        Preorder tree;
    };

    Level& level(int l);
    std::optional<Outcome> ask(Size size, std::int64_t cutoff);
    std::optional<Outcome> climb(Size size, std::int64_t cutoff);
    std::vector<Shares> shares(Size size) const;
    bool counts(Leaves leaves) const { return constrained_ && leaves == Leaves::allowed; }
    bool probe(const RankedNode::Name& rows, const Question& question, Outcome& out) const;
    void remember(const RankedNode& node, const Question& question, const Outcome& out);

    void search(int l, const Question& question, Outcome& out);
    bool search_affordable(int l, const Question& question, Outcome& out);
    void search_larger(int l, Question question, Outcome& out);
    Outcome grow(int l, const Question& question);
    void search_stumps(int l, const Question& question, Outcome& out);

    // Depth two.
    void search_pairs(int l, const Question& question, const Shares& shares, Outcome& out);
    struct Pair {
        std::int64_t leaf, stump;
    };
    Pair load_pairs(int l);
    void take_pair(int l, const Found& pair, std::int64_t cost, const Question& question, const Shares& shares,
                   Found& found, Outcome& out);
    Stump side_stump(int l, int c, int t, bool right, Leaves leaves) const;
    std::int64_t side_cost(std::int64_t leaf, std::int64_t stump, Size size) const;
    void write_stumps(int l, const Found& found, const Question& question, const Shares& shares, Outcome& out);

    // Larger depths.
    void search_intervals(int l, const Question& question, const Shares& shares, std::int64_t whole, Outcome& out);
    Solved solve_sides(int l, const Shares& shares, const Interval& interval, int t, std::int64_t limit,
                       Outcome (&sides)[2]);
    Attempt attempt(int l, const Question& question, const Shares& shares, const Interval& interval, int t,
                    std::int64_t limit, std::int64_t known);
    void search_side(int l, int c, int t, bool right, const Question& question, Outcome& out);
    Preorder write(int l, const Found& found, const Question& question, const Shares& shares, Wanted wanted);

    static bool is_before(const Question& question, int c, int t, const Found& found);
    static std::int64_t limit(const Question& question, const Outcome& out, const Found& found, const Interval& interval);
    bool qualifies(const Preorder& tree) const;
    void rank(Level& at);
    Range alive(const Level& at, const Interval& interval, std::int64_t limit) const;
    int name(const RankedNode& node, int c, int t) const { return node.name(context_.data, c, t); }
    void report(int l, const Question& question, const Outcome& out);
    void report_bound(int l, const Question& question, std::int64_t bound);

    const ThresholdContext context_;
    const bool constrained_;
    const std::int64_t split_cost_;
    std::int64_t swing_ = 0;        // of all rows
    std::unique_ptr<StumpScans> scans_;
    static constexpr int kMostLevels = 256;
    std::vector<std::unique_ptr<Level>> levels_{kMostLevels};      // some threads look at one while another is made
    Size asked_{0};
    Outcome best_;          // for all rows
    Crew<ThresholdSearch>* crew_ = nullptr;     // while there is one
    const int member_ = 0;                      // of it
};

}  // namespace goct
