import threading
import time
from importlib.metadata import version

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from goct import _core


def matrices(max_rows: int = 40, max_columns: int = 140):
    shapes = st.tuples(st.integers(1, max_rows), st.integers(1, max_columns))
    bits = st.integers(0, 1)
    return shapes.flatmap(lambda shape: hnp.arrays(np.uint8, shape, elements=bits, fill=bits))


def few_distinct_rows():
    """Matrices with many duplicates: rows drawn from a small pool."""
    pools = matrices(max_rows=6)
    return pools.flatmap(
        lambda pool: st.lists(st.integers(0, len(pool) - 1), min_size=1, max_size=60).map(
            lambda picks: np.ascontiguousarray(pool[picks])
        )
    )


def assert_equals_numpy(X):
    first, group = _core.group_rows(X)
    rows, index, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    assert first.dtype == np.int64
    assert group.dtype == np.int32
    np.testing.assert_array_equal(first, index)
    np.testing.assert_array_equal(group, inverse.reshape(-1))
    np.testing.assert_array_equal(X[first], rows)


@given(matrices())
def test_equals_numpy_unique(X):
    assert_equals_numpy(X)


@given(few_distinct_rows())
def test_equals_numpy_unique_with_duplicates(X):
    assert_equals_numpy(X)


@pytest.mark.slow
@given(few_distinct_rows(), st.randoms(use_true_random=False))
def test_order_of_rows_only_changes_representatives(X, random):
    order = list(range(len(X)))
    random.shuffle(order)
    shuffled = np.ascontiguousarray(X[order])
    first, group = _core.group_rows(X)
    first_shuffled, group_shuffled = _core.group_rows(shuffled)
    np.testing.assert_array_equal(X[first], shuffled[first_shuffled])
    np.testing.assert_array_equal(group[order], group_shuffled)


@pytest.mark.parametrize("columns", [1, 2, 63, 64, 65, 127, 128, 129, 200])
def test_around_word_boundaries(columns):
    rng = np.random.default_rng(columns)
    # Sparse rows, so that duplicates and rows differing in one single column both occur.
    X = (rng.random((500, columns)) < 1 / columns).astype(np.uint8)
    assert_equals_numpy(X)


@pytest.mark.parametrize("columns", [1, 64, 65, 130])
def test_each_column_matters_and_earlier_ones_more(columns):
    X = np.vstack([np.zeros((1, columns), np.uint8), np.eye(columns, dtype=np.uint8)])
    first, group = _core.group_rows(X)
    # Zero comes first, then the unit vectors from the last column to the first.
    assert first.tolist() == [0, *range(columns, 0, -1)]
    assert group[first].tolist() == list(range(columns + 1))


def test_all_rows_distinct_grows_the_table():
    numbers = np.random.default_rng(0).permutation(1 << 14)
    X = (numbers[:, None] >> np.arange(13, -1, -1) & 1).astype(np.uint8)
    first, group = _core.group_rows(X)
    np.testing.assert_array_equal(group, numbers)
    np.testing.assert_array_equal(numbers[first], np.arange(1 << 14))


def test_all_rows_equal():
    first, group = _core.group_rows(np.ones((1000, 70), np.uint8))
    assert first.tolist() == [0]
    assert not group.any()


def test_no_rows():
    first, group = _core.group_rows(np.empty((0, 5), np.uint8))
    assert first.shape == (0,)
    assert group.shape == (0,)


def test_no_columns():
    first, group = _core.group_rows(np.empty((7, 0), np.uint8))
    assert first.tolist() == [0]
    assert group.tolist() == [0] * 7


def test_no_rows_and_no_columns():
    first, group = _core.group_rows(np.empty((0, 0), np.uint8))
    assert first.shape == (0,)
    assert group.shape == (0,)


def test_read_only_input_stays_untouched():
    X = np.array([[1, 0], [0, 1], [1, 0]], np.uint8)
    X.flags.writeable = False
    first, group = _core.group_rows(X)
    assert first.tolist() == [1, 0]
    assert group.tolist() == [1, 0, 1]
    assert X.tolist() == [[1, 0], [0, 1], [1, 0]]


def test_results_are_ordinary_arrays():
    first, group = _core.group_rows(np.array([[1], [0]], np.uint8))
    first += 1
    group += 1
    assert first.tolist() == [2, 1]
    assert group.tolist() == [2, 1]


@pytest.mark.slow
@given(matrices(max_rows=10), st.data())
def test_names_the_first_value_that_is_not_binary(X, data):
    size = st.integers(0, X.size - 1)
    bad = data.draw(st.dictionaries(size, st.integers(2, 255), min_size=1, max_size=4))
    for position, value in bad.items():
        X.flat[position] = value
    row, column = divmod(min(bad), X.shape[1])
    message = rf"0 or 1, but row {row}, column {column} is {X[row, column]}$"
    with pytest.raises(ValueError, match=message):
        _core.group_rows(X)


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((3, 2), np.float64),
        np.zeros((3, 2), np.int64),
        np.zeros(3, np.uint8),
        np.zeros((3, 2, 1), np.uint8),
        np.zeros((3, 4), np.uint8).T,
        np.zeros((3, 4), np.uint8)[:, ::2],
        [[0, 1], [1, 0]],
        None,
    ],
    ids=["float", "int64", "1-D", "3-D", "transposed", "strided", "list", "None"],
)
def test_other_arrays_are_refused_not_converted(X):
    with pytest.raises(TypeError):
        _core.group_rows(X)


def test_other_threads_run_meanwhile():
    X = np.random.default_rng(0).integers(0, 2, (400_000, 40), np.uint8)
    thread = threading.Thread(target=_core.group_rows, args=(X,))
    thread.start()
    ticks = 0
    while thread.is_alive():
        ticks += 1
        time.sleep(0.001)
    # Holding the lock would let this thread run only before and after the call.
    assert ticks > 3


def test_version_is_that_of_the_package():
    assert _core.__version__ == version("goct")
