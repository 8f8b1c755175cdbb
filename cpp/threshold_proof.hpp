// Proofs about trees of thresholds, in the same words as those about 0/1 features.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "control.hpp"
#include "costs.hpp"
#include "proof.hpp"
#include "ranked_columns.hpp"
#include "ranked_node.hpp"
#include "stumps.hpp"

namespace goct {

// With the thresholds of a column in order, the left sides grow and the right sides shrink. So facts about the left side
// of one threshold and the right side of another bound all thresholds between them (inclusion), and both bound their
// neighbours by the swing of the rows between (similarity). Thresholds are solved until all others are bounded so.
class ThresholdProver {
public:
    ThresholdProver(const RankedColumns& data, const Costs& costs, const Claim& claim, Control& control);

    // The facts that are needed, the last one about all rows.
    Proof prove();

private:
    using Values = std::vector<std::int64_t>;
    static constexpr std::int32_t kNothing = -1;        // no fact: nothing costs less than nothing

    enum class Leaves { any, heavy };
    struct Solved {             // a threshold, and facts about its sides
        int threshold;
        std::int32_t fact[2];   // left, right
    };
    struct Level {
        RankedNode node;
        std::vector<std::int32_t> path;
        Values best;
        int usable;
        std::vector<std::vector<std::int64_t>> swings;      // by column and threshold, of the rows on its left
        std::vector<std::int32_t> basis;
    };
    struct Known {
        std::int32_t fact;
        bool exact;             // the least cost, not a bound on it
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const { return key.low; }
    };
    // What is known about the sides of the thresholds of a column, with at most one split: left, right.
    struct Sides {
        Values leaf[2], bound[2], found[2];
        std::vector<std::uint8_t> done;
    };

    int classes(int depth) const { return fact_values(claim_, depth); }
    int below(int depth) const { return depth == kProofAnyDepth ? depth : depth - 1; }
    int usable(int depth, const Values& best) const;
    Level& level(int l);
    std::int64_t value(std::int32_t fact, std::size_t m) const { return fact == kNothing ? 0 : facts_[fact].value[m]; }
    int feature(const RankedNode& node, int c, int t) const { return begin_[node.column(c)] + static_cast<int>(node.rank(c, t)); }
    std::int32_t add(Level& at, int depth, bool relaxed, const Values& cutoffs);

    std::int32_t search(int l, int depth, Leaves leaves, const Values& cutoffs);
    void rank(Level& at) const;
    bool solve_intervals(int l, int depth, Leaves leaves);
    bool solve_interval(int l, int depth, Leaves leaves, int c, const Solved& from, const Solved& to,
                        std::vector<Solved>& stack);
    std::int32_t solve_side(int l, int depth, Leaves leaves, int c, int t, bool right, const Values& cutoffs);
    Values wanted(const Level& at, int depth, std::int32_t other) const;
    bool covers(const Values& best, const Values& left, const Values& right) const;
    void lower(Values& best, const Values& left, const Values& right) const;
    void side_values(const Level& at, int c, int t, const Solved& from, const Solved& to, int side_classes, Values& left,
                     Values& right) const;
    bool allows(const RankedNode& node, int c, int t) const;

    bool solve_small(int l, int depth, Leaves leaves);
    void leaves_of(const Level& at, int c, Sides& sides) const;
    void spread(const Level& at, int c, Sides& sides) const;
    bool is_enough(const Level& at, const Sides& sides, int t) const;
    void list_needed(Level& at, int c, const Sides& solved) const;

    static constexpr std::size_t kMostLanes = StumpScans::kMost;

    const RankedColumns& data_;
    const Costs& costs_;
    const Claim& claim_;
    Control& control_;
    const std::int64_t price_;
    const bool constrained_;
    bool stopped_ = false;
    std::vector<int> begin_;                    // the number of the first feature of each column
    std::unique_ptr<StumpScans> scans_;
    std::vector<std::unique_ptr<Level>> levels_;
    FactList facts_;
    std::vector<std::unordered_map<Key, Known, KeyHash>> known_[2];     // by leaves and depth
};

}  // namespace goct
