"""goct's search engine at the pace of another solver."""

from __future__ import annotations

import time
from typing import ClassVar

from goct.bench.peers.base import Answer, Question, find_modules
from goct.bench.peers.licketysplit import fit_lickety_split
from goct.bench.peers.own import Search, answer_of, problem_of
from goct.solve import solve


class Paced(Search):
    """The search engine, which stops after three times LicketySPLIT's time, at most the limit.

    Times are those of the processor, one right after the other in one process; they
    are in the statistics: `pace` and `own`.
    """

    share: ClassVar[float] = 3.0

    @property
    def is_installed(self) -> bool:
        """Whether the pacemaker is there."""
        return find_modules("licketysplit")

    def load(self) -> None:
        """Import both."""
        import licketysplit  # noqa: F401

    def fit(self, question: Question) -> Answer:
        """Measure, then solve."""
        begin = time.process_time()
        fit_lickety_split(question)
        start = time.process_time()
        pace = start - begin
        end = start + min(self.share * pace, question.limit)
        solution = solve(
            problem_of(question),
            question.metric,
            question.depth,
            split_penalty=question.penalty,
            engine=self.engine,
            time_limit=60.0,
            callback=lambda _: time.process_time() >= end,
            **self.options(question.options),
        )
        answer = answer_of(solution)
        own = {"pace": pace, "own": time.process_time() - start}
        return Answer(**vars(answer) | {"stats": {**answer.stats, **own}})
