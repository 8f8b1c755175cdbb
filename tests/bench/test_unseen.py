from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from goct.bench.data import Folder
from goct.bench.experiments import EXPERIMENTS, Plan
from goct.bench.experiments.unseen import LEARNERS, Study, takes_part
from goct.bench.results import Run
from goct.bench.spec import Outcome, Spec, Status
from goct.bench.task import execute

pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A raw table whose label is a rule of a number and a level, with some noise."""
    import pandas as pd

    folder = tmp_path_factory.mktemp("raw")
    rng = np.random.default_rng(0)
    x, level = rng.normal(size=240).round(1), rng.choice(list("abc"), 240)
    y = ((x > 0.3) & (level != "a")) ^ (rng.random(240) < 0.05)
    frame = pd.DataFrame({"x": x, "level": level, "noise": rng.random(240), "y": y.astype(int)})
    frame.loc[::17, "x"] = np.nan
    frame.to_csv(folder / "table.csv.gz", index=False)
    return Folder(folder)


def run(solver: str, folder: Folder, dataset: str, metric: str, **options: object) -> Outcome:
    spec = Spec(dataset, "", solver, metric=metric, depth=2, limit=60.0,
                options=tuple(options.items()))  # fmt: skip
    return execute(spec, folder.file(dataset), lambda: None)


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_find_a_rule(learner: str, raw: Folder) -> None:
    if learner in ("figs", "shrunken"):
        pytest.importorskip("imodels")
    outcome = run(learner, raw, "table.csv", "f1")
    assert outcome.status is Status.OK
    assert outcome.value is not None
    assert outcome.value > 0.7
    (splits,) = outcome.stats["sizes"]
    assert (splits is None) == (learner == "boosting")
    if learner != "figs" and splits is not None:
        assert splits <= 3


def test_means_over_splits(raw: Folder) -> None:
    one, three = (run("cart-cv", raw, "table.csv", "f1", splits=n) for n in (1, 3))
    values = three.stats["values"]
    assert values[0] == one.value
    assert len(set(values)) > 1
    assert three.value == pytest.approx(sum(values) / 3)


def test_several_classes(folder: Folder) -> None:
    assert run("cart-cv", folder, "triple", "f1").status is Status.UNSUPPORTED
    assert run("cart-threshold", folder, "triple", "accuracy").status is Status.UNSUPPORTED
    assert run("cart-cv", folder, "triple", "accuracy").status is Status.OK


def test_who_takes_part(data: Path) -> None:
    plan = Plan(Folder(data), datasets=("first",), metrics=("accuracy", "f1"))
    asked = EXPERIMENTS["unseen"].specs(plan)
    of_accuracy = {spec.solver for spec in asked if spec.metric == "accuracy"}
    assert "cart-balanced" not in of_accuracy
    assert "goct-exact" not in of_accuracy
    assert takes_part("goct-exact", "accuracy", is_raw=True)
    assert {spec.solver for spec in asked if spec.metric == "f1"} > of_accuracy


@pytest.mark.filterwarnings("ignore:Exact p-value", "ignore:Sample size too small")  # old scipy
def test_duels() -> None:
    def runs(who: str, values: dict[str, float]) -> list[Run]:
        return [
            Run(
                Spec(name, "", who, metric="f1"),
                Outcome(
                    Status.OK,
                    value=value,
                    cpu=0.5,
                    stats={"rows": 100, "values": [value, value], "sizes": [3, 4]},
                ),
            )
            for name, value in values.items()
        ]

    study = Study(
        "f1",
        [
            *runs("goct-cv", {"a": 0.9, "b": 0.8, "c": 0.5}),
            *runs("cart-cv", {"a": 0.5, "b": 0.6, "c": 0.6}),
            *runs("cart-balanced", {"a": 0.8, "b": 0.8, "c": 0.6}),
        ],
    )
    assert study.rival == "cart-balanced"
    means, scores = study.tables("stem", "title")
    (own, *_) = means.rows
    assert own[0] == "goct"
    assert own[2] == pytest.approx(2.2 / 3)
    assert own[3] == 3.5
    assert own[5] == "1 : 1"
    assert [row[0] for row in scores.rows] == ["a", "b", "c"]
