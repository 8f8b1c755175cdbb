"""The confusion matrix of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational


@dataclass(frozen=True, slots=True)
class Confusion:
    """The four counts of a classifier with a positive and a negative class.

    Attributes
    ----------
    tp, fp, fn, tn
        True positives, false positives, false negatives and true negatives:
        non-negative integers, or fractions where samples have such weights.
    """

    tp: int | Fraction
    fp: int | Fraction
    fn: int | Fraction
    tn: int | Fraction

    def __post_init__(self) -> None:
        for name in ("tp", "fp", "fn", "tn"):
            entry = getattr(self, name)
            if not isinstance(entry, Rational):
                raise TypeError(f"{name} must be an integer or a Fraction, got {entry!r}")
            if entry < 0:
                raise ValueError(f"{name} must not be negative, got {entry}")

    @classmethod
    def of_matrix(cls, matrix: Sequence[Sequence[int | Fraction]], positive: int) -> Confusion:
        """Return the counts of one class against the rest.

        Parameters
        ----------
        matrix
            The weight of each pair of true class (outer) and predicted class (inner).
        positive
            The index of the positive class.
        """
        tp = matrix[positive][positive]
        fn = sum(matrix[positive]) - tp
        fp = sum(row[positive] for row in matrix) - tp
        return cls(tp, fp, fn, sum(map(sum, matrix)) - tp - fn - fp)

    @property
    def n_pos(self) -> int | Fraction:
        """The weight of the positive class, n+ in the paper."""
        return self.tp + self.fn

    @property
    def n_neg(self) -> int | Fraction:
        """The weight of the negative class, n- in the paper."""
        return self.tn + self.fp

    @property
    def predicted_pos(self) -> int | Fraction:
        """The weight predicted positive, U in the paper."""
        return self.tp + self.fp

    @property
    def predicted_neg(self) -> int | Fraction:
        """The weight predicted negative, V in the paper."""
        return self.tn + self.fn

    @property
    def total(self) -> int | Fraction:
        """The weight of all samples."""
        return self.n_pos + self.n_neg
