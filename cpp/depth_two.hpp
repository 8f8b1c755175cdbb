// Best trees of depth two, from the counts of all pairs of features.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "control.hpp"
#include "node.hpp"

namespace goct {

// Least avoidable cost with at most m = 0..3 splits, split costs not included. kInfinite: no such tree.
using DepthTwoValues = std::array<std::int64_t, 4>;

// The same for each feature at the root: its two sides as leaves, and with at most one split each.
struct SideValues {
    std::vector<std::int64_t> inside_leaf, outside_leaf, inside_best, outside_best;
    // With wide columns: the cut at the root of the best tree with so many splits, unless a feature does as well; and for
    // each column its best cut, and what the best tree of depth two with that at the root costs.
    std::array<int, 4> root{-1, -1, -1, -1};
    struct Best {
        int cut = -1;
        std::int64_t cost = kInfinite;
    };
    std::vector<Best> wide;
};

// The best threshold of a wide column with two leaves.
SideValues::Best best_wide_split(const Instance& instance, const Node& node);

// The sides of each feature as leaves; `weighted`: which must have the minimum weight of the costs.
void leaf_sides(const Instance& instance, const Node& node, bool weighted, SideValues& sides);

// Counts in 8, 16, 32 or 64 bits, whatever the node's total cost needs.
class DepthTwo {
public:
    // Which node is open: whoever asks about its sides has to say.
    struct Opened {
        std::uint64_t generation;
    };

    // `bytes`: memory for the matrices of pair counts. Counts throw SearchStopped if they take long and the control
    // says so.
    // `weighted`: leaves have the minimum weight of the costs.
    DepthTwo(const Instance& instance, bool weighted, std::size_t bytes, Control& control);
    ~DepthTwo();

    DepthTwoValues solve(const Node& node, SideValues& sides);
    // With one split at most, in time linear in the number of features.
    DepthTwoValues solve_stumps(const Node& node, SideValues& sides) const;

    // Solves the node and keeps its counts, so that its sides can be solved by `solve_side`. Only if that pays.
    bool can_open(const Node& node) const;
    // Until the next call of solve or open.
    Opened open(const Node& node, SideValues& sides, DepthTwoValues& values);
    // The rows of the open node inside or outside the cut f; `leaf` is their cost as a leaf. The smaller side is counted, the
    // larger is the rest.
    DepthTwoValues solve_side(Opened opened, int f, bool inside, std::int64_t leaf);
    // What the parts of the side solved last cost at least, whichever feature splits it and pays: as a leaf, and with one
    // split. kInfinite if none pays. Two classes, no minimum leaf weight.
    struct LeastParts {
        std::int64_t leaf = kInfinite, stump = kInfinite;
    };
    LeastParts least_parts(Opened opened, int f, bool inside);
    // What Node::overlaps says about f, faster.
    void overlaps(Opened opened, int f, std::vector<std::int64_t>& swings) const;

private:
    class Table;
    template <class T>
    class TypedTable;

    int planes() const { return instance_.costs().planes() + weighted_; }
    int number_bytes(const Node& node) const;
    template <class T>
    Table& table_of(std::unique_ptr<Table>& table);
    Table& table_for(const Node& node);
    Table& opened(Opened opened) const;

    const Instance& instance_;
    std::size_t bytes_;
    Control* control_;
    bool weighted_;     // there is a minimum leaf weight
    std::unique_ptr<Table> table8_, table16_, table32_, table64_;
    Table* open_ = nullptr;
    std::uint64_t generation_ = 0;      // how many nodes were solved
};

}  // namespace goct
