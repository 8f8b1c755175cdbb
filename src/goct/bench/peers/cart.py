"""CART of scikit-learn: greedy, in no time, and no claims."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

from goct.bench.data import Features, Labels
from goct.bench.peers.base import Answer, PathTree, Predict, Question, Solver


class Cart(Solver):
    """CART; the penalty is its `ccp_alpha`, and it does not know the metric.

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

        def grow(penalty: float) -> Any:
            model = DecisionTreeClassifier(
                max_depth=question.depth,
                ccp_alpha=penalty,
                random_state=question.seed,
                **options,
            )
            return model.fit(question.X, question.y)

        model = grow(float(question.penalty))
        path = []
        for penalty in penalties:
            other = grow(float(penalty))
            path.append(PathTree(penalty, _predict(other), int(other.get_n_leaves()) - 1))
        return Answer(
            _predict(model),
            path=path,
            splits=int(model.get_n_leaves()) - 1,
            depth=int(model.get_depth()),
        )


def _predict(model: Any) -> Predict:
    def predict(X: Features) -> Labels:
        labels: Labels = model.predict(X).astype(int)
        return labels

    return predict
