#include "greedy.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

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
    : instance_(instance), costs_(instance.costs()), size_(costs_.classes() + 2), pace_(instance.control()) {}

void GreedyCosts::add(const Node& node, int row, std::int64_t* sums) const {
    const int r = node.row(row);
    sums[0] += costs_.swing(r);
    sums[1] += costs_.weight(r);
    for (int k = 0; k < costs_.classes(); ++k) sums[2 + k] += costs_.cost(r, k) - costs_.base(r);
}

std::int64_t GreedyCosts::leaf(const std::int64_t* sums) const {
    return *std::min_element(sums + 2, sums + size_);
}

// With two classes, Gini's.
double GreedyCosts::impurity(const std::int64_t* sums) const {
    if (sums[0] == 0) return 0;
    const auto swing = static_cast<double>(sums[0]);
    double impurity = 0;
    for (std::size_t k = 2; k < size_; ++k) {
        const auto cost = static_cast<double>(sums[k]);
        impurity += cost * (swing - cost) / swing;
    }
    return impurity;
}

// The feature that leaves the least impurity, or -1.
int GreedyCosts::best_split(const Node& node, std::span<const int> rows, const Sums& total) {
    const int features = node.features();
    inside_.assign(size_ * features, 0);
    for (int row : rows) {
        pace_.step(size_ * (node.entries_end(row) - node.entries_begin(row)));
        for (const int* e = node.entries_begin(row); e != node.entries_end(row); ++e)
            add(node, row, inside_.data() + *e * size_);
    }
    int best = -1;
    double least = impurity(total.data());
    Sums outside(size_);
    for (int f = features - 1; f >= 0; --f) {
        std::int64_t* const inside = inside_.data() + f * size_;
        if (f + 1 < features && node.chain_begin()[f] == node.chain_begin()[f + 1])
            for (std::size_t k = 0; k < size_; ++k) inside[k] += inside[size_ + k];
        for (std::size_t k = 0; k < size_; ++k) outside[k] = total[k] - inside[k];
        if (std::min(inside[1], outside[1]) < costs_.min_leaf_weight()) continue;
        const double left = impurity(inside) + impurity(outside.data());
        if (left < least) least = left, best = f;
    }
    return best;
}

std::int64_t GreedyCosts::find(const Node& node, std::span<int> rows, int depth) {
    Sums total(size_);
    for (int row : rows) add(node, row, total.data());
    const std::int64_t cost = leaf(total.data());
    if (depth == 0 || cost <= costs_.split_cost()) return cost;
    const int f = best_split(node, rows, total);
    if (f < 0) return cost;
    const auto middle = std::partition(rows.begin(), rows.end(), [&](int row) {
        return instance_.problem().holds(node.row(row), node.feature(f));
    });
    const std::span<int> inside(rows.begin(), middle), outside(middle, rows.end());
    return std::min(cost, costs_.split_cost() + find(node, inside, depth - 1) + find(node, outside, depth - 1));
}

}  // namespace goct
