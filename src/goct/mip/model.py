"""A mixed-integer program, described without any solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Term: TypeAlias = tuple[ArrayLike, ArrayLike, float]
"""Rows and columns, broadcast against each other, and the coefficient in these places."""


@dataclass(frozen=True)
class Rows:
    """A family of linear rows ``lower <= A x <= upper``, A in coordinate form."""

    name: str
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    coefficient: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


@dataclass
class MipModel:
    """Maximise a linear objective over bounded variables and linear rows.

    Variables and rows are added in families, each under one name, which
    solvers extend by a number.

    Attributes
    ----------
    families
        The name of each family of variables and the columns that belong to it.
    lower, upper, is_integer, objective
        One entry per variable.
    rows
        The families of rows.
    """

    families: dict[str, NDArray[np.intp]] = field(default_factory=dict)
    lower: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    upper: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    is_integer: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=bool))
    objective: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    rows: list[Rows] = field(default_factory=list)

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.lower)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(len(rows.lower) for rows in self.rows)

    def violation(self, x: NDArray[np.float64]) -> float:
        """Return by how much a point violates a bound or a row at most; 0 if it is feasible."""
        worst = max((self.lower - x).max(initial=0.0), (x - self.upper).max(initial=0.0))
        worst = max(worst, np.abs(x - np.rint(x))[self.is_integer].max(initial=0.0))
        for rows in self.rows:
            terms = rows.coefficient * x[rows.column]
            activity = np.bincount(rows.row, weights=terms, minlength=len(rows.lower))
            worst = max(worst, (rows.lower - activity).max(), (activity - rows.upper).max())
        return float(worst)

    def add_variables(
        self,
        name: str,
        shape: tuple[int, ...],
        *,
        lower: float = 0.0,
        upper: float = 1.0,
        integer: bool,
    ) -> NDArray[np.intp]:
        """Add a family of variables and return their columns, in the given shape."""
        if name in self.families:
            raise ValueError(f"there are variables called {name!r} already")
        size = int(np.prod(shape))
        columns = np.arange(self.n_variables, self.n_variables + size)
        self.lower = np.append(self.lower, np.full(size, lower))
        self.upper = np.append(self.upper, np.full(size, upper))
        self.is_integer = np.append(self.is_integer, np.full(size, integer))
        self.objective = np.append(self.objective, np.zeros(size))
        self.families[name] = columns
        return columns.reshape(shape)

    def add_rows(
        self,
        name: str,
        n_rows: int,
        terms: Sequence[Term],
        *,
        lower: float = -np.inf,
        upper: float = np.inf,
    ) -> None:
        """Add a family of rows.

        Parameters
        ----------
        name
            The name of the family.
        n_rows
            How many rows it has.
        terms
            The left-hand side.
        lower, upper
            The bounds of every row.
        """
        parts = [np.broadcast_arrays(row, column) for row, column, _ in terms]
        self.rows.append(
            Rows(
                name=name,
                row=np.concatenate([row.ravel() for row, _ in parts]).astype(np.intp),
                column=np.concatenate([column.ravel() for _, column in parts]).astype(np.intp),
                coefficient=np.concatenate(
                    [np.full(row.size, c) for (row, _), (_, _, c) in zip(parts, terms, strict=True)]
                ),
                lower=np.full(n_rows, float(lower)),
                upper=np.full(n_rows, float(upper)),
            )
        )
