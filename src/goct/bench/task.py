"""One run, in a process of its own: ``python -m goct.bench.task FOLDER``.

The folder holds the JSON file `request` with the specification and the file of
the dataset. An empty file `ready` is put there when all is loaded and the solver
starts, and the outcome at the end, as the file `result`. Whatever solvers print
is of no interest.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from goct.bench.data import (
    Features,
    Labels,
    Split,
    confusion,
    draw_test,
    make_synthetic,
    read_any,
    value_of,
)
from goct.bench.peers import Question, Unsupported, get_solver
from goct.bench.peers.base import Predict
from goct.bench.peers.tuned import Learner, Lesson
from goct.bench.spec import ANY_DEPTH, Outcome, Spec, Status
from goct.bench.version import code_version

GRACE = 0.25, 10.0
"""What a solver may take beyond its limit before it is killed: a share, and at least seconds."""

_TOLERANCE = 1e-6


LOADING = 120.0  # seconds in which packages and data must be loaded


CHANGED = 75  # the exit code of a process that found other code than the campaign began with


def hard_limit(spec: Spec) -> float:
    """Return the seconds after which a solver is killed."""
    share, least = GRACE
    return spec.limit + max(share * spec.limit, least)


def confine(spec: Spec, parent: int) -> None:
    """Limit what this process may take, and let it die with the one that started it."""
    if sys.platform == "linux":
        set_death_signal = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None, use_errno=True).prctl(set_death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # it died before
        sys.exit(1)
    if spec.memory:
        resource.setrlimit(resource.RLIMIT_AS, (spec.memory, spec.memory))
    seconds = int(hard_limit(spec) + LOADING)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def execute(spec: Spec, path: Path | None, begin: Callable[[], None]) -> Outcome:
    """Load the data, say so, ask the solver and check what it says."""
    solver = get_solver(spec.solver)
    if not solver.is_installed:
        return Outcome(Status.MISSING, message=f"{solver.requirement} is not installed")
    if isinstance(solver, Learner):
        assert path is not None
        return test_learner(solver, spec, path, begin)
    options = dict(spec.options)
    target = options.pop("target", None)
    X, y = make_synthetic(spec.dataset, spec.seed) if path is None else read_any(path, target)
    if hasattr(X, "to_numpy"):
        X = X.to_numpy(dtype=np.float64)
    parts: dict[str, Any] = {"train": slice(None)}
    if spec.split is not None:
        parts = vars(Split.draw(len(y), spec.split))
    question = Question(
        X=X[parts["train"]],
        y=y[parts["train"]],
        metric=spec.metric,
        depth=None if spec.depth == ANY_DEPTH else spec.depth,
        penalty=Fraction(spec.penalty),
        limit=spec.limit,
        seed=spec.seed,
        options=options,
    )
    if (why := solver.refusal(question)) is not None:
        return Outcome(Status.UNSUPPORTED, message=why)
    solver.load()
    begin()
    started, cpu = time.perf_counter(), time.process_time()
    try:
        answer = solver.fit(question)
    except Unsupported as error:
        return Outcome(Status.UNSUPPORTED, message=str(error))
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    stats = dict(answer.stats) | {"package": f"{solver.distribution} {solver.version}"}
    outcome = Outcome(
        Status.OK,
        seconds=seconds,
        cpu=cpu,
        claimed=answer.claimed,
        bound=answer.bound,
        is_proven=answer.is_proven,
        splits=answer.splits,
        depth=answer.depth,
        stats=stats,
    )
    if answer.predict is None:
        return replace(outcome, status=Status.NO_TREE) if solver.learns else outcome
    if y.max() <= 1:
        outcome = replace(
            outcome,
            **confusions(answer.predict, X, y, parts),
            path=tuple(
                {"penalty": tree.penalty, "splits": tree.splits}
                | confusions(tree.predict, X, y, parts)
                for tree in answer.path
            ),
        )
    value = value_of(spec.metric, question.y, answer.predict(question.X))
    return check(replace(outcome, value=value), spec)


def test_learner(learner: Learner, spec: Spec, path: Path, begin: Callable[[], None]) -> Outcome:
    """Let a learner tune itself on three quarters of the rows, and test it on the others.

    Several times, if there are several splits: values and times are means.
    """
    X, y = read_any(path, spec.option("target"), leaks=spec.option("leaks", ()))
    take = X.iloc if hasattr(X, "iloc") else X
    splits = spec.option("splits", 1)
    has_begun = False
    tests: list[dict[str, Any]] = []
    for split in range(splits):
        train, test = draw_test(y, split, most=spec.option("most_rows"))
        lesson = Lesson(
            take[train],
            y[train],
            spec.metric,
            spec.depth,
            spec.limit / splits,
            spec.seed,
            dict(spec.options),
        )
        if (why := learner.refusal_of(lesson)) is not None:
            return Outcome(Status.UNSUPPORTED, message=why)
        if not has_begun:
            learner.load()
            begin()
            has_begun = True
        started, cpu = time.perf_counter(), time.process_time()
        pupil = learner.learn(lesson)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        known = np.isin(y[test], y[train])  # a class of one row may be in the test rows only
        tests.append(
            {
                "seconds": seconds,
                "cpu": cpu,
                "values": value_of(spec.metric, y[test], pupil.predict(take[test])),
                "train": value_of(spec.metric, y[train], pupil.predict(take[train])),
                "sizes": pupil.splits,
                "proven": pupil.is_proven,
                "unknown": int((~known).sum()),
            }
        )
    lists = {name: [result[name] for result in tests] for name in tests[0]}
    package = f"{learner.distribution} {learner.version}"
    return Outcome(
        Status.OK,
        seconds=float(np.mean(lists.pop("seconds"))),
        cpu=float(np.mean(lists.pop("cpu"))),
        value=float(np.mean(lists["values"])),
        is_proven=all(proven := lists.pop("proven")),
        stats=lists | {"package": package, "rows": len(y), "proven": sum(proven)},
    )


def check(outcome: Outcome, spec: Spec) -> Outcome:
    """Compute the objective, and find out whether what the solver claims is true."""
    assert outcome.value is not None
    value, objective, bound = outcome.value, None, outcome.bound
    wrong = []
    if outcome.splits is not None:
        objective = value - float(spec.penalty) * outcome.splits
        if bound is not None and bound < objective - _TOLERANCE:
            wrong.append(f"claims the bound {bound:.6f}, its tree has {objective:.6f}")
    if outcome.claimed is not None and not abs(outcome.claimed - value) <= _TOLERANCE:
        wrong.append(f"claims {outcome.claimed:.6f}, its tree has {value:.6f}")
    if outcome.depth is not None and spec.depth != ANY_DEPTH and outcome.depth > spec.depth:
        wrong.append(f"its tree has depth {outcome.depth}")
    status = Status.WRONG if wrong else Status.OK
    return replace(outcome, status=status, objective=objective, message="; ".join(wrong))


def confusions(predict: Predict, X: Features, y: Labels, parts: dict[str, Any]) -> dict[str, Any]:
    """Return the confusion matrix on each part of the rows."""
    predicted = predict(X)
    return {part: confusion(y[rows], predicted[rows]) for part, rows in parts.items()}


def peak_memory() -> int:
    """Return the largest memory that this process took, in bytes."""
    try:  # the other figure may be that of the process that started this one
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        (line,) = (line for line in lines if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return size * (1 if sys.platform == "darwin" else 1024)


def _has_other_package(spec: Spec) -> bool:
    """Say whether the solver is of another version than the run is about."""
    here = get_solver(spec.solver).package(dict(spec.options))
    return "" not in (here, spec.package) and here != spec.package


def main() -> None:
    """Do the run that the command line names."""
    folder = Path(sys.argv[1])
    data = json.loads((folder / "request").read_text(encoding="utf-8"))
    spec = Spec.from_json(data["spec"])
    confine(spec, data["parent"])
    if data["version"] != code_version() or _has_other_package(spec):
        sys.exit(CHANGED)
    try:
        path = None if data["path"] is None else Path(data["path"])
        outcome = execute(spec, path, (folder / "ready").touch)
    except MemoryError as error:
        outcome = Outcome(Status.MEMORY, message=str(error))
    except Exception as error:
        outcome = Outcome(Status.ERROR, message=f"{type(error).__name__}: {error}")
    text = replace(outcome, peak=peak_memory()).to_json()
    (folder / "result").write_text(text, encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # some libraries crash while they are unloaded, which is of no interest


if __name__ == "__main__":
    main()
