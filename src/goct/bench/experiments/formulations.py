"""The formulations of the paper side by side, without warm starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from goct.bench.experiments.base import Experiment, Plan
from goct.bench.experiments.tools import (
    ALONE,
    draw_gaps,
    draw_proven,
    group,
    limits_of,
    loss,
    mip_specs,
    outcomes,
    percent,
    proven_times,
    relative_gap,
)
from goct.bench.render import Figure, Report, Row, Table, mean
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Spec

FORMULATIONS = ("benders", "benders-weighted", "benders-weighted-cut", "benders-pair-cut")
SMALL = ("monk1", "monk2", "monk3", "iris", "hayes", "banknote", "soybean", "spect")


class Formulations(Experiment):
    """How many questions each formulation answers by when, and how good its trees are."""

    name: ClassVar[str] = "formulations"
    title: ClassVar[str] = "Formulations"
    summary: ClassVar[str] = "the paper's MIP formulations and goct's own, without warm starts"

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each dataset, depth and formulation, on a training half."""
        datasets = plan.choose_datasets(plan.folder.names, SMALL[:4])
        variants = ({"formulation": formulation, **ALONE} for formulation in FORMULATIONS)
        return mip_specs(plan, datasets, variants)

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return the paper's two figures, and the numbers behind them."""
        series = {str(name): members for name, members in group(runs, _formulation).items()}
        rows: list[Row] = []
        for name, members in series.items():
            for depth, some in [("all", members), *group(members, lambda s: str(s.depth)).items()]:
                done, times = outcomes(some), proven_times(some)
                gaps = [relative_gap(outcome) for outcome in done]
                rows.append(
                    {
                        "formulation": name,
                        "depth": depth,
                        "questions": len(done),
                        "proven": len(times),
                        "in 1 s": sum(t <= 1 for t in times),
                        "in 10 s": sum(t <= 10 for t in times),
                        "gap ≤ 5 %": sum(gap is not None and gap <= 0.05 for gap in gaps),
                        "mean gap": percent(mean(gaps)),
                        "mean objective value": mean(map(loss, done)),
                    }
                )
        table = Table.of("proven", "Questions proven, and what is left at the limit", rows)

        def draw_time_and_gap(figure: Any) -> None:
            left, right = figure.subplots(1, 2)
            draw_proven(left, series, "optimal by when")
            draw_gaps(right, series, "gap at the limit")
            left.legend()

        def draw_objective(figure: Any) -> None:
            axes = figure.subplots()
            for name, members in series.items():
                by_depth = group(members, lambda spec: spec.depth)
                values = [mean(loss(o) for o in outcomes(some)) for some in by_depth.values()]
                axes.plot(list(by_depth), values, marker="o", label=name)
            axes.set_xlabel("depth")
            axes.set_ylabel("mean objective value (1 − accuracy + 0.01 · splits)")
            axes.set_xticks(sorted({run.spec.depth for run in runs}))
            axes.legend()

        return Report(
            [
                "Each formulation minimises 1 − accuracy + 0.01 · splits on the training half of "
                f"each dataset, without any tree to start from, in at most {limits_of(runs)} on "
                "one thread. The first three are the paper's; benders-pair-cut, goct's default, "
                "has cuts for pairs of rows with different labels. The gap is the paper's: the "
                "distance between objective value and bound, as a share of the objective value.",
                *_speed(series),
            ],
            [table],
            [
                Figure("time-gap", "Questions proven over time, and gaps at the limit, for each "
                       "formulation", draw_time_and_gap, (10.0, 4.0)),
                Figure("objective", "Mean objective value by depth; less is better",
                       draw_objective, (6.0, 4.0)),
            ],
            [
                "The paper shows the same as figures without numbers. Its runs were on Gurobi 11 "
                "with other random halves, 50 datasets and a limit of 900 s, so that counts are "
                "not comparable one by one, while the order of the formulations is.",
                "Runs with the same question must agree: proven values that another run beats "
                "would be listed below.",
            ],
        )  # fmt: skip


def _formulation(spec: Spec) -> Any:
    return spec.option("formulation")


def _speed(series: dict[str, list[Run]]) -> list[str]:
    """Say how soon each formulation has proven as much as the first one did in all."""
    base, *others = series
    target = len(proven_times(series[base]))
    if not target or not others:
        return []
    slowest = proven_times(series[base])[-1]
    words = []
    for name in others:
        times = proven_times(series[name])
        if len(times) >= target:
            words.append(f"{name} has proven as many within {times[target - 1]:.2f} s each")
        else:
            words.append(f"{name} proves {len(times)} in all")
    first = f"{base} proves {target} questions, the last of them after {slowest:.2f} s; "
    return [first + "; ".join(words) + "."]
