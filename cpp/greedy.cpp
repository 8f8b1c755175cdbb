#include "greedy.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

namespace goct {
namespace {

class Grower {
public:
    Grower(const Problem& problem, const Costs& costs, int depth, Control& control)
        : problem_(problem), costs_(costs), depth_(depth), pace_(control), sums_(costs.classes() + 1) {
        std::vector<int> rows(problem.rows());
        std::iota(rows.begin(), rows.end(), 0);
        nodes_.push_back({std::move(rows)});
    }

    // Looks for the best split of the node added last but `behind`.
    void look(int behind) {
        Node& node = nodes_[nodes_.size() - 1 - behind];
        const std::size_t classes = costs_.classes();
        if (node.level == depth_) return;
        // Costs by class, and weights: of all rows, and of those inside each feature, by running sums up the chains.
        std::vector<std::int64_t> total(sums_), inside(sums_ * problem_.features());
        for (int r : node.rows) {
            const auto add = [&](std::int64_t* sums) {
                for (std::size_t k = 0; k < classes; ++k) sums[k] += costs_.cost(r, static_cast<int>(k));
                sums[classes] += costs_.weight(r);
            };
            pace_.step(sums_ * (problem_.entries_end(r) - problem_.entries_begin(r)));
            add(total.data());
            for (const int* e = problem_.entries_begin(r); e != problem_.entries_end(r); ++e)
                add(inside.data() + *e * sums_);
        }
        const std::int64_t leaf = *std::min_element(total.begin(), total.end() - 1);
        for (int f = problem_.features() - 1; f >= 0; --f) {
            std::int64_t* const sums = inside.data() + f * sums_;
            if (f + 1 < problem_.features() && problem_.chain(f) == problem_.chain(f + 1))
                for (std::size_t k = 0; k < sums_; ++k) sums[k] += sums[sums_ + k];
            if (std::min(sums[classes], total[classes] - sums[classes]) < costs_.min_leaf_weight()) continue;
            std::int64_t in = sums[0], out = total[0] - sums[0];
            for (std::size_t k = 1; k < classes; ++k) {
                in = std::min(in, sums[k]);
                out = std::min(out, total[k] - sums[k]);
            }
            if (leaf - in - out > node.gain) node.gain = leaf - in - out, node.feature = f;
        }
    }

    // Splits the node that gains most; false if none gains more than a split costs.
    bool split() {
        const auto best = std::max_element(nodes_.begin(), nodes_.end(),
                                           [](const Node& a, const Node& b) { return a.gain < b.gain; });
        if (best->gain <= costs_.split_cost()) return false;
        Node node = std::move(*best);
        const auto middle = std::stable_partition(node.rows.begin(), node.rows.end(),
                                                  [&](int r) { return problem_.holds(r, node.feature); });
        best->gain = 0;
        best->inside = static_cast<int>(nodes_.size());
        best->rows.clear();
        nodes_.push_back({{node.rows.begin(), middle}, node.level + 1});
        nodes_.push_back({{middle, node.rows.end()}, node.level + 1});
        return true;
    }

    void write(int n, Preorder& tree) const {
        tree.push_back(nodes_[n].inside < 0 ? kLeaf : nodes_[n].feature);
        for (int side = 0; side < 2 && nodes_[n].inside >= 0; ++side) write(nodes_[n].inside + side, tree);
    }

private:
    struct Node {
        std::vector<int> rows;
        int level = 0;
        std::int64_t gain = 0;
        int feature = -1;       // that gains it
        int inside = -1;        // the node inside, the one outside is the next; -1: a leaf
    };

    const Problem& problem_;
    const Costs& costs_;
    const int depth_;
    Pace pace_;
    const std::size_t sums_;
    std::vector<Node> nodes_;
};

}  // namespace

std::vector<Preorder> grow_greedily(const Problem& problem, const Costs& costs, int depth, int most_splits,
                                    Control& control) {
    Grower grower(problem, costs, depth, control);
    std::vector<Preorder> trees{{kLeaf}};
    try {
        grower.look(0);
        while (static_cast<int>(trees.size()) <= most_splits && grower.split()) {
            trees.emplace_back();
            grower.write(0, trees.back());
            grower.look(1);
            grower.look(0);
        }
    } catch (const SearchStopped&) {
    }
    return trees;
}

GreedyCosts::GreedyCosts(const Instance& instance)
    : instance_(instance), classes_(instance.costs().classes()),
      size_((classes_ + (instance.costs().min_leaf_weight() > 0) + 1) / 2), pace_(instance.control()) {}

// The sums of single rows, in units that leave room for the sum of all.
void GreedyCosts::prepare() {
    const Costs& costs = instance_.costs();
    const int rows = instance_.problem().rows();
    const bool weighted = costs.min_leaf_weight() > 0;
    std::int64_t swing = 0, weight = 0;
    for (int r = 0; r < rows; ++r) swing += costs.swing(r), weight += weighted ? costs.weight(r) : 0;
    const auto shift_for = [](std::int64_t sum) { return std::max(0, static_cast<int>(std::bit_width(std::uint64_t(sum))) - 31); };
    shift_ = shift_for(swing);
    const int weight_shift = shift_for(weight);
    split_cost_ = costs.split_cost() >> shift_;
    least_weight_ = costs.min_leaf_weight() >> weight_shift;
    rows_.assign(size_ * rows, 0);
    const auto put = [&](int r, int k, std::int64_t value) {
        rows_[r * size_ + k / 2] |= static_cast<std::uint64_t>(value) << (32 * (k % 2));
    };
    for (int r = 0; r < rows; ++r) {
        for (int k = 0; k < classes_; ++k) put(r, k, (costs.cost(r, k) - costs.base(r)) >> shift_);
        if (weighted) put(r, classes_, costs.weight(r) >> weight_shift);
    }
}

std::int64_t GreedyCosts::leaf(const std::uint64_t* sums) const {
    std::int64_t least = lane(sums, 0);
    for (int k = 1; k < classes_; ++k) least = std::min(least, lane(sums, k));
    return least;
}

// With two classes, Gini's.
double GreedyCosts::impurity(const std::uint64_t* sums) const {
    if (classes_ == 2) {
        const auto a = static_cast<double>(lane(sums, 0)), b = static_cast<double>(lane(sums, 1));
        return a * b / std::max(a + b, 1.0);
    }
    double most = 0, impurity = 0;
    for (int k = 0; k < classes_; ++k) most += static_cast<double>(lane(sums, k));
    most = std::max(most / (classes_ - 1), 1.0);
    for (int k = 0; k < classes_; ++k) {
        const auto cost = static_cast<double>(lane(sums, k));
        impurity += cost * (most - cost) / most;
    }
    return impurity;
}

// What is inside each feature, before the sums run up the chains.
void GreedyCosts::sum_up(const Node& node, std::span<const int> rows) {
    inside_.assign(size_ * node.features(), 0);
    std::uint64_t* const inside = inside_.data();
    for (int row : rows) {
        const std::uint64_t* const sums = rows_.data() + node.row(row) * size_;
        const int *entry = node.entries_begin(row), *const end = node.entries_end(row);
        pace_.step(size_ * (end - entry));
        if (size_ == 1)
            for (; entry != end; ++entry) inside[*entry] += *sums;
        else
            for (; entry != end; ++entry)
                for (std::size_t k = 0; k < size_; ++k) inside[*entry * size_ + k] += sums[k];
    }
}

// The feature whose sides have the least score, or -1, and the score.
template <class Score>
auto GreedyCosts::best_split(const Node& node, const Sums& total, Score&& score) {
    int best = -1;
    auto least = score(total.data());
    Sums outside(size_);
    for (int f = node.features() - 1; f >= 0; --f) {
        std::uint64_t* const inside = inside_.data() + f * size_;
        const bool chained = f + 1 < node.features() && node.chain_begin()[f] == node.chain_begin()[f + 1];
        for (std::size_t k = 0; k < size_; ++k) {
            if (chained) inside[k] += inside[size_ + k];
            outside[k] = total[k] - inside[k];      // no lane of the total is smaller
        }
        if (least_weight_ > 0 && std::min(lane(inside, classes_), lane(outside.data(), classes_)) < least_weight_) continue;
        const auto left = score(inside) + score(outside.data());
        if (left < least) least = left, best = f;
    }
    return std::pair(best, least);
}

std::int64_t GreedyCosts::find(const Node& node, std::span<int> rows, int depth, std::int64_t limit) {
    if (rows_.empty()) prepare();
    return grow(node, rows, depth, limit >> shift_) << shift_;
}

std::int64_t GreedyCosts::grow(const Node& node, std::span<int> rows, int depth, std::int64_t limit) {
    if (limit <= 0) return 0;
    Sums total(size_);
    for (int row : rows)
        for (std::size_t k = 0; k < size_; ++k) total[k] += rows_[node.row(row) * size_ + k];
    const std::int64_t cost = leaf(total.data());
    if (depth == 0 || cost <= split_cost_) return cost;
    sum_up(node, rows);
    if (depth == 1) {
        const auto stump = best_split(node, total, [&](const std::uint64_t* sums) { return leaf(sums); });
        return std::min(cost, split_cost_ + stump.second);
    }
    const int f = best_split(node, total, [&](const std::uint64_t* sums) { return impurity(sums); }).first;
    if (f < 0) return cost;
    const auto middle = std::partition(rows.begin(), rows.end(), [&](int row) {
        return instance_.problem().holds(node.row(row), node.feature(f));
    });
    std::int64_t sides = split_cost_;
    for (const std::span<int> side : {std::span(rows.begin(), middle), std::span(middle, rows.end())})
        sides += grow(node, side, depth - 1, std::min(limit, cost) - sides);
    return std::min(cost, sides);
}

}  // namespace goct
