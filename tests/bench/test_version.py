from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from goct.bench import version as module


def test_the_version_is_that_of_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert module.code_version().startswith(f"{version('goct')}+")
    assert module.code_version() != module.source_version()
    sources = {"solve.py": "1", "cli/app.py": "1", "bench/task.py": "1"}
    versions = []
    for name in (None, *sources):
        package = tmp_path / str(name).replace("/", "-")
        for file, content in sources.items():
            (package / file).parent.mkdir(parents=True, exist_ok=True)
            (package / file).write_text("2" if file == name else content)
        monkeypatch.setattr(module, "_PACKAGE", package)
        versions.append(module.source_version.__wrapped__())
    plain, solver, command, task = versions
    assert command == plain  # what shows results does not make them
    assert len({plain, solver, task}) == 3


def test_the_machine_is_described() -> None:
    about = module.machine()
    assert "cores" in about["processor"]
    assert {"python", "numpy", "scikit-learn"} <= about.keys()
    assert module.commit() is None or len(module.commit() or "") >= 12
