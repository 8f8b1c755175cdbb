// Depth-first branch and bound over trees.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "archive.hpp"
#include "cache.hpp"
#include "control.hpp"
#include "costs.hpp"
#include "depth_two.hpp"
#include "greedy.hpp"
#include "node.hpp"
#include "preorder.hpp"
#include "simd.hpp"
#include "team.hpp"
#include "values.hpp"

namespace goct {

// What can be switched off, to measure what it gains. None of it changes the result.
struct Techniques {
    bool order = true;          // best depth-two trees first
    bool similarity = true;     // a solved row set bounds those that overlap it
    bool inheritance = true;    // ... and so do their children those of similar nodes elsewhere
    bool cache = true;          // remember solved row sets
    bool transfer = true;       // use what is remembered from other costs
    bool cutoffs = true;        // a child need not beat what its sibling leaves
    bool price = true;          // a side has no more splits than it can pay for
    bool slack = true;          // ... but it is searched a little beyond that where its value helps others
    bool first_pass = true;     // search narrow before searching wide
    bool deepening = true;      // ... and again, less narrow and less deep, if it takes long; then bounds in steps
};

// A depth beyond all that matter: below it there is the same again. All others are smaller.
inline constexpr int kAnyDepth = 255;
inline int below(int depth) { return depth == kAnyDepth ? depth : depth - 1; }

// A piece of a search that somebody else can do who has the same data and costs: trees that begin with one of some
// features of one node, in order. Features are those of the problem.
struct Unit {
    using Numbers = std::vector<std::int64_t>;
    struct Start {
        int feature;
        std::array<Numbers, 2> bounds;  // relaxed, on the sides: outside, inside
    };
    bool budgets;                       // which values, and for all rows: how many, and the depth
    int classes, depth;
    std::vector<int> path;              // from the root to the node: a feature, ~feature for the rows outside it
    Numbers limits;                     // only trees below them are wanted
    std::vector<Start> starts;
};

struct UnitAnswer {
    struct Side {
        Unit::Numbers bound, relaxed, cost;     // see Search::Outcome; a cost above the bound is not known
        std::vector<std::vector<int>> tree;     // in preorder; only how it begins if both sides together are not wanted
    };
    std::vector<std::array<Side, 2>> sides;     // by start
    bool ended = false;     // otherwise it was stopped: of the last one there are bounds, of those after it nothing
    double seconds = 0;     // that it took, messages not included
    std::string notes;      // what was learnt about smaller row sets, see Cache
};

// Others who search units, as many at a time as there are helpers.
class Delegate {
public:
    Delegate(int helpers, double alone, double long_unit) : helpers(helpers), alone(alone), long_unit(long_unit) {}
    virtual ~Delegate() = default;
    // Called by many threads. Ends after so many seconds; no answer means that the search is over.
    virtual std::optional<UnitAnswer> solve(const Unit& unit, double seconds) = 0;

    const int helpers;
    const double alone, long_unit;      // seconds before others are asked; and of a feature before it is divided
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
    Delegate* delegate = nullptr;       // then threads do not search, they wait for others who do
};

// How far a search goes: to a proof; to a proof unless the first passes find a tree; or no further than these.
enum class Effort { all, any_tree, first_trees };

// One thread's search. All values are avoidable costs (see Costs) plus split costs; V says which trees they are the
// least of, AnySplits or SplitBudgets. The latter wants costs without a split cost: whoever has one puts it into the
// cutoffs.
//
// With a minimum leaf weight, bounds on trees with smaller leaves (the relaxed problem) are kept beside those on the
// trees that are allowed. They hold for both; only they carry over to similar row sets.
template <class V>
class Search {
    struct Level;

public:
    using Values = typename V::template Each<std::int64_t>;

    // What is known about the trees of a row set, by class.
    struct Outcome {
        Values bound;       // no tree costs less
        Values relaxed;     // ... and none with smaller leaves; only with a minimum leaf weight
        Values cost;        // of the tree, kInfinite without one
        typename V::template Each<Preorder> tree;

        void reset(int classes) {
            for (Values* values : {&bound, &relaxed}) V::template resize<std::int64_t>(*values, classes, 0);
            V::template resize<std::int64_t>(cost, classes, kInfinite);
            V::template resize<Preorder>(tree, classes);
        }
    };

    // `classes`: of trees for all rows.
    Search(const SearchContext& context, int depth, int classes = 1);
    // Another one for the same question, of a member of the crew.
    Search(const Search& first, int member);

    // The trees for all rows that cost least, if that is below their cutoffs: then bound and cost are equal. Otherwise
    // the bound is at least the cutoff. If the search was stopped, the bounds are true and the trees the best so far.
    // A cutoff of zero switches a class off.
    Outcome solve(const Values& cutoffs, int jobs, Effort effort = Effort::all, bool deepen = true);

    // A unit of somebody else's search. What is learnt stays for the next one.
    UnitAnswer solve_unit(const Unit& unit, int jobs);

    // Replaces the stand-ins of a tree that solve() left, after which this search is over.
    bool expand_at_last(Preorder& tree);

    // For those who walk the nodes themselves and want bounds on the way: the node of a level is a side of the one
    // above it. The levels below the node at hand are overwritten by attempts.
    const Node& node(int l) { return level(l).node; }
    const Node& enter_root();
    void enter(int l, int f, bool inside) { make_child(l, f, inside); }
    // Ranks the features of the node for trees of depth three and more, and raises relaxed bounds; false if these say
    // that no tree is below its cutoff.
    bool prepare(int l, int depth, const Values& cutoffs, Values& bound);
    const std::vector<int>& order(int l) const { return levels_[l]->order; }
    // Bounds on the two sides of f go to side(); attempt() raises them, and finds the trees that matter.
    void recall(int l, int f) { recall(*levels_[l], f, *levels_[l]); }
    const Outcome& side(int l, bool inside) const { return levels_[l]->side[inside]; }
    // With a delegate, the features that are likely to be next are asked for at the same time.
    void attempt(int l, int depth, int f, const Values& limits, std::span<const Unit::Start> next = {});
    // After all features: leaves what was learned to similar nodes.
    void conclude(int l, int depth);
    // For those who do so together: each has a search of its own, and joins the node of one of them. What that one
    // knows about the sides of features is read and raised by all, one at a time.
    struct Joint {          // what does not change meanwhile
        Node node;
        SideValues sides;
        DepthTwoValues small;
        bool ranked, open;
        std::vector<int> path;
    };
    using Home = Level;
    Home& home(int l) { return level(l); }
    Joint joint(int l) const;
    void join(int l, const Joint& joint);
    void recall(int l, int f, Home& home) const { recall(home, f, *levels_[l]); }
    // After attempt(): what the sides of f share with those of the other features; so that, later, home can be told what
    // they say about these.
    void compare(int l, int f) { compare(*levels_[l], f); }
    void learn(int l, int depth, int f, Home& home) const { learn(*levels_[l], depth, f, home); }
    // Is there enough to do at a node, from the next of its features on, for more than one?
    bool is_worth_sharing(int l, int depth, int next) const;

private:
    // A threshold of a wide column, and relaxed bounds on its sides. Left sides grow along the column and right sides
    // shrink, so that two of them bound all that lie between, and each bounds its neighbours by the swing between them.
    struct Solved {
        int threshold;
        Values left, right;
    };
    struct Level {
        Node node;
        int step = 0;                               // which side of which feature of the node above it, see Unit::path
        const Node* child = nullptr;                // the side of it made last in the attempt at hand
        SideValues sides, allowed_sides;
        std::optional<DepthTwo::Opened> open, allowed_open;     // the depth-two solvers have the counts of the node
        std::vector<int> order;
        int side_classes = 1;
        std::vector<Bound> bound[2];                // relaxed, by side, class and feature; see Instance::rounded
        std::vector<std::int64_t> overlap;
        std::vector<Bound> rounded_overlap;
        DepthTwoValues small{}, allowed_small{};    // the first ones are relaxed
        bool ranked = false;                        // `small` and `sides` are about the node
        Outcome side[2];                            // of the cut at hand
        Sums inside;                                // of the cut at hand, if it is a threshold of a wide column
        std::vector<std::vector<Solved>> solved;    // by wide column: some thresholds, between two ends
        Values limits, unsolved, sums, left;

        // Bounds on one side of every feature.
        Bound* bounds(bool inside, int m) { return bound[inside].data() + m * padded(node.features()); }
    };
    class Loop;
    class Thresholds;
    friend class Crew<Search>;

    Level& level(int l);
    Archive& archive(int depth);
    const Values& relaxed(const Outcome& outcome) const { return constrained_ ? outcome.relaxed : outcome.bound; }
    void make_child(int l, int f, bool inside);
    // Progress of the largest class, which bounds all others.
    void report_bound(std::int64_t bound) const {
        if (watched_) context_.control.bound = std::max(context_.control.bound.load(), bound);
    }
    void report_incumbent(std::int64_t cost) const {
        if (watched_) context_.control.incumbent = cost;
    }

    bool probe(const Sums& rows, int depth, const Values& cutoffs, Outcome& out) const;
    void prefetch(const Level& at, int depth, int f, bool inside) const;
    void remember(const Sums& rows, int depth, const Outcome& out);
    void remember_relaxed(const Sums& rows, int depth, const Values& relaxed);
    // What trees of more than `splits` splits cost at least.
    std::int64_t price_beyond(int splits) const {
        return context_.techniques.price ? (splits + 1) * split_cost_ : split_cost_;
    }
    // ... of trees of this depth that have no equal of depth two: two splits never need more levels, three may.
    std::int64_t beyond_small(int depth) const { return depth > 2 ? price_beyond(2) : kInfinite; }
    bool affords_only(int splits, const Values& limits) const;
    bool wants_open(const Level& at, int depth, const Values& limits) const;
    void rank_features(int l, int depth, const Values& cutoffs);
    bool looks_at_sides(const Level& at, int depth) const;
    void look_at_sides(Level& at, Outcome& out);
    void relax(int l, Values& bound);
    void recall(Level& from, int f, Level& to) const;
    bool is_wide(const Level& at, int f) const { return f >= at.node.features(); }
    Sums sums_of(const Level& at, int f, bool inside) const;
    std::int64_t leaf_of(const Level& at, int f, bool inside) const;
    void bound_sides(const Solved& from, const Solved& to, Level& at) const;
    void note_threshold(const Level& from, int f, Level& to) const;
    void sum_up(Level& at) const;
    bool has_news(const Level& from) const;
    void compare(Level& from, int f);
    void learn(const Level& from, int depth, int f, Level& to) const;

    void take_tree(const DepthTwoValues& values, int m, std::int64_t leaf, Outcome& out) const;
    template <class Solve>
    void take_small(const Sums& rows, int depth, std::int64_t leaf, const DepthTwoValues& relaxed,
                    const Values& cutoffs, Solve&& solve_allowed, Outcome& out);
    template <class Solve>
    std::optional<DepthTwoValues> allowed_values(const DepthTwoValues& relaxed, const Values& cutoffs,
                                                 Solve&& solve_allowed) const;
    static DepthTwoValues solve_small(DepthTwo& solver, const Node& node, int depth, SideValues& sides);
    DepthTwoValues solve_allowed(int l, int depth);
    bool open_allowed(Level& at);

    void search(int l, int depth, const Values& cutoffs, Outcome& out);
    bool start(int l, const Values& cutoffs, const std::optional<DepthTwoValues>& small, Outcome& out);
    void try_features(int l, int depth, Outcome& out);
    bool shares(int l, int depth, int next) const;
    std::int64_t with_slack(int l, int depth, std::int64_t left) const;
    bool delegates() const { return delegation_->begun && !narrow(); }
    int batch(int l, int left) const;
    Unit::Start start_of(const Level& at, int f) const;
    bool is_answered(Level& at, int depth, int f, const Values& limits) const;
    std::vector<Unit::Start> next_starts(Level& at, int depth, int from, int to) const;
    bool ask_others(int l, int depth, int f, const Values& limits, std::span<const Unit::Start> next);
    bool take_answer(int l, int depth, int f, const std::array<UnitAnswer::Side, 2>& found);
    void follow(const Unit& unit, int depth, const Values& limits);
    bool is_followed(const Unit& unit, int depth, const Values& limits) const;
    bool write_down(int l, int depth, int f, Values& limits, std::array<UnitAnswer::Side, 2>& sides);
    std::vector<int> path_to(int l) const;
    void raise_in_turns(int l, int f, bool inside_first, const Values& limits);
    bool relax_sides(int l, int depth, int f, bool inside_first, const Values& limits);
    void search_side(int l, int depth, int f, bool inside, const Values& cutoffs, Outcome& out);
    void compose(const Level& at, int f, Values& limits, Outcome& out) const;

    // How many features a node is tried with in a narrow search: some, or in all the nodes on a path together some more
    // than one each (limited discrepancy).
    struct Width {
        int features = 0;           // 0: all
        int discrepancies = -1;     // -1: any number
        bool looks_ahead = false;   // the most promising features are found by greedy trees
        int exact = 0;              // nodes of this depth and less are searched wide
    };
    int tries(const Level& at) const;
    void look_ahead(Level& at, int depth);
    std::vector<int> rank_by_greedy_trees(const Level& at, int depth);
    void pass(Width width, const Values& cutoffs, Outcome& best);
    bool find_first(const Values& cutoffs, Effort effort, Outcome& best);
    void climb(const Values& cutoffs, Outcome& best);
    void find_better(const Values& cutoffs, Outcome& best);
    void start_from(int depth, const Values& cutoffs, Effort effort, Outcome& best, double most_work);
    void take(int m, const Outcome& found, int from, Outcome& best);
    // Where a depth-two solution takes long, trees are worked out when they are found, not after a stop.
    bool is_long() const {
        const Node& root = levels_[0]->node;
        return static_cast<double>(root.rows()) * root.features() * root.features() > kLongWork;
    }
    void open_again(Level& at);
    void open_now(Level& at);
    bool expand(Preorder& tree, bool known_only);
    bool expand_at(int l, int depth, const int*& code, bool known_only, Preorder& out);
    Preorder work_out(int l, int depth, StandIn kind, int m);

    SearchContext context_;
    const int depth_;
    const bool constrained_;    // there is a minimum leaf weight
    const std::int64_t split_cost_;
    std::int64_t smallest_error_ = kInfinite;  // of a row that matters
    std::vector<int> classes_;  // by depth
    DepthTwo depth_two_, allowed_depth_two_;
    SplitSet splits_;
    GreedyCosts greedy_;
    std::map<std::pair<Key, int>, std::vector<int>> promising_;     // features of the problem, by rows and depth
    std::vector<std::unique_ptr<Level>> levels_;
    std::shared_ptr<std::vector<Archive::Shelf>> shelves_;  // by depth, for all members of a crew
    std::vector<std::unique_ptr<Archive>> archives_;        // by depth
    static constexpr int kDeepestUnits = 5;
    struct Delegation {
        struct Level {
            std::atomic<double> pace{0};    // seconds for each feature
            std::atomic<int> divided{0};    // so many features are next divided at once
        };
        std::atomic<bool> begun{false};     // features are left to others
        std::array<Level, kDeepestUnits + 1> levels;
        Level& at(int l) { return levels[std::min(l, kDeepestUnits)]; }
    };
    std::shared_ptr<Delegation> delegation_;                // of all members of a crew
    std::map<std::tuple<Key, int, int>, std::array<UnitAnswer::Side, 2>> answered_;     // by rows, depth and feature
    std::optional<std::vector<int>> followed_;              // the path of the last unit, if its node is still there
    Width width_;
    bool narrow() const { return width_.features > 0; }
    std::vector<bool> settled_;     // by class: the best tree for all rows is the one, whatever is found later
    double first_work_ = 1e9;   // rows x features^2 or so of first trees: about two seconds
    double tried_ = 0;          // share of the features of the first node in the last pass over all of them
    int jobs_ = 1;
    Crew<Search>* crew_ = nullptr;      // while there is one
    int member_ = 0;                    // of it
    int first_level_ = 0;               // where the first one of equal trees is wanted, see Thresholds
    bool takes_any_ = false, has_enough_ = false;   // see Effort::any_tree
    bool watched_ = true;       // bounds of a search that only helps another one are not those of the question
};

}  // namespace goct
