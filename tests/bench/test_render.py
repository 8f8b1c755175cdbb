from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from goct.bench.experiments import EXPERIMENTS
from goct.bench.experiments.out_of_sample import Study, candidates
from goct.bench.experiments.tools import geometric_mean, loss, relative_gap, use_log_scale
from goct.bench.render import (
    MOST_WORDS,
    Figure,
    Mark,
    Report,
    Table,
    count_words,
    mark_best,
    mean,
    provenance,
    refuted,
    size_of,
    write_index,
    write_page,
)
from goct.bench.reported import Reported
from goct.bench.results import Campaign, Run
from goct.bench.spec import Outcome, Spec, Status

TABLE = Table(
    "numbers",
    "Some numbers",
    ["name", "value", "best"],
    [["a|b", 0.12345, Mark(2.0, "**2.0**")], ["c", None, 1]],
)


def campaign(*runs: Run, name: str = "streed") -> Campaign:
    about = {"commands": ["goct bench run streed"], "processor": "abacus", "commit": None}
    return Campaign(1, name, "1.2+abc", about, "2030-01-02T03:04:05+00:00", runs)


def run(solver: str, value: float | None = None, **settings: object) -> Run:
    fields = {name: settings.pop(name) for name in ("is_proven", "seconds") if name in settings}
    spec = Spec("first", "0", solver, "f1", **{"depth": 4, "limit": 90.0, **settings})  # type: ignore[arg-type]
    if value is None:
        return Run(spec, Outcome(Status.CRASH, message="SIGSEGV", seconds=2.0))
    return Run(spec, Outcome(Status.OK, value=value, objective=value, **fields))  # type: ignore[arg-type]


def test_tables() -> None:
    assert TABLE.to_markdown() == (
        "| name | value | best |\n| --- | ---: | ---: |\n| a\\|b | 0.123 | **2.0** |\n| c |  | 1 |"
    )
    assert TABLE.to_csv() == "name,value,best\na|b,0.12345,2.0\nc,,1\n"


def test_best_values() -> None:
    cells = mark_best([0.5, 0.50004, None, 0.4])
    assert cells == [Mark(0.5, "**0.500**"), Mark(0.50004, "**0.500**"), None, 0.4]
    assert mean([None, 1.0, 2.0]) == 1.5
    assert mean([None]) is None
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)


def test_page(tmp_path: Path) -> None:
    def draw(figure: object) -> None:
        figure.subplots().plot([0, 1])  # type: ignore[attr-defined]

    false, true = run("streed", 0.5, is_proven=True), run("search", 0.75, is_proven=True)
    crash = run("mip")
    undone = Run(Spec("second", "0", "mip"), None)
    assert refuted([false, true]) == [(false, 0.5, 0.75)]
    unbound = Run(true.spec, Outcome(Status.NO_TREE, bound=0.7))
    assert refuted([true, unbound]) == [(unbound, 0.7, 0.75)]
    pytest.importorskip("matplotlib")
    report = Report(["What was done."], [TABLE], [Figure("f", "A figure", draw)], ["A note."])
    page = write_page(tmp_path, "Title", campaign(false, true, crash, undone), report)
    assert page.read_text() == GOLDEN
    assert (tmp_path / "streed-f.svg").read_bytes().startswith(b"<?xml")
    lines = (tmp_path / "streed-runs.csv").read_text().splitlines()
    assert len(lines) == 5
    assert lines[1].startswith("first,,f1,4,0,streed,90.0,0,,ok,0.0,0.5,0.5,,True,")
    assert lines[3].endswith(",SIGSEGV")
    assert ",not done," in lines[4]
    assert len({line.count(",") for line in lines}) == 1
    index = write_index(tmp_path, [("Title", "a summary", campaign(undone))]).read_text()
    assert "| [Title](streed.md) | a summary | full | 0 of 1 |  | 2030-01-02 |" in index


def test_a_page_has_room_for_some_tables(tmp_path: Path) -> None:
    small = Table("small", "Small", ["n"], [[1], [2]])
    large = Table("large", "Large", ["n"], [[n] for n in range(MOST_WORDS)])
    report = Report(["What was done."], [large, small])
    text = write_page(tmp_path, "Title", campaign(), report).read_text()
    assert small.to_markdown() in text
    assert large.to_markdown() not in text
    assert "Further tables:\n\n- Large: [CSV](streed-large.csv)\n\n## How it was made" in text
    assert (tmp_path / "streed-large.csv").read_text() == large.to_csv()
    many = Report(
        ["What was done."], [Table(f"t{n}", "A table", ["n"], [[1]] * 90) for n in range(20)]
    )
    page = write_page(tmp_path, "Title", campaign(), many)
    assert MOST_WORDS - 100 < count_words(page.read_text()) <= MOST_WORDS


def test_an_index_keeps_the_pages_of_other_campaigns(tmp_path: Path) -> None:
    other = "| [Other](other.md) | kept | full | 1 of 1 | abc | 2030-01-01 |"
    old = "| [Old](streed.md) | replaced | full | 1 of 1 | abc | 2030-01-01 |"
    first = write_index(tmp_path, [("Title", "a summary", campaign())])
    new = first.read_text()
    first.write_text(new.replace("| [Title]", f"{old}\n{other}\n| [Title]"))
    index = write_index(tmp_path, [("Title", "a summary", campaign())]).read_text()
    assert index == new + f"{other}\n"


@pytest.mark.parametrize(
    ("command", "size"),
    [
        ("goct bench run streed --data d --results r --jobs 2 -q --seed 1", "full"),
        ("goct bench run all --quick --data d", "quick"),
        (
            "goct bench run streed --depths 2,3 --datasets a,b --limit 60",
            "depths 2, 3; 2 datasets; limit 60",
        ),
    ],
)
def test_pages_say_their_size(command: str, size: str) -> None:
    assert size_of(["goct bench run streed --tiny", command]) == size


def test_several_processors_are_named() -> None:
    runs = [replace(run("search", 0.5), processor=name) for name in ("A", "B", "A")]
    assert "| processor | A (2 runs), B (1 runs) |" in provenance(campaign(*runs))
    assert "| processor | abacus |" in provenance(campaign(*runs[:1]))


GOLDEN = """\
# Title

**Not complete: 3 of 4 runs are done.** Comparisons and means are of these.

What was done.

![A figure](streed-f.svg)

*A figure*

**Some numbers** ([CSV](streed-numbers.csv))

| name | value | best |
| --- | ---: | ---: |
| a\\|b | 0.123 | **2.0** |
| c |  | 1 |

## How to read it

- A note.

## Runs without a tree, and false claims

| solver | what happened | runs | for example |
| --- | --- | ---: | --- |
| mip | crash | 1 | first mip f1 depth 4: SIGSEGV |
| mip | not done | 1 | second mip accuracy depth 2 |

Claimed to be optimal, or a bound, while another run has a better tree:

- first streed f1 depth 4: claims that none has more than 0.500000, there is 0.750000

## How it was made

```sh
goct bench run streed
```

| | |
|---|---|
| started | 2030-01-02T03:04:05+00:00 (UTC) |
| code | goct 1.2+abc |
| processor | abacus |
| time | 2 s of solvers in all |

All runs, with what was computed from their trees: [CSV](streed-runs.csv).
"""


def test_streed_beside_the_paper(reported: Path) -> None:
    runs = [run("search", 0.75, is_proven=True, seconds=0.5), run("mip"), run("streed", 0.5)]
    report = EXPERIMENTS["streed"].report(runs, Reported(reported))
    summary, table = report.tables
    assert table.to_markdown().splitlines()[-1] == (
        "| first | **0.750** |  | 0.500 | 0.5 proven | crash | 0.0 | 0.100 |  | 1.5 | 90.0 |"
    )
    assert [list(row[3:8]) for row in summary.rows] == [
        [1, 1, 1, 1, 0], [1, 0, 0, 0, 1], [1, 0, 0, 0, 0],
    ]  # fmt: skip
    assert any("first" in note for note in report.notes)  # the paper's optimum is surpassed
    without = EXPERIMENTS["streed"].report(runs, Reported(None))
    assert not any("paper" in column for table in without.tables for column in table.columns)


def test_penalties_are_chosen_on_validation_rows() -> None:
    def tree(metric: str, penalty: str, validation: int, test: int, split: int = 0) -> Run:
        outcome = Outcome(
            Status.OK,
            splits=int(10 * (1 - float(penalty))),
            validation=(validation, 10 - validation, 0, 0),
            test=(test, 10 - test, 0, 0),
        )
        spec = Spec("first", "0", "search", metric, split=split, penalty=penalty)
        return Run(spec, outcome)

    runs = [
        tree("accuracy", "0", validation=5, test=9),
        tree("accuracy", "0.1", validation=7, test=2),
        tree("accuracy", "0.5", validation=7, test=4),  # of equals, the smaller tree
        tree("accuracy", "0", validation=1, test=6, split=1),
    ]
    study = Study([tree for run in runs for tree in candidates(run)], ["accuracy"])
    assert study.score("first", "accuracy", "accuracy") == pytest.approx((0.4 + 0.6) / 2)
    assert study.size("first", "accuracy") == (5 + 10) / 2


def test_loss_and_gap_are_those_of_the_paper() -> None:
    outcome = Outcome(Status.OK, objective=0.8, bound=0.9)
    assert loss(outcome) == pytest.approx(0.2)
    assert relative_gap(outcome) == pytest.approx(0.5)
    assert relative_gap(Outcome(Status.OK, objective=1.0, bound=1.0)) == 0
    assert relative_gap(Outcome(Status.TIMEOUT)) is None


def test_reported_tables(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("instance,a,b\nHTRU2,12.5%,---\n")
    assert Reported(tmp_path).table("t") == {"HTRU_2": {"a": 0.125, "b": None}}
    assert Reported(tmp_path).table("gone") == {}
    assert Reported(None).table("t") == {}
    assert Reported.beside(tmp_path).folder is None


def test_a_figure_without_data_is_drawn() -> None:
    canvas = pytest.importorskip("matplotlib.figure").Figure()
    empty, full = canvas.subplots(1, 2)
    full.plot([1, 10], [1, 2])
    for axes in (empty, full):
        use_log_scale(axes.xaxis)
    assert (empty.get_xscale(), full.get_xscale()) == ("linear", "log")
    canvas.draw_without_rendering()
