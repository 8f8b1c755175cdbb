"""The former place of :mod:`goct.data`."""

from goct.data import Dialect, Table, TableError, find_dialect, read_csv

__all__ = ["Dialect", "Table", "TableError", "find_dialect", "read_csv"]
