from __future__ import annotations

import pytest

from goct.bench.data import Folder
from goct.bench.experiments import EXPERIMENTS, Plan, Profile
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Outcome, Spec, Status

CRASH = Outcome(Status.CRASH, message="SIGSEGV")


def specs(name: str, folder: Folder, **settings: object) -> list[Spec]:
    plan = Plan(folder, Profile.TINY, datasets=("first", "second"), **settings)  # type: ignore[arg-type]
    return EXPERIMENTS[name].specs(plan)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_runs_differ_from_each_other(name: str, folder: Folder) -> None:
    for profile in Profile:
        plan = Plan(folder, profile, datasets=("first", "second"))
        keys = [spec.key for spec in EXPERIMENTS[name].specs(plan)]
        assert len(set(keys)) == len(keys) > 0


@pytest.mark.parametrize("outcome", [None, CRASH], ids=["not done", "crashed"])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_report_without_a_tree(name: str, outcome: Outcome | None, folder: Folder) -> None:
    from matplotlib.figure import Figure

    runs = [Run(spec, outcome) for spec in specs(name, folder)]
    report = EXPERIMENTS[name].report(runs, Reported(None))
    for table in report.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
        table.to_markdown()
    for figure in report.figures:
        figure.draw(Figure())


def test_what_is_asked_for(folder: Folder) -> None:
    asked = specs("streed", folder, rows=("all", "train"), depths=(1, 2), limit=7.0, splits=2)
    assert {spec.split for spec in asked} == {None, 0, 1}
    assert {spec.depth for spec in asked} == {1, 2}
    assert {spec.limit for spec in asked} == {7.0}
    asked = specs("out-of-sample", folder, metrics=("G-mean",), penalties=("0", "0.5"))
    assert {spec.metric for spec in asked if spec.solver == "search"} == {"gmean"}
    assert {spec.penalty for spec in asked if spec.solver == "search"} == {"0", "0.5"}
    (plain, balanced) = [
        spec for spec in asked if spec.solver == "cart" and spec.dataset == "first"
    ]
    assert plain.option("penalties") == ("0", "0.5")
    assert balanced.option("class_weight") == "balanced"
    assert {spec.option("injection") for spec in specs("formulations", folder)} == {"none"}


def test_missing_datasets_are_noted(folder: Folder) -> None:
    plan = Plan(folder, datasets=("first", "gone"))
    assert {spec.dataset for spec in EXPERIMENTS["peers"].specs(plan)} == {"first"}
    assert plan.missing == {"gone"}
