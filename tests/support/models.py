"""Models to try exports and reports on: all kinds of conditions, and names that hurt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from goct.binarize.conditions import Above, After, Condition, IsTrue, Missing, OneOf
from goct.metrics import get_metric
from goct.model import ColumnInfo, Model, Part, Proof, Quantity, Question, Rival, Source
from goct.problem import Problem
from goct.tree import Leaf, Node, Split, Tree

HOSTILE = "<script>alert('x')</script>\"&'`\\ {{7*7}}"
CONDITIONS: tuple[Condition, ...] = (
    Above("age", 50.5),
    Above("age", 20.0),
    OneOf("job", ("driver's mate", 'a "cook"', "ünï\\n")),
    OneOf("job", ('a "cook"',)),
    After("joined", "2024-03-01"),
    After("joined", "2024-03-01T12:30:00"),
    IsTrue("mem ber"),
    Missing("age"),
    Missing("job"),
    Missing("joined"),
    Missing("mem ber"),
    Above('in"come', -1e-7),
)
COLUMNS = {
    "age": ColumnInfo("number", has_missing=True),
    "job": ColumnInfo("category", has_missing=True, levels=('a "cook"', "driver's mate", "nurse")),
    "joined": ColumnInfo("date", has_missing=True),
    "mem ber": ColumnInfo("boolean", has_missing=True),
    'in"come': ColumnInfo("number"),
}


def random_rows(rng: np.random.Generator, n_rows: int) -> dict[str, list[object]]:
    """Return columns with missing values, unseen categories and values at the thresholds."""

    def pick(values: list[object]) -> list[object]:
        return [values[i] for i in rng.integers(len(values), size=n_rows)]

    day = [np.datetime64(t, "us").item() for t in ("2024-02-29", "2024-03-01", "2024-03-02")]
    hour = [
        np.datetime64(f"2024-03-01T{t}", "us").item() for t in ("12:30:00", "12:30:01", "00:01")
    ]
    return {
        "age": pick([None, 10.0, 20.0, 20.5, 50.5, 51, 80]),
        "job": pick([None, 'a "cook"', "driver's mate", "nurse", "ünï\\n", "unseen", ""]),
        "joined": pick([None, *day, *hour]),
        "mem ber": pick([None, True, False]),
        'in"come': pick([None, -1.0, -1e-7, 0.0, 3]),
    }


def random_model(rng: np.random.Generator, depth: int = 4, *, classes: tuple[object, ...]) -> Model:
    """Return a random tree over all kinds of conditions, with counts of random rows."""

    def grow(left: int) -> Node:
        if left == 0 or rng.random() < 0.1:
            return Leaf(int(rng.integers(len(classes))))
        return Split(int(rng.integers(len(CONDITIONS))), grow(left - 1), grow(left - 1))

    names = tuple(condition.name for condition in CONDITIONS)
    tree = Tree(grow(depth), classes, names)
    return model_of(tree, rng)


def model_of(tree: Tree, rng: np.random.Generator | None = None, n_rows: int = 60) -> Model:
    """Return the model of a tree over `CONDITIONS`, with counts of random rows."""
    rng = rng or np.random.default_rng(0)
    positive = 1 if len(tree.classes) == 2 else None
    n_nodes = tree.splits + tree.n_leaves
    nothing = Part(((0,) * len(tree.classes),) * n_nodes, None)
    model = Model(
        tree=tree,
        conditions=CONDITIONS,
        columns=COLUMNS,
        positive=positive,
        question=Question("accuracy", max_depth=6, constraints=("recall >= 0.9",)),
        proof=Proof(Quantity(0.5, "1/2"), Quantity(0.75, "3/4"), "feasible", "time", seconds=1.5),
        source=Source("data.csv", "target", 5, len(CONDITIONS)),
        train=nothing,
        created="2026-01-02T03:04:05+00:00",
        version="0.1.0",
    )
    rows = random_rows(rng, n_rows)
    labels = [tree.classes[i] for i in rng.integers(len(tree.classes), size=n_rows)]
    problem = model.problem(rows, labels)
    value = Quantity.of(get_metric("accuracy").evaluate(tree, problem))
    part = Part(tree.node_counts(problem), value)
    return with_parts(model, part)


def with_parts(model: Model, part: Part) -> Model:
    """Return a model with the same counts for both parts, and a rival."""
    full = replace(model, train=part, test=part)
    rival = Rival("CART", "Another tree.", 3, 2, full.confusion_matrix(), part.value)
    return replace(full, rivals=(rival,))


def small_model(classes: tuple[object, ...] = ("no", "yes")) -> Model:
    """Return a tree with three splits."""
    names = tuple(condition.name for condition in CONDITIONS)
    root = Split(0, Split(2, Leaf(0), Leaf(1)), Split(7, Leaf(1), Leaf(0)))
    return model_of(Tree(root, classes, names))


__all__ = ["CONDITIONS", "HOSTILE", "Problem", "random_model", "random_rows", "small_model"]


def hostile_model() -> Model:
    model = small_model(("no", HOSTILE))
    conditions = tuple(replace(c, column=HOSTILE + c.column) for c in model.conditions)
    columns = {HOSTILE + name: column for name, column in model.columns.items()}
    return replace(
        model,
        conditions=conditions,
        columns=columns,
        source=replace(model.source, file=HOSTILE, target=HOSTILE),
        question=replace(model.question, metric=HOSTILE, constraints=(HOSTILE,)),
        rivals=(replace(model.rivals[0], name=HOSTILE, about=HOSTILE),),
    )
