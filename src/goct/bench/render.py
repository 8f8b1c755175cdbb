"""Tables as Markdown and CSV, figures, and the pages that hold them."""

from __future__ import annotations

import csv
import io
import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from goct.bench.progress import format_duration
from goct.bench.results import Campaign, Run
from goct.bench.spec import Spec, Status
from goct.files import atomic_write

MOST_WORDS = 1500
"""Of a page, those in tables included."""
_TOLERANCE = 1e-9  # objectives are computed from predictions, in floats


@dataclass(frozen=True)
class Mark:
    """A value that is shown as a text of its own."""

    value: Any
    text: str


Cell: TypeAlias = "str | int | float | Mark | None"
Row: TypeAlias = Mapping[str, Cell]


@dataclass(frozen=True)
class Table:
    """A table; the name is that of its CSV file, after that of the experiment."""

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]  # None is an empty cell
    digits: int = 3  # after the point, for floats

    @classmethod
    def of(cls, name: str, caption: str, rows: Sequence[Row], digits: int = 3) -> Table:
        """Return a table whose heads are named by its rows, which have the same."""
        columns = list(rows[0]) if rows else []
        return cls(name, caption, columns, [list(row.values()) for row in rows], digits)

    def to_markdown(self) -> str:
        """Return the table for people."""
        is_text = [
            all(isinstance(_value_in(row[i]), str | None) for row in self.rows)
            for i in range(len(self.columns))
        ]
        lines = [_line(self.columns), _line("---" if text else "---:" for text in is_text)]
        lines += [_line(self._show(cell) for cell in row) for row in self.rows]
        return "\n".join(lines)

    def to_csv(self) -> str:
        """Return the table for programs, with all digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([_value_in(cell) for cell in row])
        return text.getvalue()

    def _show(self, cell: Cell) -> str:
        if cell is None:
            return ""
        if isinstance(cell, Mark):
            return cell.text
        return f"{cell:.{self.digits}f}" if isinstance(cell, float) else str(cell)


def _value_in(cell: Cell) -> Any:
    return cell.value if isinstance(cell, Mark) else cell


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


@dataclass(frozen=True)
class Figure:
    """A figure; the name is that of its file, after that of the experiment."""

    name: str
    caption: str
    draw: Callable[[Any], None]  # into a matplotlib figure
    size: tuple[float, float] = (8.0, 4.0)  # width and height, in inches


@dataclass(frozen=True)
class Report:
    """What an experiment has to show: paragraphs that say what was done, and what came out."""

    text: Sequence[str]
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    notes: Sequence[str] = field(default_factory=tuple)


def write_page(folder: Path, title: str, campaign: Campaign, report: Report) -> Path:
    """Write the page of an experiment, with its tables as CSV and its figures.

    Tables for which there is no room among the :data:`MOST_WORDS` of a page are only linked to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = campaign.page
    head = [f"# {title_of(title, campaign)}"]
    if not campaign.is_complete:
        done = sum(run.outcome is not None for run in campaign.runs)
        head.append(
            f"**Not complete: {done} of {len(campaign.runs)} runs are done.** Comparisons and "
            "means are of these."
        )
    head += report.text
    for figure in report.figures:
        file = f"{name}-{figure.name}.svg"
        if _draw(figure, folder / file):
            head.append(f"![{figure.caption}]({file})\n\n*{figure.caption}*")
        else:
            head.append(f"*{figure.caption}: left out, it needs matplotlib.*")
    foot = []
    if report.notes:
        foot.append("## How to read it\n\n" + "\n".join(f"- {note}" for note in report.notes))
    runs = f"{name}-runs.csv"
    _write(folder / runs, runs_to_csv(campaign.runs))
    foot += [_trouble(campaign.runs), provenance(campaign)]
    foot.append(f"All runs, with what was computed from their trees: [CSV]({runs}).")
    shown: list[str] = []
    links: list[str] = []
    others = "Further tables:"
    room = MOST_WORDS - sum(map(count_words, [*head, *foot, others]))
    for table in report.tables:
        file = f"{name}-{table.name}.csv"
        _write(folder / file, table.to_csv())
        text = f"**{table.caption}** ([CSV]({file}))\n\n{table.to_markdown()}"
        link = f"- {table.caption}: [CSV]({file})"
        words, least = count_words(text), count_words(link)
        if words <= room - least * (len(report.tables) - len(shown) - len(links)):
            shown.append(text)
            room -= words
        else:
            links.append(link)
            room -= least
    if links:
        shown.append(f"{others}\n\n" + "\n".join(links))
    page = folder / f"{name}.md"
    _write(page, "\n\n".join(part for part in [*head, *shown, *foot] if part) + "\n")
    return page


def count_words(text: str) -> int:
    """Return the number of words; a word has a letter or a digit.

    Examples
    --------
    >>> count_words("| heart | 0.81 ± 0.02 |")
    3
    """
    return sum(any(map(str.isalnum, word)) for word in text.split())


def write_index(folder: Path, pages: Sequence[tuple[str, str, Campaign]]) -> Path:
    """Write the page that leads to the others; each has a title and a summary.

    Pages of other campaigns that it led to stay as they are.
    """
    rows: list[list[Cell]] = []
    for title, summary, campaign in pages:
        done = sum(run.outcome is not None for run in campaign.runs)
        name = title_of(title, campaign)
        link = Mark(campaign.page, f"[{name}]({campaign.page}.md)")
        size = size_of(campaign.about.get("commands", []))
        commit = str(campaign.about.get("commit") or "")[:7]
        runs = f"{done} of {len(campaign.runs)}"
        rows.append([link, summary, size, runs, commit, campaign.started[:10]])
    columns = ["experiment", "what it is about", "size", "runs", "commit", "date"]
    page = folder / "index.md"
    head, rule, *new = Table("index", "", columns, rows).to_markdown().splitlines()
    lines = _by_link(page.read_text(encoding="utf-8").splitlines()) if page.exists() else {}
    table = "\n".join([head, rule, *(lines | _by_link(new)).values()])
    text = (
        "# Recorded results\n\n"
        "Every number on these pages was measured by the command at the foot of its page and "
        "computed from the predictions of the trees, but for those that are marked as the "
        "paper's. A size other than full is what its command asked for.\n\n"
        f"{table}\n"
    )
    _write(page, text)
    return page


def title_of(title: str, campaign: Campaign) -> str:
    """Return the title of an experiment's page, with that of the variant."""
    return title if campaign.variant is None else f"{title}: {campaign.variant[1]}"


def _by_link(lines: Sequence[str]) -> dict[str, str]:
    """Return the lines of a table that begin with a link, by where that leads."""
    links = ((re.match(r"\| \[[^]]*\]\(([^)]*)\) \|", line), line) for line in lines)
    return {link[1]: line for link, line in links if link}


_CHOICES = ("--depths", "--metrics", "--penalties", "--rows", "--solvers", "--splits", "--limit",
            "--backend")  # fmt: skip


def size_of(commands: Sequence[str]) -> str:
    """Return what the last of these commands asked for that makes an experiment smaller or larger.

    Examples
    --------
    >>> size_of(["goct bench run streed --data d --jobs 2 --limit 60 --datasets heart,tic"])
    'limit 60; 2 datasets'
    """
    words = iter(shlex.split(commands[-1]) if commands else ())
    found = []
    for word in words:
        if word in ("--quick", "--tiny"):
            found.append(word.removeprefix("--"))
        elif word == "--datasets":
            found.append(f"{next(words, '').count(',') + 1} datasets")
        elif word in _CHOICES:
            found.append(f"{word.removeprefix('--')} {next(words, '').replace(',', ', ')}")
    return "; ".join(found) or "full"


def runs_to_csv(runs: Sequence[Run]) -> str:
    """Return all runs for programs: what was asked, and what came of it."""
    asked = ("dataset", "split", "metric", "depth", "penalty", "solver", "limit", "seed")
    came = ("seconds", "value", "objective", "bound", "is_proven", "splits")
    parts = ("train", "validation", "test")
    cells = [f"{part}_{cell}" for part in parts for cell in ("tp", "fp", "fn", "tn")]
    columns = [*asked, "options", "status", *came, *cells, "message"]
    rows: list[list[Cell]] = []
    for run in runs:
        options = " ".join(f"{key}={value}" for key, value in run.spec.options)
        row = [*(getattr(run.spec, key) for key in asked), options]
        if (outcome := run.outcome) is None:
            row += ["not done", *[None] * (len(columns) - len(row) - 1)]
        else:
            row += [outcome.status.value, *(getattr(outcome, key) for key in came)]
            row += [n for part in parts for n in getattr(outcome, part) or [None] * 4]
            row.append(" ".join(outcome.message.split()))
        rows.append(row)
    return Table("runs", "All runs", columns, rows).to_csv()


def provenance(campaign: Campaign) -> str:
    """Say with which command, when, where and with what a campaign was run."""
    about = dict(campaign.about)
    commands = about.pop("commands", [])
    about.pop("variant", None)  # is in the title, and in the command
    seconds = sum(run.outcome.seconds for run in campaign.runs if run.outcome is not None)
    processors = Counter(run.processor for run in campaign.runs if run.processor)
    if len(processors) > 1:
        about["processor"] = ", ".join(f"{p} ({n} runs)" for p, n in processors.most_common())
    facts = {
        "started": f"{campaign.started} (UTC)",
        "code": f"goct {campaign.version}",
        **about,
        "time": f"{format_duration(seconds)} of solvers in all",
    }
    lines = [f"| {name} | {value} |" for name, value in facts.items() if value]
    code = "\n".join(commands)
    return f"## How it was made\n\n```sh\n{code}\n```\n\n| | |\n|---|---|\n" + "\n".join(lines)


def _trouble(runs: Sequence[Run]) -> str:
    """Say which runs did not end as they should, and which claims others refute."""
    counts: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str, str], str] = {}
    for run in runs:
        if run.outcome is not None and run.outcome.status is Status.OK:
            continue
        end = "not done" if run.outcome is None else run.outcome.status.value
        message = "" if run.outcome is None else " ".join(run.outcome.message.split())[:120]
        # The same words with other numbers are the same.
        kind = (run.spec.solver, end, re.sub(r"\d[\d.]*", "#", message))
        counts[kind] += 1
        examples.setdefault(kind, f"{run.spec.label}: {message}".removesuffix(": "))
    parts = []
    if counts:
        rows: list[list[Cell]] = [
            [*kind[:2], count, examples[kind]] for kind, count in sorted(counts.items())
        ]
        table = Table("", "", ["solver", "what happened", "runs", "for example"], rows)
        parts.append(table.to_markdown())
    if wrong := refuted(runs):
        lines = [f"- {run.spec.label}: claims that none has more than {claim:.6f}, there is "
                 f"{best:.6f}" for run, claim, best in wrong]  # fmt: skip
        parts.append("Claimed to be optimal, or a bound, while another run has a better tree:")
        parts.append("\n".join(lines))
    if not parts:
        return ""
    return "## Runs without a tree, and false claims\n\n" + "\n\n".join(parts)


def question_of(spec: Spec) -> tuple[Any, ...]:
    """Return what is asked in a run, whoever is asked."""
    return (spec.dataset, spec.digest, spec.split, spec.metric, spec.depth, spec.penalty)


def refuted(runs: Sequence[Run]) -> list[tuple[Run, float, float]]:
    """Return the runs that claim a bound that another run surpasses, the bound and its objective.

    Who claims an optimum claims that it is a bound.
    """
    best: dict[tuple[Any, ...], float] = {}
    claims: list[tuple[Run, float]] = []
    for run in runs:
        if (outcome := run.outcome) is None:
            continue
        question = question_of(run.spec)
        if (objective := outcome.objective) is not None:
            best[question] = max(best.get(question, objective), objective)
        claim = objective if outcome.is_proven else outcome.bound
        if claim is not None:
            claims.append((run, claim))
    found = [(run, claim, best.get(question_of(run.spec), -math.inf)) for run, claim in claims]
    return [(run, claim, other) for run, claim, other in found if claim < other - _TOLERANCE]


def mark_best(values: Sequence[float | None], digits: int = 3) -> list[Cell]:
    """Return values as cells, the best of them (as far as digits are shown) in bold."""
    shown = [round(value, digits) for value in values if value is not None]
    best = max(shown, default=None)
    return [
        Mark(value, f"**{value:.{digits}f}**")
        if value is not None and len(values) > 1 and round(value, digits) == best
        else value
        for value in values
    ]


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are there; None if there are none."""
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None


def _draw(figure: Figure, path: Path) -> bool:
    try:
        import matplotlib
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        return False
    # The same numbers give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "goct", "svg.fonttype": "none"}):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        figure.draw(canvas)
        with atomic_write(path, binary=True) as file:
            canvas.savefig(file, format="svg", metadata={"Date": None})
    return True


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text)
