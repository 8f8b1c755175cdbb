// A row set of ranked columns, presorted by each of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costs.hpp"
#include "ranked_columns.hpp"

namespace goct {

// Rows are numbered 0, 1, ... in the node. The columns with more than one value here remain; the rows of one value are a
// group, and groups are numbered by value. Threshold t of a column, 0 <= t < groups - 1, has the groups up to t on its
// left.
class RankedNode {
public:
    // All rows, or all that matter.
    void make_root(const RankedColumns& data, const Costs& costs, bool all, Control& control);
    // One side of a threshold of the parent, whose buffers must be others.
    void make_child(const RankedNode& parent, const RankedColumns& data, const Costs& costs, int c, int t, bool right);

    // Some rows of the parent, in this order, whose sums nobody wants.
    void make_child(const RankedNode& parent, std::span<const int> rows);

    int rows() const { return static_cast<int>(row_.size()); }
    int columns() const { return static_cast<int>(column_.size()); }
    int row(int i) const { return row_[i]; }                            // in the problem
    int column(int c) const { return column_[c]; }                      // in the problem
    int groups(int c) const { return group_begin_[c + 1] - group_begin_[c]; }
    // The rows by value.
    const int* order(int c) const { return order_.data() + std::size_t(c) * rows(); }
    // By row.
    const int* group(int c) const { return group_.data() + std::size_t(c) * rows(); }
    // By group: rows of this group and those before it; the rank.
    const int* ends(int c) const { return ends_.data() + group_begin_[c]; }
    std::uint32_t rank(int c, int g) const { return rank_[group_begin_[c] + g]; }
    // A threshold among those of the problem, and the other way round.
    int name(const RankedColumns& data, int c, int t) const { return data.threshold(column_[c], rank(c, t)); }
    struct Place {
        int column, threshold;
    };
    Place place(const RankedColumns& data, int name) const;
    // All thresholds of the node, numbered through.
    int cuts() const { return columns() == 0 ? 0 : group_begin_.back() - columns(); }
    int cut(int c, int t) const { return group_begin_[c] - c + t; }
    Place place_of(int cut) const {
        int c = columns() - 1;
        while (this->cut(c, 0) > cut) --c;
        return {c, cut - this->cut(c, 0)};
    }

    const Key& key() const { return key_; }
    std::int64_t base() const { return base_; }
    std::int64_t swing() const { return swing_; }
    std::int64_t leaf() const { return leaf_; }                         // avoidable cost of the best leaf
    std::int64_t weight() const { return weight_; }
    // The key and the base of one side of a threshold, without making it.
    struct Name {
        Key key;
        std::int64_t base;
    };
    Name side(const RankedColumns& data, const Costs& costs, int c, int t, bool right) const;

private:
    void add_columns(const RankedNode& parent);
    void make_room(int columns, int groups);
    void add_column(int column, const int* order, const int* ends, const std::uint32_t* ranks, int groups);
    void sum_up(const RankedColumns& data, const Costs& costs);

    std::vector<int> row_, column_, order_, group_, ends_, group_begin_;
    std::vector<std::uint32_t> rank_;
    std::vector<int> renamed_;      // of the parent's rows, or the problem's
    Key key_;
    std::int64_t base_ = 0, swing_ = 0, leaf_ = 0, weight_ = 0;
};

}  // namespace goct
