"""Tune an optimal tree with the grid spread over a Dask cluster.

scikit-learn searches the grid, joblib hands its fits to Dask. Here the cluster
is this computer; give the address of a scheduler to use another one:

    python examples/tune_on_dask.py
    python examples/tune_on_dask.py --scheduler tcp://scheduler:8786

The workers need goct, too. It comes with the extra `bench`, as Dask does.
"""

from __future__ import annotations

import argparse
import warnings

import joblib
from distributed import Client, LocalCluster
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV

from goct import OptimalTreeClassifier
from goct.binarize import Binarizer

GRID = {
    "metric": ["accuracy", "f1"],
    "max_depth": [1, 2, 3],
    "split_penalty": [0, 0.01],
}


def tune(client: Client) -> GridSearchCV:
    """Search the grid on a cluster; each fit is one task."""
    data = load_breast_cancer(as_frame=True)
    y = data.target_names[data.target]
    # Trees for different metrics are compared by one that is the same for all.
    search = GridSearchCV(
        OptimalTreeClassifier(
            pos_label="malignant", binarizer=Binarizer("mdlp", n_thresholds=3), time_limit=60
        ),
        GRID,
        scoring=make_scorer(f1_score, pos_label="malignant"),
        cv=3,
    )
    with joblib.parallel_config(backend="dask", client=client), warnings.catch_warnings():
        # Dask names the size of what it sends, which is the data.
        warnings.filterwarnings("ignore", message="Sending large graph")
        search.fit(data.data, y)
    return search


def main() -> None:
    """Tune, and show the best tree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scheduler", help="the address of a Dask scheduler")
    parser.add_argument("--workers", type=int, default=2, help="of the cluster on this computer")
    options = parser.parse_args()
    if options.scheduler:
        with Client(options.scheduler) as client:
            search = tune(client)
    else:
        with (
            LocalCluster(
                n_workers=options.workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
        ):
            search = tune(client)
    fits = len(search.cv_results_["params"]) * search.n_splits_
    print(f"{fits} fits; the best F1 score in cross-validation is {search.best_score_:.3f}")
    print(f"with {search.best_params_}\n")
    print(search.best_estimator_.solution_.summary())


if __name__ == "__main__":
    main()
