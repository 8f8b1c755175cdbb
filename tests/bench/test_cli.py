from __future__ import annotations

import csv
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from goct.bench.experiments import EXPERIMENTS
from goct.cli import app
from tests.support.processes import interrupt

runner = CliRunner()


def run(*arguments: object) -> Result:
    return runner.invoke(app, ["bench", *map(str, arguments)])


def test_list_and_peers() -> None:
    assert [line.split()[0] for line in run("list").output.splitlines()] == list(EXPERIMENTS)
    peers = run("peers").output
    assert re.search(r"^search +goct .*all metrics", peers, re.MULTILINE)
    assert re.search(r"^fast-small-tree imodels ", peers, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_from_end_to_end(
    name: str, data: Path, reported: Path, tmp_path: Path
) -> None:
    results, pages = tmp_path / "r.sqlite", tmp_path / "pages"
    datasets = () if name == "growth" else ("--datasets", "first,gone")
    arguments = ("run", name, "--tiny", "--data", data, *datasets, "--limit", 1,
                 "--results", results, "--jobs", 4)  # fmt: skip
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "not in" in result.output or name == "growth"
    assert ", 0 done now" not in result.output
    again = run(*arguments)
    assert ", 0 done now" in again.output
    shown = run("status", results).output
    assert name in shown
    assert "to do" not in shown
    result = run("report", results, "-o", pages, "--reported", reported)
    assert result.exit_code == 0, result.output
    page = (pages / f"{name}.md").read_text()
    assert page.startswith(f"# {EXPERIMENTS[name].title}")
    assert "## How it was made" in page
    assert "nan" not in page
    for file in re.findall(r"\]\(([\w.-]+\.(?:csv|svg))\)", page):
        assert (pages / file).stat().st_size > 0
    for file in pages.glob("*.csv"):
        with file.open() as stream:
            lengths = {len(row) for row in csv.reader(stream)}
        assert len(lengths) == 1
    assert f"]({name}.md)" in (pages / "index.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nonsense", "--data", "."], "unknown experiment 'nonsense'"),
        (["run", "streed", "--data", "nowhere"], "there is no folder of datasets nowhere"),
        (["run", "streed", "--data", ".", "--depths", "x"], "--depths takes numbers"),
        (["run", "streed", "--data", ".", "--metrics", "f7x"], "unknown metric"),
        (["run", "streed", "--data", ".", "--metrics", "f1"], "--metrics has no part in streed"),
        (["run", "growth", "--data", ".", "--rows", "all"], "--rows has no part in growth"),
        (["run", "growth", "--data", ".", "--backend", "highs"], "--backend has no part in growth"),
        (["run", "streed", "--data", ".", "--solvers", "nobody"], "unknown solver"),
        (["run", "streed", "--data", ".", "--solvers", "no:body"], "cannot be loaded"),
        (["run", "streed", "--data", ".", "--rows", "some"], "--rows takes all and train"),
        (["run", "streed", "--data", ".", "--memory", "much"], "--memory takes a size"),
        (["run", "streed", "--data", ".", "--penalties", "-1"], "--penalties takes"),
        (["run", "streed", "--data", ".", "--backend", "pen"], "unknown backend"),
        (["run", "streed", "--data", ".", "--quick", "--tiny"], "choose one of"),
        (["run", "streed", "--data", ".", "--variant", "A b"], "--variant takes a name"),
        (["run", "all", "--data", ".", "--variant", "a"], "--variant takes one experiment"),
        (["run", "streed", "--data", ".", "--dask", "1", "--scheduler", "x"], "choose one of"),
        (["report", "gone.sqlite"], "there is no results file gone.sqlite"),
        (["status", "gone.sqlite"], "there is no results file gone.sqlite"),
    ],
)
def test_wrong_input(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output


def test_other_files_are_refused(tmp_path: Path, data: Path) -> None:
    other = tmp_path / "other"
    other.write_text("something else, and not a database of any kind")
    assert "is no results file" in run("status", other).output
    result = run("run", "datasets", "--data", data, "--results", other)
    assert result.exit_code == 2
    assert "is no results file" in result.output


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_campaign_says_how_to_go_on(
    data: Path, tmp_path: Path, kind: signal.Signals
) -> None:
    results = tmp_path / "r.sqlite"
    end = interrupt(
        "-m", "goct", "bench", "run", "streed", "--tiny", "--data", data,
        "--datasets", "first", "--limit", "600", "--results", results,
        "--solvers", "search,tests.bench.faults:Hangs",
        stream="stderr", lines=2, kind=kind,
    )  # fmt: skip
    assert end.lines[0] == "2 runs to do, 0 done before\n"
    assert end.lines[1].startswith("1 of 2")
    assert end.code == 3
    assert "goes on where it was" in end.err
    assert "1 to do" in run("status", results).output


def test_options_that_count_for_some_experiments_only(data: Path) -> None:
    arguments = ("--data", data, "--datasets", "first", "--metrics", "f1", "--tiny", "--dry-run")
    output = run("run", "streed", "peers", "out-of-sample", *arguments).output
    assert "--metrics counts for peers, out-of-sample only" in output
    assert "--datasets" not in output


@pytest.mark.slow
def test_runs_that_went_wrong_are_counted(data: Path, tmp_path: Path) -> None:
    solvers = "search,tests.bench.faults:Raises,tests.bench.faults:Absent"
    result = run("run", "streed", "--data", data, "--datasets", "first", "--tiny",
                 "--solvers", solvers, "--results", tmp_path / "r.sqlite")  # fmt: skip
    assert "not as they should be: 1 error, 1 not installed" in result.output


@pytest.mark.slow
def test_label_1_stands_against_the_rest(data: Path, tmp_path: Path) -> None:
    arguments = ("--data", data, "--datasets", "triple", "--tiny")
    results = tmp_path / "r.sqlite"
    result = run("run", "time-to-proof", *arguments, "--metrics", "f1,mcc", "--results", results)
    assert "not as they should be" not in result.output
    run("run", "out-of-sample", *arguments, "--results", results)
    run("report", results, "-o", tmp_path / "pages")
    page = (tmp_path / "pages" / "out-of-sample.md").read_text()
    assert "Left out, since they have more than two classes: triple." in page


@pytest.mark.slow
def test_a_changed_solver_of_ones_own_is_asked_again(data: Path, tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    text = """
import numpy as np
from goct.bench.peers import Answer, Question, Solver

class Mine(Solver):
    def fit(self, question: Question) -> Answer:
        return Answer(lambda X: np.ones(len(X), dtype=int), splits=0, depth=0)
"""
    command = [sys.executable, "-m", "goct", "bench", "run", "streed", "--tiny", "--data", data,
               "--datasets", "first", "--solvers", "mine:Mine", "--results",
               tmp_path / "r"]  # fmt: skip
    done = []
    for change in ("", "", "# another line"):
        script.write_text(text + change)
        shown = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(tmp_path)},
                               capture_output=True, text=True, check=True).stderr  # fmt: skip
        done.append(re.findall(r"(\d+) done now", shown))
    assert done == [["1"], ["0"], ["1"]]


def test_a_dataset_that_is_not_compressed(tmp_path: Path) -> None:
    (tmp_path / "plain.txt.gz").write_text("1 0 1\n")
    results = tmp_path / "r.sqlite"
    result = run("run", "datasets", "--data", tmp_path, "--results", results)
    assert "not as they should be: 1 error" in result.output
    assert "plain.txt.gz is not compressed with gzip" in result.output


def test_dry_run(data: Path, tmp_path: Path) -> None:
    results = tmp_path / "r.sqlite"
    arguments = ("--tiny", "--data", data, "--datasets", "first", "--results", results)
    result = run("run", "streed", "datasets", *arguments, "--dry-run")
    assert "streed         3 runs, limits of 6 s in all" in result.output
    assert not results.exists()


def test_no_dataset_is_there(data: Path, tmp_path: Path) -> None:
    arguments = ("--data", data, "--datasets", "gone", "--results", tmp_path / "r.sqlite")
    result = run("run", "streed", *arguments)
    assert result.exit_code == 2
    assert "none of the datasets is in" in result.output


@pytest.mark.slow
def test_variants_have_pages_of_their_own(data: Path, tmp_path: Path) -> None:
    results, pages = tmp_path / "r.sqlite", tmp_path / "pages"
    arguments = ("run", "datasets", "--tiny", "--data", data, "--results", results)
    for _ in range(2):  # the same runs, once for each page; the second time nothing is new
        run(*arguments, "--datasets", "first")
        run(*arguments, "--datasets", "first", "--variant", "small: only one")
    assert run("status", results).output.count(" ok") == 2
    run("report", results, "-o", pages)
    assert (pages / "datasets.md").read_text().startswith("# Datasets\n")
    assert (pages / "datasets-small.md").read_text().startswith("# Datasets: only one\n")
    assert (pages / "datasets-small-runs.csv").exists()
    index = (pages / "index.md").read_text()
    assert "[Datasets](datasets.md)" in index
    assert "[Datasets: only one](datasets-small.md)" in index


@pytest.mark.slow
def test_merging(data: Path, tmp_path: Path) -> None:
    first, second, both = (tmp_path / f"{name}.sqlite" for name in ("first", "second", "both"))
    for file, dataset in ((first, "first"), (second, "second")):
        run("run", "time-to-proof", "--tiny", "--data", data, "--datasets", dataset,
            "--metrics", "f1", "--results", file)  # fmt: skip
    run("run", "datasets", "--tiny", "--data", data, "--datasets", "first", "--results", second)
    assert "both.sqlite: 3 runs, 3 campaigns" in run("merge", both, first, second).output
    assert "both.sqlite: 3 runs, 3 campaigns" in run("merge", both, second).output
    assert run("status", both).output.count(" ok") == 3
    run("report", both, "-o", tmp_path / "pages")
    with (tmp_path / "pages" / "time-to-proof-runs.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["dataset"], row["metric"], row["is_proven"]) == ("second", "f1", "True")
    assert int(row["train_tp"]) + int(row["train_fn"]) > 0
    with closing(sqlite3.connect(first)) as old, old:  # as if its keys were made in another way
        old.execute("UPDATE runs SET key = 'old'")
        old.execute("UPDATE members SET key = 'old'")
    run("merge", tmp_path / "older.sqlite", first)
    assert ": 1 ok" in run("status", tmp_path / "older.sqlite").output
    for wrong in ((both, tmp_path / "absent"), (both, both), (both, data)):
        assert run("merge", *wrong).exit_code == 2


def test_metrics_that_need_more_than_a_dataset(data: Path) -> None:
    result = run("run", "peers", "--data", data, "--metrics", "instance_cost", "--dry-run")
    assert result.exit_code == 2
    assert "instance_cost needs costs of rows" in result.output
