"""Draw the pictures of the gallery: ``python examples/gallery.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import goct
from goct.binarize import Binarizer
from goct.cart import cart_tree


def main(folder: Path) -> None:
    """Draw all pictures into a folder."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    labels = y.map({0: "malignant", 1: "benign"}).to_numpy()
    binarizer = Binarizer("mdlp").fit(X, labels)
    problem = goct.Problem.from_arrays(
        binarizer.transform(X),
        labels,
        pos_label="malignant",
        feature_names=binarizer.get_feature_names_out().tolist(),
    )

    def save(name: str, ax: plt.Axes) -> None:
        ax.figure.savefig(folder / f"gallery-{name}.png", dpi=110)
        print(name)

    # A tree.
    solution = goct.solve(problem, "f1", max_depth=3)
    save("tree", goct.plot_tree(solution))

    # The best tree for every number of splits.
    path = goct.path(problem, "f1", max_depth=3)
    save("path", path.plot())

    # How the number of splits is chosen.
    classifier = goct.OptimalTreeClassifierCV("f1", max_depth=3, pos_label="malignant")
    save("validation", classifier.fit(X, labels).plot_validation())

    # All trades between recall and false alarms, level lines of F1, and CART.
    front = goct.frontier(problem, max_depth=2, pareto=True)
    ax = front.plot(metric="f1", others={"CART": cart_tree(problem, 2)})
    ax.set(xlim=(-0.01, 0.4), ylim=(0.6, 1.01))
    save("frontier", ax)

    # How a search closes in.
    many = Binarizer("quantiles", 6).fit(X, labels).transform(X)
    deep = goct.solve(goct.Problem.from_arrays(many, labels), "mcc", max_depth=4)
    save("progress", deep.plot_progress())

    # Several pictures on one figure.
    _, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    path.plot(ax=left)
    front.plot(ax=right, metric="mcc")
    save("together", left)
    plt.close("all")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
