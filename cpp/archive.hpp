// Bounds inherited from similar row sets that were searched before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "node.hpp"

namespace goct {

// A tree for one row set, used on another, costs at most the swings of the rows that only the first one has less. That
// holds for a whole node and for each side of each of its features, so a searched node leaves lower bounds to every
// node that shares most of its rows, such as the one under the next threshold of the same variable.
//
// One archive holds the latest nodes searched to one depth.
class Archive {
public:
    static constexpr std::size_t kEntries = 64;

    explicit Archive(const Instance& instance) : instance_(instance) {}

    // Bounds on the node by class of trees, and on its sides by class and feature.
    void add(const Node& node, std::span<const std::int64_t> bound, const std::vector<std::int64_t>& inside,
             const std::vector<std::int64_t>& outside, int side_classes);

    // Looks for the archived nodes most similar to this one and raises the bounds on it. Losses of `limit` and more
    // are of no interest.
    void match(const Node& node, std::int64_t limit, std::span<std::int64_t> bound);
    // Raises the bounds on the sides of the node's features by what the matches say.
    void inherit(const Node& node, std::vector<std::int64_t>& inside, std::vector<std::int64_t>& outside,
                 int side_classes);

private:
    struct Entry {
        std::vector<std::uint64_t> rows;            // bits
        std::vector<std::int64_t> bound;            // by class
        std::vector<std::int64_t> inside, outside;  // by class and feature of the problem
    };
    struct Match {
        const Entry* entry;
        std::int64_t loss;
    };
    static constexpr std::size_t kMatches = 32;

    void mark(const Node& node, std::vector<std::uint64_t>& bits) const;

    const Instance& instance_;
    std::vector<Entry> entries_;
    std::size_t next_ = 0;
    std::vector<std::uint64_t> bits_;       // of the node last matched
    std::vector<Match> matches_;
    std::vector<std::int64_t> lost_;
};

}  // namespace goct
