"""The SQL expression is run by three databases, and predicts what the model does."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goct.export import export_sql
from goct.export.sql import sql_name
from goct.model import Model
from tests.export.conftest import COLUMNS, Case
from tests.support.models import HOSTILE, hostile_model, small_model

KINDS = {"number": "DOUBLE PRECISION", "category": "TEXT", "boolean": "BOOLEAN"}
PROGRAMS = "initdb", "pg_ctl", "psql"


def expressions(model: Model) -> list[str]:
    return [export_sql(model), *(export_sql(model, probability_of=c) for c in model.classes)]


def columns(case: Case, date: str) -> str:
    kinds = {**KINDS, "date": date}
    return ", ".join(f"{sql_name(name)} {kinds[COLUMNS[name].kind]}" for name in case.rows)


def stored(case: Case, *, is_text_of_files: bool = False) -> Case:
    """Return rows as a database has them: NULL for NaN, and only blanks around text of files."""

    def cell(value: Any) -> Any:
        if is_text_of_files and isinstance(value, str):
            return f" {value.strip()}  "
        return None if isinstance(value, float) and math.isnan(value) else value

    return replace(case, rows={name: list(map(cell, cells)) for name, cells in case.rows.items()})


def check(case: Case, found: list[tuple[Any, ...]]) -> None:
    assert [row[0] for row in found] == case.labels
    np.testing.assert_array_equal([row[1:] for row in found], case.probabilities)


def run_sqlite(case: Case) -> None:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE t (place INTEGER, {columns(case, 'TEXT')})")
    for i, row in enumerate(zip(*case.rows.values(), strict=True)):
        values = [str(v) if isinstance(v, datetime) else v for v in row]
        marks = ",".join("?" * (len(values) + 1))
        database.execute(f"INSERT INTO t VALUES ({marks})", [i, *values])
    asked = ", ".join(expressions(case.model))
    check(case, database.execute(f"SELECT {asked} FROM t ORDER BY place").fetchall())
    database.close()


def test_sqlite(case: Case) -> None:
    run_sqlite(stored(case))


def test_sqlite_on_the_text_of_files(file_case: Case) -> None:
    run_sqlite(stored(file_case, is_text_of_files=True))


def run_duckdb(case: Case) -> None:
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    database.execute(f"CREATE TABLE t (place INTEGER, {columns(case, 'TIMESTAMP')})")
    rows = [[i, *row] for i, row in enumerate(zip(*case.rows.values(), strict=True))]
    database.executemany(f"INSERT INTO t VALUES ({','.join('?' * len(rows[0]))})", rows)
    asked = ", ".join(expressions(case.model))
    check(case, database.execute(f"SELECT {asked} FROM t ORDER BY place").fetchall())


def test_duckdb(case: Case) -> None:
    run_duckdb(stored(case))


def test_duckdb_on_the_text_of_files(file_case: Case) -> None:
    run_duckdb(stored(file_case, is_text_of_files=True))


def _program(name: str) -> str | None:
    places = [*sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin"))), os.environ["PATH"]]
    return shutil.which(name, path=os.pathsep.join(places))


@pytest.fixture(scope="module")
def postgresql() -> Iterator[list[str]]:
    """A server of our own on a socket, and the command that sends statements to it."""
    initdb, pg_ctl, psql = map(_program, PROGRAMS)
    if initdb is None or pg_ctl is None or psql is None:
        pytest.skip("PostgreSQL is not installed")
    quiet: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, "timeout": 120}
    # The path of a socket must be short, and the server refuses to run as root.
    folder = Path(tempfile.mkdtemp(prefix="goct-"))
    if os.geteuid() == 0:
        with contextlib.suppress(LookupError):
            shutil.chown(folder, "postgres", "postgres")
            quiet |= {"user": "postgres", "group": "postgres", "extra_groups": [], "cwd": folder}
    data = folder / "data"
    subprocess.run([initdb, "-D", data, "-A", "trust", "-E", "UTF8", "--no-sync"], **quiet)
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    command = [pg_ctl, "-D", str(data), "-w"]
    subprocess.run([*command, "-l", str(folder / "log"), "-o", options, "start"], **quiet)
    try:
        target = ["-h", str(folder), "-d", "postgres"]
        user = ["-U", quiet["user"]] if "user" in quiet else []
        yield [psql, "-X", "-q", *target, *user, "-v", "ON_ERROR_STOP=1"]
    finally:
        subprocess.run([*command, "-m", "immediate", "stop"], **quiet)
        shutil.rmtree(folder)


def run_postgresql(case: Case, psql: list[str]) -> None:
    lines = [
        f"CREATE TEMP TABLE t (place INTEGER, {columns(case, 'TIMESTAMP')});",
        "COPY t FROM STDIN;",
    ]
    for i, row in enumerate(zip(*case.rows.values(), strict=True)):
        lines.append("\t".join(map(_copied, [i, *row])))
    asked = ", ".join(f"({expression})::text" for expression in expressions(case.model))
    lines += ["\\.", f"SELECT {asked} FROM t ORDER BY place;"]
    separators = ["-A", "-t", "-F", "\x1f", "-R", "\x1e"]
    made = subprocess.run(
        [*psql, *separators],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert made.returncode == 0, made.stderr
    found = [row.split("\x1f") for row in made.stdout.removesuffix("\n").split("\x1e")]
    named = {True: "true", False: "false"} if case.model.classes == (False, True) else {}
    assert [row[0] for row in found] == [named.get(label, str(label)) for label in case.labels]
    shares = [list(map(float, row[1:])) for row in found]
    np.testing.assert_array_equal(shares, case.probabilities)


def _copied(value: Any) -> str:
    """Write a value as COPY reads it."""
    if value is None:
        return "\\N"
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = str(value).replace("\\", "\\\\")
    return text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


@pytest.mark.slow
def test_postgresql(case: Case, postgresql: list[str]) -> None:
    run_postgresql(stored(case), postgresql)


@pytest.mark.slow
def test_postgresql_on_the_text_of_files(file_case: Case, postgresql: list[str]) -> None:
    run_postgresql(stored(file_case, is_text_of_files=True), postgresql)


def test_it_is_short_and_has_no_control_characters(file_case: Case) -> None:
    text = export_sql(file_case.model)
    assert all(letter.isprintable() for line in text.splitlines() for letter in line)
    assert "1e308" not in text


def test_unknown_label() -> None:
    with pytest.raises(ValueError, match=r"must be one of the labels \['no', 'yes'\], got 'maybe'"):
        export_sql(small_model(), probability_of="maybe")


def test_hostile_names_stay_inside_the_query() -> None:
    model = hostile_model()
    names = {name: sql_name(name) for name in model.columns}
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE t ({', '.join(names.values())})")
    database.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", [None] * len(names))
    ((found,),) = database.execute(f"SELECT {export_sql(model)} FROM t").fetchall()
    database.close()
    assert found in ("no", HOSTILE)
