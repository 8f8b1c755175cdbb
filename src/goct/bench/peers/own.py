"""The engines of goct, and what else is measured with them: datasets, frontiers, certificates."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from goct.bench.peers.base import Answer, Question, Solver, Unsupported, find_modules
from goct.bench.peers.others import fit_lickety_split, labels_by
from goct.metrics import get_metric
from goct.problem import Problem
from goct.search import solve_search
from goct.search.frontier import frontier
from goct.solution import Solution, Status
from goct.solve import solve
from goct.verify import verify

_BACKENDS = {"scip": "pyscipopt", "gurobi": "gurobipy", "highs": "highspy"}


def problem_of(question: Question) -> Problem:
    """Return the data as engines see it; of two classes, label 1 is positive."""
    is_binary = get_metric(question.metric).is_binary or question.y.max() <= 1
    return Problem.from_arrays(question.X, question.y, pos_label=1 if is_binary else None)


class Search(Solver):
    """The search engine."""

    engine = "search"
    needs_depth: ClassVar[bool] = False

    def load(self) -> None:
        """Answer a tiny question, as other solvers do: a first call loads and allocates."""
        solve(Problem.from_arrays([[0], [1]], [0, 1]), max_depth=1, engine="search")

    def fit(self, question: Question) -> Answer:
        """Solve; what is proven is in the answer."""
        return self.solve(question, time_limit=question.limit, random_state=question.seed)

    def solve(self, question: Question, **settings: Any) -> Answer:
        """Solve within limits."""
        solution = solve(
            problem_of(question),
            question.metric,
            question.depth,
            split_penalty=question.penalty,
            engine=self.engine,
            **settings,
            **self.options(question.options),
        )
        return answer_of(solution)

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options for the engine."""
        return _known(options, inspect.signature(solve_search).parameters)


class Paced(Search):
    """The search engine, which stops after three times LicketySPLIT's time, at most the limit.

    Times are those of the processor, one right after the other in one process; they
    are in the statistics: `pace` and `own`.
    """

    share: ClassVar[float] = 3.0

    @property
    def requirement(self) -> str:
        """The pacemaker."""
        return "licketysplit"

    @property
    def is_installed(self) -> bool:
        """Whether the pacemaker is there."""
        return find_modules(self.requirement)

    def load(self) -> None:
        """Import both."""
        import_module("licketysplit")

    def fit(self, question: Question) -> Answer:
        """Measure, then solve."""
        begin = time.process_time()
        fit_lickety_split(question)
        start = time.process_time()
        pace = start - begin
        end = start + min(self.share * pace, question.limit)
        answer = self.solve(
            question, time_limit=60.0, callback=lambda _: time.process_time() >= end
        )
        own = {"pace": pace, "own": time.process_time() - start}
        return replace(answer, stats={**answer.stats, **own})


class Mip(Search):
    """The MIP engine."""

    engine = "mip"

    def load(self) -> None:
        """Import the solvers, and what warm starts need."""
        import_module("goct.mip")
        import_module("sklearn.ensemble")

    def package(self, options: Mapping[str, Any]) -> str:
        """Return the package of the backend, and its version."""
        name = _BACKENDS.get(options.get("backend", "scip"), "")
        try:
            return f"{name} {version(name)}" if name else ""
        except PackageNotFoundError:
            return ""

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options for the engine."""
        from goct.mip.options import BACKENDS, KEYWORDS  # loads the solver, which takes a moment

        backend = options.get("backend", "scip")
        if backend in BACKENDS and not BACKENDS[backend].is_available:
            raise Unsupported(f"the backend {backend} is not installed")
        return _known(options, KEYWORDS)


class Thresholds(Solver):
    """The search engine over every threshold of columns of numbers, through the classifier."""

    def refusal(self, question: Question) -> str | None:
        """Say why it cannot answer; metrics of two classes need two."""
        if question.y.max() > 1 and get_metric(question.metric).is_binary:
            return f"takes two classes only with {question.metric}"
        return super().refusal(question)

    def load(self) -> None:
        """Import what the classifier needs."""
        import_module("goct.estimator")

    def fit(self, question: Question) -> Answer:
        """Solve, from the numbers to the proof."""
        from goct.estimator import OptimalTreeClassifier

        classifier = OptimalTreeClassifier(
            question.metric,
            question.depth,
            split_penalty=question.penalty,
            pos_label=1 if question.y.max() <= 1 else None,
            binarizer="exact",
            engine_options={"fewest_splits": False},
            time_limit=question.limit,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the limit was reached
            classifier.fit(question.X, question.y)
        return replace(answer_of(classifier.solution_), predict=classifier.predict)


class Describe(Solver):
    """Counts rows, distinct rows, features and classes."""

    learns: ClassVar[bool] = False
    needs_depth: ClassVar[bool] = False

    def fit(self, question: Question) -> Answer:
        """Count."""
        counts = np.bincount(question.y)
        problem = Problem.from_arrays(question.X, question.y)
        stats = {
            "rows": len(question.y),
            "unique_rows": int(np.count_nonzero(problem.counts)),
            "vectors": problem.n_rows,
            "features": question.X.shape[1],
            "classes": int((counts > 0).sum()),
            "kept_features": problem.X.shape[1],
            "minority_share": float(counts[counts > 0].min() / len(question.y)),
        }
        return Answer(None, stats=stats)


class FrontierOfTrees(Solver):
    """All best trades between the two kinds of error."""

    learns: ClassVar[bool] = False
    has_many_classes: ClassVar[bool] = False

    def fit(self, question: Question) -> Answer:
        """Enumerate the frontier; the corners are in the statistics."""
        found = frontier(
            problem_of(question),
            question.depth,
            pareto=bool(question.options.get("pareto", False)),
            time_limit=question.limit,
        )
        points = found.vertices if found.pareto is None else found.pareto
        stats = {
            "points": [[int(v.confusion.fn), int(v.confusion.fp)] for v in points],
            "positives": found.problem.n_pos,
            "negatives": found.problem.n_neg,
            "is_complete": found.is_complete,
        }
        return Answer(None, is_proven=found.is_complete, stats=stats)


class Certified(Solver):
    """The search engine with a certificate, and its check.

    CPU seconds are in the statistics: `plain` and `certified`, the smaller of two solutions each,
    in turn, and `check`; as are the `bytes` of the file, its `facts`, and what it `proves`.
    """

    learns: ClassVar[bool] = False

    def fit(self, question: Question) -> Answer:
        """Solve without and with a certificate, and check it."""
        X, y = question.X, question.y
        problem = problem_of(question) if X.dtype.kind in "bu" else None
        if problem is None:
            from goct.binarize import Binarizer  # loads scikit-learn: most runs do without

            exact = Binarizer("exact").fit(X, y)
            problem = Problem.from_columns(X, y, binarizer=exact, pos_label=1)
        seconds: dict[str, list[float]] = {"plain": [], "certified": []}
        with TemporaryDirectory() as folder:
            path = Path(folder) / "proof.gct"
            for name, certificate in 2 * (("plain", None), ("certified", path)):
                start = time.process_time()
                solution = solve(
                    problem,
                    question.metric,
                    question.depth,
                    split_penalty=question.penalty,
                    time_limit=question.limit,
                    engine="search",
                    certificate=certificate,
                )
                seconds[name].append(time.process_time() - start)
            start = time.process_time()
            verdict = verify(path, problem)
            stats: dict[str, Any] = {name: min(times) for name, times in seconds.items()}
            stats |= {"check": time.process_time() - start, "bytes": path.stat().st_size}
        assert solution.certificate is not None
        stats |= {"facts": verdict.facts, "proves": solution.certificate.proves}
        return Answer(None, is_proven=solution.status is Status.OPTIMAL, stats=stats)


def _known(options: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return the options, if the engine has all of them."""
    for name in options:
        if name not in known:
            raise Unsupported(f"the engine has no option {name!r}")
    return dict(options)


def answer_of(solution: Solution) -> Answer:
    """Return a solution as the answer to a question."""
    stats = {name: value for name, value in solution.stats.items() if _is_plain(value)}
    stats |= {"limit": solution.limit.value, "solution": solution.status.value}
    tree = solution.tree
    if tree is None:
        return Answer(None, bound=float(solution.bound), stats=stats)
    return Answer(
        labels_by(tree.predict),
        claimed=None if solution.value is None else float(solution.value),
        bound=float(solution.bound),
        is_proven=solution.status is Status.OPTIMAL,
        splits=tree.splits,
        depth=tree.depth,
        stats=stats,
    )


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(k, str) and _is_plain(v) for k, v in value.items())
    return isinstance(value, str | int | float | bool)
