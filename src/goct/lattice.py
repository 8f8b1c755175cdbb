"""A linear objective in integers, as engines need it."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.metrics.metric import Rewards


class Lattice:
    """The objective of a linear metric with a split penalty, in integers.

    A tree that predicts class k_r in row r and has s splits is worth

        offset + unit · (factor · Σ_r gains[r, k_r] − split_cost · s).

    Attributes
    ----------
    gains
        Non-negative integers of shape (rows, classes): what predicting a class
        earns, compared with the least a row can earn. Python integers, unless
        all sums of them, times `factor`, fit into 62 bits.
    factor, split_cost
        Non-negative integers.
    unit, offset
        What one unit stands for, and what is earned in any case.
    """

    def __init__(self, rewards: Rewards, split_penalty: Fraction) -> None:
        least = np.minimum(rewards.matrix.min(axis=1), 0)
        denominator = lcm(rewards.scale.denominator, split_penalty.denominator)
        factor, cost = int(rewards.scale * denominator), int(split_penalty * denominator)
        common = gcd(factor, cost)
        self.factor, self.split_cost = factor // common, cost // common
        self.unit = Fraction(common, denominator)
        self.offset = rewards.offset + rewards.scale * int(least.sum())
        self.gains: NDArray[Any] = rewards.matrix - least[:, None]
        if self.most >= 2**62:  # only Python integers are large enough
            self.gains = self.gains.astype(object)

    @cached_property
    def most(self) -> int:
        """What no tree exceeds, in units: the best class in every row."""
        return int(self.gains.max(axis=1).sum()) * self.factor

    def objective(self, units: int | Fraction) -> Fraction:
        """Return the objective of a number of units."""
        return self.offset + self.unit * units
