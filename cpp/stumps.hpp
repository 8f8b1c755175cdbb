// Best stumps, trees with one split, of a presorted row set and of the two sides of its thresholds.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "control.hpp"
#include "costs.hpp"
#include "ranked_node.hpp"

namespace goct {

// A side of a threshold of a node, or all of it.
struct Part {
    int column = -1, threshold = 0;
    bool right = false;

    bool holds(const RankedNode& node, int i) const {
        return column < 0 || (node.group(column)[i] > threshold) == right;
    }
};

struct Stump {
    std::int64_t leaf = 0;      // avoidable cost without a split
    std::int64_t cost = 0;      // ... with at most one, whose cost does not count
    int column = -1;            // without a split if that is as good
    int threshold = 0;
};

// The best stump whose leaves hold at least a weight: one scan per column, the first one among equals.
Stump find_stump(const RankedNode& node, const Costs& costs, const Part& part, std::int64_t min_leaf_weight,
                 Control& control);

// The same for both sides of up to kMost thresholds at once, values only and without a minimum: one scan per column. The
// columns with few thresholds, such as those of zeros and ones, lie side by side: all of them are one scan.
class StumpScans {
public:
    static constexpr int kMost = 32;

    virtual ~StumpScans() = default;
    // The node of the following calls, which must live as long.
    virtual void load(const RankedNode& node) = 0;
    struct Lane {
        int column, threshold;      // threshold -1 has everything on its right
    };
    // The avoidable cost of each side of each threshold, left [0] and right [1].
    struct Values {
        std::int64_t leaf[2][kMost], stump[2][kMost];
    };
    // Lanes of one column are together, by rising threshold. It takes a few times longer if there are several columns.
    virtual void solve(const Lane* lanes, int count, Values& values) = 0;

    // All thresholds of the columns with few of them.
    const std::vector<Lane>& few() const { return few_; }
    struct Sides {
        std::int64_t leaf[2], stump[2];
    };
    virtual void solve_few(std::vector<Sides>& sides) = 0;

protected:
    std::vector<Lane> few_;
};

// For nodes of at most that much swing, with the smallest numbers that hold it.
std::unique_ptr<StumpScans> make_stump_scans(const Costs& costs, std::int64_t most_swing, Control& control);

}  // namespace goct
