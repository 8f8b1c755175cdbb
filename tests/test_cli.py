from __future__ import annotations

import csv
import gzip
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner, Result

import goct
from goct import OptimalTreeClassifier, OptimalTreeClassifierCV
from goct.cli import app
from goct.model import Model
from goct.tuning import tune
from tests.support.certificates import read_certificate, write_certificate
from tests.support.processes import interrupt

runner = CliRunner()


def run(*arguments: object) -> Result:
    return runner.invoke(app, [str(argument) for argument in arguments])


def fails(*arguments: object) -> str:
    """Run a command that must end with a message about wrong input, and return the message."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


@pytest.fixture(scope="module")
def customers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with all kinds of columns, and missing values."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("data") / "customers.csv"
    jobs = ["cook", "nurse", "driver's mate", "retired"]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "income", "job", "member", "joined", "bought"])
        for i in range(300):
            age, job, member = int(rng.integers(18, 80)), jobs[rng.integers(4)], rng.random() < 0.5
            joined = np.datetime64("2020-01-01") + rng.integers(0, 1500)
            bought = (age > 50) + (job == "retired") + member + rng.normal(0, 0.4) > 1.4
            income = "" if i % 9 == 0 else round(1000 * age * rng.random())
            writer.writerow(
                [age, income, job if i % 20 else "?", member, joined, "yes" if bought else "no"]
            )
    return path


@pytest.fixture(scope="module")
def saved(customers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.json"
    options = ("--target", "bought", "--positive", "yes", "--depth", 3)
    result = run("fit", customers, *options, "--save", path)
    assert result.exit_code == 0, result.output
    return path


def write(folder: Path, content: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def test_fit_with_every_threshold(customers, tmp_path) -> None:
    options = ("--target", "bought", "--depth", 2, "--metric", "mcc", "--no-tune")
    chosen = run("fit", customers, *options)
    path = tmp_path / "model.json"
    exact = run("fit", customers, *options, "--binarizer", "exact", "--save", path)
    assert chosen.exit_code == exact.exit_code == 0
    assert "no tree of depth 2 over all thresholds of these columns is better" in exact.output
    values = [float(re.search(r"mcc +([0-9.]+)", r.output)[1]) for r in (chosen, exact)]
    assert values[0] <= values[1]
    model = Model.load(path)
    assert model.source.conditions > 400
    assert run("predict", path, customers).exit_code == 0
    held_back = run("fit", customers, *options, "--binarizer", "exact", "--test-size", 0.3)
    assert "on test data" in held_back.output
    assert run("frontier", customers, *options[:4], "--binarizer", "exact").exit_code == 0
    message = fails("fit", customers, *options, "--binarizer", "exact", "--thresholds", 3)
    assert "'exact' takes every threshold" in message


def test_version() -> None:
    result = runner.invoke(app, ["version"])
    assert result.exit_code == 0
    assert result.output.strip() == version("goct")


_COLUMNS = ("--target", "bought", "--depth", "2")


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (("--version",), "numpy typer"),
        (("--help",), "sklearn scipy pandas matplotlib joblib"),
        (("demo", "--depth", "1"), "sklearn scipy pandas matplotlib joblib narwhals asyncio"),
        (("frontier", "DATA", *_COLUMNS), "sklearn scipy pandas matplotlib joblib narwhals"),
        (("path", "DATA", *_COLUMNS), "sklearn scipy pandas matplotlib joblib narwhals"),
        (("predict", "MODEL", "DATA"), "sklearn scipy pandas matplotlib joblib narwhals"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_takes_long_to_import_is_loaded_when_it_is_needed(
    arguments: tuple[str, ...], unwanted: str, saved: Path, customers: Path
) -> None:
    places = {"DATA": str(customers), "MODEL": str(saved)}
    loaded = _loaded_by(*(places.get(word, word) for word in arguments))
    assert "goct" in loaded
    assert not loaded & {*unwanted.split()}


def _loaded_by(*arguments: str) -> set[str]:
    """Run goct, and return the modules that it has loaded."""
    code = (
        "import sys, goct.__main__ as it\n"
        "try: it.main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {*done.stderr.split()}


def test_metrics() -> None:
    lines = runner.invoke(app, ["metrics"]).output.splitlines()
    assert lines[1].split()[:2] == ["accuracy", "linear"]
    assert any(line.split()[:2] == ["mcc", "quasiconvex"] for line in lines)


def test_demo_writes_its_table(tmp_path: Path) -> None:
    table = tmp_path / "cancer.csv"
    assert "diagnosis" in runner.invoke(app, ["demo", "--table", str(table)]).output
    data = load_breast_cancer(as_frame=True)
    expected = data.data.assign(diagnosis=data.target_names[data.target]).to_csv(index=False)
    assert table.read_text() == expected


def test_demo_proves_a_tree() -> None:
    result = runner.invoke(app, ["demo", "--depth", "1"])
    assert result.exit_code == 0
    assert "proven bound" in result.output
    assert "optimal: no tree of depth 1 over these features is better" in result.output
    assert "true \\ predicted" in result.output


def test_help_and_unknown_command() -> None:
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output
    assert "Exit codes" in result.output
    assert runner.invoke(app, ["dmo"]).exit_code == 2


def test_help_is_in_panels() -> None:
    lines = run("fit", "--help").output.splitlines()
    panels = [line.strip("╭╮─ ") for line in lines if line.startswith("╭")]
    assert panels[2:] == [
        "What to learn",
        "Which trees",
        "What they must keep",
        "Output",
        "How to read the file",
        "How to search",
    ]
    options = [line.split()[1] for line in lines if line.startswith("│ --")]
    assert options[-3:] == ["--engine", "--formulation", "--backend"]
    assert "How to read the file" in run("predict", "--help").output


def test_console_script_and_import_are_quiet() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import goct"], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_ctrl_c_while_loading_is_quiet() -> None:
    program = """
import sys
from importlib.abc import MetaPathFinder
from goct.__main__ import main

class Interrupt(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "typer":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
main()
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


def test_fit_writes_a_model_and_a_report(customers: Path, tmp_path: Path) -> None:
    model, report = tmp_path / "m.json", tmp_path / "r.html"
    result = run(
        *(
            "fit",
            customers,
            "--target",
            "bought",
            "--positive",
            "yes",
            "--metric",
            "f1",
            "--no-tune",
        ),
        *("--depth", 3, "--test-size", 0.25, "--seed", 1, "--constraint", "recall>=0.8"),
        *("--save", model, "--report", report),
    )
    assert result.exit_code == 0, result.output
    assert "optimal: no tree of depth 3" in result.output
    assert "CART on test data" in result.output
    loaded = Model.load(model)
    assert loaded.source.file == "customers.csv"
    assert loaded.question.constraints == ("recall >= 0.8",)
    assert loaded.test is not None
    assert loaded.train.total + loaded.test.total == 300
    page = report.read_text()
    assert page.startswith("<!doctype html>")
    assert "Choose a tree" in page
    assert 'id="keep"' in page
    assert loaded.validation is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.json", "r.html"]


def test_a_tuned_tree_says_what_to_expect(customers: Path, tmp_path: Path) -> None:
    model, report = tmp_path / "m.json", tmp_path / "r.html"
    fit = ("fit", customers, "--target", "bought", "--depth", 2, "--save", model)
    result = run(*fit, "--report", report)
    validation = Model.load(model).validation
    assert validation is not None
    assert validation.estimate is not None
    expected = f"{validation.estimate:.4f} ± {validation.estimate_error:.4f}"
    assert f"on new data {expected} expected" in re.sub(" +", " ", result.output)
    page = report.read_text(encoding="utf-8")
    assert f"<strong>{validation.estimate:.4f}</strong>" in page
    assert f"±\u00a0{validation.estimate_error:.4f} on new rows, by 5 folds" in page
    assert "rows held back: mean of 5 folds" in page
    assert run("report", model, "-o", report).exit_code == 0
    alone = report.read_text(encoding="utf-8")
    assert "rows held back: mean of 5 folds" in alone
    assert 'id="size"' not in alone


def test_fit_at_any_depth(tmp_path: Path) -> None:
    file = write(tmp_path, "a,b,y\n" + "0,0,n\n0,1,p\n1,0,p\n1,1,n\n")
    model, report = tmp_path / "model.json", tmp_path / "report.html"
    fit = ("fit", file, "--target", "y", "--depth", "any")
    result = run(*fit, "--split-penalty", 0.01, "--save", model, "--report", report)
    assert "no tree of any depth over these features is better" in result.output
    assert Model.load(model).question.max_depth is None
    assert "tree of any depth" in report.read_text()
    assert "max_splits" in fails(*fit)
    assert "or any" in fails("fit", file, "--target", "y", "--depth", "65")


@pytest.mark.parametrize(
    ("command", "best"),
    [("path", "3  1.000000  1.000000  optimal"), ("frontier", "2   0   0   2       3")],
)
@pytest.mark.parametrize("depth", ["any", "none"])
def test_all_trees_of_any_depth(command: str, best: str, depth: str, tmp_path: Path) -> None:
    file = write(tmp_path, "a,b,y\n" + "0,0,n\n0,1,p\n1,0,p\n1,1,n\n")
    ask = (command, file, "--target", "y", "--depth", depth)
    assert "max_splits" in fails(*ask)
    assert best not in run(*ask, "--max-splits", 1).output
    assert best in run(*ask, "--max-splits", 3).output


def test_predict(customers: Path, saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = run("predict", saved, customers, "-o", out)
    assert result.exit_code == 0, result.output
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 300
    assert list(rows[0])[-2:] == ["bought", "prediction"]
    matrix = Model.load(saved).confusion_matrix()
    right = sum(row["bought"] == row["prediction"] for row in rows)
    assert right == matrix[0][0] + matrix[1][1]
    printed = run("predict", saved, customers, "--only", "--column", "class")
    assert printed.stdout.splitlines() == ["class", *(row["prediction"] for row in rows)]


def test_probabilities(customers: Path, saved: Path, tmp_path: Path) -> None:
    found = {}
    for smoothing in ("none", "laplace", "parent"):
        output = tmp_path / "out.csv"
        options = ("--proba", "--smoothing", smoothing, "--only", "-o", output)
        assert run("predict", saved, customers, *options).exit_code == 0
        found[smoothing] = pd.read_csv(output)
        names = ["prediction", "prediction no", "prediction yes"]
        assert found[smoothing].columns.tolist() == names
        assert np.allclose(found[smoothing][names[1:]].sum(axis=1), 1)
    model = Model.load(saved)
    expected = model.predict_proba(pd.read_csv(customers))
    assert np.allclose(found["laplace"].iloc[:, 1:], expected, atol=1e-6)
    assert (found["none"]["prediction yes"] != found["laplace"]["prediction yes"]).any()
    assert (found["parent"]["prediction yes"] != found["laplace"]["prediction yes"]).any()
    message = fails("predict", saved, customers, "--smoothing", "bayes")
    assert "unknown smoothing 'bayes'; allowed: 'none', 'laplace'" in message


def test_predict_keeps_the_delimiter(customers: Path, saved: Path, tmp_path: Path) -> None:
    for delimiter, option in [(";", None), ("\t", "tab"), ("|", "|")]:
        text = customers.read_text().replace(",", delimiter)
        data = write(tmp_path, text)
        more = () if option is None else ("--delimiter", option)
        result = run("predict", saved, data, "-q", *more)
        assert result.exit_code == 0, result.output
        first, second = result.stdout.splitlines()[:2]
        assert first == f"{text.splitlines()[0]}{delimiter}prediction"
        assert second.startswith(text.splitlines()[1])


def test_predict_compares_with_the_target(customers: Path, saved: Path, tmp_path: Path) -> None:
    model = Model.load(saved)
    result = run("predict", saved, customers, "--only")
    assert f"f1 on 300 rows: {model.train.value}" in result.stderr
    (tp, fp), (fn, tn) = ((int(n) for n in row) for row in model.confusion_matrix())
    assert "true \\ predicted" in result.stderr
    assert [int(w) for w in result.stderr.split() if w.isdigit()][:4] == [tp, fp, fn, tn]
    assert result.stdout.splitlines()[0] == "prediction"

    text = customers.read_text().replace("bought", "truth").replace(",yes\n", ",?\n", 1)
    other = write(tmp_path, text.replace(",no\n", ",perhaps\n", 2))
    assert "on 3" not in run("predict", saved, other).stderr  # nothing to compare with
    result = run("predict", saved, other, "--target", "truth")
    assert "f1 on 297 rows" in result.stderr
    assert "classes that the tree does not know ('perhaps')" in result.stderr
    assert "3 rows without a known class are not compared" in result.stderr
    assert run("predict", saved, other, "--target", "truth", "-q").stderr == ""
    assert "no column 'verity'" in fails("predict", saved, other, "--target", "verity")
    used = next(iter(model.columns))
    assert "cannot be the target" in fails("predict", saved, other, "--target", used)


def test_a_least_leaf_that_no_tree_has(customers: Path, tmp_path: Path) -> None:
    for options in ([], ["--no-tune"]):
        result = run(
            "fit", customers, "--target", "bought", "--min-leaf", 301, "--depth", 2, *options
        )
        assert result.exit_code == 4, result.output
        assert "no tree of depth 2 over these features meets the constraints" in result.output
    page = tmp_path / "page.html"
    text = fails("explore", customers, "--target", "bought", "--min-leaf", 301, "-o", page)
    assert "--min-leaf 301: there are only 300 rows" in text


def test_a_target_that_two_columns_are_called(tmp_path: Path) -> None:
    table = tmp_path / "two.csv"
    table.write_text("y,a,y\n1,0,1\n0,1,0\n1,1,1\n0,0,0\n")
    assert "the columns 1 and 3 are both called 'y'" in fails("fit", table, "--target", "y")


@pytest.fixture
def credit(tmp_path: Path) -> Path:
    """Ten rows: b tells most of the bad ones from the good ones."""
    rows = [(1, "bad", 1)] * 2 + [(1, "good", 1)] * 3 + [(0, "bad", 6)] + [(0, "good", 1)] * 4
    lines = [f"{b},{risk},{weight}" for b, risk, weight in rows]
    return write(tmp_path, "\n".join(["b,risk,w", *lines]), "credit.csv")


def test_prices_of_errors(credit: Path, tmp_path: Path) -> None:
    fit = ("fit", credit, "--target", "risk", "--ignore", "w", "--no-tune", "--min-leaf", 1)
    model = tmp_path / "model.json"
    result = run(*fit, "--cost", "bad=5", "--cost", "good=1", "--positive", "bad", "--save", model)
    assert "class_cost(5, 1)  -7  of 'bad'" in result.output  # all are taken for bad
    assert "class_cost(5, 1) per row  -0.700000" in result.output
    assert "class_cost(5, 1) on 10 rows: -7" in run("predict", model, credit).stderr
    turned = run(*fit, "--cost", "bad=5", "--cost", "good=1")
    assert "class_cost(1, 5)  -7  of 'good'" in turned.output
    pairs = run(*fit, "--cost", "bad=5", "--cost", "good:bad=1", "--cost", "good:good=-1")
    assert "cost_matrix" in pairs.output
    assert "class_cost needs prices: --cost bad=1 --cost good=1" in fails(
        *fit, "--metric", "class_cost"
    )
    assert "no price for 'good' taken for 'bad'" in fails(*fit, "--cost", "bad=5")
    assert "'ugly' is no class of the target" in fails(*fit, "--cost", "ugly=5")
    assert "--cost must be like bad=5, got 'bad'" in fails(*fit, "--cost", "bad")
    assert "--metric f1 does not look at" in fails(*fit, "--cost", "bad=1", "--metric", "f1")


def test_weights_of_rows_and_classes(credit: Path) -> None:
    fit = ("fit", credit, "--target", "risk", "--no-tune", "--metric", "accuracy", "--depth", 1)
    assert "accuracy      0.700000" in run(*fit, "--ignore", "w").output
    by_row = run(*fit, "--weight", -1)
    assert "accuracy      0.600000  (= 3/5)" in by_row.output
    heavy = ("--class-weight", "bad=5")
    assert "accuracy      0.681818  (= 15/22)" in run(*fit, "--ignore", "w", *heavy).output
    assert run(*fit, "--ignore", "w", "--class-weight", "balanced").exit_code == 0
    assert "the weight 'b' is 0, which" not in run(*fit, "--weight", "b").output
    credit.write_text(credit.read_text().replace("good,1", "good,-1", 1))
    assert "line 4: the weight 'w' is -1, which is negative" in fails(*fit, "--weight", "w")
    assert "'ugly' is no class" in fails(*fit, "--class-weight", "ugly=2")


def test_a_file_without_a_line_of_names(tmp_path: Path) -> None:
    path, model = write(tmp_path, "1,a,1\n2,b,0\n" * 5), tmp_path / "model.json"
    options = ("--depth", 1, "--no-tune")
    result = run("fit", path, "--no-header", "--target", -1, *options, "--save", model)
    assert "column_1 > 1.5?" in result.output
    assert Model.load(model).source.target == "column_3"
    predicted = run("predict", model, path, "--no-header").stdout.splitlines()
    assert predicted[:2] == ["column_1,column_2,column_3,prediction", "1,a,1,1"]
    assert len(predicted) == 11
    named = run("fit", path, "--names", 'n,"a, b",-1', "--target", -1, "--ignore", "n", *options)
    assert "a, b = " in named.output
    by_name = fails("fit", path, "--names", "-1,b,b", "--target", -1, "--ignore", -1)
    assert "the target '-1' cannot be ignored" in by_name
    assert "no place 4: there are 3" in fails("fit", path, "--no-header", "--target", 4)


@pytest.mark.parametrize("jobs", ["0", "-2", "many"])
def test_a_number_of_jobs_that_is_none(customers: Path, jobs: str) -> None:
    text = fails("fit", customers, "--target", "bought", f"--jobs={jobs}")
    assert f"'{jobs}' is not a number from 1 on" in text


def test_long_names_of_metrics_are_shown_apart(customers: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    question = ["--metric", "balanced_accuracy", "--depth", 1, "--no-tune", "--save", model]
    assert run("fit", customers, "--target", "bought", *question).exit_code == 0
    assert re.search(r"^balanced_accuracy  0\.\d+", run("show", model).output, re.MULTILINE)


def test_show(saved: Path, tmp_path: Path) -> None:
    assert "proven bound" in run("show", saved).output
    for format, start in [("rules", "if "), ("sql", "CASE"), ("python", "#"), ("dot", "digraph")]:
        assert run("show", saved, "--format", format).output.startswith(start)
    assert "there are text, rules, sql" in fails("show", saved, "--format", "cobol")
    assert run("show", saved, "--format", "dot", "-o", tmp_path / "t.dot").exit_code == 0
    assert run("report", saved, "-o", tmp_path / "r.html").exit_code == 0


def test_onnx(saved: Path, tmp_path: Path) -> None:
    assert "name a file with --output" in fails("show", saved, "--format", "onnx")
    pytest.importorskip("onnx")
    result = run("show", saved, "--format", "onnx", "-o", tmp_path / "tree.onnx")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "tree.onnx").stat().st_size > 100


def test_explore(customers: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = ("explore", customers, "--target", "bought", "--depth", 2, "-o", page)
    result = run(*arguments, "--test-size", 0.25, "--folds", 2, "--rows", 3)
    assert result.exit_code == 0, result.output
    assert "trees of 0 to 3 splits, all proven" in result.output
    text = page.read_text(encoding="utf-8")
    assert len(text) < 5_000_000
    assert "mean of 2 folds" in text
    assert "holds 3 rows of the data" in text
    result = run(*arguments, "--folds", 0, "--rows", 0, "--metric", "accuracy", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert "rows of the data for the form" not in page.read_text(encoding="utf-8")
    assert "is the input" in fails(*arguments[:-1], customers)


def test_frontier(customers: Path, tmp_path: Path) -> None:
    out, figure = tmp_path / "points.csv", tmp_path / "front.png"
    arguments = ("frontier", customers, "--target", "bought", "--depth", 2)
    result = run(*arguments, "-o", out, "--plot", figure)
    assert result.exit_code == 0, result.output
    assert "trees of depth 2, proven complete" in result.output
    few = run(*arguments, "--max-splits", 1)
    assert "of the trees of depth 2 with at most 1 splits, proven complete" in few.output
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert [float(r["recall"]) for r in rows] == sorted(float(r["recall"]) for r in rows)[::-1]
    assert figure.read_bytes().startswith(b"\x89PNG")
    more = run(*arguments, "--pareto", "-q", "-o", out)
    assert (more.exit_code, more.output) == (0, "")
    assert len(out.read_text().splitlines()) > len(rows)


def test_a_tree_of_the_frontier(customers: Path, tmp_path: Path) -> None:
    model, page = tmp_path / "model.json", tmp_path / "report.html"
    arguments = ("frontier", customers, "--target", "bought", "--depth", 2, "--test-size", 0.3)
    result = run(*arguments, "--save-tree", 2, "--save", model, "--report", page)
    assert result.exit_code == 0, result.output
    assert "test_recall" in result.output
    assert "tree 2:" in result.output
    second = result.output.splitlines()[2].split()
    confusion = Model.load(model).confusion()
    assert confusion is not None
    assert [confusion.tp, confusion.fp, confusion.fn, confusion.tn] == list(map(int, second[6:10]))
    assert "trade between the two kinds of error" in page.read_text(encoding="utf-8")
    inside = (*arguments, "--save-tree", 2, "--metric", "gmean", "--save", model)
    assert run(*inside).exit_code == 0
    assert Model.load(model).proof.bound.value == 1  # the hull tells nothing about G-mean
    chosen = run(*arguments, "--at", "recall >= 0.8", "--metric", "precision", "--save", model)
    assert chosen.exit_code == 0, chosen.output
    fitted = run("fit", *arguments[1:], "--metric", "precision", "--constraint", "recall >= 0.8",
                 "--save", tmp_path / "fit.json")  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    found, best = Model.load(model), Model.load(tmp_path / "fit.json")
    assert found.train.value == best.train.value
    assert (found.proof.status, found.question.constraints) == ("optimal", ("recall >= 0.8",))
    assert len(re.findall(r"^ *\d+ +\d\.\d+ ", chosen.output, re.M)) == 1  # the answer only
    refused = run(*arguments, "--at", "alerts <= 20")
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert run(*arguments, "--at", "recall >= 1", "--at", "fp <= 0").exit_code == 4
    assert "there are" in fails(*arguments, "--save-tree", 999)
    assert "choose one with --save-tree" in fails(*arguments, "--save", model)
    assert "use one of them" in fails(*arguments, "--save-tree", 1, "--at", "recall >= 0.5")


def test_quiet(customers: Path, tmp_path: Path) -> None:
    result = run(
        "fit", customers, "--target", "bought", "--depth", 2, "-q", "--save", tmp_path / "m.json"
    )
    assert (result.exit_code, result.output) == (0, "")


def test_numbers_as_labels(tmp_path: Path) -> None:
    data = write(tmp_path, "x,y\n" + "1,0\n2,1\n" * 20)
    model = tmp_path / "m.json"
    assert run("fit", data, "--target", "y", "--positive", "1", "--save", model).exit_code == 0
    assert Model.load(model).classes == (0, 1)


def test_more_than_two_classes(tmp_path: Path) -> None:
    data = write(tmp_path, "x,y\n" + "1,a\n2,b\n3,c\n" * 10)
    assert "\naccuracy " in run("fit", data, "--target", "y").output
    message = fails("fit", data, "--target", "y", "--metric", "f1")
    assert "name one with --positive" in message
    assert run("fit", data, "--target", "y", "--metric", "accuracy").exit_code == 0
    report = tmp_path / "r.html"
    one = run("fit", data, "--target", "y", "--positive", "b", "--depth", 2, "--report", report)
    assert one.exit_code == 0
    assert "name one with --positive" in fails("frontier", data, "--target", "y")
    front = run("frontier", data, "--target", "y", "--positive", "b", "--depth", 2)
    assert "1.000000  0.000000" in front.output
    assert "proven complete" in front.output


def test_cuts_tell_the_positive_class_from_the_rest(tmp_path: Path) -> None:
    """As the estimator does it."""
    rng = np.random.default_rng(0)
    x = rng.random(300)
    y = np.where(x > 0.6, "b", np.where(rng.random(300) < 0.5, "a", "c"))
    rows = "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True))
    data, model = write(tmp_path, "x,y\n" + rows), tmp_path / "m.json"
    fit = ("fit", data, "--target", "y", "--positive", "b", "--binarizer", "mdlp")
    assert run(*fit, "--save", model).exit_code == 0
    classifier = OptimalTreeClassifier(pos_label="b", binarizer="mdlp")
    classifier.fit(pd.DataFrame({"x": x}), y)
    assert Model.load(model).conditions == tuple(classifier.binarizer_.conditions_)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("low", "high"), [("-1", "+1"), ("-1.0", "1.0"), ("2.5", "10.0"), ("9", "10"), ("1e2", "1e3")]
)
def test_numbers_as_labels_are_in_the_order_of_numbers(low: str, high: str, tmp_path: Path) -> None:
    data, model = write(tmp_path, "x,y\n" + f"1,{high}\n2,{low}\n" * 20), tmp_path / "m.json"
    assert run("fit", data, "--target", "y", "--depth", 1, "--save", model).exit_code == 0
    loaded = Model.load(model)
    assert list(map(str, loaded.classes)) == [low, high]
    assert loaded.positive == 1
    printed = run("predict", model, data, "--only", "-q").stdout.splitlines()
    assert printed[1:3] == [high, low]  # as they are spelled in the file
    run("fit", data, "--target", "y", "--positive", float(low), "--depth", 1, "--save", model)
    assert Model.load(model).positive == 0


def test_labels_that_are_the_same_number(tmp_path: Path) -> None:
    data = write(tmp_path, "x,y\n" + "1,1\n2,+1\n3,0\n" * 9)
    result = run("fit", data, "--target", "y", "--metric", "accuracy")
    assert "note: the target 'y' is '+1' in some rows and '1' in others: the same number" in (
        result.output
    )


def test_columns_that_are_conditions_already(tmp_path: Path) -> None:
    data, model = write(tmp_path, "u,v,y\n" + "1,0,a\n0,0,b\n1,1,a\n" * 9), tmp_path / "m.json"
    fit = ("fit", data, "--target", "y", "--binarizer", "none", "--save", model)
    assert run(*fit).exit_code == 0
    result = run("predict", model, data, "--only", "-q")
    assert result.output.splitlines()[1:4] == ["a", "b", "a"]
    names: dict[str, Any] = {}
    exec(run("show", model, "--format", "python").output, names)
    assert [names["predict"]({"u": u, "v": "0"}) for u in ("1", "0", "1.0")] == ["a", "b", "a"]


def test_engines(customers: Path) -> None:
    fit = ("fit", customers, "--target", "bought", "--depth", 1, "--binarizer", "quantiles")
    shown = [run(*fit, "--engine", name).stdout for name in ("search", "mip", "auto")]
    values = [line for text in shown for line in text.splitlines() if line.startswith("f1 ")]
    assert len(values) == 3
    assert len(set(values)) == 1
    assert "allowed: 'auto', 'search', 'mip'" in fails(*fit, "--engine", "magic")
    assert "use --engine mip" in fails(*fit, "--engine", "search", "--constraint", "fp >= 1")


def test_options_of_the_mip_engine(customers: Path) -> None:
    pytest.importorskip("highspy")
    fit = ("fit", customers, "--target", "bought", "--depth", 1, "--binarizer", "quantiles")
    chosen = ("--formulation", "wflow", "--backend", "highs", "--jobs", 2)
    result = run(*fit, "--engine", "mip", *chosen)
    assert result.exit_code == 0, result.output
    assert "proven by     the search engine; no model was built" in result.output
    message = fails(*fit, *chosen)
    assert "'formulation' is an option of the MIP engine, but the search engine answers" in message
    assert "or use --engine mip" in message
    assert "unknown formulation 'x'" in fails(*fit, "--engine", "mip", "--formulation", "x")


def test_a_rival_of_one_leaf_says_so(tmp_path: Path) -> None:
    data = write(tmp_path, "x,y\n" + "1,a\n2,a\n3,b\n" * 9)
    result = run("fit", data, "--target", "y", "--depth", 0, "--no-tune")
    assert "CART  0.000000  (a single leaf)" in result.output


def test_columns(customers: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    fit = ("fit", customers, "--target", "bought", "--depth", 2, "--save", path)

    def columns(*options: object) -> set[str]:
        result = run(*fit, *options)
        assert result.exit_code == 0, result.output
        return set(Model.load(path).columns)

    whole = columns()
    assert "age" in whole
    assert len(whole) > 1
    assert "age" not in columns("--forbid", "age")
    assert len(columns("--max-columns", 1)) == 1
    assert "income" in columns("--require", "income", "--depth", 1)
    costs = [text for name in whole for text in ("--column-cost", f"{name}=1.5")]
    assert len(columns(*costs, "--budget", 3) & whole) <= 2
    assert "unknown feature 'ago'; did you mean 'age'?" in fails(*fit, "--forbid", "ago")
    assert "--column-cost and --budget go together" in fails(*fit, "--budget", 1)
    message = fails(*fit, "--budget", 1, "--column-cost", "age")
    assert "--column-cost must be like mri=250, got 'age'" in message


def test_the_size_is_tuned(customers: Path, tmp_path: Path) -> None:
    fit = ("fit", customers, "--target", "bought", "--positive", "yes")
    result = run(*fit, "--save", tmp_path / "m.json", "--test-size", 0.2)
    assert result.exit_code == 0, result.output
    size = re.search(
        r"^size +(\d+) splits? of 0 to 15, leaves of (\d+) rows at least: "
        r"0\.\d{4} ± 0\.\d{4} on rows held back, the best of 5",
        result.output,
        re.MULTILINE,
    )
    assert size is not None, result.output
    assert re.search(r"^on new data +0\.\d{4} ± 0\.\d{4} expected", result.output, re.MULTILINE)
    assert "on test data" in result.output
    saved = Model.load(tmp_path / "m.json")
    assert saved.question.max_splits == int(size[1])
    assert saved.question.max_depth == 4
    assert f"leaves of {size[2]} samples at least" in result.output
    # It is what the estimator chooses, from the same folds.
    frame = pd.read_csv(customers)
    whole = run(*fit, "--metric", "accuracy", "--depth", 3, "--binarizer", "quantiles")
    same = OptimalTreeClassifierCV("accuracy", 3, pos_label="yes", binarizer="quantiles")
    same.fit(frame.drop(columns="bought"), frame["bought"])
    assert f"size         {same.best_splits_} split" in whole.output
    assert f"{same.best_score_:.4f} ±" in whole.output
    assert (
        f"on new data  {same.score_estimate_[0]:.4f} ± {same.score_estimate_[1]:.4f}"
        in whole.output
    )
    one, two = (run(*fit, "--depth", 2, "--jobs", n).stdout.partition("\ntime")[0] for n in (1, 2))
    assert one == two


def test_numbers_of_splits(customers: Path) -> None:
    fit = ("fit", customers, "--target", "bought", "--depth", 3)
    three = run(*fit, "--splits", 3)
    assert "optimal: no tree of depth 3 with at most 3 splits" in three.output
    assert "held back" not in three.output
    assert three.output.count("right)") <= 4
    priced = run(*fit, "--split-penalty", 0.05)
    assert priced.exit_code == 0
    assert "held back" not in priced.output
    limited = run(*fit, "--max-splits", 2)
    assert "of 0 to 2, leaves of" in limited.output
    assert "--splits must be auto or a number such as 7" in fails(*fit, "--splits", "many")
    assert "give one of them" in fails(*fit, "--splits", 3, "--max-splits", 3)
    assert run(*fit, "--quiet").output == ""


def test_what_is_not_tuned(customers: Path, tmp_path: Path) -> None:
    fit = ("fit", customers, "--target", "bought", "--depth", 2)
    columns = run(*fit, "--max-columns", 1)
    assert columns.exit_code == 0
    assert "the number of splits is not tuned: constraints" in columns.output
    few = write(tmp_path, "x,y\n" + "1,a\n2,a\n3,a\n4,a\n5,b\n")
    result = run("fit", few, "--target", "y", "--positive", "b")
    assert result.exit_code == 0
    assert "not tuned: a class has only one row" in result.output
    # All rows have such a tree of depth 1, but no fold that lacks one of the positives.
    rows = "1,b\n" * 4 + "0,a\n" * 20 + "1,a\n"
    rare = run(
        *("fit", write(tmp_path, "x,y\n" + rows), "--target", "y", "--positive", "b"),
        *("--depth", 1, "--constraint", "precision >= 0.8", "--min-leaf", 0),
    )
    assert rare.exit_code == 0, rare.output
    assert "the number of splits is not tuned: there is no number of splits" in rare.output
    assert "size  not tuned: the largest tree" in rare.output


@pytest.mark.slow
def test_a_certificate_of_a_tuned_tree(customers: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.gct"
    fit = ("fit", customers, "--target", "bought", "--depth", 3, "--certificate", proof)
    result = run(*fit)
    assert result.exit_code == 0, result.output
    assert "on rows held back" in result.output
    checked = run("verify", proof, customers)
    assert checked.exit_code == 0, checked.output
    assert "splits" in checked.output


@pytest.mark.slow
def test_time_for_tuning_is_limited(hard: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    result = run("fit", hard, *HARD, "--time-limit", 3, "--save", model)
    assert result.exit_code == 3
    # Even reading takes long on a busy machine.
    assert "its trees are not proven" in result.output or "not tuned" in result.output
    assert model.exists()


def test_path(customers: Path, tmp_path: Path) -> None:
    table, figure, model = (tmp_path / name for name in ("p.csv", "p.svg", "m.json"))
    command = ("path", customers, "--target", "bought", "--positive", "yes", "--depth", 3)
    result = run(*command, "-o", table, "--plot", figure, "--splits", 2, "--save", model)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].split()[:3] == ["splits", "f1", "bound"]
    assert [line.split()[0] for line in lines[1:9]] == list("01234567")
    assert "optimal: no tree of depth 3 with at most 2 splits" in result.output
    saved = pd.read_csv(table)
    assert saved["splits"].tolist() == list(range(8))
    assert (saved["value"].diff().dropna() >= 0).all()
    assert Model.load(model).tree.splits == 2
    assert figure.read_text().lstrip().startswith("<?xml")
    single = run("fit", customers, "--target", "bought", "--depth", 3, "--splits", 2)
    assert f"f1            {saved['value'][2]:.6f}" in single.output
    priced = run(*command, "--price", 0.5)
    assert priced.exit_code == 0
    assert "optimal: no tree of depth 3 over these features is better" in priced.output
    impossible = run(*command, "--constraint", "recall >= 1", "--constraint", "precision >= 1")
    assert impossible.exit_code == 4
    assert "give one of them" in fails(*command, "--splits", 1, "--price", 1)
    assert "--save needs --splits or --price" in fails(*command, "--save", model)
    assert "the path has up to 7 splits" in fails(*command, "--splits", 8)
    assert "must end in .png" in fails(*command, "--plot", tmp_path / "p.doc")


def test_a_value_of_minus_one_in_the_table_of_a_path(tmp_path: Path) -> None:
    data, table = tmp_path / "data.csv", tmp_path / "path.csv"
    data.write_text("x,y\n" + "1,no\n" * 5 + "1,yes\n" + "0,yes\n" * 3)
    prices = ("--cost", "no=1", "--cost", "yes=1")
    result = run("path", data, "--target", "y", *prices, "--depth", 1, "-o", table)
    assert result.exit_code == 0, result.output
    assert pd.read_csv(table)["value"].tolist() == [-4.0, -1.0]


def test_infeasible(customers: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    result = run(
        *("fit", customers, "--target", "bought", "--depth", 1, "--no-tune", "--save", model),
        *("--constraint", "recall >= 1", "--constraint", "precision >= 1"),
    )
    assert result.exit_code == 4
    assert (
        "infeasible: no tree of depth 1 over these features meets the constraints "
        "(recall >= 1, precision >= 1)" in " ".join(result.output.split())
    )
    assert not model.exists()


def test_leaves_and_threads(customers: Path) -> None:
    fit = ("fit", customers, "--target", "bought", "--depth", 4, "--no-tune")
    large = run(*fit, "--min-leaf", 40)
    assert large.exit_code == 0, large.output
    assert "leaves of 40 samples at least" in large.output
    sizes = [int(size) for size in re.findall(r"of (\d+) right", large.output)]
    assert min(sizes) >= 40
    alone, together = (run(*fit, flag, n) for flag, n in (("--n-jobs", 1), ("--jobs", 2)))
    assert [size for size in re.findall(r"of (\d+) right", alone.output) if int(size) < 40]
    tree = alone.output.partition("\ntime")[0]
    assert tree == together.output.partition("\ntime")[0]


# What users get wrong.


def test_targets(customers: Path, tmp_path: Path) -> None:
    assert "no column 'bougt'; did you mean 'bought'?" in fails(
        "fit", customers, "--target", "bougt"
    )
    assert "never 'Yes'; did you mean 'yes'?" in fails(
        "fit", customers, "--target", "bought", "--positive", "Yes"
    )
    constant = write(tmp_path, "x,y\n1,a\n2,a\n")
    assert "'y' is 'a' in every row" in fails("fit", constant, "--target", "y")
    missing = write(tmp_path, "x,y\n1,a\n2,b\n3,\n4,?\n")
    assert "line 4: the target 'y' is missing, as in 2 of 4 rows" in fails(
        "fit", missing, "--target", "y"
    )
    empty = write(tmp_path, "x,y\n1,\n2,NA\n")
    assert "has no value at all" in fails("fit", empty, "--target", "y")
    numbers = write(tmp_path, "x,y\n" + "".join(f"{i},{i % 40 * 1.5}\n" for i in range(99)))
    quantity = fails("fit", numbers, "--target", "y")
    assert "has 40 different numbers, so it is a quantity" in quantity
    assert "--categorical y takes each number for a class" in quantity
    as_codes = ("--categorical", "y", "--depth", 1, "--no-tune")
    assert run("fit", numbers, "--target", "y", *as_codes).exit_code == 0
    names = write(tmp_path, "x,y\n" + "".join(f"{i},n{i}\n" for i in range(60)))
    assert "60 different values" in fails("fit", names, "--target", "y")
    lonely = write(tmp_path, "y\na\nb\n")
    assert "no column to learn from" in fails("fit", lonely, "--target", "y")
    assert "cannot be ignored" in fails("fit", constant, "--target", "y", "--ignore", "y")
    single = write(tmp_path, "x,y\n1,a\n2,b\n3,b\n")
    assert "has one row only" in fails("fit", single, "--target", "y", "--test-size", "0.5")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\0\1\2\3", "not a text file"),
        (b"x,y\n1,a\n2,b,c\n", "line 3: there are 3 cells"),
        (b"x,y\n1,a\ninf,b\n", "line 3, column 'x': inf is infinite"),
        (b"x,y\n1,a\n2,\xff\n", "line 3: the byte 0xff"),
    ],
)
def test_files(content: bytes, message: str, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_bytes(content)
    found = fails("fit", data, "--target", "y", "--save", tmp_path / "m.json")
    assert "data.csv" in found
    assert message in found
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_places(customers: Path, saved: Path, tmp_path: Path) -> None:
    assert "no such file" in fails("fit", tmp_path / "absent.csv", "--target", "y")
    assert "a folder" in fails("fit", tmp_path, "--target", "y")
    fit = ("fit", customers, "--target", "bought")
    assert "is the input" in fails(*fit, "--save", customers)
    link = tmp_path / "link.csv"
    link.symlink_to(customers)
    assert "is the input" in fails(*fit, "--report", link)
    assert "another output" in fails(*fit, "--save", tmp_path / "a", "--report", tmp_path / "a")
    assert "is a folder" in fails(*fit, "--save", tmp_path)
    assert "no folder" in fails(*fit, "--save", tmp_path / "absent" / "m.json")
    assert "is the input" in fails("predict", saved, customers, "-o", customers)
    assert "is the input" in fails("predict", saved, customers, "-o", saved)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(customers: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_bytes(customers.read_bytes())
    data.chmod(0)
    assert "may not read" in fails("fit", data, "--target", "bought")


def test_options(customers: Path) -> None:
    fit = ("fit", customers, "--target", "bought")
    assert "did you mean" in fails(*fit, "--metric", "f1x")
    assert "cannot read the constraint" in fails(*fit, "--constraint", "recall > 0.9")
    assert "unknown method" in fails(*fit, "--binarizer", "magic")
    assert "below 1" in fails(*fit, "--test-size", "1.5")
    assert "no column 'jop'" in fails(*fit, "--categorical", "jop")
    assert "no encoding" in fails(*fit, "--encoding", "utf-99")
    assert run(*fit, "--depth", "-1").exit_code == 2


def test_columns_that_number_the_rows(tmp_path: Path) -> None:
    rows = "".join(f"{i},n{i},{(i * 7) % 5},{'ab'[i > 19]}\n" for i in range(40))
    data = write(tmp_path, "id,name,x,y\n" + rows)
    fit = ("fit", data, "--target", "y", "--depth", 1)
    usual = run(*fit).output
    assert "column 'name' is different in every row, so it is left out" in usual
    assert "column 'id' is different in every row; if it only numbers the rows" in usual
    assert "id > 19.5?" in usual
    dropped = run(*fit, "--drop-ids").output
    assert "column 'id' is different in every row, so it is left out" in dropped
    assert "id >" not in dropped
    kept = run(*fit, "--keep-ids").output
    assert "column 'name' is different in every row; if it only numbers the rows" in kept


def test_columns_that_should_perhaps_not_be_used(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    bought = rng.permutation([0, 1] * 30)
    columns = {
        "patient": np.append(rng.choice(np.arange(5000, 9000), 58, replace=False), [5000, 5000]),
        "amount": np.append(np.arange(10, 68) ** 3, [1000, 1000]),  # not as long, all of them
        "refund": np.where(bought, "late", "none"),
        "score": bought + rng.random(60) / 2,
        "age": rng.integers(20, 60, 60),
        "bought": bought,
    }
    path = tmp_path / "data.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    result = run("fit", path, "--target", "bought", "--no-tune", "--depth", 1)
    notes = [line for line in result.stderr.splitlines() if line.startswith("note: ")]
    assert notes[0].startswith("note: column 'patient' has 5")
    assert notes[1:] == [
        f"note: column {name!r} tells the target all by itself; if it is a result, leave it out "
        f"with --ignore {name!r}"
        for name in ("refund", "score")
    ]


def test_odd_columns_are_noted(tmp_path: Path) -> None:
    rows = "".join(f"{i},,{'x' if i == 7 else i},{'ab'[i > 9]}\n" for i in range(20))
    data = write(tmp_path, "a,empty,mixed,y\n" + rows)
    result = run("fit", data, "--target", "y", "--depth", 1)
    assert result.exit_code == 0
    assert "column 'mixed' is read as categories, because line 9 says 'x', which" in result.output
    assert "'empty' has no value at all" in result.output


@pytest.mark.slow
def test_wide_tables(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, size=(12, 10_000))
    lines = [",".join(map(str, [*row, "ab"[row[0]]])) for row in values]
    data = write(
        tmp_path, ",".join([f"c{j}" for j in range(10_000)] + ["y"]) + "\n" + "\n".join(lines)
    )
    result = run("fit", data, "--target", "y", "--depth", 1, "--binarizer", "none")
    assert result.exit_code == 0, result.output
    assert "optimal" in result.output


def test_new_data_that_does_not_fit(saved: Path, customers: Path, tmp_path: Path) -> None:
    used = list(Model.load(saved).columns)
    with customers.open() as file:
        rows = list(csv.DictReader(file))[:5]

    def table(rows: list[dict[str, str]], names: list[str]) -> Path:
        path = tmp_path / "new.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, names, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
        return path

    names = list(rows[0])
    without = table(rows, [name for name in names if name != used[0]])
    assert f"needs the column '{used[0]}'" in fails("predict", saved, without)
    assert "age" in used
    bad = table([*rows[:2], {**rows[2], "age": "old"}], names)
    assert "new.csv, line 4, column 'age': 'old' is not a number" in fails("predict", saved, bad)
    assert "job" in used
    strange = table([{**rows[0], "job": "pilot"}, *rows[1:]], names)
    result = run("predict", saved, strange, "-o", tmp_path / "out.csv")
    assert result.exit_code == 0
    assert "column 'job' has categories that the tree has not seen ('pilot'" in result.output
    taken = table(rows, [*names, "prediction"])
    assert "already" in fails("predict", saved, taken)
    few = table(rows, used)
    assert run("predict", saved, few).exit_code == 0


def test_files_for_a_tree_of_a_data_frame(tmp_path: Path) -> None:
    """Its categories are those of the frame, whatever a file would make of them."""
    frame = pd.DataFrame(
        {"size": pd.Categorical([1, 2, 3, 2] * 5), "job": ["cook ", "NA", "NA", None] * 5}
    )
    labels = ["no", "yes", "no", "yes"] * 5
    classifier = OptimalTreeClassifier("accuracy", max_depth=3).fit(frame, labels)
    Model.from_estimator(classifier).save(tmp_path / "m.json")
    rows = [*zip(frame["size"], frame["job"].fillna(""), strict=True), (9, "cook "), (1, "?")]
    text = "size,job\n" + "".join(f"{size},{job}\n" for size, job in rows)
    result = run("predict", tmp_path / "m.json", write(tmp_path, text), "--only")
    assert result.exit_code == 0
    assert result.output.split("\n")[-23:-3] == classifier.predict(frame).tolist()
    assert "column 'size' has categories that the tree has not seen ('9', in 1 rows)" in (
        result.output
    )


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    escape = "\x1b[31mred\x1b[0m"
    data, model = tmp_path / "data.csv", tmp_path / "m.json"
    data.write_text(f"x {escape},y\n" + f"1,{escape}\n2,b\n" * 9)
    shown = run("fit", data, "--target", "y", "--depth", 1, "--save", model).output
    content = json.loads(model.read_text())
    content["question"]["metric"] = escape
    del content["checksum"]
    Model.from_dict(content).save(model)
    shown += run("show", model).output + run("show", model, "--format", "rules").output
    shown += run("predict", model, data, "-o", tmp_path / "out.csv").output
    assert "\\x1b[31mred" in shown
    assert "\x1b" not in shown


def test_broken_models(saved: Path, customers: Path, tmp_path: Path) -> None:
    broken = tmp_path / "m.json"
    broken.write_text(saved.read_text()[:300])
    for command in (("show", broken), ("report", broken), ("predict", broken, customers)):
        assert "m.json: line " in fails(*command)
    assert "not JSON" in fails("show", customers)


# Real processes.


@pytest.mark.slow
def test_a_real_run(customers: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "goct", "fit", customers, "--target"]
    model = tmp_path / "m.json"
    end = subprocess.run(
        [*command, "bought", "--no-tune", "--save", model], capture_output=True, text=True
    )
    assert end.returncode == 0
    assert "status" in end.stdout
    assert "written:" in end.stderr
    end = subprocess.run([*command, "nothing"], capture_output=True, text=True)
    assert (end.returncode, end.stdout) == (2, "")
    assert end.stderr.startswith("error: ")


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose best tree takes very long to prove."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("data") / "hard.csv"
    values = rng.integers(0, 2, size=(3000, 60))
    labels = rng.integers(0, 2, size=3000)
    names = ",".join([f"c{j}" for j in range(60)] + ["y"])
    rows = [",".join(map(str, [*row, label])) for row, label in zip(values, labels, strict=True)]
    path.write_text("\n".join([names, *rows]))
    return path


HARD = ("--target", "y", "--depth", 6, "--binarizer", "none")


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_tree(hard: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    # The search reports from time to time.
    end = interrupt("-m", "goct", "fit", hard, *HARD, "--save", model, stream="stderr")
    assert "bound" in end.lines[0]
    assert end.code == 3, end.err
    assert "interrupted: this is the best tree found so far" in end.err
    assert "not proven optimal (interrupted)" in end.out
    assert Model.load(model).proof.limit == "interrupted"


def press_ctrl_c(*_arguments: object, **_options: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("command", ["fit", "explore"])
def test_ctrl_c_while_the_size_is_tuned_ends_the_command(
    command: str, customers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out"
    for searches in ("goct.cli.fit.solve", "goct.explore.frontier", "goct.cli.explore.find_path"):
        monkeypatch.setattr(searches, None)  # none begins afterwards
    monkeypatch.setattr("goct.cli.tune.tune", press_ctrl_c)
    more = {
        "fit": ("--save", output, "--report", tmp_path / "r.html", "--certificate", tmp_path / "c"),
        "explore": ("-o", output),
    }[command]
    result = run(command, customers, "--target", "bought", "--depth", 2, *more)
    assert result.exit_code == 3, result.output
    assert output.exists()
    assert not (tmp_path / "c").exists()
    assert "interrupted: the number of splits is not tuned" in result.output
    assert "stopped by the clock" not in result.output
    assert ("no certificate was written" in result.output) == (command == "fit")


def test_ctrl_c_after_some_folds_chooses_by_them(
    customers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancelled(settings, folds, validator, clock, **options):
        found = tune(settings, folds[:2], validator, clock, **options)
        clock.is_cancelled = True
        return found

    monkeypatch.setattr("goct.cli.tune.tune", cancelled)
    model = tmp_path / "m.json"
    result = run("fit", customers, "--target", "bought", "--depth", 2, "--save", model)
    assert result.exit_code == 3
    assert "interrupted: the size is chosen by 2 of 5 folds" in result.output
    assert Model.load(model).validation.n_folds == 2


def test_a_time_limit_keeps_the_best_tree(hard: Path, tmp_path: Path) -> None:
    model, report = tmp_path / "m.json", tmp_path / "r.html"
    limited = ("fit", hard, *HARD, "--no-tune", "--time-limit", "3")
    result = run(*limited, "--save", model, "--report", report)
    assert result.exit_code == 3
    assert Model.load(model).proof.limit == "time"
    assert "the time limit was reached" in report.read_text()


@pytest.mark.slow
def test_a_search_that_is_stopped_is_no_worse_than_cart(hard: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    result = run("fit", hard, *HARD, "--no-tune", "--time-limit", 2, "--save", model)
    assert "stopped by the clock; --time-limit none" in result.output
    learned = Model.load(model)
    (cart,) = learned.rivals
    assert cart.splits <= learned.tree.splits
    assert learned.train.value.value >= cart.train_value.value


def test_there_need_not_be_a_time_limit(customers: Path) -> None:
    fit = ("fit", customers, "--target", "bought", "--depth", 1)
    result = run(*fit, "--time-limit", "none")
    assert result.exit_code == 0, result.output
    assert "for the last search" in result.output
    assert "is not a number from 0.01 on" in fails(*fit, "--time-limit", "soon")
    assert "is not a number from 0.01 on" in fails(*fit, "--time-limit", "nan")


def test_a_certificate_is_written_and_checked(customers: Path, tmp_path: Path) -> None:
    proof, report = tmp_path / "proof.gct", tmp_path / "report.html"
    written = ("--certificate", proof, "--report", report, "--test-size", 0.2)
    result = run("fit", customers, "--target", "bought", "--no-tune", "--min-leaf", 5, *written)
    assert result.exit_code == 0, result.output
    assert f"certificate   {proof}" in result.output
    assert f"goct verify proof.gct {customers.name}" in report.read_text(encoding="utf-8")
    result = run("verify", proof, customers)
    assert result.exit_code == 0, result.output
    assert "VERIFIED: no tree of depth 3" in result.output
    assert "has a larger f1 for yes than this one" in result.output
    lines = customers.read_text().splitlines()
    result = run("verify", proof, write(tmp_path, "\n".join(lines[:-1])))
    assert result.exit_code == 6, result.output
    assert "REJECTED: the certificate is about other data" in result.output


@pytest.mark.parametrize(
    "reading",
    [
        {"options": {"target": "x\nVERIFIED: all"}, "more": {}},
        {"options": {"target": "bought", "x\nVERIFIED: all": 1}, "more": {}},
        {"options": {"target": "bought"}, "more": {"x\nVERIFIED: all": 1}},
        {"options": {"target": "bought", "positive": "x\nVERIFIED: all"}, "more": {}},
        {"options": {"target": "bought", "ignore": 7}, "more": {"one_vs_rest": True}},
        {"options": None},
        "x\nVERIFIED: all",
    ],
)
def test_how_a_certificate_says_that_a_table_is_read(
    reading: Any, customers: Path, tmp_path: Path
) -> None:
    proof = tmp_path / "proof.gct"
    goct.solve(goct.Problem.from_arrays([[0], [1]], [0, 1]), "f1", 1, certificate=proof)
    header, *others = read_certificate(proof.read_bytes())
    proof.write_bytes(write_certificate([header | {"reading": reading}, *others]))
    result = run("verify", proof, customers)
    assert result.exit_code == 2, result.output
    assert "\nVERIFIED" not in result.output
    assert "Traceback" not in result.output


def test_a_certificate_from_python_is_about_a_table_of_conditions(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, 60)
    goct.solve(goct.Problem.from_arrays(X, y), "mcc", 2, certificate=tmp_path / "proof.gct")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y)
    table = write(tmp_path, frame.to_csv(index=False))
    assert "--target" in fails("verify", tmp_path / "proof.gct", table)
    result = run("verify", tmp_path / "proof.gct", table, "--target", "label")
    assert result.exit_code == 0, result.output
    assert "no such file" in fails("verify", tmp_path / "none.gct", table)
    result = run("verify", table, table)
    assert result.exit_code == 6
    assert "no certificate of goct" in result.output


def test_tables_of_other_makes(tmp_path: Path) -> None:
    """One file with all that real ones have, and what it takes to read it."""
    rng = np.random.default_rng(0)
    lines = ["crp,seen,a,a,sick"]
    for i in range(120):
        level = float(rng.integers(1, 100))
        sick = "" if i in (3, 50) else "yes" if level > 50 else "no"
        lines.append(f"{'<5' if i == 7 else level},{1 + i % 28:02}.03.2024,{i % 3},{i % 5},{sick}")
    plain = write(tmp_path, "\n".join(lines) + "\n")
    assert "leave them out with --drop-missing-target" in fails("fit", plain, "--target", "sick")
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    model = tmp_path / "m.json"
    ways = ("--missing", "<5", "--date-format", "%d.%m.%Y", "--drop-missing-target")
    result = run("fit", packed, "--target", "sick", "--depth", 1, *ways, "--save", model)
    assert result.exit_code == 0, result.output
    assert "2 of 120 rows are left out, as they have no 'sick'" in result.output
    assert "the second one is 'a (2)' here" in result.output
    assert "crp > 5" in result.output
    assert Model.load(model).missing_words is not None
    assert "<5" in Model.load(model).missing_words
    told = run("predict", model, packed, "-o", tmp_path / "out.csv")
    assert told.exit_code == 0, told.output
    head, first, *_ = (tmp_path / "out.csv").read_text().splitlines()
    assert head == "crp,seen,a,a (2),sick,prediction"
    assert first.split(",")[:-1] == lines[1].split(",")


def test_standard_input(customers: Path, saved: Path) -> None:
    from_file = CliRunner().invoke(app, ["predict", str(saved), str(customers), "--only", "-q"])
    piped = CliRunner().invoke(
        app, ["predict", str(saved), "-", "--only", "-q"], input=customers.read_bytes()
    )
    assert piped.exit_code == 0, piped.output
    assert piped.stdout == from_file.stdout


def test_cart_is_left_out_where_it_takes_too_long(
    customers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goct.cart._CELLS_PER_SECOND", 1e-3)
    fit = ("fit", customers, "--target", "bought", "--depth", 1, "--no-tune")
    assert "CART is left out" in run(*fit, "--time-limit", 60).output
    assert "CART  0." in run(*fit, "--time-limit", "none").output
