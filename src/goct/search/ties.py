"""Among optimal trees: fewest splits, then smallest depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from goct.search.run import Run
from goct.task import SizeLimit


def break_ties(run: Run, attain: Callable[[SizeLimit], bool], *, splits_are_fewest: bool) -> None:
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
    if not splits_are_fewest and run.best.splits > 1:
        _find_fewest_splits(run, attain)
    while run.best.depth > _least_depth(run.best.splits):
        if not attain(replace(run.size, max_depth=run.best.depth - 1, max_splits=run.best.splits)):
            break


def _find_fewest_splits(run: Run, attain: Callable[[SizeLimit], bool]) -> None:
    assert run.best is not None
    # Very few splits are quickly tried. After that, mostly no split can be spared.
    too_few = 0
    for splits in (1, 2, run.best.splits - 1):
        if too_few < splits < run.best.splits and not attain(replace(run.size, max_splits=splits)):
            too_few = splits
    while too_few + 1 < run.best.splits:
        splits = min(2 * too_few, (too_few + run.best.splits) // 2)
        if not attain(replace(run.size, max_splits=splits)):
            too_few = splits


def _least_depth(splits: int) -> int:
    return splits.bit_length()
