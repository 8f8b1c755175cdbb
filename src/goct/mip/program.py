"""A mixed-integer program, described without any solver: rows, separators, heuristics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Point: TypeAlias = NDArray[np.float64]  # a value for every variable

Term: TypeAlias = tuple[ArrayLike, ArrayLike, ArrayLike]
"""Rows, columns and the coefficients in these places, broadcast against each other."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A family of linear rows ``lower <= A x <= upper``, A in coordinate form."""

    name: str
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    coefficient: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @classmethod
    def of_terms(
        cls,
        name: str,
        n_rows: int,
        terms: Sequence[Term],
        *,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
    ) -> Rows:
        """Build rows from the terms of their left-hand sides; equal places add up."""
        parts = [np.broadcast_arrays(*term) for term in terms]
        row, column, coefficient = (
            np.concatenate([part[k].ravel() for part in parts]) for k in range(3)
        )
        return cls(
            name=name,
            row=row.astype(np.intp),
            column=column.astype(np.intp),
            coefficient=coefficient.astype(np.float64),
            lower=np.broadcast_to(np.asarray(lower, dtype=np.float64), n_rows).copy(),
            upper=np.broadcast_to(np.asarray(upper, dtype=np.float64), n_rows).copy(),
        )

    def __len__(self) -> int:
        return len(self.lower)

    def activity(self, x: Point) -> Point:
        """Return the left-hand side of every row at a point."""
        terms = self.coefficient * x[self.column]
        return np.bincount(self.row, weights=terms, minlength=len(self)).astype(np.float64)

    def violation(self, x: Point) -> Point:
        """Return by how much a point violates each row; negative where there is slack."""
        activity = self.activity(x)
        return np.maximum(self.lower - activity, activity - self.upper)

    def compressed(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """Return A by rows: where each row starts, the columns and the coefficients.

        No column occurs twice in a row, and no coefficient is zero.
        """
        width = int(self.column.max(initial=0)) + 1
        place, group = np.unique(self.row * width + self.column, return_inverse=True)
        coefficient = np.bincount(group, weights=self.coefficient, minlength=len(place))
        place, coefficient = place[coefficient != 0], coefficient[coefficient != 0]
        start = np.searchsorted(place, np.arange(len(self) + 1) * width)
        return start, place % width, coefficient


@dataclass(frozen=True)
class Product:
    """The condition that one variable is the product of two others, given by their columns."""

    result: int
    first: int
    second: int

    def violation(self, x: Point) -> float:
        """Return by how much a point violates the condition."""
        return float(abs(x[self.first] * x[self.second] - x[self.result]))


class Separator(ABC):
    """A family of rows too large to write down; those that a point violates are found on demand.

    Attributes
    ----------
    name
        A name for the rows.
    is_lazy
        Whether the model is incomplete without these rows. If not, they only
        make its relaxation tighter.
    """

    name: str
    is_lazy: bool

    @abstractmethod
    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return rows of the family that a point violates, or None.

        If `is_integral`, the integer variables have integral values. Then a lazy family must find a
        row if the point violates one.
        """

    def allows(self, x: Point) -> bool:
        """Say whether a point with integral values violates no row of a lazy family."""
        return self.separate(x, is_integral=True) is None


class Heuristic(ABC):
    """Makes solutions from points that are none."""

    @abstractmethod
    def propose(self, x: Point, incumbent: Point | None = None) -> Point | None:
        """Return a feasible solution near a point, such as an optimum of a relaxation, or None."""


@dataclass
class MipProgram:
    """Maximise a linear objective over bounded variables, linear rows, and products if there are.

    Variables and rows are added in families, each under one name, which
    solvers extend by a number. Not all solvers accept products. The columns in
    `derived` have values that follow from those before them.
    """

    families: dict[str, NDArray[np.intp]] = field(default_factory=dict)  # their columns
    lower: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    upper: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    is_integer: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=bool))
    objective: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    rows: list[Rows] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)
    separators: list[Separator] = field(default_factory=list)
    heuristic: Heuristic | None = None
    derived: list[tuple[NDArray[np.intp], Callable[[Point], ArrayLike]]] = field(
        default_factory=list
    )

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.lower)

    @property
    def n_rows(self) -> int:
        """The number of rows that are written down."""
        return sum(map(len, self.rows))

    @property
    def is_lazy(self) -> bool:
        """Whether the model is incomplete without its separators."""
        return any(separator.is_lazy for separator in self.separators)

    def violation(self, x: Point) -> float:
        """Return by how much a point violates a bound or a row at most; 0 if it is feasible."""
        worst = max((self.lower - x).max(initial=0.0), (x - self.upper).max(initial=0.0))
        worst = max(worst, np.abs(x - np.rint(x))[self.is_integer].max(initial=0.0))
        worst = max(worst, *(rows.violation(x).max(initial=0.0) for rows in self.rows), 0.0)
        return float(max(worst, *(product.violation(x) for product in self.products), 0.0))

    def add_variables(
        self,
        name: str,
        shape: tuple[int, ...],
        *,
        lower: float = 0.0,
        upper: float = 1.0,
        integer: bool,
        value: Callable[[Point], ArrayLike] | None = None,
    ) -> NDArray[np.intp]:
        """Add a family of variables and return their columns, in the given shape.

        In a solution, `value` tells them from the variables before them; None if they are free.
        """
        if name in self.families:
            raise ValueError(f"there are variables called {name!r} already")
        size = int(np.prod(shape))
        columns = np.arange(self.n_variables, self.n_variables + size)
        self.lower = np.append(self.lower, np.full(size, lower))
        self.upper = np.append(self.upper, np.full(size, upper))
        self.is_integer = np.append(self.is_integer, np.full(size, integer))
        self.objective = np.append(self.objective, np.zeros(size))
        self.families[name] = columns
        if value is not None:
            self.derived.append((columns, value))
        return columns.reshape(shape)

    def complete(self, x: Point) -> None:
        """Set the derived variables of a solution, the others being known."""
        for columns, value in self.derived:
            x[columns] = value(x)

    def add_rows(
        self,
        name: str,
        n_rows: int,
        terms: Sequence[Term],
        *,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
    ) -> None:
        """Add a family of rows; their bounds are one number for all, or one for each."""
        self.rows.append(Rows.of_terms(name, n_rows, terms, lower=lower, upper=upper))
