"""Models that are run one after the other: the clock, the incumbent, and who runs them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

from goct.mip.backends.base import BackendError
from goct.mip.objective import Answer, ModelObjective
from goct.plane.oracle import Incumbent, IncumbentSession
from goct.solution import Callback, Limit, Limits, Progress


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
        """Return the best tree and what is proven; the solver may stop `gap` close to the best."""


class ModelSession(IncumbentSession):
    """Runs models within the limits of all of them together; nodes are counted for each."""

    def __init__(
        self, runner: Runner, incumbent: Incumbent, limits: Limits, callback: Callback | None = None
    ) -> None:
        super().__init__(incumbent, limits, callback)
        self.runner = runner
        self.stats: dict[str, Any] = {}

    @property
    def is_open(self) -> bool:
        """Whether there may be a better tree than the best one, and nothing wants to stop."""
        objective = self.incumbent.objective
        is_proven = objective is None or objective >= self.incumbent.bound
        return self.limit is Limit.NONE and not is_proven

    def run(
        self, objective: ModelObjective, *, gap: Fraction = Fraction(0), is_whole: bool = False
    ) -> Answer:
        """Run the model of an objective, and offer its tree.

        The solver may stop `gap` close to the best tree. If `is_whole`, it is the objective of the
        task itself, so that its bound counts.
        """

        def tell(progress: Progress) -> bool:
            if is_whole:
                self.tighten(progress.bound)
            return self.tell(progress.nodes, progress.objective if is_whole else None)

        self.calls += 1
        callback = None if self.callback is None else tell
        answer = self.runner.run(objective, gap=gap, limits=self.left, callback=callback)
        self.nodes += int(answer.stats.get("nodes", 0))
        if answer.best is not None:
            self.offer(answer.best)
            if self.incumbent.known.objective > self.incumbent.bound:
                raise BackendError(
                    f"models are bounded by {float(self.incumbent.bound)}, but there is a tree "
                    f"with the objective {float(self.incumbent.known.objective)}"
                )
        if is_whole:
            self.tighten(answer.bound)
        self.limit = answer.limit
        return answer
