"""Tables of any make: CSV files, data frames, arrays and mappings."""

from goct.data.csv_file import read_csv
from goct.data.dialect import Dialect, find_dialect
from goct.data.frame import read_table
from goct.data.table import KINDS, Column, Table
from goct.data.table_file import TableError, TableFile

__all__ = [
    "KINDS", "Column", "Dialect", "Table", "TableError", "TableFile", "find_dialect", "read_csv",
    "read_table",
]  # fmt: skip
