from __future__ import annotations

import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from goct import Problem, Tree
from goct.tree import Leaf, Split
from tests.support.trees import nodes

shapes = st.tuples(st.integers(1, 25), st.integers(0, 6))
matrices = hnp.arrays(np.uint8, shapes, elements=st.integers(0, 1))


@st.composite
def random_problems(draw) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X = draw(matrices)
    y = draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 2)))
    w = draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 3)))
    w[draw(st.integers(0, len(w) - 1))] = 1
    return X, y, w


@pytest.mark.slow
@given(random_problems())
def test_unique_dataset(data) -> None:
    X, y, w = data
    problem = Problem.from_arrays(X, y, sample_weight=w)
    full = np.stack([problem.column(j) for j in range(X.shape[1])], axis=1) if X.shape[1] else None
    expected: dict[tuple[int, ...], dict[int, int]] = {}
    for x, label, weight in zip(X.tolist(), y.tolist(), w.tolist(), strict=True):
        if weight:
            cell = expected.setdefault(tuple(x), {})
            cell[label] = cell.get(label, 0) + weight
    rows = [()] * problem.n_rows if full is None else [tuple(row) for row in full.tolist()]
    assert sorted(expected) == rows
    for row, x in enumerate(rows):
        found = {problem.classes[k]: n for k, n in enumerate(problem.counts[row].tolist()) if n}
        assert found == expected[x]
    instances = {
        (rows[r], problem.classes[k], n)
        for r, k, n in zip(*(array.tolist() for array in problem.instances()), strict=True)
    }
    assert instances == {(x, k, n) for x, cell in expected.items() for k, n in cell.items()}
    assert {rows[r] for r in problem.conflicts()} == {x for x, c in expected.items() if len(c) > 1}
    assert problem.total_weight == w.sum()
    assert problem.class_weights == tuple(w[y == k].sum() for k in problem.classes)


@pytest.mark.slow
@given(random_problems())
def test_no_useless_column_is_kept_and_none_is_lost(data) -> None:
    X, y, w = data
    problem = Problem.from_arrays(X, y, sample_weight=w)
    kept = {tuple(column) for column in problem.X.T.tolist()}
    assert len(kept) == problem.X.shape[1]
    assert not kept & {tuple(1 - v for v in column) for column in kept}
    assert all(0 < sum(column) < problem.n_rows for column in kept)
    assert (problem.kept == np.sort(problem.kept)).all()


@pytest.mark.slow
@given(random_problems(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(data, random) -> None:
    X, y, w = data
    order = list(range(len(X)))
    random.shuffle(order)
    a = Problem.from_arrays(X, y, sample_weight=w)
    b = Problem.from_arrays(X[order], y[order], sample_weight=w[order])
    np.testing.assert_array_equal(a.X, b.X)
    np.testing.assert_array_equal(a.counts, b.counts)


@pytest.mark.slow
@given(random_problems(), st.data())
def test_trees_over_original_columns_predict_the_same_everywhere(data, draw) -> None:
    X, y, w = data
    problem = Problem.from_arrays(X, y, sample_weight=w)
    tree = Tree(
        draw.draw(nodes(X.shape[1], problem.n_classes)), problem.classes, problem.feature_names
    )
    predicted = tree.predict(X)
    matrix = [
        [w[(y == k) & (predicted == j)].sum() for j in problem.classes] for k in problem.classes
    ]
    assert tree.confusion_matrix(problem) == matrix
    reduced = problem.reduce(tree)
    indices = [problem.classes.index(label) for label in reduced.predict(problem.X)]
    assert indices == tree.predict_rows(problem).tolist()


def test_columns_that_repeat() -> None:
    a, b = [0, 1, 1, 0], [0, 0, 1, 1]
    columns = [[1] * 4, a, b, [1 - v for v in a], b, [0] * 4]
    problem = Problem.from_arrays(np.array(columns).T, [0, 1, 1, 0])
    assert problem.kept.tolist() == [1, 2]
    assert problem.source.tolist() == [-1, 0, 1, 0, 1, -1]
    assert problem.flipped.tolist() == [True, False, False, True, False, False]
    assert problem.n_features == 6
    assert repr(problem) == "Problem(4 samples, 4 distinct rows, 2 of 6 features, classes [0, 1])"


@pytest.mark.parametrize(
    ("y", "classes", "positive"),
    [
        (["no", "yes", "no"], ("no", "yes"), 1),
        ([-1, 1, -1], (-1, 1), 1),
        ([1, 2, 1], (1, 2), 1),
        ([False, True, False], (False, True), 1),
        ([0.0, 1.0, 0.0], (0.0, 1.0), 1),
        (np.array(["b", "a", "b"], dtype=object), ("a", "b"), 1),
        ([5, 10**12, 5], (5, 10**12), 1),
        (np.array([200, 3, 3], dtype=np.uint8), (3, 200), 1),
        ([[0], [1], [0]], (0, 1), 1),
        ([0, 1, 2], (0, 1, 2), None),
        ([1, 1, 1], (1,), 0),
        (["x", "x", "x"], ("x",), 0),
        ([0, 0, 0], (0,), None),
        ([-1, -1, -1], (-1,), None),
        ([False] * 3, (False,), None),
    ],
)
def test_labels_of_any_type(y, classes, positive) -> None:
    problem = Problem.from_arrays([[0], [1], [1]], y)
    assert problem.classes == classes
    assert [type(label) for label in problem.classes] == [type(label) for label in classes]
    assert problem.positive == positive


def test_positive_class() -> None:
    X, y = [[0], [1], [1]], ["a", "b", "b"]
    problem = Problem.from_arrays(X, y, pos_label="a")
    assert (problem.n_pos, problem.n_neg) == (1, 2)
    tree = Tree(Leaf(1), problem.classes, problem.feature_names)
    confusion = tree.confusion(problem)
    assert (confusion.tp, confusion.fp, confusion.fn, confusion.tn) == (0, 0, 1, 2)
    with pytest.raises(ValueError, match=r"pos_label 'c' is not .* \['a', 'b'\]"):
        Problem.from_arrays(X, y, pos_label="c")


def test_positive_class_that_does_not_occur() -> None:
    problem = Problem.from_arrays([[0], [1]], [0, 0], pos_label=1)
    assert problem.classes == (0, 1)
    assert (problem.n_pos, problem.n_neg) == (0, 2)
    assert Problem.from_arrays([[0], [1]], [0.0, 0.0], pos_label=1).classes == (0, 1)
    problem = Problem.from_arrays([[0], [1]], ["z", "z"], pos_label="a")
    assert problem.classes == ("a", "z")
    assert (problem.n_pos, problem.n_neg) == (0, 2)


def test_weights_that_are_fractions() -> None:
    problem = Problem.from_arrays([[0], [1], [1]], [0, 1, 1], sample_weight=[0.1, 1 / 3, 1])
    assert problem.is_exact
    assert problem.class_weights == (Fraction(1, 10), Fraction(4, 3))


@pytest.mark.parametrize(
    "weights", [[1e3, 1e3, 1e-6, 1e-6], [1, 1, 1e-9, 1e-9], [1e9, 3, 0.1, 7e-7]]
)
def test_no_class_vanishes_beside_large_weights(weights) -> None:
    with pytest.raises(ValueError, match=r"sample_weight: the weights of class 1 are too small"):
        Problem.from_arrays([[0], [0], [1], [1]], [0, 0, 1, 1], sample_weight=weights)
    whole = Problem.from_arrays(
        [[0], [0], [1], [1]], [0, 0, 1, 1], sample_weight=[10**12, 10**12, 1, 1]
    )
    assert whole.is_exact
    assert whole.n_pos == 2


def test_irregular_weights_are_rounded_and_marked() -> None:
    w = np.random.default_rng(0).random(40)
    X = np.random.default_rng(1).integers(0, 2, (40, 3))
    problem = Problem.from_arrays(X, X[:, 0], sample_weight=w)
    assert not problem.is_exact
    assert float(problem.total_weight) == pytest.approx(w.sum(), rel=1e-7)


def test_rows_without_weight_do_not_count() -> None:
    problem = Problem.from_arrays([[0, 0], [1, 0], [0, 1]], [0, 1, 0], sample_weight=[1, 1, 0])
    assert problem.n_rows == 2
    assert problem.kept.tolist() == [0]


def test_costs_are_weighted_and_summed() -> None:
    X, y = [[0], [0], [1]], ["a", "b", "b"]
    problem = Problem.from_arrays(X, y, costs=[[0, 0.5], [2, 0], [-1, 3]], sample_weight=[1, 2, 1])
    assert problem.costs is not None
    in_units = [[problem.cost_unit * c for c in row] for row in problem.costs.tolist()]
    assert in_units == [[4, Fraction(1, 2)], [-1, 3]]
    problem = Problem.from_arrays(X, y, costs=[1, 2, 3])
    assert problem.costs is not None
    assert problem.costs.tolist() == [[2, 1], [3, 0]]


def test_names() -> None:
    assert Problem.from_arrays([[0, 1]], [0]).feature_names == ("x0", "x1")
    names = ["old", "ill"]
    assert Problem.from_arrays([[0, 1]], [0], feature_names=names).feature_names == ("old", "ill")


def test_data_frames() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"old": [0, 1, 1], "rich": [True, False, True]})
    problem = Problem.from_arrays(frame, pd.Series(["no", "yes", "yes"]))
    assert problem.feature_names == ("old", "rich")
    assert problem.classes == ("no", "yes")
    frame.loc[1, "old"] = 5
    with pytest.raises(ValueError, match=r"5 at row 1, column 0 \('old'\)"):
        Problem.from_arrays(frame, [0, 1, 1])
    with pytest.raises(ValueError, match="missing label at row 1"):
        Problem.from_arrays([[0], [1], [1]], pd.Series(["a", pd.NA, "b"], dtype="string"))


def test_arrays_are_read_only() -> None:
    problem = Problem.from_arrays([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="read-only"):
        problem.X[0, 0] = 1
    X = np.array([[0], [1]], dtype=np.uint8)
    Problem.from_arrays(X, [0, 1])
    X[0, 0] = 1  # the caller's array stays the caller's


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, np.float64, object])
def test_types_of_features(dtype) -> None:
    X = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype)
    problem = Problem.from_arrays(np.asfortranarray(X), [0, 1, 1])
    assert problem.X.tolist() == [[0, 1], [1, 0], [1, 1]]


NAN = float("nan")
GOOD = [[0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"X": [[0, 1], [2, 0], [1, 1]]}, ValueError, "value 2 at row 1, column 0; .* 0 or 1"),
        ({"X": [[0, 1], [1, 0.5], [1, 1]]}, ValueError, "0.5.* at row 1, column 1"),
        ({"X": [[0, 1], [1, NAN], [1, 1]]}, ValueError, "missing value at row 1, column 1"),
        ({"X": [[0, 1], [1, None], [1, 1]]}, ValueError, "missing value at row 1, column 1"),
        ({"X": [["a", "b"]] * 3}, TypeError, "0/1 numbers"),
        ({"X": [0, 1, 1]}, ValueError, "two-dimensional"),
        ({"X": np.empty((0, 2)), "y": []}, ValueError, "no rows"),
        ({"X": [[3, 1]] * 3, "feature_names": ["age", "b"]}, ValueError, r"column 0 \('age'\)"),
        ({"y": [0, 1]}, ValueError, "X has 3 rows but y has 2"),
        ({"y": [0, NAN, 1]}, ValueError, "missing label at row 1"),
        ({"y": ["a", None, "b"]}, ValueError, "missing label at row 1"),
        ({"y": [0.5, 1.5, 1]}, ValueError, "0.5.* at row 0"),
        ({"y": np.array(["a", 1, "b"], dtype=object)}, TypeError, "types int, str"),
        ({"y": ["a", 1, "b"]}, TypeError, "types int, str"),
        ({"y": [[0, 1], [1, 0], [0, 0]]}, ValueError, "one-dimensional"),
        ({"sample_weight": [1, -1, 1]}, ValueError, "sample_weight .* row 1.*not negative"),
        ({"sample_weight": [1, NAN, 1]}, ValueError, "sample_weight .* row 1"),
        ({"sample_weight": [1, 1]}, ValueError, "X has 3 rows but sample_weight"),
        ({"sample_weight": [0, 0, 0]}, ValueError, "zero everywhere"),
        ({"sample_weight": ["a", "b", "c"]}, TypeError, "numbers"),
        ({"sample_weight": [[1], [1], [1]]}, ValueError, "one-dimensional"),
        ({"costs": [1, 2]}, ValueError, "X has 3 rows but costs"),
        ({"costs": [1, -2, 1]}, ValueError, "costs .* row 1"),
        ({"costs": [[1, 2, 3]] * 3}, ValueError, r"\(3, 2\), one column per class"),
        ({"costs": [[1, np.inf]] * 3}, ValueError, "finite"),
        ({"feature_names": ["a"]}, ValueError, "2 names"),
        ({"feature_names": ["a", "a"]}, ValueError, "'a' twice"),
        ({"pos_label": 7}, ValueError, "pos_label 7"),
    ],
)
def test_bad_input_is_named(arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        Problem.from_arrays(**{"X": GOOD, "y": [0, 1, 1], **arguments})


def test_sparse_matrices_are_refused() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="dense"):
        Problem.from_arrays(sparse.csr_matrix(np.eye(3)), [0, 1, 1])


def test_catalogue_of_datasets(datasets_folder) -> None:
    """The unique rows of real datasets are those the catalogue counts."""
    import csv

    with (datasets_folder / "catalog.csv").open() as file:
        rows = {row["dataset"]: row for row in csv.DictReader(file)}
    for name in ("compas", "monk1", "HTRU_2", "car"):
        table = np.loadtxt(datasets_folder / f"{name}.txt.gz", dtype=np.uint8)
        problem = Problem.from_arrays(table[:, 1:], table[:, 0])
        assert problem.n_samples == int(rows[name]["rows"])
        assert problem.n_classes == int(rows[name]["classes"])
        assert len(problem.instances()[0]) >= int(rows[name]["unique_rows"]) >= problem.n_rows


@given(st.integers(0, 10**6))
def test_restricted_problems_have_the_same_trees(seed) -> None:
    """Trees over some columns mean the same in the restricted problem, which has fewer rows."""
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    X = rng.integers(0, 2, (n, width))
    weights = rng.integers(1, 5, n) / 2
    costs = rng.integers(0, 5, (n, 2))
    y = rng.integers(0, 2, n)
    y[:2] = [0, 1]
    problem = Problem.from_arrays(X, y, sample_weight=weights, costs=costs)
    features = sorted(rng.choice(width, rng.integers(0, width + 1), replace=False).tolist())
    small = problem.restricted(features)
    assert small.n_rows == max(1, len(np.unique(X[:, features], axis=0)))
    assert set(small.kept.tolist()) <= set(features)
    assert small.class_weights == problem.class_weights
    assert small.costs.sum(axis=0).tolist() == problem.costs.sum(axis=0).tolist()
    for j in features:
        tree = Tree(Split(j, Leaf(0), Leaf(1)), problem.classes, problem.feature_names)
        assert tree.confusion(small) == tree.confusion(problem)


def test_classes_that_are_known_beforehand() -> None:
    problem = Problem.from_arrays([[0], [1], [1]], ["b", "c", "b"], classes=["c", "a", "b"])
    assert problem.classes == ("c", "a", "b")
    assert problem.positive is None
    assert problem.counts.tolist() == [[0, 0, 1], [1, 0, 1]]
    one = Problem.from_arrays([[0], [1]], [1, 1], classes=(0, 1), costs=[[5, 0], [7, 0]])
    assert (one.positive, one.n_pos, one.n_neg) == (1, 2, 0)
    assert one.costs is not None
    assert one.costs.tolist() == [[5, 0], [7, 0]]
    assert Problem.from_arrays([[0]], [1], classes=(0, 1), pos_label=0).n_pos == 0
    same = Problem.from_arrays([[0], [1]], np.array([1.0, 0.0]), classes=(0, 1))
    assert [type(label) for label in same.classes] == [int, int]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([0, 1], "y has the label 2 at row 1, which is not one of the classes [0, 1]"),
        ([0, 2, 2], "classes must be labels that differ"),
        ("02", "classes must be labels that differ"),
    ],
)
def test_classes_that_do_not_fit(classes: object, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Problem.from_arrays([[0], [1]], [0, 2], classes=classes)


@pytest.mark.skipif(np.__version__ < "2", reason="numpy 1 imports numpy.ma itself")
def test_masks_are_looked_for_without_importing_them() -> None:
    """numpy.ma takes longer to import than small questions to answer."""
    code = (
        "import sys, goct; goct.solve(goct.Problem.from_arrays([[0], [1]], [0, 1]), max_depth=1); "
        "sys.exit('numpy.ma' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_masked_values_are_missing_values() -> None:
    mask = [[False, True], [False, False]]
    with pytest.raises(ValueError, match="X has a missing value at row 0, column 1"):
        Problem.from_arrays(np.ma.array([[0, 1], [1, 0]], mask=mask), [0, 1])
    with pytest.raises(ValueError, match="y has a missing label at row 1"):
        Problem.from_arrays([[0], [1]], np.ma.array([0, 1], mask=[False, True]))
    weights = np.ma.array([1, 2], mask=[False, True])
    with pytest.raises(ValueError, match=r"sample_weight has a missing \(masked\) value at row 1"):
        Problem.from_arrays([[0], [1]], [0, 1], sample_weight=weights)
    unmasked = np.ma.array([[0, 1], [1, 0]])
    assert Problem.from_arrays(unmasked, np.ma.array([0, 1])).n_rows == 2


def test_large_integers_stay_apart_as_labels() -> None:
    labels = [2**63, 2**63 + 1, -1]
    assert Problem.from_arrays([[0], [1], [1]], labels).classes == (-1, 2**63, 2**63 + 1)
    unsigned = np.array([2**64 - 1, 2**64 - 3, 2**64 - 1], dtype=np.uint64)
    problem = Problem.from_arrays([[0], [1], [1]], unsigned)
    assert problem.classes == (2**64 - 3, 2**64 - 1)
    assert problem.counts.tolist() == [[0, 1], [1, 1]]


def test_whole_multiples_of_a_large_number_are_exact_weights() -> None:
    weights = [3e9, 6e9, 1.5e9]
    problem = Problem.from_arrays([[0], [1], [1]], [0, 1, 0], sample_weight=weights)
    assert problem.is_exact
    assert problem.weight_unit == 1_500_000_000
    assert problem.counts.tolist() == [[2, 0], [1, 4]]


@pytest.mark.parametrize("large", [2**53, Fraction(2**53, 7)])
def test_whole_numbers_and_fractions_among_objects_are_not_rounded(large) -> None:
    weights = np.array([large, large + 1, large], dtype=object)
    X, y = [[0], [0], [1]], [0, 1, 1]
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    paid = Problem.from_arrays(X, y, costs=weights)
    if isinstance(large, int):
        assert problem.class_weights == (large, 2 * large + 1)
        assert paid.costs.tolist() == [[large + 1, large], [large, 0]]
    assert problem.is_exact is paid.is_exact is isinstance(large, int)
    seventh = Problem.from_arrays(X, y, sample_weight=[Fraction(k, 10**7 + 19) for k in (1, 2, 1)])
    assert seventh.is_exact
    assert seventh.weight_unit == Fraction(1, 10**7 + 19)


def test_numbers_with_more_digits_than_floats_are_not_rounded_silently() -> None:
    weights = np.array([2**53, 2**53 + 1, 2**53], dtype=np.longdouble)
    if weights[1] == weights[0]:
        pytest.skip("no more digits here")
    problem = Problem.from_arrays([[0], [0], [1]], [0, 1, 1], sample_weight=weights)
    assert not problem.is_exact
