// A node of the search: some rows, and the features that still tell them apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "control.hpp"
#include "costs.hpp"
#include "problem.hpp"
#include "ranked_node.hpp"

namespace goct {

// Additive properties of a row set: one line of the processor's cache.
struct alignas(64) Sums {
    Key key;
    std::int64_t count = 0;
    std::int64_t base = 0;    // cost that every tree pays
    std::int64_t first = 0;   // avoidable cost of predicting class 0
    std::int64_t swing = 0;   // sum of the rows' largest avoidable costs
    std::int64_t weight = 0;

    Sums& operator+=(const Sums& o) {
        key += o.key, count += o.count, base += o.base, first += o.first, swing += o.swing, weight += o.weight;
        return *this;
    }
    Sums& operator-=(const Sums& o) {
        key -= o.key, count -= o.count, base -= o.base, first -= o.first, swing -= o.swing, weight -= o.weight;
        return *this;
    }
    friend Sums operator-(Sums a, const Sums& b) { return a -= b; }
};

// Bounds on the sides of features are kept in 32 bits, and two of them can be added.
using Bound = std::int32_t;
#ifdef NDEBUG
inline constexpr Bound kMostBound = 1 << 29;
#else
inline constexpr Bound kMostBound = 1 << 5;     // the tests want them rounded
#endif

// Problem and costs together: what does not change while nodes are made.
class Instance {
public:
    // `keep_ties`: rows that cost the same under every class, but not nothing, stay in the nodes. Making a node throws
    // SearchStopped if it takes long and the control says so.
    // `least_swing`: features whose smaller side swings no more are dropped from the nodes.
    Instance(const Problem& problem, const Costs& costs, Control& control, bool keep_ties = false,
             std::int64_t least_swing = -1);

    const Problem& problem() const { return problem_; }
    const Costs& costs() const { return costs_; }
    Control& control() const { return control_; }
    const Sums& row(int r) const { return rows_[r]; }
    // A split that costs as much as the rows of one side can lose does not pay: whatever the tree of the other side says
    // about them costs no more.
    bool pays(std::int64_t swing, std::int64_t inside) const { return std::min(inside, swing - inside) > least_swing_; }
    // Bounds are rounded down, to units in which the largest one fits. In nearly all problems the unit is 1.
    Bound rounded(std::int64_t value) const {
        return static_cast<Bound>(std::clamp<std::int64_t>(value >> shift_, -kMostBound, kMostBound));
    }
    Bound rounded_up(std::int64_t value) const { return -rounded(-value); }
    std::int64_t unrounded(Bound bound) const { return std::int64_t{bound} << shift_; }
    bool rounds() const { return shift_ > 0; }
    bool active(int r) const { return costs_.active(r) || (keep_ties_ && costs_.base(r) > 0); }

private:
    const Problem& problem_;
    const Costs& costs_;
    Control& control_;
    const bool keep_ties_;
    const std::int64_t least_swing_;
    std::vector<Sums> rows_;
    int shift_ = 0;
};

// Remembers row sets by key within one node, a set and its complement being the same split.
class SplitSet {
public:
    void reset(std::size_t expected, const Key& total);
    bool insert(const Key& inside);  // false if the split is known

private:
    std::vector<Key> slots_;
    std::vector<std::uint32_t> stamps_;
    std::uint32_t stamp_ = 0;
    Key total_;
};

// The features keep the order of the problem: chains one after another, each from its largest set to its smallest.
// A feature that is constant here, does not pay, or splits the rows as an earlier one does, is gone, here and below.
//
// Whatever the rows can be split by is a cut: the features, and behind them the thresholds of the wide columns.
class Node {
public:
    void make_root(const Instance& instance, SplitSet& scratch);
    // The rows of `parent` inside or outside its cut f.
    void make_child(const Instance& instance, const Node& parent, int f, bool inside, SplitSet& scratch);

    int rows() const { return static_cast<int>(rows_.size()); }
    int features() const { return static_cast<int>(features_.size()); }
    int row(int r) const { return rows_[r]; }                   // row of the problem
    int feature(int f) const { return features_[f]; }           // feature of the problem
    int cuts() const { return features() + wide_.cuts(); }
    const RankedNode& wide() const { return wide_; }            // its rows are numbered as those of the node
    int name(const Problem& problem, int cut) const {           // feature or threshold of the problem
        if (cut < features()) return features_[cut];
        const auto [c, t] = wide_.place_of(cut - features());
        return problem.features() + wide_.name(*problem.wide(), c, t);
    }
    int local(const Problem& problem, int name) const;          // the other way round
    Sums sums(const Instance& instance, int cut, bool inside) const;
    const Sums& total() const { return total_; }
    const Sums& inside(int f) const { return inside_[f]; }
    const Bound* swings() const { return swings_.data(); }      // of the rows inside each feature, rounded
    Sums outside(int f) const { return total_ - inside_[f]; }
    std::int64_t leaf() const { return leaf_; }                 // avoidable cost of the best single label
    // Can both sides of f be leaves? Features with a smaller side stay, for the bounds on trees with smaller leaves.
    bool allows(const Instance& instance, int f) const {
        const std::int64_t least = instance.costs().min_leaf_weight(), inside = inside_[f].weight;
        return inside >= least && total_.weight - inside >= least;
    }

    // Entries: the smallest set of each chain that holds row r.
    const int* entries_begin(int r) const { return entries_.data() + entry_begin_[r]; }
    const int* entries_end(int r) const { return entries_.data() + entry_begin_[r + 1]; }
    // The rows by entry: bin_rows()[bin_begin()[f]] to bin_rows()[bin_begin()[f + 1] - 1] are those whose entry is f.
    // Chains lie in one piece, so all the rows inside f are a slice.
    std::span<const int> inside_rows(int f) const {
        if (f >= features()) {
            const auto [c, t] = wide_.place_of(f - features());
            return {wide_.order(c) + wide_.ends(c)[t], static_cast<std::size_t>(rows() - wide_.ends(c)[t])};
        }
        return {bin_rows_.data() + bin_begin_[f], static_cast<std::size_t>(inside_[f].count)};
    }
    void outside_rows(int f, std::vector<int>& rows) const;
    const int* bin_begin() const { return bin_begin_.data(); }
    const int* bin_rows() const { return bin_rows_.data(); }
    const int* chain_begin() const { return chain_begin_.data(); }

    // For every feature j, the sum of the swings of the rows inside both f and j. They need not be counted if `child`,
    // some side of this node or none, is one of f.
    void overlaps(const Instance& instance, int f, const Node* child, std::vector<std::int64_t>& swings) const;

private:
    template <class EachRow>
    void keep_useful(const Instance& instance, int features, EachRow&& each_row, SplitSet& scratch);
    template <class EachRow>
    void sort_entries(std::size_t entries, EachRow&& each_row);
    void set_leaf(const Costs& costs);

    std::vector<int> rows_, features_, chain_begin_;
    std::vector<Sums> inside_;
    std::vector<Bound> swings_;
    std::vector<int> entries_, bin_rows_;       // these two only grow: there may be more behind what is in use
    std::vector<int> entry_begin_, bin_begin_;
    RankedNode wide_;
    Sums total_;
    std::int64_t leaf_ = 0;
    // Which side of which node this is.
    const Node* parent_ = nullptr;
    int side_of_ = -1;
    bool inside_side_ = false;
    // About the construction: per feature of the parent, its sums over the rows here, and its new number.
    std::vector<Sums> level_;
    std::vector<int> renamed_;
    std::vector<int> picked_, bin_end_;
};

}  // namespace goct
