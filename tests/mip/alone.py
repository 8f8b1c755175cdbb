"""`goct.solve`, except that the MIP engine is on its own.

A test that compares the MIP engine with brute force, or with the search engine,
means nothing if the search engine has decided the answer. So there is no
injected tree here, no bound and no heuristic of the search engine, unless a
test asks for them. Metrics are stated by one model unless a test says otherwise.
"""

from __future__ import annotations

from typing import Any

import goct
from goct import Problem, Solution


def solve(problem: Problem, *arguments: Any, **options: Any) -> Solution:
    if options.get("engine") == "mip":
        own = {"injection": "none", "node_heuristic": "rounding", "method": "direct"}
        options = own | options
    return goct.solve(problem, *arguments, **options)
