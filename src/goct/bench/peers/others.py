"""The packages of others: optimal trees, near-optimal ones, and CART."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from goct.bench.data import Features, Labels
from goct.bench.peers.base import Answer, PathTree, Predict, Question, Solver, find_modules

_DEEPEST = 20  # STreeD takes no larger limit
_STREED_TASKS = {"accuracy": "accuracy", "f1": "f1-score", "balanced_accuracy": "balanced-accuracy"}
_GUROBI_TOLERANCE = 1e-6


def labels_by(predict: Callable[[Any], Any], kind: DTypeLike | None = None) -> Predict:
    """Return predictions as labels; features are given in the kind that a package wants."""

    def labels(X: Features) -> Labels:
        found = predict(X if kind is None else X.astype(kind))
        return np.asarray(found).astype(np.int64).ravel()

    return labels


def size_of(node: Any, children: Callable[[Any], Sequence[Any]]) -> tuple[int, int]:
    """Return the splits and the depth of a tree; a leaf has no children."""
    sizes = [size_of(child, children) for child in children(node)]
    if not sizes:
        return 0, 0
    return 1 + sum(splits for splits, _ in sizes), 1 + max(depth for _, depth in sizes)


class Cart(Solver):
    """CART of scikit-learn; the penalty is its `ccp_alpha`, and it does not know the metric.

    The option `penalties` asks for a tree for each of them; the others are those
    of scikit-learn, such as `class_weight`.
    """

    module: ClassVar[str] = "sklearn"
    distribution: ClassVar[str] = "scikit-learn"

    def load(self) -> None:
        """Import the trees."""
        import_module("sklearn.tree")

    def fit(self, question: Question) -> Answer:
        """Grow and prune."""
        from sklearn.tree import DecisionTreeClassifier

        options = dict(question.options)
        penalties = options.pop("penalties", [])

        def grow(penalty: str | float) -> tuple[Any, int]:
            model = DecisionTreeClassifier(
                max_depth=question.depth,
                ccp_alpha=float(penalty),
                random_state=question.seed,
                **options,
            )
            model.fit(question.X, question.y)
            return model, int(model.get_n_leaves()) - 1

        model, splits = grow(float(question.penalty))
        grown = [(penalty, *grow(penalty)) for penalty in penalties]
        path = [PathTree(penalty, labels_by(tree.predict), size) for penalty, tree, size in grown]
        depth = int(model.get_depth())
        return Answer(labels_by(model.predict), path=path, splits=splits, depth=depth)


class Streed(Solver):
    """STreeD, as pystreed packages it: dynamic programming for many objectives."""

    module: ClassVar[str] = "pystreed"
    distribution: ClassVar[str] = "pystreed"
    metrics: ClassVar[frozenset[str] | None] = frozenset(_STREED_TASKS)
    penalised: ClassVar[frozenset[str] | None] = frozenset({"accuracy"})
    needs_depth: ClassVar[bool] = False

    def refusal(self, question: Question) -> str | None:
        """Say why it cannot answer; only accuracy goes with many classes."""
        if question.metric != "accuracy" and question.y.max() > 1:
            return f"takes two classes only with {question.metric}"
        return super().refusal(question)

    def fit(self, question: Question) -> Answer:
        """Solve, with as many nodes as the depth allows; without a limit, the largest it takes."""
        from pystreed import STreeDClassifier

        depth = _DEEPEST if question.depth is None else question.depth
        task = "cost-complex-accuracy" if question.penalty else _STREED_TASKS[question.metric]
        model = STreeDClassifier(
            task,
            max_depth=depth,
            max_num_nodes=2**depth - 1,
            time_limit=question.limit,
            cost_complexity=float(question.penalty),
            random_seed=question.seed,
        )
        model.fit(question.X.astype(np.int32), question.y.astype(np.int32))
        result = model.fit_result
        if not result.is_feasible():
            return Answer(None)
        return Answer(
            labels_by(model.predict, np.int32),
            claimed=float(result.score()),
            is_proven=bool(result.is_optimal()),
            splits=int(model.get_n_leaves()) - 1,
            depth=int(model.get_depth()),
        )


class _ForAccuracy(Solver):
    """A package for accuracy, with a penalty per split or per leaf."""

    metrics: ClassVar[frozenset[str] | None] = frozenset({"accuracy"})
    penalised: ClassVar[frozenset[str] | None] = frozenset({"accuracy"})


class Dl85(_ForAccuracy):
    """DL8.5, as pydl8.5 packages it: itemset search; its time limit is in whole seconds."""

    module: ClassVar[str] = "pydl85"
    distribution: ClassVar[str] = "pydl8.5"
    penalised: ClassVar[frozenset[str] | None] = frozenset()

    def fit(self, question: Question) -> Answer:
        """Solve."""
        from pydl85 import DL85Classifier

        model = DL85Classifier(max_depth=question.depth, time_limit=math.ceil(question.limit))
        model.fit(question.X.astype(np.int32), question.y.astype(np.int32))
        if getattr(model, "tree_", None) is None:
            return Answer(None)
        splits, depth = size_of(
            model.tree_, lambda node: (node["left"], node["right"]) if "feat" in node else ()
        )
        return Answer(
            labels_by(model.predict, np.int32),
            claimed=1 - float(model.error_) / len(question.y),
            is_proven=not model.timeout_,
            splits=splits,
            depth=depth,
        )


class PytreesLds(_ForAccuracy):
    """DL8.5 of pytrees-rs, with ever more discrepancies from the order of information gain."""

    module: ClassVar[str] = "pytrees"
    distribution: ClassVar[str] = "pytrees-rs"
    penalised: ClassVar[frozenset[str] | None] = frozenset()

    def fit(self, question: Question) -> Answer:
        """Search until the limit."""
        from pytrees import DL85Classifier
        from pytrees.rules import DiscrepancyRule

        model = DL85Classifier(
            max_depth=question.depth,
            max_time=question.limit,
            heuristic="information_gain",
            discrepancy=DiscrepancyRule(),
        )
        model.fit(question.X.astype(float), question.y)
        if model.tree_ is None:
            return Answer(None)
        return Answer(
            labels_by(model.predict, float),
            claimed=1 - float(model.train_error_) / len(question.y),
            is_proven=model.status_ == "optimal",
            splits=int(model.tree_.n_leaves) - 1,
            depth=int(model.tree_.max_depth),
        )


class Odtlearn(_ForAccuracy):
    """BendersOCT of odtlearn, its reference; large tables need a licence of Gurobi."""

    module: ClassVar[str] = "odtlearn"
    distribution: ClassVar[str] = "odtlearn"

    def load(self) -> None:
        """Import odtlearn and Gurobi."""
        import_module("odtlearn.flow_oct")
        import_module("gurobipy")

    def fit(self, question: Question) -> Answer:
        """Solve on one thread.

        odtlearn maximises (1 - λ') Σ right - λ' · splits; the same trees are
        best with λ' = λn / (1 + λn).
        """
        from odtlearn.flow_oct import BendersOCT

        rows = len(question.y)
        loss = float(question.penalty) * rows
        share = loss / (1 + loss)
        model = BendersOCT(
            solver="gurobi",
            depth=question.depth,
            time_limit=math.ceil(question.limit),
            _lambda=share,
            num_threads=1,
        )
        try:
            model.fit(question.X.astype(np.int64), question.y)
        except AttributeError as error:
            if "Unable to retrieve attribute" not in str(error):
                raise
            return Answer(None)  # it reads the solution although Gurobi has none
        return Answer(
            labels_by(model.predict, np.int64),
            bound=float(model.objective_bound) / ((1 - share) * rows),
            is_proven=float(model.optim_gap) <= _GUROBI_TOLERANCE,
            splits=round(sum(model.b_value.values())),
        )


class Gosdt(_ForAccuracy):
    """GOSDT; it needs a penalty, which it counts per leaf instead of per split."""

    module: ClassVar[str] = "gosdt"
    distribution: ClassVar[str] = "gosdt"
    needs_depth: ClassVar[bool] = False

    def refusal(self, question: Question) -> str | None:
        """Say why it cannot answer."""
        return super().refusal(question) or (None if question.penalty else "needs a penalty")

    def fit(self, question: Question) -> Answer:
        """Solve on one thread.

        Its classifier cannot predict with recent versions of scikit-learn, so
        that its tree is asked instead.
        """
        from gosdt import GOSDTClassifier, Status

        penalty = float(question.penalty)
        model = GOSDTClassifier(
            regularization=penalty,
            allow_small_reg=True,
            depth_budget=question.depth,
            time_limit=math.ceil(question.limit),
            worker_limit=1,
        )
        model.fit(question.X.astype(bool), question.y)
        if not model.trees_:
            return Answer(None)
        result, tree = model.result_, model.trees_[0]
        loss = getattr(result, "model_loss", None)
        splits, depth = size_of(
            tree.tree,
            lambda node: (node.left_child, node.right_child) if hasattr(node, "left_child") else (),
        )
        return Answer(
            labels_by(tree.predict, bool),
            claimed=1 - loss if isinstance(loss, float) else None,
            bound=1 + penalty - float(result.lowerbound),
            is_proven=result.status == Status.CONVERGED,
            splits=splits,
            depth=depth,
        )


class FastSmallTree(_ForAccuracy):
    """FastSmallTreeClassifier of imodels; its penalty is per leaf, and depth has no limit."""

    module: ClassVar[str] = "imodels"
    distribution: ClassVar[str] = "imodels"
    needs_depth: ClassVar[bool] = False

    @property
    def is_installed(self) -> bool:
        """Whether the package is there, and what it needs."""
        return find_modules("imodels", "six", "numba")

    def refusal(self, question: Question) -> str | None:
        """Say why it cannot answer."""
        if question.depth is not None:
            return "takes no limit on depth"
        return super().refusal(question) or (None if question.penalty else "needs a penalty")

    def load(self) -> None:
        """Import the package, and let it compile its search."""
        from imodels import FastSmallTreeClassifier

        FastSmallTreeClassifier(0.1).fit(np.eye(4, dtype=int), np.array([0, 1, 0, 1]))

    def fit(self, question: Question) -> Answer:
        """Solve on one thread."""
        from imodels import FastSmallTreeClassifier

        penalty = float(question.penalty)
        model = FastSmallTreeClassifier(penalty, time_limit=question.limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(question.X, question.y)
        splits = int(model.n_leaves_) - 1
        return Answer(
            labels_by(model.predict),
            claimed=1 - float(model.objective_) + penalty * (splits + 1),
            bound=1 - float(model.lowerbound_) + penalty,
            is_proven=bool(model.optimal_),
            splits=splits,
            depth=int(model.estimator_.get_depth()),
        )


class Contree(_ForAccuracy):
    """ConTree, as pycontree packages it: every threshold of columns of numbers."""

    module: ClassVar[str] = "pycontree"
    distribution: ClassVar[str] = "pycontree"
    penalised: ClassVar[frozenset[str] | None] = frozenset()

    def fit(self, question: Question) -> Answer:
        """Solve; it warns if the time was not enough."""
        from pycontree import ConTree

        model = ConTree(max_depth=question.depth, time_limit=question.limit)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(question.X.astype(np.float64), question.y)
        is_stopped = any("time limit" in str(warning.message) for warning in caught)
        return Answer(labels_by(model.predict, np.float64), is_proven=not is_stopped)


class LicketySplit(_ForAccuracy):
    """LicketySPLITClassifier: near-optimal deep trees without a bound; its penalty is per leaf."""

    module: ClassVar[str] = "licketysplit"
    distribution: ClassVar[str] = "licketysplit"

    def fit(self, question: Question) -> Answer:
        """Grow a tree."""
        model = fit_lickety_split(question)
        return _answer_of_paths(labels_by(model.predict), model.get_tree_paths()[0])


def fit_lickety_split(question: Question) -> Any:
    """Return a fitted classifier."""
    from licketysplit import LicketySPLITClassifier

    model = LicketySPLITClassifier(lambda_leaf=float(question.penalty), depth_budget=question.depth)
    return model.fit(question.X, question.y)


class Praxis(_ForAccuracy):
    """PRAXIS: near-optimal trees without a proof, asked for its best one only.

    It counts its penalty per leaf, as a whole number of rows, and knows no limit
    on time.
    """

    module: ClassVar[str] = "praxis"
    distribution: ClassVar[str] = "tree-praxis"

    def fit(self, question: Question) -> Answer:
        """Find the trees of its least objective, and take the first."""
        from praxis import PRAXIS

        model = PRAXIS()
        model.fit(
            question.X,
            question.y,
            lambda_reg=float(question.penalty),
            depth_budget=question.depth,
            rashomon_mult=0.0,
        )
        if not model.count_trees():
            return Answer(None)
        predict = labels_by(lambda X: model.get_predictions(0, X))
        return _answer_of_paths(predict, model.get_tree_paths(0)[0])


def _answer_of_paths(predict: Predict, paths: Sequence[Sequence[int]]) -> Answer:
    return Answer(predict, splits=len(paths) - 1, depth=max(map(len, paths)))
