"""Other classifiers on the same data, to compare with."""

from __future__ import annotations

from collections.abc import Iterable

from goct.cart import cart_tree
from goct.constraints import Constraint
from goct.metrics import Metric
from goct.model import Quantity, Rival
from goct.model.records import Matrix
from goct.one_vs_rest import against_rest, name_the_rest
from goct.problem import Problem
from goct.tree import Tree


def grow_cart(train: Problem, metric: Metric, max_depth: int | None, n_leaves: int) -> Tree:
    """Grow a CART tree on the question of a metric: of all classes, or of one against the rest."""
    if metric.is_binary and train.n_classes > 2:
        return name_the_rest(cart_tree(against_rest(train), max_depth, n_leaves), train)
    return cart_tree(train, max_depth, n_leaves)


def rival_of(
    tree: Tree,
    train: Problem,
    test: Problem | None,
    metric: Metric,
    constraints: Iterable[Constraint] = (),
) -> Rival:
    """Evaluate a tree that CART has grown, without knowing of the constraints."""

    def matrix(problem: Problem) -> Matrix:
        return tuple(map(tuple, tree.confusion_matrix(problem)))

    return Rival(
        name="CART",
        about=(
            "CART grows a tree greedily, one split after the other, whatever the metric. This one "
            "is scikit-learn's, on the same conditions, with the same depth and at most as many "
            "leaves."
        ),
        splits=tree.splits,
        depth=tree.depth,
        train=matrix(train),
        train_value=Quantity.of_metric(metric, tree, train),
        test=None if test is None else matrix(test),
        test_value=None if test is None else Quantity.of_metric(metric, tree, test),
        broken=tuple(c.name for c in constraints if not c.is_met(tree, train)),
    )
