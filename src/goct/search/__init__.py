"""The exact search engine: a linear oracle in C++ and the maximisers built on it."""

from goct.search.engine import solve_search
from goct.search.oracle import LinearOracle, OracleResult

__all__ = ["LinearOracle", "OracleResult", "solve_search"]
