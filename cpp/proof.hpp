// Proofs that others can check: facts about row sets, each with the earlier facts that it follows from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "control.hpp"
#include "costs.hpp"
#include "depth_two.hpp"
#include "node.hpp"
#include "problem.hpp"

namespace goct {

// A fact says: no tree of a depth costs less than its values on the rows of a path. Values are avoidable costs (see
// Costs); either one, which includes the cost of splits, or one for at most 0, 1, ... splits, which does not.
//
// Facts up to depth two follow from the counts of all pairs of features. A larger one follows from its anchors, facts
// of the depth below: a row set costs at least what an anchor does, less the swings of the rows that only the anchor
// has; and a node costs at least the sum of both sides of its best feature. A tree with k splits costs at least k times
// their price and is no deeper than k, so that a fact of whatever depth follows from one about as few splits as its value
// can pay. Facts that are not relaxed are about trees whose leaves have the minimum weight, and say nothing about other
// row sets.
enum class Rule {
    split,              // from earlier facts
    table,              // from counts of all features
    listed_table,       // from counts of some features, by similarity
};
struct Fact {
    Rule rule;
    std::vector<std::int32_t> path;             // 2 * feature + side, from the root
    int depth;                                  // kProofAnyDepth: any
    bool relaxed;
    std::vector<std::int64_t> value;
    std::vector<std::int32_t> basis;            // earlier facts, or features
    Key key{};                                  // of the rows
};
using Proof = std::vector<Fact>;

inline constexpr int kProofAnyDepth = 255;

// One line of JSON for each fact, as the checker reads it.
std::string to_text(const Proof& proof);

// Facts in the order in which they follow. Stops the search when they take too much memory.
class FactList {
public:
    FactList(std::size_t most_bytes, Control& control) : most_bytes_(most_bytes), control_(control) {}

    std::int32_t add(Fact fact);
    const Fact& operator[](std::int32_t i) const { return facts_[i]; }
    // What the last fact needs, and nothing else.
    Proof trimmed() const;

private:
    std::size_t most_bytes_, bytes_ = 0;
    Control& control_;
    std::vector<Fact> facts_;
};

// What is to be proven: no tree for all rows is below the cutoffs, avoidable costs, one per value.
struct Claim {
    int depth;
    std::optional<int> max_splits;              // values by split budget up to this one; without, one value
    std::vector<std::int64_t> cutoffs;
    bool thorough = false;                      // as far as possible for every first split, if some trees are below
    std::size_t most_bytes = std::size_t{1} << 30;
};

// How many values a fact of a depth has.
int fact_values(const Claim& claim, int depth);

// Depth-first, by the bounds that a proof can have, and no others. It looks for no tree. When the control stops it, the
// proof is of what is known by then.
class Prover {
public:
    Prover(const Problem& problem, const Costs& costs, const Claim& claim, Control& control);

    // The facts that are needed, the last one about all rows.
    Proof prove();

private:
    using Bits = std::vector<std::uint64_t>;
    using Values = std::vector<std::int64_t>;

    // Bounds by class of trees and feature, and the facts they come from.
    struct Bounds {
        Values value;
        std::vector<std::int32_t> from;

        void reset(std::size_t size) { value.assign(size, 0), from.assign(size, -1); }
        void raise(std::size_t i, std::int64_t bound, std::int32_t fact) {
            if (bound > value[i]) value[i] = bound, from[i] = fact;
        }
    };
    struct Level {
        Node node;
        std::vector<std::int32_t> path;
        SideValues sides;
        std::optional<DepthTwo::Opened> open;
        int usable;                     // the depth of trees that can be below the best
        std::vector<int> order;
        Bounds bound[2], allowed[2];    // of the outside and the inside of each feature; `bound` is relaxed
        Values best, overlap;
    };
    struct Archived {
        Bits rows;
        Bounds bound[2];                // by feature of the problem
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const { return key.low; }
    };

    int classes(int depth) const { return fact_values(claim_, depth); }
    int below(int depth) const { return depth == kProofAnyDepth ? depth : depth - 1; }
    int usable(int depth, const Values& best) const;
    Level& level(int l);
    Values values_of(const DepthTwoValues& values, int depth, int usable) const;
    std::int32_t add(Fact fact, const Key& key);
    std::int64_t bound_of(const Level& at, bool inside, std::size_t i) const;
    void sum_up(const Values& in, const Values& out, int f, int features, int side_classes, Values& sums) const;
    bool is_covered(const Level& at, int f, int depth, bool with_allowed);
    Values wanted(const Level& at, int f, int depth, bool inside) const;

    std::int32_t search(int l, int depth, const Values& cutoffs);
    void stop();
    std::int32_t solve_small(int l, int depth);
    void rank(int l);
    void recall(int l, int depth);
    void inherit(int l, int depth);
    void attempt(int l, int depth, int f);
    void solve_side(int l, int depth, int f, bool inside);
    void solve_table(int l, int depth, int f, bool inside, bool weighted);
    void learn(Level& at, int f, bool inside, std::int32_t fact);
    std::int32_t conclude(int l, int depth);
    std::vector<std::int32_t> choose(Level& at, int depth, bool relaxed, const Values& goal);
    void use(Level& at, std::int32_t fact, Values (&current)[2]);
    void overlaps(Level& at, int f);
    // The sides of the features of a node by their rows: 2 * feature + inside.
    using Sides = std::unordered_map<Key, int, KeyHash>;
    Bits rows_of(const Fact& fact) const;
    std::vector<std::int32_t> extended(const Level& at, int f, bool inside) const;

    static constexpr std::size_t kArchived = 64, kMatches = 32;

    const Problem& problem_;
    const Costs& costs_;
    Control& control_;
    const Claim& claim_;
    const bool constrained_;
    bool stopped_ = false;
    Instance instance_;
    DepthTwo depth_two_, allowed_depth_two_;
    SplitSet splits_;
    std::vector<Bits> columns_;                     // rows inside, by feature
    std::vector<std::unique_ptr<Level>> levels_;
    FactList facts_;
    std::vector<std::vector<Archived>> archive_;    // by depth
    std::vector<std::size_t> next_;
    std::vector<std::unordered_map<Key, std::int32_t, KeyHash>> known_, known_allowed_;     // by depth
    Values sums_, in_, out_;
    Sides sides_;       // of the node whose facts are chosen
};

}  // namespace goct
