"""Tables that are no plain text files are read as if they were."""

from __future__ import annotations

import gzip
import io
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest

from goct.data import TableError, TableFile, read_csv

CSV = "age,job,day,ok\n31,cook,2024-03-01,true\n,nurse,2024-03-02,false\n40.5,,,true\n"
ROWS = [
    ["age", "job", "day", "ok"],
    [31, "cook", date(2024, 3, 1), True],
    [None, "nurse", date(2024, 3, 2), False],
    [40.5, None, None, True],
]


def plain(tmp_path: Path) -> dict[str, list]:
    path = tmp_path / "plain.csv"
    path.write_text(CSV)
    return content(path)


def content(path: Path | TableFile) -> dict[str, list]:
    table = read_csv(path)
    assert table.kinds == {"age": "number", "job": "category", "day": "date", "ok": "boolean"}
    return {name: [str(value) for value in values] for name, values in table.columns.items()}


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode()))
    assert content(path) == plain(tmp_path)
    path.write_bytes(gzip.compress(CSV.encode() * 9000)[:-20])
    with pytest.raises(TableError, match=r"t\.csv\.gz, line \d+: "):
        read_csv(path)


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for raw in (CSV.encode(), gzip.compress(CSV.encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        assert content("-") == plain(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1\n")))
    with pytest.raises(TableError, match="standard input, line 2: there are 1 cells"):
        read_csv("-")


def test_the_temporary_file_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n1\n")))
    file = TableFile.find("-")
    path = file.path
    assert path.exists()
    del file
    assert not path.exists()


def test_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [[], *ROWS, [None] * 4]:
        book.active.append([*row, None])
    book.save(tmp_path / "t.xlsx")
    assert content(tmp_path / "t.xlsx") == plain(tmp_path)
    odd = tmp_path / "odd.xlsx"
    odd.write_bytes(b"PK\x03\x04rest")
    with pytest.raises(TableError, match=r"odd\.xlsx: this is a zip file, but no Excel file"):
        read_csv(odd)


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    columns = dict(zip(ROWS[0], map(list, zip(*ROWS[1:], strict=True)), strict=True))
    parquet.write_table(pa.table(columns), path)
    assert content(path) == plain(tmp_path)
    moment = datetime(2024, 3, 1, 12, 30, 5, 250, tzinfo=UTC)
    numbers = np.array([0.1, 1e300, -7.0])
    typed = {"zip": ["01234", "2", "x"], "at": [moment] * 3, "n": numbers}
    with pytest.raises(TableError, match="its columns have names already"):
        read_csv(path, names=())
    parquet.write_table(pa.table(typed), path)
    table = read_csv(path)
    assert table.kinds == {"zip": "category", "at": "date", "n": "number"}
    assert table.columns["zip"].tolist() == ["01234", "2", "x"]
    assert table.columns["n"].tolist() == numbers.tolist()
    assert str(table.columns["at"][0]) == "2024-03-01T12:30:05.000250"
    path.write_bytes(b"PAR1rest")
    with pytest.raises(TableError, match=r"t\.parquet: "):
        read_csv(path)


@pytest.mark.parametrize(("head", "module"), [(b"PAR1", "pyarrow"), (b"PK\x03\x04", "openpyxl")])
def test_what_is_needed_is_named(head, module, tmp_path: Path, monkeypatch) -> None:
    for name in (module, f"{module}.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "t"
    path.write_bytes(head)
    with pytest.raises(ImportError, match=rf"needs {module}: pip install 'goct\[tables\]'"):
        read_csv(path)
