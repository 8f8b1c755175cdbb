from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from goct.bench.data import Folder, Split, default_folder, make_synthetic, synthetic_name


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
