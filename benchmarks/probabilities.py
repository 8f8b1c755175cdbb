"""How good are probabilities: log loss and Brier score of smoothed leaves on raw tables.

    python benchmarks/probabilities.py tables

The folder holds CSV files and a catalog of them. Trees are learned with the defaults of the
estimator in five-fold cross-validation, on at most so many rows of each table.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from goct import OptimalTreeClassifier
from goct.probabilities import Smoothing

METHODS = {
    "none": Smoothing("none"),
    "laplace 1": Smoothing("laplace", 1),
    "laplace 2": Smoothing("laplace", 2),
    "parent 1": Smoothing("parent", 1),
    "parent 2": Smoothing("parent", 2),
    "parent 5": Smoothing("parent", 5),
    "parent 10": Smoothing("parent", 10),
    "parent 20": Smoothing("parent", 20),
}


def losses(X: pd.DataFrame, y: np.ndarray, depth: int, limit: float) -> pd.DataFrame:
    """Return log loss and Brier score of each method on held-out rows, by fold."""
    found = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        tree = OptimalTreeClassifier(max_depth=depth, time_limit=limit)
        tree.fit(X.iloc[train], y[train])
        truth = (y[test][:, None] == tree.classes_).astype(float)
        for name, smoothing in METHODS.items():
            shares = tree.set_params(smoothing=smoothing).predict_proba(X.iloc[test])
            found.append(
                {
                    "method": name,
                    "log loss": log_loss(y[test], shares, labels=tree.classes_),
                    "brier": ((shares - truth) ** 2).sum(axis=1).mean(),
                    "certain": np.mean(shares.max(axis=1) == 1),
                }
            )
    return pd.DataFrame(found).groupby("method", sort=False).mean()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=2000, help="rows of each table at most")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds for each tree")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = {}
    for entry in pd.read_csv(options.folder / "catalog.csv").itertuples():
        frame = pd.read_csv(options.folder / f"{entry.table}.csv.gz")
        frame = frame.sample(min(options.rows, len(frame)), random_state=0)
        y = frame.pop(entry.target).to_numpy()
        common = np.isin(y, [k for k in np.unique(y) if (y == k).sum() >= 5])
        tables[entry.table] = losses(frame[common], y[common], options.depth, options.limit)
        print(entry.table, tables[entry.table]["log loss"].round(4).to_dict(), flush=True)
    mean = sum(tables.values()) / len(tables)
    best = pd.concat({k: t["log loss"] == t["log loss"].min() for k, t in tables.items()}, axis=1)
    print(f"\nmeans over {len(tables)} tables")
    print(mean.assign(**{"best log loss": best.sum(axis=1)}).round(4).to_string())


if __name__ == "__main__":
    main()
