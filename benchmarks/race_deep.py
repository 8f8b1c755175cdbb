"""Race for deep trees: accuracy minus 0.0005 per split at depths 5 to 10, within a second.

    python benchmarks/race_deep.py

licketysplit (pip install licketysplit), which finds good trees in polynomial time and proves
nothing, sets the pace: goct's search engine gets three times its CPU time, and never more than a
second. Objectives are errors plus the price of the splits in errors: smaller is better.
"""

from __future__ import annotations

import time
from fractions import Fraction

from common import load, row
from common import parser as make_parser
from goct import Problem, solve

NAMES = "yeast spambase magic04 pendigits diabetes heart colic fico compas HTRU_2"
PRICE = Fraction(1, 2000)
MOST = 1.0


def main() -> None:
    from licketysplit import LicketySPLITClassifier

    parser = make_parser(__doc__, NAMES.split(), [5, 6, 8, 10])
    options = parser.parse_args()
    row("dataset", "depth", "licketysplit", "goct", "seconds", "goct's", "bound")
    row("---", *["---:"] * 6)
    as_good = total = 0
    for name in options.names:
        X, y = load(options.data, name)
        for depth in options.depths:
            model = LicketySPLITClassifier(lambda_leaf=float(PRICE), depth_budget=depth)
            start = time.process_time()
            model.fit(X, y)
            seconds = time.process_time() - start
            # It counts leaves, of which there is one more than splits.
            theirs = model.last_objective - float(PRICE) * len(y)
            begin = time.process_time()
            end = begin + min(3 * seconds, MOST)
            solution = solve(
                Problem.from_arrays(X, y),
                "accuracy",
                depth,
                split_penalty=PRICE,
                time_limit=options.limit,
                callback=lambda _, end=end: time.process_time() > end,
                fewest_splits=False,
            )
            spent = time.process_time() - begin
            own, bound = (float(1 - v) * len(y) for v in (solution.objective, solution.bound))
            total += 1
            as_good += own <= theirs + 1e-6
            marked = f"{own:.2f}" if own <= theirs + 1e-6 else f"{own:.2f} (worse)"
            row(
                name,
                depth,
                f"{theirs:.2f}",
                marked,
                f"{seconds:.3f}",
                f"{spent:.3f}",
                f"{bound:.2f}",
            )
    print(f"\nat least as good: {as_good} of {total}")


if __name__ == "__main__":
    main()
