"""Among optimal trees: fewest splits, then smallest depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from goct.plane.oracle import Incumbent
from goct.task import SizeLimit


def break_ties(
    incumbent: Incumbent,
    find_tie: Callable[[SizeLimit], bool],
    *,
    splits_are_fewest: bool,
    few_take_long: bool = False,
) -> None:
    """Replace the best tree by one with fewer splits, or of smaller depth, that is as good.

    Parameters
    ----------
    incumbent
        A tree that is proven optimal.
    find_tie
        Offers an optimal tree of a given size, if there is one.
    splits_are_fewest
        Whether it is known that no optimal tree has fewer splits.
    few_take_long
        Whether trees with few splits take as long to find as those with many.
    """
    size = incumbent.task.size
    if not splits_are_fewest and incumbent.known.tree.splits > 1:
        _find_fewest_splits(incumbent, find_tie, one_by_one=few_take_long)
    while (tree := incumbent.known.tree).depth > tree.splits.bit_length():
        if not find_tie(replace(size, max_depth=tree.depth - 1, max_splits=tree.splits)):
            break


def _find_fewest_splits(
    incumbent: Incumbent, find_tie: Callable[[SizeLimit], bool], *, one_by_one: bool
) -> None:
    def exists(splits: int) -> bool:
        return find_tie(replace(incumbent.task.size, max_splits=splits))

    # Very few splits are quickly tried. After that, mostly no split can be spared.
    too_few = 0
    for splits in () if one_by_one else (1, 2, incumbent.known.tree.splits - 1):
        if too_few < splits < incumbent.known.tree.splits and not exists(splits):
            too_few = splits
    while too_few + 1 < (most := incumbent.known.tree.splits):
        splits = most - 1 if one_by_one else min(2 * too_few, (too_few + most) // 2)
        if not exists(splits):
            too_few = splits
