"""The numbers that the paper reports, read from a folder of CSV files."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

_NAMES = {"HTRU2": "HTRU_2", "german": "german-credit"}


@dataclass(frozen=True)
class Reported:
    """The tables of the paper, in a folder; all of them are empty if there is none."""

    folder: Path | None = None

    @classmethod
    def beside(cls, data: Path) -> Reported:
        """Return the tables in `paper/reported` beside a folder of datasets, if they are there."""
        folder = data.resolve().parent / "paper" / "reported"
        return cls(folder if folder.is_dir() else None)

    def table(self, name: str) -> dict[str, dict[str, float | None]]:
        """Return the rows of a table by what is in its first column."""
        if self.folder is None or not (path := self.folder / f"{name}.csv").is_file():
            return {}
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        header = rows[0][1:]
        return {
            _NAMES.get(row[0], row[0]): dict(zip(header, map(_number, row[1:]), strict=True))
            for row in rows[1:]
            if row
        }


def _number(text: str) -> float | None:
    """Read a number or a percentage; None for a dash."""
    text = text.strip()
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None
