"""The exact search engine: a linear oracle in C++ and the maximisers built on it."""

from goct.search.engine import solve_search
from goct.search.oracle import (
    TECHNIQUES,
    Effort,
    FrontResult,
    LinearOracle,
    OracleProgress,
    OracleResult,
    OracleStatus,
)

__all__ = [
    "TECHNIQUES",
    "Effort",
    "FrontResult",
    "LinearOracle",
    "OracleProgress",
    "OracleResult",
    "OracleStatus",
    "solve_search",
]
