from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

def group_rows(X: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def match_columns(X: NDArray[np.uint8]) -> NDArray[np.int64]: ...
def prove(
    ranks: NDArray[np.uint32],
    weights: NDArray[np.int64],
    costs: NDArray[np.int64],
    split_cost: int,
    max_depth: int,
    max_splits: int | None,
    min_leaf_weight: int,
    cutoffs: list[int],
    thorough: bool,
    time_limit: float | None,
    memory_limit: int,
) -> tuple[Any, ...] | None: ...

class Oracle:
    def __init__(
        self,
        cells_or_ranks: NDArray[np.uint8] | NDArray[np.uint32],
        weights: NDArray[np.int64] | None,
        memory_limit: int,
        jobs: int,
        techniques: dict[str, bool],
        narrow: int = ...,
        few: int = ...,
    ) -> None: ...
    @property
    def has_wide(self) -> bool: ...
    def has_features(self, classes: int, min_leaf_weight: int) -> bool: ...
    def solve(
        self,
        costs: NDArray[np.int64],
        split_cost: int,
        max_depth: int,
        min_leaf_weight: int,
        cutoff: int | None,
        max_splits: int | None,
        effort: int,
        time_limit: float | None,
        callback: Callable[..., bool] | None,
        delegate: Any,
    ) -> tuple[Any, int, int, bool, str, dict[str, Any]]: ...
    def solve_budgets(
        self,
        costs: NDArray[np.int64],
        max_depth: int,
        max_splits: int,
        min_leaf_weight: int,
        cutoffs: NDArray[np.int64] | None,
        time_limit: float | None,
        callback: Callable[..., bool] | None,
        delegate: Any,
    ) -> tuple[list[tuple[Any, int, int, bool]], str, dict[str, Any]]: ...
    def search_front(
        self,
        positives: NDArray[np.int64],
        negatives: NDArray[np.int64],
        direction_and_budget: tuple[int, int, int],
        box: tuple[int, int],
        visit: Callable[[int, int], tuple[int, int, int] | None],
        max_depth: int,
        min_leaf_weight: int,
        max_splits: int | None,
        time_limit: float | None,
        callback: Callable[..., bool] | None,
        keep_all: bool,
    ) -> tuple[list[tuple[Any, tuple[int, int]]], bool, str, dict[str, Any]]: ...

class Helper:
    def __init__(
        self,
        oracle: Oracle,
        costs: NDArray[np.int64],
        split_cost: int,
        min_leaf_weight: int,
        most_notes: int,
    ) -> None: ...
    def solve(
        self,
        unit: Any,
        notes: list[bytes],
        time_limit: float | None,
        callback: Callable[..., bool] | None,
    ) -> tuple[Any, str, int]: ...
