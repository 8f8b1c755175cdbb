"""Interrupts the MIP engine at random moments, and compares what it claims with brute force.

    python -m tests.support.interrupts highs 200

A process of its own is needed: signals go to whoever runs.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np

from goct import Limit, Problem, Solution, Status, _ctrl_c
from goct.metrics import get_metric
from goct.mip import BACKENDS
from tests.support.mip import optimum, solve

FORMULATIONS = {
    "scip": ["benders-pair-cut", "flow"],
    "highs": ["wflow", "flow"],
    "gurobi": ["benders-pair-cut", "wflow"],
}
METRICS = ["accuracy", "f1", "mcc", "gmean", "kappa", "dor"]


def _interrupted(seconds: float, question: Any) -> Solution | None:
    """Answer a question that is interrupted after some seconds; None if that was at once."""
    done = threading.Lock()

    def strike() -> None:
        time.sleep(seconds)
        if done.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            done.release()

    striker = threading.Thread(target=strike, daemon=True)
    try:
        striker.start()
        found: Solution | None = question()
        done.acquire()  # from here on nothing strikes
    except KeyboardInterrupt:  # before a solver ran
        found = None
    striker.join()
    return found


def wrong(solution: Solution, truth: Any) -> str:
    """Say what is wrong about a solution; nothing if nothing is."""
    if solution.bound < truth:
        return f"no tree is said to exceed {float(solution.bound)}"
    if solution.objective is not None and solution.objective > truth:
        return f"a tree is said to be worth {float(solution.objective)}"
    if solution.status is Status.OPTIMAL and solution.objective != truth:
        return f"{float(solution.objective)} is said to be optimal"
    if solution.status is Status.INFEASIBLE:
        return "no tree is said to be allowed"
    if (solution.status is not Status.OPTIMAL) != (solution.limit is not Limit.NONE):
        return f"{solution.status} with {solution.limit}"
    return ""


def main() -> int:
    """Interrupt a backend a number of times, and print what was seen."""
    backend, number = sys.argv[1], int(sys.argv[2])
    rng = np.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    importlib.import_module(BACKENDS[backend].module)  # a solver's own loading is not asked about
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")
    _ctrl_c.SECONDS = 0.0  # each is the first
    seen: Counter[str] = Counter()
    for trial in range(number):
        n_features = int(rng.integers(3, 8))
        X = (rng.random((60, n_features)) < 0.5).astype(np.uint8)
        y = ((X[:, 0] & X[:, 1]) ^ X[:, 2] ^ (rng.random(60) < 0.25)).astype(int)
        metric, options = str(rng.choice(METRICS)), {"engine": "mip", "backend": backend}
        options["formulation"] = str(rng.choice(FORMULATIONS[backend]))
        if metric in ("f1", "mcc", "kappa"):
            options["method"] = str(rng.choice(["direct", "parametric"]))
        truth = optimum(X, y, get_metric(metric), 2)
        problem = Problem.from_arrays(X, y)

        def question(problem=problem, metric=metric, options=options) -> Solution:
            return solve(problem, metric, 2, time_limit=20, **options)

        # Most moments are early: models are built, presolved, and their first bounds found.
        seconds = float(rng.choice([0.05, 0.3, 1.0, 3.0]) * rng.random())
        solution = _interrupted(seconds, question)
        if solution is None:
            seen["interrupted before a solver ran"] += 1
            continue
        seen[f"{solution.status.name}, limit {solution.limit.name}"] += 1
        if why := wrong(solution, truth):
            seen["WRONG"] += 1
            print(f"WRONG, trial {trial}: {why}, the best has {float(truth)}; {seconds:.3f} s")
            print(metric, options, X.tolist(), y.tolist(), flush=True)
    for name, count in sorted(seen.items()):
        print(f"{count:6} {name}")
    print(f"{number} interrupts, {seen['WRONG']} wrong")
    sys.stdout.flush()
    os._exit(int(seen["WRONG"] > 0))  # solvers may still end in the background


if __name__ == "__main__":
    main()
