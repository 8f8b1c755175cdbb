// The linear oracle: the owner of data, cache and bounds, living across calls with different costs.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cache.hpp"
#include "control.hpp"
#include "costs.hpp"
#include "front_search.hpp"
#include "problem.hpp"
#include "ranked_columns.hpp"
#include "search.hpp"

namespace goct {

// Node 0 is the root. Rows with a 1 in column `feature` go to `right`, the others to `left`.
struct TreeNode {
    int feature;    // -1: a leaf
    int left, right;
    int label;      // of a leaf

    bool operator==(const TreeNode&) const = default;
};
using Tree = std::vector<TreeNode>;

struct Question {
    const std::int64_t* costs;          // rows x classes
    int classes;
    std::int64_t split_cost = 0;
    int max_depth = 0;
    std::int64_t min_leaf_weight = 0;
    std::optional<std::int64_t> cutoff; // only trees that cost less are wanted
    std::optional<int> max_splits;
    Effort effort = Effort::all;        // of one question without a limit on splits
    Delegate* delegate = nullptr;       // does most of the work; not over thresholds
};

struct Answer {
    Tree tree;                  // empty: none below the cutoff was found
    std::int64_t cost = 0;      // of the tree
    std::int64_t bound = 0;     // no tree costs less
    bool proven = false;        // the tree is optimal, or there is none below the cutoff; not after less than all effort
};

// What is asked about trees whose false negatives weigh x and false positives y, counted by row: points with
// direction.x * x + direction.y * y <= limits.budget, x <= limits.x, y <= limits.y.
struct FrontQuestion {
    const std::int64_t* positives;      // per row
    const std::int64_t* negatives;
    Units direction;                    // positive
    Limits limits;
    int max_depth = 0;
    std::int64_t min_leaf_weight = 0;
    std::optional<int> max_splits;
    Keep keep = Keep::last;
};

struct FrontAnswer {
    struct Found {
        Tree tree;              // labels 0 and 1
        Spot point;             // counted from the rows
    };
    std::vector<Found> found;   // of the wanted points that were to be kept
    bool proven = false;        // nothing was left out
};

// Answers one question at a time and refuses a second one meanwhile with std::runtime_error. Set-up is part of the
// first question: one that is stopped before the search begins is answered by the best tree without splits.
class Oracle {
public:
    // The cells, 0 or 1, must live until a question was answered without a stop.
    Oracle(const std::uint8_t* cells, std::size_t rows, std::size_t columns, const std::int64_t* row_weights,
           std::size_t memory_limit, int jobs, const Techniques& techniques);

    // The same for thresholds of ranked columns (see RankedColumns), whose ranks come column by column and must live as
    // long as the oracle. The features of trees are thresholds. Columns of so many thresholds or fewer are narrow: they
    // are searched as features. If there are no more than `few` in all, all columns are; and none if the others are too many
    // for that to pay. With `few` 0 it is for each column by itself to say.
    Oracle(const std::uint32_t* ranks, std::size_t rows, std::size_t columns, const std::int64_t* row_weights,
           std::size_t memory_limit, int jobs, const Techniques& techniques, int narrow = 8,
           int few = 500);

    int rows() const { return rows_; }
    const Cache& cache() const { return cache_; }
    bool has_wide() const { return !wide_columns_.empty(); }
    // Are there features to search, or only thresholds?
    bool has_features(int classes, std::int64_t min_leaf_weight) const {
        if (wide_columns_.empty()) return true;
        return wide_columns_.size() < columns_ && classes == 2 && min_leaf_weight == 0;
    }

    Answer solve(const Question& question, Control& control);

    // One answer per split budget 0 .. max_splits, split costs not included. Of the question, split_cost and cutoff are
    // not read; `cutoffs` has one per budget, or is empty.
    std::vector<Answer> solve_budgets(const Question& question, const std::vector<std::int64_t>& cutoffs,
                                      Control& control);

    // Visits points of trees until each tree within the limits, which shrink as `visit` says, is dominated by a visited
    // point. Points and limits are in counts.
    FrontAnswer search_front(const FrontQuestion& question, const FrontVisit& visit, Control& control);

private:
    friend class Helper;
    static constexpr int kDeepest = 250;    // depth fits the cache's byte; no tree of this size is searched to the end
    struct Known {
        int number;
        std::unique_ptr<Costs> costs;
    };

    // Does the search over features, with wide columns beside them, answer this, and not that over thresholds?
    bool has_features(const Question& question) const {
        return has_features(question.classes, question.min_leaf_weight);
    }
    int name_of(int feature) const;     // of the problem, in answers
    void prepare_columns(Control& control);

    std::unique_lock<std::mutex> begin();
    template <class Ask, class Otherwise>
    auto answer(Ask&& ask, Otherwise&& otherwise);
    const Problem& prepare(Control& control, const Costs& costs);
    struct Plan {
        Techniques techniques;
        int jobs;
        std::size_t matrix_bytes;
    };
    Plan fit_memory(const Costs& costs, int depth, int classes, int jobs, Control& control);
    // A search, and what it stands on. Trees of `cutoff` and more are not wanted.
    template <class V>
    struct Run {
        Run(Oracle& oracle, const Known& known, int depth, int classes, std::int64_t cutoff, Delegate* delegate,
            Control& control);

        const std::vector<Ratio> ratios;
        const Plan plan;
        const bool priced;
        const Instance instance;
        Search<V> search;
    };
    static std::int64_t unavoidable(const Costs& costs);    // from the costs of the input to avoidable ones
    int most_useful(const Question& question) const;
    static std::vector<std::int64_t> avoidable_cutoffs(const std::vector<std::int64_t>& cutoffs, int most,
                                                       std::int64_t base);
    std::vector<Answer> start(const Costs& costs, int depth, int splits, Control& control) const;
    void update(Answer& answer, std::int64_t bound, const Costs& costs, const Preorder& preorder,
                bool is_whole) const;
    Answer find(const Question& question, Control& control);
    std::vector<Answer> find_budgets(const Question& question, const std::vector<std::int64_t>& cutoffs,
                                     Control& control);
    FrontAnswer walk_front(const FrontQuestion& question, const FrontVisit& visit, Control& control);
    Answer find_within_budget(const Question& question, Control& control);
    Answer find_thresholds(const Question& question, Control& control);
    std::vector<Answer> find_threshold_budgets(const Question& question, const std::vector<std::int64_t>& cutoffs,
                                               Control& control);
    struct Ranked {
        const RankedColumns& data;
        int jobs;
    };
    Ranked prepare_ranks(Control& control, const Costs& costs, int depth);
    const Known& register_costs(const Question& question);
    std::vector<Ratio> ratios_to(const Known& known, Control& control) const;
    template <class LeafLabel>
    Tree build_tree(const Preorder& preorder, LeafLabel&& leaf_label) const;
    Tree build_tree(const Costs& costs, const Preorder& preorder, std::int64_t& cost) const;

    const std::uint8_t* cells_;
    const std::uint32_t* ranks_ = nullptr;
    int rows_;
    std::size_t columns_;
    std::optional<Problem> problem_;            // of cells, or of ranks: then columns with few thresholds are features
    std::optional<RankedColumns> ranked_;       // of ranks
    bool asks_ranks_ = false;                   // does the question at hand ask the latter?
    // Of ranks: by column, its first threshold, and if it is wide; ranks of the wide ones, and the thresholds that are features.
    std::vector<int> first_;
    std::vector<std::uint8_t> is_wide_;
    std::vector<std::uint32_t> wide_ranks_;
    std::vector<int> wide_columns_, feature_names_;
    std::optional<RankedColumns> wide_;
    std::vector<std::int64_t> row_weights_;
    Techniques techniques_;
    int jobs_;
    std::size_t memory_limit_;
    Cache cache_;
    std::deque<Known> known_;   // the costs whose bounds are still of use, oldest first
    int next_number_ = 0;
    std::mutex busy_;
};

}  // namespace goct
