#include "ranked_node.hpp"

#include <algorithm>

namespace goct {

void RankedNode::make_root(const RankedColumns& data, const Costs& costs, bool all, Control& control) {
    Pace pace(control);
    row_.clear();
    renamed_.assign(data.rows(), -1);
    for (int r = 0; r < data.rows(); ++r) {
        if (!all && !costs.active(r)) continue;
        renamed_[r] = rows();
        row_.push_back(r);
    }
    column_.clear();
    ends_.clear();
    rank_.clear();
    group_begin_.assign(1, 0);
    const std::size_t size = row_.size() * data.columns();
    order_.resize(size);
    group_.resize(size);
    for (int c = 0; c < data.columns(); ++c) {
        const std::size_t at = column_.size() * row_.size();
        const int* const order = data.order(c);
        int position = 0;
        for (int k = 0; k < data.rows(); ++k) {
            pace.step(8);
            const int i = renamed_[order[k]];
            if (i < 0) continue;
            const std::uint32_t rank = data.rank(order[k], c);
            if (position == 0 || rank != rank_.back()) {
                rank_.push_back(rank);
                ends_.push_back(position);
            }
            order_[at + position] = i;
            group_[at + i] = static_cast<int>(rank_.size()) - 1 - group_begin_.back();
            ends_.back() = ++position;
        }
        column_.push_back(c);
        group_begin_.push_back(static_cast<int>(rank_.size()));
        drop_if_constant();
    }
    sum_up(data, costs);
}

// The groups of the rest are found by walking the parent's order.
void RankedNode::make_child(const RankedNode& parent, const RankedColumns& data, const Costs& costs, int c, int t,
                            bool right) {
    const int left_rows = parent.ends(c)[t], count = right ? parent.rows() - left_rows : left_rows;
    const int* const parent_group = parent.group(c);
    row_.resize(count);
    renamed_.resize(parent.rows());
    int next = 0;
    for (int i = 0; i < parent.rows(); ++i) {
        const bool here = (parent_group[i] > t) == right;
        renamed_[i] = here ? next : -1;
        if (here) row_[next++] = parent.row_[i];
    }
    column_.clear();
    ends_.clear();
    rank_.clear();
    group_begin_.assign(1, 0);
    order_.resize(std::size_t(count) * parent.columns());
    group_.resize(order_.size());
    for (int d = 0; d < parent.columns(); ++d) {
        add_column(parent, d);
        drop_if_constant();
    }
    sum_up(data, costs);
}

void RankedNode::add_column(const RankedNode& parent, int d) {
    const std::size_t at = column_.size() * row_.size();
    const int *const order = parent.order(d), *const ends = parent.ends(d);
    int *const my_order = order_.data() + at, *const my_group = group_.data() + at;
    int position = 0, group = 0;
    for (int k = 0, g = 0; g < parent.groups(d); ++g) {
        const int before = position;
        for (; k < ends[g]; ++k) {
            const int i = renamed_[order[k]];
            if (i < 0) continue;
            my_order[position++] = i;
            my_group[i] = group;
        }
        if (position == before) continue;
        ++group;
        ends_.push_back(position);
        rank_.push_back(parent.rank(d, g));
    }
    column_.push_back(parent.column(d));
    group_begin_.push_back(static_cast<int>(rank_.size()));
}

void RankedNode::drop_if_constant() {
    if (groups(columns() - 1) > 1) return;
    column_.pop_back();
    group_begin_.pop_back();
    ends_.resize(group_begin_.back());
    rank_.resize(group_begin_.back());
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
