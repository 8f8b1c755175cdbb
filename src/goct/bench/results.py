"""The results file: every run that was ever done, and the campaigns that asked for them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from goct.bench.spec import Outcome, Spec

_SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE runs (
    key TEXT NOT NULL,
    version TEXT NOT NULL,
    spec TEXT NOT NULL,
    status TEXT NOT NULL,
    seconds REAL NOT NULL,
    outcome TEXT NOT NULL,
    processor TEXT NOT NULL,
    finished TEXT NOT NULL,
    PRIMARY KEY (key, version)
);
CREATE TABLE campaigns (
    id INTEGER PRIMARY KEY,
    experiment TEXT NOT NULL,
    version TEXT NOT NULL,
    about TEXT NOT NULL,
    started TEXT NOT NULL
);
CREATE TABLE members (
    campaign INTEGER NOT NULL REFERENCES campaigns (id),
    place INTEGER NOT NULL,
    key TEXT NOT NULL,
    spec TEXT NOT NULL,
    PRIMARY KEY (campaign, place)
);
"""
_RUN = "key, version, spec, status, seconds, outcome, processor, finished"


@dataclass(frozen=True)
class Run:
    """A specification and what came of it, and the processor; None while it has not been done."""

    spec: Spec
    outcome: Outcome | None
    processor: str | None = None


@dataclass(frozen=True)
class Campaign:
    """The runs of an experiment that were asked for together, in that order."""

    number: int
    experiment: str
    version: str
    about: dict[str, Any]  # the command, the machine and the like
    started: str  # when it was first asked for
    runs: tuple[Run, ...]

    @property
    def is_complete(self) -> bool:
        """Whether all runs are done."""
        return all(run.outcome is not None for run in self.runs)

    @property
    def variant(self) -> tuple[str, str] | None:
        """A name and a title, where an experiment has several pages."""
        found = self.about.get("variant")
        return None if found is None else (found[0], found[1])

    @property
    def page(self) -> str:
        """The name of its page, and the beginning of the names of its other files."""
        return self.experiment if self.variant is None else f"{self.experiment}-{self.variant[0]}"


class Results:
    """A results file, which is an SQLite database; what is none is a `ValueError`."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if not create and not path.is_file():
            raise ValueError(f"there is no results file {path}")
        if path.is_dir():
            raise ValueError(f"{path} is a folder, not a results file")
        if create and not path.resolve().parent.is_dir():
            raise ValueError(f"{path}: there is no folder {path.resolve().parent}")
        self.path = path
        self._database = sqlite3.connect(path, timeout=60)
        try:
            self._prepare(create)
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise ValueError(f"{path} is no results file: {error}") from None

    def _prepare(self, create: bool) -> None:
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        tables = self._database.execute("SELECT name FROM sqlite_master").fetchall()
        if version == 0 and not tables and create:
            with self._database:
                stamp = f"PRAGMA user_version = {_SCHEMA_VERSION};"
                self._database.executescript(f"BEGIN; {_SCHEMA} {stamp} COMMIT;")
        elif version != _SCHEMA_VERSION:
            raise sqlite3.DatabaseError("it was not written by this version of goct bench")

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, spec: Spec, version: str, outcome: Outcome, processor: str) -> None:
        """Keep the outcome of a run; it is on the disk when this returns."""
        with self._database:
            self._database.execute(
                f"INSERT OR REPLACE INTO runs ({_RUN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    spec.key,
                    version,
                    spec.to_json(),
                    outcome.status.value,
                    outcome.seconds,
                    outcome.to_json(),
                    processor,
                    _now(),
                ),
            )

    def find(self, key: str, version: str | None) -> Outcome | None:
        """Return the outcome of a run; the latest one if the version is None."""
        query = "SELECT outcome FROM runs WHERE key = ?"
        values: tuple[str, ...] = (key,)
        if version is not None:
            query, values = f"{query} AND version = ?", (key, version)
        row = self._database.execute(f"{query} ORDER BY finished DESC", values).fetchone()
        return None if row is None else Outcome.from_json(row[0])

    def count(self) -> int:
        """Return the number of runs that were done."""
        (number,) = self._database.execute("SELECT count(*) FROM runs").fetchone()
        return int(number)

    def forget(self, keys: Iterable[str], version: str) -> None:
        """Drop the outcomes of runs, so that they are done again."""
        with self._database:
            self._database.executemany(
                "DELETE FROM runs WHERE key = ? AND version = ?", [(key, version) for key in keys]
            )

    def open_campaign(
        self, experiment: str, version: str, specs: Sequence[Spec], about: dict[str, Any]
    ) -> int:
        """Return the number of the campaign with these runs; a new one, if it is not there."""
        members = [(spec.key, spec.to_json()) for spec in specs]
        with self._database:
            return self._open_campaign(experiment, version, members, about, _now())

    def _open_campaign(
        self,
        experiment: str,
        version: str,
        members: list[tuple[str, str]],
        about: dict[str, Any],
        started: str,
    ) -> int:
        for number, known in self._database.execute(
            "SELECT id, about FROM campaigns WHERE experiment = ? AND version = ? ORDER BY id DESC",
            (experiment, version),
        ).fetchall():
            before = json.loads(known)
            if before.get("variant") != about.get("variant"):
                continue
            if self._members(number) == members:
                # Who resumes a campaign may do it with another number of jobs.
                commands = [*before["commands"], *about["commands"]]
                text = json.dumps(about | {"commands": list(dict.fromkeys(commands))})
                self._database.execute(
                    "UPDATE campaigns SET about = ? WHERE id = ?", (text, number)
                )
                return int(number)
        cursor = self._database.execute(
            "INSERT INTO campaigns (experiment, version, about, started) VALUES (?, ?, ?, ?)",
            (experiment, version, json.dumps(about), started),
        )
        number = cursor.lastrowid
        self._database.executemany(
            "INSERT INTO members VALUES (?, ?, ?, ?)",
            [(number, place, *member) for place, member in enumerate(members)],
        )
        return int(number or 0)

    def _members(self, campaign: int) -> list[tuple[str, str]]:
        """Return the keys and specifications of the runs of a campaign, as they were written."""
        return self._database.execute(
            "SELECT key, spec FROM members WHERE campaign = ? ORDER BY place", (campaign,)
        ).fetchall()

    def merge(self, other: Results) -> None:
        """Take over all campaigns and runs of another file; of the same run, the later one."""
        rows = other._database.execute(f"SELECT {_RUN} FROM runs").fetchall()
        campaigns = other._database.execute(
            "SELECT id, experiment, version, about, started FROM campaigns ORDER BY id"
        ).fetchall()
        with self._database:
            self._database.executemany(
                f"INSERT INTO runs ({_RUN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET status = excluded.status, seconds = excluded.seconds, "
                "outcome = excluded.outcome, processor = excluded.processor, "
                "finished = excluded.finished WHERE excluded.finished > finished",
                rows,
            )
            for number, experiment, version, about, started in campaigns:
                # Keys of other versions of goct are made in other ways.
                members = other._members(number)
                self._open_campaign(experiment, version, members, json.loads(about), started)

    def campaigns(self, experiment: str | None = None) -> list[Campaign]:
        """Return all campaigns, or those of an experiment, the latest last."""
        rows = self._database.execute(
            "SELECT id, experiment, version, about, started FROM campaigns "
            "WHERE ? IS NULL OR experiment = ? ORDER BY started, id",
            (experiment, experiment),
        ).fetchall()
        return [
            Campaign(number, name, version, json.loads(about), started, self._runs(number, version))
            for number, name, version, about, started in rows
        ]

    def _runs(self, campaign: int, version: str) -> tuple[Run, ...]:
        rows = self._database.execute(
            "SELECT members.spec, runs.outcome, runs.processor FROM members LEFT JOIN runs "
            "ON runs.key = members.key AND runs.version = ? "
            "WHERE members.campaign = ? ORDER BY members.place",
            (version, campaign),
        )
        return tuple(
            Run(
                Spec.from_json(spec),
                None if outcome is None else Outcome.from_json(outcome),
                processor,
            )
            for spec, outcome, processor in rows
        )


def latest(campaigns: Iterable[Campaign]) -> list[Campaign]:
    """Return the latest campaign of each experiment, and of each of its variants."""
    last: dict[str, Campaign] = {}
    for campaign in campaigns:
        with suppress(KeyError):
            del last[campaign.page]
        last[campaign.page] = campaign
    return list(last.values())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
