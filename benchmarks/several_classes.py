"""Several classes: what trees for accuracy and for balanced accuracy are worth on new rows.

    python benchmarks/several_classes.py datasets tables

The folders hold datasets of 0/1 columns, or CSV files and a catalog of them; those of more than
two classes take part, with so many rows at most. Every tree learns from three quarters of the
rows and is measured on the others; the figures are means over the splits.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, balanced_accuracy_score, cohen_kappa_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from goct import OptimalTreeClassifier
from goct.bench.data import Folder


def tables(folder: Path, rows: int) -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """Yield name, columns and labels of what has several classes, without those of few rows."""
    catalog = pd.read_csv(folder / "catalog.csv")
    for entry in catalog[catalog.classes > 2].itertuples():
        if hasattr(entry, "table"):
            frame = pd.read_csv(folder / f"{entry.table}.csv.gz")
            name, y = entry.table, frame.pop(entry.target).to_numpy()
        else:
            name = entry.dataset
            X, y = Folder(folder).read(name)
            frame = pd.DataFrame(X)
        chosen = np.random.default_rng(0).permutation(len(y))[:rows]
        frame, y = frame.iloc[chosen], y[chosen]
        common = np.isin(y, [k for k in np.unique(y) if (y == k).sum() >= 4])
        yield name, frame[common], y[common]


def measure(y: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    return {
        "accuracy": accuracy_score(y, predicted),
        "balanced": balanced_accuracy_score(y, predicted),
        "macro-F1": f1_score(y, predicted, average="macro", zero_division=0),
        "kappa": cohen_kappa_score(y, predicted),
        "never predicted": len(np.setdiff1d(y, predicted)),
    }


def main() -> None:
    """Print a table for each depth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rows", type=int, default=2000, help="rows of each table at most")
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4])
    parser.add_argument("--splits", type=int, default=5, help="how often the rows are divided")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds for each tree")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for folder in options.folders:
        for name, X, y in tables(folder, options.rows):
            for depth in options.depths:
                learners = {
                    metric: OptimalTreeClassifier(
                        metric, depth, min_samples_leaf=5, time_limit=options.limit
                    )
                    for metric in ("accuracy", "balanced_accuracy")
                }
                learners["CART"] = DecisionTreeClassifier(
                    max_depth=depth, min_samples_leaf=5, random_state=0
                )
                for seed in range(options.splits):
                    X_train, X_test, y_train, y_test = train_test_split(
                        X, y, stratify=y, random_state=seed
                    )
                    for method, learner in learners.items():
                        if method == "CART" and len(X.select_dtypes("number").columns) < X.shape[1]:
                            continue
                        predicted = learner.fit(X_train, y_train).predict(X_test)
                        row = {"depth": depth, "table": name, "tree for": method}
                        found.append(row | measure(y_test, predicted))
                print(name, depth, flush=True)
    frame = pd.DataFrame(found)
    by_table = frame.groupby(["depth", "table", "tree for"], sort=False).mean()
    print(by_table.round(3).to_string())
    print(f"\nmeans over {frame.table.nunique()} tables")
    print(by_table.groupby(["depth", "tree for"], sort=False).mean().round(3).to_string())


if __name__ == "__main__":
    main()
