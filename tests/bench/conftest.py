from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from goct.bench.data import Folder


def write_dataset(folder: Path, name: str, rows: int, features: int, classes: int = 2) -> None:
    rng = np.random.default_rng(len(name))
    X = rng.integers(0, 2, size=(rows, features))
    y = (X[:, 0] & X[:, 1]) + (classes > 2) * (X[:, 2] & X[:, 3])
    y[rng.random(rows) < 0.1] = 0
    np.savetxt(folder / f"{name}.txt.gz", np.column_stack([y, X]), fmt="%d")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small datasets."""
    folder = tmp_path_factory.mktemp("datasets")
    write_dataset(folder, "first", 60, 6)
    write_dataset(folder, "second", 80, 5)
    write_dataset(folder, "triple", 90, 6, classes=3)
    return folder


@pytest.fixture
def folder(data: Path) -> Folder:
    return Folder(data)


@pytest.fixture(autouse=True)
def faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes find the solvers of the tests."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))


@pytest.fixture
def reported(tmp_path: Path) -> Path:
    """Tables as those of the paper, with numbers of their own."""
    folder = tmp_path / "reported"
    folder.mkdir()
    (folder / "datasets.csv").write_text(
        "dataset,features,classes,rows,unique_rows\nfirst,6,2,60,1\nother,1,2,3,4\n"
    )
    (folder / "f1_vs_streed_90s.csv").write_text(
        "instance,d4_f1_benders_cut,d4_f1_streed,d4_time_benders_cut,d4_time_streed,"
        "d5_f1_benders_cut,d5_f1_streed,d5_time_benders_cut,d5_time_streed\n"
        "first,0.1,---,1.5,90.0,0.2,---,2.5,90.0\n"
    )
    return folder
