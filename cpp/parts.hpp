// A question in parts, for those who spread it over machines.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "oracle.hpp"

namespace goct {

// The trees of a question by their first split. Each part is searched for itself, in any order and on any machine that has
// the same data; the best answer of all parts is the one of the question. What is learnt stays for the next part. Trees
// of depth two belong to every part.
class Parts {
public:
    struct Root {
        int column;
        std::int64_t bound;     // on trees that begin with it, of the largest budget
    };

    // The cutoffs are those of Oracle::solve_budgets if the question has split budgets, otherwise one. Later ones may be
    // lower. A question that trees of depth two settle has an empty order. The oracle must live as long.
    static std::unique_ptr<Parts> make(Oracle& oracle, const Question& question,
                                       const std::vector<std::int64_t>& cutoffs);
    virtual ~Parts() = default;

    Control control;            // restarted for every call
    virtual const Cache& cache() const = 0;

    // All first splits in the order in which ties are decided, from the first on. Throws SearchStopped.
    virtual std::vector<Root> order() = 0;
    // The cheapest trees below the cutoffs, one or one per budget, that begin with one of these columns, in order.
    virtual std::vector<Answer> solve(const std::vector<int>& columns, const std::vector<std::int64_t>& cutoffs) = 0;

private:
    template <class V>
    class Of;
};

}  // namespace goct
