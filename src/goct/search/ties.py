"""Among optimal trees: fewest splits, then smallest depth."""

from __future__ import annotations

from collections.abc import Callable

from goct.search.run import Run, Size


def break_ties(run: Run, attain: Callable[[Size], bool], *, splits_are_fewest: bool) -> None:
    """Replace the best tree by one with fewer splits, or of smaller depth, that is as good.

    Parameters
    ----------
    run
        A run that has proven its best tree optimal.
    attain
        Offers the run an optimal tree of a given size, if there is one.
    splits_are_fewest
        Whether it is known that no optimal tree has fewer splits.
    """
    assert run.best is not None
    depth = run.size.depth
    if not splits_are_fewest:
        while run.best.splits > 1 and attain(Size(depth, run.best.splits - 1)):
            pass
    while run.best.depth > _least_depth(run.best.splits):
        if not attain(Size(run.best.depth - 1, run.best.splits)):
            break


def _least_depth(splits: int) -> int:
    return splits.bit_length()
