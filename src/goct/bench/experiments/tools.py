"""What several experiments show: losses, gaps, and how many questions were answered by when."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

from goct.bench.experiments.base import Plan
from goct.bench.render import Cell, Mark, mean
from goct.bench.results import Run
from goct.bench.spec import Outcome, Spec, Status

K = TypeVar("K")

PENALTY = "0.01"  # the penalty per split in the paper's studies of formulations and warm starts

METRICS = ("accuracy", "balanced_accuracy", "f1", "jaccard", "kappa", "mcc", "fowlkes_mallows",
           "gmean", "dor_smoothed")  # fmt: skip
"""One of each kind of metric."""

ANY_OPTIMUM: dict[str, Any] = {"fewest_splits": False}
"""Options of the search engine: like its peers, it does not look for the smallest optimal tree."""

ALONE = {"injection": "none", "node_heuristic": "rounding"}
"""Options of the MIP engine that leave everything to the models: no search, no warm start."""


def mip_specs(
    plan: Plan, datasets: Sequence[str], variants: Iterable[Mapping[str, Any]]
) -> list[Spec]:
    """Return the runs of the paper's studies of the MIP: each variant at each depth, on halves."""
    depths = plan.choose("depths", (2, 3, 4, 5), (2, 3), (2,))
    options = list(variants)
    return [
        plan.spec(
            name,
            "mip",
            depth=depth,
            penalty=PENALTY,
            split=split,
            limit=plan.choose_limit(900.0),
            options=variant,
        )
        for depth, split in product(depths, range(plan.choose("splits", 1, 1)))
        for name, variant in product(datasets, options)
    ]


def group(runs: Iterable[Run], key: Callable[[Spec], K]) -> dict[K, list[Run]]:
    """Return the runs by a property of their specification, in the order of first sight."""
    groups: dict[K, list[Run]] = {}
    for run in runs:
        groups.setdefault(key(run.spec), []).append(run)
    return groups


def outcomes(runs: Iterable[Run]) -> list[Outcome]:
    """Return the outcomes of the runs that are done."""
    return [run.outcome for run in runs if run.outcome is not None]


def loss(outcome: Outcome | None) -> float | None:
    """Return what the paper calls the objective value: 1 - metric + penalty · splits."""
    return None if outcome is None or outcome.objective is None else 1 - outcome.objective


def relative_gap(outcome: Outcome | None) -> float | None:
    """Return the paper's gap: the distance of the bound on the loss, as a share of the loss."""
    if outcome is None or outcome.gap is None:
        return None
    value = loss(outcome)
    return 0.0 if not value or not outcome.gap else outcome.gap / value


def percent(share: float | None) -> str | None:
    """Return a share as the paper shows it."""
    return None if share is None else f"{100 * share:.1f}%"


def proven_times(runs: Iterable[Run]) -> list[float]:
    """Return the times of the runs that ended with a proof, in increasing order."""
    return sorted(o.seconds for o in outcomes(runs) if o.is_proven)


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return the geometric mean of positive numbers; None if there are none."""
    average = mean(math.log(max(value, 1e-9)) for value in values)
    return None if average is None else math.exp(average)


def proof_cell(outcome: Outcome | None, *, is_refuted: bool, is_cpu: bool = False) -> Cell:
    """Return the seconds of a run, with a mark unless it ends with a proof."""
    if outcome is None:
        return None
    if not outcome.has_tree:
        return Mark(None, outcome.status.value)
    marks = [] if outcome.is_proven else ["open"]
    if outcome.status is Status.WRONG:
        marks.append("wrong")
    if is_refuted:
        marks.append("refuted")
    seconds = outcome.cpu if is_cpu and outcome.cpu is not None else outcome.seconds
    words = f" ({', '.join(marks)})" if marks else ""
    return Mark(seconds, f"{seconds:.{3 if is_cpu else 2}f}{words}")


def limits_of(runs: Sequence[Run]) -> str:
    """Return the limits of runs in words."""
    limits = sorted({run.spec.limit for run in runs})
    return " or ".join(f"{limit:g}" for limit in limits) + " s"


def use_log_scale(axis: Any) -> None:
    """Make an axis logarithmic, with plain numbers at 1, 2 and 5 and their multiples by ten.

    One without data, as of a campaign that has just begun, stays as it is.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_data_interval()
    if not 0 < low <= high:
        return
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    steps = (1.0, 2.0, 5.0) if high < 50 * low else (1.0,)
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def draw_proven(axes: Any, series: Mapping[str, Sequence[Run]], title: str) -> None:
    """Draw how many questions each has proven by when."""
    for label, runs in series.items():
        times = proven_times(runs)
        end = max((run.spec.limit for run in runs), default=1.0)
        xs = [max(t, 1e-3) for t in times] + [max(end, *times, 0.0)]
        ys = [*range(1, len(times) + 1), len(times)]
        axes.step(xs, ys, where="post", label=label)
    use_log_scale(axes.xaxis)
    axes.set_xlabel("seconds")
    axes.set_ylabel("questions proven")
    axes.set_title(title)
    axes.set_ylim(bottom=0)


def draw_gaps(axes: Any, series: Mapping[str, Sequence[Run]], title: str) -> None:
    """Draw how many questions each has within which gap at the limit."""
    for label, runs in series.items():
        gaps = sorted(g for o in outcomes(runs) if (g := relative_gap(o)) is not None)
        xs = [0.0, *(100 * min(gap, 1.0) for gap in gaps), 100.0]
        axes.step(xs, [0, *range(1, len(gaps) + 1), len(gaps)], where="post", label=label)
    axes.set_xlabel("gap at the limit [%]")
    axes.set_ylabel("questions within the gap")
    axes.set_title(title)
    axes.set_ylim(bottom=0)
