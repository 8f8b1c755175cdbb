"""Print, as constraints of pip, the oldest versions that pyproject.toml allows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
TESTED = ("pandas", "polars", "pyarrow", "matplotlib")


def constraints() -> list[str]:
    """Return a constraint for each package that goct needs, and for the data frames it reads."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    chosen = [*project["dependencies"], *(x for x in extras if re.match("|".join(TESTED), x))]
    found = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups() for line in chosen)  # type: ignore[union-attr]
    return [f"{name}=={version}.*" for name, version in sorted(found.items())]


if __name__ == "__main__":
    print("\n".join(constraints()))
