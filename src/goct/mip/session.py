"""Models that are run one after the other, within the limits of all of them together."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Protocol

from goct.mip.objective import Answer, ModelObjective
from goct.solution import Callback, Limits, Progress


class Runner(Protocol):
    """Maximises an objective over all trees of its task."""

    def run(
        self,
        objective: ModelObjective,
        *,
        gap: Fraction = Fraction(0),
        limits: Limits,
        callback: Callback | None = None,
    ) -> Answer:
        """Return the best tree and what is proven.

        Parameters
        ----------
        objective
            The objective.
        gap
            The solver may stop this close to the best tree.
        limits, callback
            As in :func:`goct.solve`.
        """


class Session:
    """Runs models within limits, and tells the progress.

    Parameters
    ----------
    runner
        Runs a model.
    limits
        What all models together may spend; nodes are counted for each.
    callback
        Is told the progress.

    Attributes
    ----------
    models, nodes
        How many models were run, and the nodes that they took.
    """

    def __init__(self, runner: Runner, limits: Limits, callback: Callback | None = None) -> None:
        self.runner = runner
        self.limits = limits
        self.callback = callback
        self.models = 0
        self.nodes = 0
        self._started = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """The seconds since the start."""
        return time.perf_counter() - self._started

    def run(
        self,
        objective: ModelObjective,
        *,
        gap: Fraction = Fraction(0),
        known: Answer | None = None,
    ) -> Answer:
        """Run the model of an objective.

        Parameters
        ----------
        objective
            The objective.
        gap
            The solver may stop this close to the best tree.
        known
            What the callback is told if the model asks about a part of the
            question only; None if it asks about the whole.
        """
        answer = self.runner.run(
            objective,
            gap=gap,
            limits=self.limits.after(self.elapsed),
            callback=None if self.callback is None else self._teller(self.callback, known),
        )
        self.models += 1
        self.nodes += int(answer.stats.get("nodes", 0))
        return answer

    def _teller(self, callback: Callback, known: Answer | None) -> Callback:
        """Return a callback that tells the whole of what is known, and the time of all models."""
        done = self.nodes

        def tell(progress: Progress) -> bool:
            elapsed, nodes = self.elapsed, done + progress.nodes
            if known is None:
                return bool(callback(Progress(elapsed, progress.objective, progress.bound, nodes)))
            return bool(callback(Progress(elapsed, known.objective, known.bound, nodes)))

        return tell
