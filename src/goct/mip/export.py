"""A model as a file that any solver reads."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pyscipopt

from goct._text import one_line
from goct.files import atomic_write
from goct.metrics import Metric
from goct.mip.backends.scip import copy_program
from goct.mip.engine import objective_of
from goct.mip.formulations import FORMULATIONS
from goct.mip.objective import ModelObjective
from goct.mip.options import MipOptions
from goct.mip.runner import ModelRunner
from goct.problem import Problem
from goct.task import Task

_COMMENT = {".lp": "\\", ".mps": "*"}
_OPTIONS = ("formulation", "linearization", "cuts", "integer_flow")


def export_model(
    path: str | os.PathLike[str],
    problem: Problem,
    metric: str | Metric = "accuracy",
    max_depth: int = 3,
    *,
    split_penalty: Any = 0,
    max_splits: int | None = None,
    min_leaf_weight: Any = 0,
    constraints: Any = (),
    **options: Any,
) -> None:
    """Write the mixed-integer program of a question to a file, for a solver of your own.

    It is the one model that :func:`goct.solve` runs with ``engine="mip"`` and
    ``method="direct"``. Comments at its top say what the objective means.

    Parameters
    ----------
    path
        The file; its name ends in .lp or .mps.
    problem, metric, max_depth, split_penalty, max_splits, min_leaf_weight, constraints
        The question, as in :func:`goct.solve`.
    **options
        `formulation`, "wflow" by default; `linearization`, `cuts` and
        `integer_flow`, as in :class:`goct.mip.options.ModelOptions`. Formulations
        and cuts whose rows are found on demand do not fit into a file.

    Examples
    --------
    >>> import goct
    >>> from goct.mip import export_model
    >>> problem = goct.Problem.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> export_model("tree.lp", problem, "f1", max_depth=2)  # doctest: +SKIP
    """
    target = Path(path)
    if target.suffix.lower() not in _COMMENT:
        raise ValueError(f"{target}: the name of a model file must end in .lp or .mps")
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"unknown option {name!r} of a model file, which has {_OPTIONS}")
    task = Task.read(
        problem,
        metric,
        max_depth,
        split_penalty=split_penalty,
        max_splits=max_splits,
        min_leaf_weight=min_leaf_weight,
        constraints=constraints,
    )
    settings = MipOptions.read(**{"formulation": "wflow", **options})
    if settings.model.needs_separation:
        compact = " or ".join(repr(n) for n, form in FORMULATIONS.items() if form.is_compact)
        raise ValueError(
            f"the formulation {settings.model.formulation!r} with these cuts has rows that are "
            f"found on demand, which a file cannot hold; use {compact}"
        )
    if problem.n_classes > 2 and task.metric.is_binary:
        raise ValueError(
            f"{task.metric.name!r} is about one class against the rest; make a problem of two "
            "classes first"
        )
    objective = objective_of(task, None, settings)
    if task.has_only_constants or objective.without_solver() is not None:
        raise ValueError("no tree with a split is possible, so there is no model to write")
    _write(target, objective, ModelRunner(settings))


def _write(path: Path, objective: ModelObjective, runner: ModelRunner) -> None:
    """Write a model by SCIP, below comments on what it means."""
    program = runner.build(objective).program
    program.separators.clear()  # the exact checks of constraints, which no file can hold
    scip = pyscipopt.Model(one_line(objective.task.metric.name))
    scip.hideOutput()
    copy_program(program, scip)
    mark = _COMMENT[path.suffix.lower()]
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / f"model{path.suffix.lower()}"
        scip.writeProblem(str(raw), verbose=False)
        with atomic_write(path) as file:
            for line in _comments(objective, runner.options):
                file.write(f"{mark} {one_line(line)}\n")
            file.write(raw.read_text())


def _comments(objective: ModelObjective, options: MipOptions) -> list[str]:
    task = objective.task
    size = f"depth {task.size.max_depth}"
    if task.size.max_splits is not None:
        size += f", at most {task.size.max_splits} splits"
    lines = [
        f"{task.metric.name} of trees of {size}; formulation {options.model.formulation}, by goct",
        objective.in_words,
        f"b_k: node k // {len(objective.side.columns)} + 1 splits on the column "
        f"k % {len(objective.side.columns)} of those below; nodes are numbered as in a heap",
    ]
    names = task.problem.feature_names
    lines += [f"column {k}: {names[int(j)]}" for k, j in enumerate(objective.side.columns)]
    if not objective.states_constants:
        lines.append("trees without a split are no solutions; compare with them yourself")
    return lines
