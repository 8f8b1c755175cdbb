"""Tables of any make: CSV files, data frames, arrays and mappings."""

from typing import TYPE_CHECKING, Any

from goct.data.csv_file import read_csv
from goct.data.dialect import Dialect, find_dialect
from goct.data.table import KINDS, Column, Table
from goct.data.table_file import TableError, TableFile

if TYPE_CHECKING:
    from goct.data.frame import read_table

__all__ = [
    "KINDS", "Column", "Dialect", "Table", "TableError", "TableFile", "find_dialect", "read_csv",
    "read_table",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "read_table":
        from goct.data.frame import read_table  # loads narwhals

        return read_table
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
