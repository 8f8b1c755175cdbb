#include "ranked_node.hpp"

#include <algorithm>

namespace goct {

// Rows that are not here have the number behind the last one, and go where the next ones are put: no branch is taken.
void RankedNode::make_root(const RankedColumns& data, const Costs& costs, bool all, Control& control) {
    Pace pace(control);
    row_.clear();
    for (int r = 0; r < data.rows(); ++r)
        if (all || costs.active(r)) row_.push_back(r);
    renamed_.assign(data.rows(), rows());
    for (int i = 0; i < rows(); ++i) renamed_[row_[i]] = i;
    make_room(data.columns(), data.thresholds() + data.columns());
    std::vector<int> ends;
    std::vector<std::uint32_t> ranks;
    for (int c = 0; c < data.columns(); ++c) {
        const int* const order = data.order(c);
        ends.clear(), ranks.clear();
        for (int k = 0; k < data.rows(); ++k) {
            if (ranks.empty() || data.rank(order[k], c) != ranks.back()) {
                ranks.push_back(data.rank(order[k], c));
                ends.push_back(k);
            }
            ends.back() = k + 1;
            pace.step(8);
        }
        add_column(c, order, ends.data(), ranks.data(), static_cast<int>(ends.size()));
    }
    sum_up(data, costs);
}

void RankedNode::make_child(const RankedNode& parent, const RankedColumns& data, const Costs& costs, int c, int t,
                            bool right) {
    const int left_rows = parent.ends(c)[t], count = right ? parent.rows() - left_rows : left_rows;
    const int* const parent_group = parent.group(c);
    row_.resize(count + 1);
    renamed_.resize(parent.rows());
    for (int i = 0, next = 0; i < parent.rows(); ++i) {
        const bool here = (parent_group[i] > t) == right;
        renamed_[i] = here ? next : count;
        row_[next] = parent.row_[i];
        next += here;
    }
    row_.resize(count);
    add_columns(parent);
    sum_up(data, costs);
}

void RankedNode::make_child(const RankedNode& parent, std::span<const int> rows) {
    row_.clear();
    renamed_.assign(parent.rows(), static_cast<int>(rows.size()));
    for (const int r : rows) {
        renamed_[r] = this->rows();
        row_.push_back(parent.row_[r]);
    }
    add_columns(parent);
}

void RankedNode::add_columns(const RankedNode& parent) {
    make_room(parent.columns(), parent.columns() == 0 ? 0 : parent.group_begin_.back());
    for (int d = 0; d < parent.columns(); ++d)
        add_column(parent.column(d), parent.order(d), parent.ends(d), parent.rank_.data() + parent.group_begin_[d],
                   parent.groups(d));
}

void RankedNode::make_room(int columns, int groups) {
    column_.clear();
    group_begin_.assign(1, 0);
    order_.resize(row_.size() * columns + 1);
    group_.resize(order_.size());
    ends_.resize(groups);
    rank_.resize(groups);
}

// The groups of the rows that are here, unless all of them are one.
void RankedNode::add_column(int column, const int* order, const int* ends, const std::uint32_t* ranks, int groups) {
    const std::size_t at = column_.size() * row_.size();
    const int begin = group_begin_.back(), count = rows();
    const int* const renamed = renamed_.data();
    int *const my_order = order_.data() + at, *const my_group = group_.data() + at, *const my_ends = ends_.data() + begin;
    int position = 0, group = 0;
    for (int k = 0, g = 0; g < groups; ++g) {
        const int before = position;
        for (; k < ends[g]; ++k) {
            const int i = renamed[order[k]];
            my_order[position] = i;
            my_group[i] = group;
            position += i < count;
        }
        my_ends[group] = position;
        rank_[begin + group] = ranks[g];
        group += position > before;
    }
    if (group < 2) return;
    column_.push_back(column);
    group_begin_.push_back(begin + group);
}

void RankedNode::sum_up(const RankedColumns& data, const Costs& costs) {
    key_ = {};
    base_ = swing_ = weight_ = 0;
    std::vector<std::int64_t> sums(costs.classes(), 0);
    for (const int r : row_) {
        key_ += data.key(r);
        base_ += costs.base(r);
        swing_ += costs.swing(r);
        weight_ += costs.weight(r);
        for (int k = 0; k < costs.classes(); ++k) sums[k] += costs.cost(r, k);
    }
    leaf_ = *std::min_element(sums.begin(), sums.end()) - base_;
}

RankedNode::Place RankedNode::place(const RankedColumns& data, int name) const {
    const auto [column, rank] = data.place(name);
    const int c = static_cast<int>(std::lower_bound(column_.begin(), column_.end(), column) - column_.begin());
    if (c == columns()) return {c, 0};
    const auto begin = rank_.begin() + group_begin_[c], end = rank_.begin() + group_begin_[c + 1];
    return {c, static_cast<int>(std::lower_bound(begin, end, rank) - begin)};
}

RankedNode::Name RankedNode::side(const RankedColumns& data, const Costs& costs, int c, int t, bool right) const {
    // Whichever side is smaller is summed up.
    const int middle = ends(c)[t];
    const bool first_half = 2 * middle <= rows();
    const int *const begin = order(c) + (first_half ? 0 : middle), *const end = order(c) + (first_half ? middle : rows());
    Name name{{}, 0};
    for (const int* k = begin; k != end; ++k) {
        name.key += data.key(row_[*k]);
        name.base += costs.base(row_[*k]);
    }
    if (right == !first_half) return name;
    Name other{key_, base_ - name.base};
    other.key -= name.key;
    return other;
}

}  // namespace goct
