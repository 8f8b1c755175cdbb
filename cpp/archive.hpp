// Bounds inherited from similar row sets that were searched before.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "node.hpp"

namespace goct {

// A tree for one row set, used on another, costs at most the swings of the rows that only the first one has less. That
// holds for a whole node and for each side of each of its features, so a searched node leaves lower bounds to every
// node that shares most of its rows, such as the one under the next threshold of the same variable.
//
// One shelf holds the latest nodes searched to one depth, by all threads; an archive is what one of them needs to use it.
class Archive {
    struct Entry {
        std::vector<std::uint64_t> rows;            // bits
        std::int64_t swing;
        std::vector<std::int64_t> bound;            // by class
        std::vector<Bound> inside, outside;         // by class and feature of the problem
    };

public:
    static constexpr std::size_t kEntries = 64;

    class Shelf {
        friend class Archive;
        std::mutex lock_;
        std::vector<std::shared_ptr<const Entry>> entries_;     // do not change any more
        std::size_t next_ = 0;
    };

    Archive(const Instance& instance, Shelf& shelf) : instance_(instance), shelf_(shelf) {}

    // Bounds on the node by class of trees, and on its sides by class and feature.
    void add(const Node& node, std::span<const std::int64_t> bound, const std::vector<Bound>& inside,
             const std::vector<Bound>& outside, int side_classes);

    // Looks for the archived nodes most similar to this one and raises the bounds on it. Losses of `limit` and more
    // are of no interest.
    void match(const Node& node, std::int64_t limit, std::span<std::int64_t> bound);
    // Raises the bounds on the sides of the node's features by what the matches say.
    void inherit(const Node& node, std::vector<Bound>& inside, std::vector<Bound>& outside, int side_classes);

private:
    struct Match {
        const Entry* entry;
        std::int64_t loss;
    };
    static constexpr std::size_t kMatches = 32;

    void mark(const Node& node, std::vector<std::uint64_t>& bits) const;

    const Instance& instance_;
    Shelf& shelf_;
    std::vector<std::shared_ptr<const Entry>> entries_;     // as they were at the last match
    std::vector<std::uint64_t> bits_;       // of the node last matched
    std::vector<Match> matches_;
    std::vector<std::int64_t> lost_;
    std::vector<Bound> lost_inside_, lost_outside_;     // by feature of the problem
    std::vector<Bound> inside_, outside_;               // the best bounds, by class and feature of the problem
};

}  // namespace goct
