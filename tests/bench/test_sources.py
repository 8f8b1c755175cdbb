from __future__ import annotations

import io
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from goct.bench import sources
from goct.bench.data import Folder
from goct.bench.sources import BRANCHES, COLLECTION, OPENML, fetch, own_folder, write_own
from goct.cli.app import app


def offline(*_args: object) -> bytes:
    raise urllib.error.URLError("no network")


def archive() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as files:
        files.writestr("murtree-data-main/Nina/cleve-un.txt", "1 0 1\n0 1 1\n")
        files.writestr("murtree-data-main/NL/HTRU_2-bin.txt", "0 0 1\n1 1 1\n")
        files.writestr("murtree-data-main/LICENSE.txt", "MIT\n")
    return content.getvalue()


def test_own_datasets_need_nothing(tmp_path: Path) -> None:
    names = write_own(tmp_path)
    folder = Folder(tmp_path)
    assert {*folder.names, *folder.tables} == set(names)
    for name in folder.names:
        _, y = folder.read(name)
        assert set(np.unique(y)) == {0, 1}
    before = {name: folder.digest(name) for name in folder.names}
    write_own(tmp_path)
    assert before == {name: folder.digest(name) for name in folder.names}


def test_rules_of_the_monks(tmp_path: Path) -> None:
    write_own(tmp_path)
    X, y = Folder(tmp_path).read("monks-1")
    assert X.shape == (432, 17)
    same_shape = (X[:, :3] & X[:, 3:6]).any(axis=1)
    is_red = X[:, 11] == 1  # after 3 + 3 + 2 + 3 levels
    np.testing.assert_array_equal(y, same_shape | is_red)
    _, y = Folder(tmp_path).read("monks-2")
    assert y.sum() == 142  # as it is published


def test_fetching(tmp_path: Path) -> None:
    asked = []

    def opened(address: str) -> bytes:
        asked.append(address)
        if BRANCHES[0] in address.rpartition("/")[2]:
            raise urllib.error.HTTPError(address, 404, "not found", None, None)  # type: ignore[arg-type]
        return archive()

    names, failures = fetch(tmp_path, opened, lambda _: "a,label\n1,yes\n2,no\n")
    assert failures == {}
    assert set(names) == {"cleve", "HTRU_2", *(f"{name}.csv" for name in OPENML)}
    assert asked == [COLLECTION.format(branch) for branch in BRANCHES]
    assert set(Folder(tmp_path).names) == {"cleve", "HTRU_2"}
    assert set(Folder(tmp_path).tables) == {f"{name}.csv" for name in OPENML}


def test_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_download", offline)
    monkeypatch.setattr(sources, "_from_openml", offline)
    result = CliRunner().invoke(app, ["bench", "data", str(tmp_path)])
    assert result.exit_code == 0
    assert "fetched: nothing" in result.output
    assert "could not be fetched: magic" in result.output
    assert "not here: appendicitis, biodeg" in result.output


@pytest.mark.filterwarnings("error")
def test_tables_of_openml_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def urlopen(request: urllib.request.Request, **_settings: object) -> bytes:
        asked.append(request.full_url)
        return offline()

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", urlopen)
    with pytest.raises(urllib.error.URLError, match="no network"):
        sources._from_openml(OPENML["magic"])
    assert all(f"/{OPENML['magic']}" in address for address in asked)


@pytest.mark.slow
def test_runs_without_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("goct.bench.data.default_folder", lambda: None)
    results = str(tmp_path / "results.sqlite")
    command = ["bench", "run", "time-to-proof", "datasets", "--tiny", "--results", results, "-q"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "that come along" in result.output
    status = CliRunner().invoke(app, ["bench", "status", results])
    assert "datasets" in status.output
    assert "unsupported" not in status.output
    assert own_folder().parent.parent == tmp_path
