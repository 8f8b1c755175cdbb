"""Is `score_estimate_` true: what cross-validation expects of new rows, and what they give.

    python benchmarks/estimates.py

On noise, where every column and the label are coins, and on datasets of which most rows are held
out. The interval is the estimate and 1.96 standard errors to both sides.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from common import default_folder, load, row
from goct import OptimalTreeClassifierCV
from goct.bench.data import Features, Labels

NAMES = ["bank", "banknote", "car-binary", "compas", "fico", "kr", "magic04", "spambase",
         "winequality-red", "yeast"]  # fmt: skip
Parts = tuple[Features, Labels, Features, Labels]


def noise(rows: int, seed: int) -> Parts:
    """Return coins: rows to learn from, half of them of each class, and new ones."""
    rng = np.random.default_rng([7, seed])
    X, y = rng.integers(0, 2, (rows, 12)), rng.permutation(np.arange(rows) % 2)
    return X, y, rng.integers(0, 2, (4000, 12)), rng.integers(0, 2, 4000)


def divided(X: Features, y: Labels, rows: int, seed: int) -> Parts:
    """Return some rows to learn from, and all others of their classes."""
    order = np.random.default_rng([7, seed]).permutation(len(y))
    own, new = order[:rows], order[rows:]
    new = new[np.isin(y[new], y[own])]
    return X[own], y[own], X[new], y[new]


def scores(parts: Parts, metric: str, depth: int, seed: int) -> tuple[float, ...]:
    """Return what new rows give, what was expected, its error, and the score of the choice."""
    warnings.simplefilter("ignore")
    X, y, X_new, y_new = parts
    tuned = OptimalTreeClassifierCV(metric, depth, binarizer="none", random_state=seed)
    tuned.fit(X, y)
    estimate, error = tuned.score_estimate_
    return tuned.score(X_new, y_new), estimate, 1.96 * error, tuned.best_score_


def samples(options: argparse.Namespace) -> Iterator[tuple[str, int, Iterator[Parts]]]:
    """Yield a name, the number of rows to learn from, and the samples."""
    for rows in options.noise:
        many = range(options.repeats)
        yield "noise", rows, (noise(rows, seed) for seed in many)
    for name in options.names:
        X, y = load(options.data, name)
        many = range(options.samples)
        yield name, options.rows, (divided(X, y, options.rows, seed) for seed in many)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=default_folder(), help="folder of datasets")
    parser.add_argument("--names", nargs="*", default=NAMES)
    parser.add_argument("--noise", type=int, nargs="*", default=[100], help="rows of noise")
    parser.add_argument("--repeats", type=int, default=200, help="samples of noise")
    parser.add_argument("--samples", type=int, default=40, help="samples of each dataset")
    parser.add_argument("--rows", type=int, default=300, help="rows to learn from")
    parser.add_argument("--metric", default="accuracy")
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    row("rows", "", "new rows", "estimate", "difference", "best_score_", "covered by the interval")
    row("---", "---:", "---:", "---:", "---:", "---:", "---:")
    for name, rows, parts in samples(options):
        found = np.array(
            Parallel(options.jobs)(
                delayed(scores)(part, options.metric, options.depth, seed)
                for seed, part in enumerate(parts)
            )
        )
        new, estimate, margin, best = found.T
        difference = estimate - new
        deviation = difference.std() / np.sqrt(len(found))
        covered = np.mean(np.abs(difference) <= margin)
        means = [f"{values.mean():.4f}" for values in (new, estimate)]
        shown = f"{difference.mean():+.4f} ± {deviation:.4f}"
        row(name, rows, *means, shown, f"{best.mean():.4f}", f"{covered:.0%}")


if __name__ == "__main__":
    main()
