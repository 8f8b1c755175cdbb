"""The unique dataset of the paper, as the models see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Instances:
    """Pairs of a feature vector and a label, with a reward for each.

    Attributes
    ----------
    X
        The distinct feature vectors, shape (rows, features).
    row, label
        The row and the class index of each instance.
    weight
        The reward if the label is predicted in the row; not negative.
    n_classes
        The number of classes.
    copies
        How many instances share the reward of their pair of row and label; 1
        in the unique dataset.
    """

    X: NDArray[np.uint8]
    row: NDArray[np.intp]
    label: NDArray[np.intp]
    weight: NDArray[np.float64]
    n_classes: int
    copies: NDArray[np.int64] | None = None

    @classmethod
    def of_gains(
        cls,
        X: NDArray[np.uint8],
        gains: NDArray[np.float64],
        needed: NDArray[np.bool_],
        copies: NDArray[np.int64] | None = None,
    ) -> Instances:
        """Make an instance, or several copies, of every pair that is needed.

        Parameters
        ----------
        X
            The distinct feature vectors.
        gains
            The reward of each class in each row, shape (rows, classes).
        needed
            Which pairs of row and class get an instance, of the same shape.
        copies
            How many instances each pair gets, of the same shape; 1 if None.
        """
        row, label = np.nonzero(needed)
        number = np.ones(len(row), dtype=np.int64) if copies is None else copies[row, label]
        row, label, number = (np.repeat(a, number) for a in (row, label, number))
        return cls(X, row, label, gains[row, label] / number, gains.shape[1], number)

    def __len__(self) -> int:
        return len(self.row)

    def share(self, amounts: NDArray[Any]) -> NDArray[np.float64]:
        """Spread amounts per row and class evenly over the instances."""
        of_pair = amounts[self.row, self.label].astype(np.float64)
        return of_pair if self.copies is None else of_pair / self.copies

    @cached_property
    def ones(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The features that are 1: where each row starts, and their indices."""
        return _compressed(self.X == 1)

    @cached_property
    def zeros(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The features that are 0: where each row starts, and their indices."""
        return _compressed(self.X == 0)


def _compressed(mask: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    start = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.intp)
    return start, np.nonzero(mask)[1]


def gather(
    compressed: tuple[NDArray[np.intp], NDArray[np.intp]], rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the entries of some rows of a compressed matrix.

    Returns
    -------
    position, entry
        For every entry, the position in `rows` of its row, and the entry.
    """
    start, entries = compressed
    length = start[rows + 1] - start[rows]
    position = np.repeat(np.arange(len(rows)), length)
    first = np.concatenate([[0], np.cumsum(length)[:-1]]) if len(rows) else np.empty(0, np.intp)
    offset = np.arange(len(position)) - np.repeat(first, length)
    return position, entries[np.repeat(start[rows], length) + offset]
