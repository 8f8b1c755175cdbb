from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from goct.bench.data import (
    Folder,
    Split,
    default_folder,
    draw_test,
    make_synthetic,
    read_any,
    synthetic_name,
)


def test_folder(folder: Folder) -> None:
    assert folder.names == ("first", "second", "triple")
    X, y = folder.read("triple")
    assert X.shape == (90, 6)
    assert X.dtype == np.uint8
    assert set(y) == {0, 1, 2}
    assert folder.digest("first") != folder.digest("second")


@pytest.mark.parametrize(
    ("content", "message"),
    [("1 0 2\n", "0 or 1"), ("1 a\n", "whole numbers"), ("1\n0\n", "at least one feature")],
)
def test_wrong_files(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.txt.gz").write_text(content)
    path = tmp_path / "bad.txt"
    path.write_text(content)
    from goct.bench.data import read_dataset

    with pytest.raises(ValueError, match=message):
        read_dataset(path)


def test_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="there is no folder of datasets"):
        Folder(tmp_path / "gone")
    monkeypatch.setenv("GOCT_DATASETS", str(tmp_path))
    assert default_folder() == tmp_path


def test_splits_are_disjoint_and_repeatable() -> None:
    split = Split.draw(103, 1)
    parts = [split.train, split.validation, split.test]
    assert [len(part) for part in parts] == [51, 25, 27]
    assert sorted(np.concatenate(parts)) == list(range(103))
    assert (Split.draw(103, 1).train == split.train).all()
    assert (Split.draw(103, 2).train != split.train).any()


def test_synthetic_data() -> None:
    X, y = make_synthetic(synthetic_name(200, 7), seed=3)
    assert X.shape == (200, 7)
    assert set(y) == {0, 1}
    assert (make_synthetic("synthetic-200x7", seed=3)[0] == X).all()
    with pytest.raises(ValueError, match="no synthetic dataset"):
        make_synthetic("compas", 0)


def test_raw_tables(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    (tmp_path / "datasets").mkdir()
    tables = tmp_path / "tables"
    tables.mkdir()
    frame = pd.DataFrame({"a": [1.5, None, 3.0], "y": ["no", "yes", "no"], "b": ["u", "v", "u"]})
    frame.to_csv(tables / "raw.csv.gz", index=False)
    frame.to_csv(tables / "last.csv.gz", index=False)
    (tables / "catalog.csv").write_text("table,target\nraw,y\n")
    folder = Folder(tmp_path / "datasets")
    assert list(folder.tables) == ["last.csv", "raw.csv"]
    assert folder.names == ()
    assert folder.target("raw.csv") == "y"
    assert folder.target("last.csv") is None
    X, y = read_any(folder.file("raw.csv"), "y", leaks=("b",))
    assert list(X.columns) == ["a"]
    assert y.tolist() == [0, 1, 0]
    X, y = read_any(folder.file("last.csv"))
    assert list(X.columns) == ["a", "y"]
    assert y.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="no column 'z'"):
        read_any(folder.file("raw.csv"), "z")


def test_test_rows_have_the_same_shares() -> None:
    y = np.repeat([0, 1, 2], [600, 300, 100])
    train, test = draw_test(y, 3)
    assert sorted([*train, *test]) == list(range(1000))
    assert np.abs(np.bincount(y[test]) - [150, 75, 25]).max() <= 1
    fewer, same = draw_test(y, 3, most=200)
    assert same.tolist() == test.tolist()
    assert set(fewer) < set(train)
    assert np.abs(np.bincount(y[fewer]) - [120, 60, 20]).max() <= 1
    assert draw_test(y, 4)[1].tolist() != test.tolist()
