"""Which code did it, and on which machine."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import goct
from goct import _core

_PACKAGE = Path(goct.__file__).parent
# What shows results, and does not make them.
_SHOWING = ("cli", "report", "export", "bench/experiments", "bench/render")
_PACKAGES = (
    "numpy", "scipy", "scikit-learn", "pyscipopt", "gurobipy", "highspy", "pystreed", "pydl8.5",
    "odtlearn", "gosdt", "distributed",
)  # fmt: skip


@cache
def source_version() -> str:
    """Return the version of goct with a hash of its Python sources that have a part in results."""
    digest = hashlib.sha256()
    for file in sorted(_PACKAGE.rglob("*.py")):
        name = file.relative_to(_PACKAGE).as_posix()
        if not name.startswith(_SHOWING):
            digest.update(name.encode() + b"\0" + file.read_bytes())
    return f"{goct.__version__}+{digest.hexdigest()[:12]}"


@cache
def code_version() -> str:
    """Return the same with the compiled core, which tells results of different code apart."""
    digest = hashlib.sha256(source_version().encode())
    digest.update(Path(_core.__file__).read_bytes())
    return f"{goct.__version__}+{digest.hexdigest()[:12]}"


@cache
def commit() -> str | None:
    """Return the commit of the checkout, with a mark if it has been changed; None elsewhere."""
    place = ["git", "-C", str(_PACKAGE)]
    try:
        inside = _output([*place, "ls-files", "--error-unmatch", "__init__.py"])
        head = _output([*place, "rev-parse", "--short=12", "HEAD"]) if inside else ""
        changes = _output([*place, "status", "--porcelain", "--untracked-files=no"])
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + (" with changes" if changes else "")


def _output(command: list[str]) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@cache
def cpu_model() -> str:
    """Return the name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


@cache
def machine() -> dict[str, str]:
    """Return what results depend on: the processor, and the versions of packages."""
    result = {
        "processor": f"{cpu_model()}, {os.cpu_count()} cores",
        "system": platform.system(),
        "python": platform.python_version(),
    }
    for name in _PACKAGES:
        try:
            result[name] = version(name)
        except PackageNotFoundError:
            continue
    return result
