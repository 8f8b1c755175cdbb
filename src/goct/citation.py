"""How to cite goct, and the paper whose system it implements."""

from __future__ import annotations

from goct._core import __version__

PAPER = (
    'Jiancheng Tu, Wenqi Fan and Zhibin Wu: "Generalized Optimal Classification Trees: '
    'A Mixed-Integer Programming Approach", 2026, https://arxiv.org/abs/2602.02173'
)
"""The paper, for people."""


def bibtex() -> str:
    """Return entries for the software and the paper, for BibTeX."""
    return f"""\
@software{{goct,
  author  = {{{{The goct developers}}}},
  title   = {{goct: generalized optimal classification trees}},
  version = {{{__version__}}},
  year    = {{2026}}
}}

@misc{{tu2026generalized,
  author        = {{Tu, Jiancheng and Fan, Wenqi and Wu, Zhibin}},
  title         = {{Generalized Optimal Classification Trees:
                   A Mixed-Integer Programming Approach}},
  year          = {{2026}},
  eprint        = {{2602.02173}},
  archivePrefix = {{arXiv}},
  primaryClass  = {{cs.LG}},
  url           = {{https://arxiv.org/abs/2602.02173}}
}}"""
