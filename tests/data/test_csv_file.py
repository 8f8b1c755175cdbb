from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from goct.data import Table, TableError, read_csv


def read(tmp_path: Path, content: str | bytes, **options) -> Table:
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_csv(path, **options)


def test_kinds(tmp_path: Path) -> None:
    table = read(
        tmp_path,
        "n,b,d,c,e\n1,true,2024-03-01,x,\n-2.5e3,FALSE,2024-03-01 12:30, y ,NA\n?,nan,NULL,N/A,?\n",
    )
    assert dict(table.kinds) == {
        "n": "number",
        "b": "boolean",
        "d": "date",
        "c": "category",
        "e": "category",
    }
    np.testing.assert_array_equal(table.columns["n"], [1, -2500, np.nan])
    np.testing.assert_array_equal(table.columns["b"], [1, 0, np.nan])
    dates = np.array(["2024-03-01T00:00", "2024-03-01T12:30", "NaT"], dtype="datetime64[us]")
    np.testing.assert_array_equal(table.columns["d"], dates)
    assert table.columns["c"].tolist() == ["x", "y", None]
    assert table.columns["e"].tolist() == [None, None, None]


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,x\n2,y\n",
        "\ufeffa;b\n1;x\n2;y\n",
        "a\tb\r\n1\tx\r\n\r\n2\ty\r\n",
        '"a"|"b"\n"1"|"x"\n"2"|"y"',
        "'a','b'\n'1','x'\n'2','y'\n",
        "a,b\n1,x\n2,y\n".encode("utf-16"),
    ],
    ids=["commas", "semicolons", "tabs, empty lines", "quotes and bars", "single quotes", "utf-16"],
)
def test_ways_to_write_a_table(content: str | bytes, tmp_path: Path) -> None:
    table = read(tmp_path, content)
    assert table.columns["a"].tolist() == [1.0, 2.0]
    assert table.columns["b"].tolist() == ["x", "y"]


def test_apostrophes_are_no_quotes(tmp_path: Path) -> None:
    table = read(tmp_path, "a,b\n'tis,driver's\n'twas,1'2'\n")
    assert table.columns["a"].tolist() == ["'tis", "'twas"]
    both = read(tmp_path, """a,b\n"x",'y'\n""")
    assert [both.columns[name].tolist() for name in "ab"] == [["x"], ["'y'"]]
    inside = read(tmp_path, "a,b\n'x,1','it''s'\n")
    assert [inside.columns[name].tolist() for name in "ab"] == [["x,1"], ["it's"]]


def test_files_without_a_line_of_names(tmp_path: Path) -> None:
    content = "\n1;0,5;x\n2;0,7;y\n3;oops;y\n"
    table = read(tmp_path, content, names=())
    assert table.names == ["column_1", "column_2", "column_3"]
    assert table.columns["column_1"].tolist() == [1, 2, 3]
    assert "line 4 says 'oops'" in read(tmp_path, content, names=(), decimal=",").notes[0]
    named = read(tmp_path, "1;0,5;x\n2;0,25;y\n", names=("n", "share", "c"))
    assert named.columns["share"].tolist() == [0.5, 0.25]
    assert named.notes == (
        "numbers are read with decimal commas, because of '0,5' in column 'share', line 1",
    )
    with pytest.raises(TableError, match="line 1: there are 3 cells, but 2 names were given"):
        read(tmp_path, content, names=("a", "b"))


@pytest.mark.parametrize(("content", "name"), [("x,a\ny,b\nz,a\n", "a"), ("7,a\n6,b\n7,c\n", "7")])
def test_a_first_line_that_looks_like_data(content: str, name: str, tmp_path: Path) -> None:
    (note,) = read(tmp_path, content).notes
    assert f"{name!r} is also among the values below; if it is no name, say --no-header" in note
    assert not read(tmp_path, content, names=()).notes
    assert not read(tmp_path, "x,a,7\n7,x,1\n").notes  # those of other columns


def test_decimal_commas(tmp_path: Path) -> None:
    clear = read(tmp_path, "a;b\n0,5;x\n1,234;y\n")
    assert clear.columns["a"].tolist() == [0.5, 1.234]
    unclear = read(tmp_path, "a;b\n1,234;x\n5,678;y\n")  # may be thousands
    assert unclear.kinds["a"] == "category"
    assert unclear.notes == (
        "column 'a' is read as categories, because line 2 says '1,234', which is not a number; "
        "write it without the comma, or name the comma as the decimal point if it is one",
    )
    forced = read(tmp_path, "a;b\n1,234;x\n5,678;y\n", decimal=",")
    assert forced.columns["a"].tolist() == [1.234, 5.678]
    assert not forced.notes
    thousands = read(tmp_path, 'a,b\n"1,019",x\n"2,500",y\n')
    assert thousands.notes[0].endswith("'1,019', which is not a number; write it without the comma")


def test_what_was_decided_on_decimal_commas_is_said(tmp_path: Path) -> None:
    table = read(tmp_path, "a;b;c\n1;x;7\n2;y;8\n3,5;z;9\n")
    assert table.columns["a"].tolist() == [1, 2, 3.5]
    assert table.notes == (
        "numbers are read with decimal commas, because of '3,5' in column 'a', line 4",
    )
    both = "a;b;c\n1;x;2.5\n2;y;8\n3,5;z;9\n"
    with pytest.raises(TableError) as caught:
        read(tmp_path, both)
    assert str(caught.value).endswith(
        "there is '3,5' in column 'a', line 4, and '2.5' in column 'c', line 2; name the decimal "
        "point, '.' or ','"
    )
    points = read(tmp_path, both, decimal=".")
    assert points.columns["c"].tolist() == [2.5, 8, 9]
    assert "line 4 says '3,5', which is not a number; " in points.notes[0]
    commas = read(tmp_path, both, decimal=",")
    assert commas.columns["a"].tolist() == [1, 2, 3.5]
    assert commas.notes == (
        "column 'c' is read as categories, because line 2 says '2.5', which is not a number with "
        "a decimal comma",
    )
    with pytest.raises(TableError, match=r"'2.5' is not a number with a decimal comma"):
        read(tmp_path, both, decimal=",", kinds={"c": "number"})


@pytest.mark.parametrize(
    "cell", ["2024-03-01T12:30Z", "2024-03-01 12:30+01:00", "2023-02-29", "01.03.2024", "3/1/2024"]
)
def test_dates_that_cannot_be_read_are_noted(cell: str, tmp_path: Path) -> None:
    table = read(tmp_path, f"a,b\n2024-03-01,x\n{cell},y\n")
    assert table.kinds["a"] == "category"
    assert f"line 3 says '{cell}', which is not a date such as" in table.notes[0]
    table = read(tmp_path, f"a,b\n{cell},x\n{cell},y\n")
    assert f"line 2 says '{cell}'" in table.notes[0]


def test_codes_are_categories_without_a_note(tmp_path: Path) -> None:
    table = read(tmp_path, "ip,version,code\n10.0.0.1,1.2.3,12-34-5678\n10.0.0.2,1.10.0,x\n")
    assert set(table.kinds.values()) == {"category"}
    assert table.notes == ()


def test_encodings(tmp_path: Path) -> None:
    table = read(tmp_path, "a,b\n1,é\n".encode("cp1252"), encoding="cp1252")
    assert table.columns["b"].tolist() == ["é"]
    for name in ("idna", "punycode", "undefined", "unicode_escape", "rot13", "base64", "nonsense"):
        with pytest.raises(TableError, match="encoding"):
            read(tmp_path, "a,b\n1,2\n", encoding=name)
    with pytest.raises(TableError, match=r"(?i)t.csv.*UTF-16"):
        read(tmp_path, "a,b\n1,2\n", encoding="utf-16")


def test_codes_are_not_numbers_by_accident(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\n1,x\nNAN,y\n").kinds["a"] == "category"
    assert read(tmp_path, "a,b\n1_000,x\n2_000,y\n").kinds["a"] == "category"
    table = read(tmp_path, "zip,b\n01234,x\n99999,y\n", kinds={"zip": "category"})
    assert table.columns["zip"].tolist() == ["01234", "99999"]


def test_a_word_among_numbers_far_below(tmp_path: Path) -> None:
    rows = ["1.50,2"] * 40_000
    rows[30_000] = "unknown,2"
    table = read(tmp_path, "a,b\n" + "\n".join(rows))
    assert table.kinds["a"] == "category"
    assert table.columns["a"][0] == "1.50"  # as it was written
    assert table.columns["a"][30_000] == "unknown"
    assert "line 30002 says 'unknown', which is not a number" in table.notes[0]


def test_a_word_among_the_first_numbers(tmp_path: Path) -> None:
    table = read(tmp_path, "a,b\n1,2\n2,3\noops,4\n")
    assert table.notes == (
        "column 'a' is read as categories, because line 4 says 'oops', which is not a number",
    )


def test_quoted_cells_may_span_lines(tmp_path: Path) -> None:
    table = read(tmp_path, 'a,b\n1,"x, ""y""\nz"\n2,w\n')
    assert table.columns["b"].tolist() == ['x, "y"\nz', "w"]
    assert table.line_of(1) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("  \n\n", "the file is empty"),
        ("a,b\n", "no rows"),
        ("1,2\n3,4\n", "unless you say --no-header"),
        ('a,b\n1,"x\ny"\n1,2,3\n', "line 4: there are 3 cells, but 2 column names"),
        ("a,b\n1,2\n3\n", "line 3: there are 1 cells"),
        ('a,b\n1,"x\n2,3\n', "a quoted cell does not end"),
        ('a,b\n1,"x"y\n', "line 2: "),
        ("a,b\n1," + "x" * 140_000, "line 2: a cell has more than 131,072 characters"),
        ("a,b\n1,2\n\n3,inf\n", "line 4, column 'b': inf is infinite"),
        ("a,b\n1,2\n3,1e999\n", "line 3, column 'b': 1e999 is infinite"),
        (b"a,b\n1,2\n1,caf\xe9\n", "line 3: the byte 0xe9 is not utf-8 text"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not a text file"),
        (b"\x1f\x8b\x08\x00rest", "t.csv: "),
    ],
)
def test_files_that_are_no_tables(content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(TableError) as caught:
        read(tmp_path, content)
    assert message in str(caught.value)
    assert "t.csv" in str(caught.value)


def test_cells_that_do_not_fit_a_given_kind(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"line 3, column 'a': 'x' is not a number"):
        read(tmp_path, "a,b\n1,2\nx,3\n", kinds={"a": "number"})
    with pytest.raises(TableError, match=r"'maybe' is not true or false"):
        read(tmp_path, "a,b\ntrue,2\nmaybe,3\n", kinds={"a": "boolean"})
    with pytest.raises(TableError, match=r"'2024-13-01' is not a date"):
        read(tmp_path, "a,b\n2024-13-01,2\n", kinds={"a": "date"})


def test_truth_values_as_numbers(tmp_path: Path) -> None:
    content = "a,b\n1,x\n0.0,y\n,z\n"
    assert read(tmp_path, content).kinds["a"] == "number"
    table = read(tmp_path, content, kinds={"a": "boolean"})
    np.testing.assert_array_equal(table.columns["a"], [1, 0, np.nan])


def test_names_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"no column 'Income '; did you mean 'income'\?"):
        read(tmp_path, "income,b\n1,2\n", ignore=["Income "])


def test_columns_without_a_name_are_left_out(tmp_path: Path) -> None:
    table = read(tmp_path, ",a\n0,1\n1,2\n")
    assert list(table.columns) == ["a"]
    assert table.notes == ("column 1 has no name and is not used",)


def test_ten_thousand_columns(tmp_path: Path) -> None:
    names = ",".join(f"c{j}" for j in range(10_000))
    row = ",".join("1" for _ in range(10_000))
    table = read(tmp_path, f"{names}\n{row}\n{row}\n")
    assert len(table.columns) == 10_000


@pytest.mark.slow
def test_a_million_rows(tmp_path: Path) -> None:
    table = read(tmp_path, "a,b,c\n" + "1.5,x,\n?,y,2024-03-01\n" * 500_000)
    assert table.n_rows == 1_000_000
    assert dict(table.kinds) == {"a": "number", "b": "category", "c": "date"}
    assert np.isnan(table.columns["a"]).sum() == 500_000
    assert table.columns["b"][-1] == "y"
    assert table.line_of(999_999) == 1_000_001


def test_long_cells_that_are_almost_numbers(tmp_path: Path) -> None:
    """They are looked at once, not once per digit: else this would take minutes."""
    digits = "9" * 130_000
    table = read(tmp_path, f"a;b\n{digits}!;x\n{digits}.{digits[:900]}!;y\n1;z\n")
    assert table.kinds["a"] == "category"
    assert len(table.columns["a"][0]) == 130_001


def test_parts_of_a_table(tmp_path: Path) -> None:
    table = read(tmp_path, "a,b,c\n1,x,true\n\n2,y,false\n3,,true\n")
    part = table.without({"b"}).take(np.array([False, True, True]))
    assert (part.n_rows, part.n_columns, part.names) == (2, 2, ["a", "c"])
    assert part.kinds == {"a": "number", "c": "boolean"}
    assert part.columns["a"].tolist() == [2, 3]
    assert [table.line_of(row) for row in range(3)] == [2, 4, 5]
    assert [part.line_of(row) for row in range(2)] == [4, 5]
    assert table.take(np.array([2, 0])).columns["b"].tolist() == [None, "x"]


def test_the_former_name_of_the_module() -> None:
    from goct import table

    assert table.read_csv is read_csv


def test_columns_of_the_same_name_are_made_different(tmp_path: Path) -> None:
    table = read(tmp_path, "a,a (2),a,a,b\n1,2,3,4,5\n")
    assert table.names == ["a", "a (2)", "a (3)", "a (4)", "b"]
    assert [values.tolist() for values in table.columns.values()] == [[1], [2], [3], [4], [5]]
    assert table.notes[0] == (
        "the columns 1 and 3 are both called 'a'; the second one is 'a (3)' here"
    )


def test_words_for_missing_values(tmp_path: Path) -> None:
    content = "crp\n3.5\n<5\n NA\n7\n"
    assert read(tmp_path, content).kinds == {"crp": "category"}
    table = read(tmp_path, content, missing=["<5"])
    assert table.kinds == {"crp": "number"}
    assert np.isnan(table.columns["crp"]).tolist() == [False, True, True, False]


def test_date_formats(tmp_path: Path) -> None:
    content = "day,iso,n\n01.03.2023,2024-02-29,1\n,2024-03-01,2\n31.12.2023,,3\n"
    table = read(tmp_path, content, date_format="%d.%m.%Y")
    assert table.kinds == {"day": "date", "iso": "date", "n": "number"}
    assert str(table.columns["day"][0])[:10] == "2023-03-01"
    assert read(tmp_path, content).kinds["day"] == "category"
    compact = "day\n20230301\n20231231\n"
    assert read(tmp_path, compact, date_format="%Y%m%d").kinds == {"day": "date"}
    with pytest.raises(TableError, match=r"column 'day': '2' is not a date like %d\.%m\.%Y"):
        read(tmp_path, "day\n2\n", kinds={"day": "date"}, date_format="%d.%m.%Y")
    for wrong in ("%Y", "day", "%d.%m"):
        with pytest.raises(TableError, match="does not tell year, month and day"):
            read(tmp_path, content, date_format=wrong)
