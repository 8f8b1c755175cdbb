"""No plane is below the metric, whatever the box, and no tree is cut off."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Problem
from goct.metrics import Confusion, get_metric
from goct.mip.nonlinear.cuts import BoxPlanes, Envelope
from tests.support.mip import SINGLE, SUMS, model_of, noisy_arrays, random_tree_point

MONOTONE = [metric for metric in [*SINGLE, *SUMS] if metric.is_monotone]


@pytest.mark.parametrize("name", ["f1", "precision", "npv", "mcc", "gmean", "jaccard"])
@pytest.mark.parametrize(
    "box", [((0, 9), (0, 31)), ((3, 3), (4, 20)), ((2, 6), (30, 30)), ((5, 5), (7, 7))], ids=str
)
@pytest.mark.parametrize("blocks", [3, 100])
def test_planes_are_above_the_metric(name, box, blocks) -> None:
    metric, n_pos, n_neg = get_metric(name), 9, 31

    def value(tp, tn) -> float:
        return max(float(metric.value(Confusion(tp, n_neg - tn, n_pos - tp, tn))), 0.0)

    def highest(_x0, x1, _y0, y1) -> np.ndarray:
        return np.array([value(int(a), int(b)) for a, b in zip(x1, y1, strict=True)])

    envelope = Envelope(highest, *box, corners=4, blocks=blocks)
    planes = [*envelope.planes(), envelope.tightest(box[0][0], box[1][1])]
    assert planes
    for tp in range(box[0][0], box[0][1] + 1):
        for tn in range(box[1][0], box[1][1] + 1):
            heights = [plane.constant + plane.x * tp + plane.y * tn for plane in planes]
            assert min(heights) >= value(tp, tn)
    if blocks == 100:  # single integers: some plane is close to the metric
        most = value(box[0][1], box[1][1])
        corner = [p.constant + p.x * box[0][1] + p.y * box[1][1] for p in planes]
        assert min(corner) == pytest.approx(most, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 50)], ids=str)
@pytest.mark.parametrize("metric", MONOTONE, ids=lambda m: m.name)
def test_no_tree_is_cut_off(metric, penalty, seed) -> None:
    X, y = noisy_arrays(seed)
    problem = Problem.from_arrays(X, y)
    model = model_of(problem, metric, 2, penalty=penalty)
    tree = model.program
    planes = [rows for rows in tree.rows if "_plane_" in rows.name]
    assert planes
    boxes = [one for one in tree.separators if isinstance(one, BoxPlanes)]
    rng = np.random.default_rng(seed)
    trees = [random_tree_point(tree, rng) for _ in range(60)]
    # Those that predict both classes, the others being no solutions.
    trees = [x for x in trees if len(set(model.tree(x).predict_rows(problem).tolist())) == 2]
    assert trees
    for rows in planes:
        assert all(rows.violation(x).max() <= 1e-9 for x in trees)
    for separator in boxes:
        for _ in range(30):
            parts = rng.choice(len(trees), 2)
            x = (trees[parts[0]] + trees[parts[1]]) / 2
            for number in separator.numbers:  # some leading bits are known
                known = int(rng.integers(len(number.bits) + 1))
                x[number.bits[::-1][:known]] = np.round(x[number.bits[::-1][:known]])
            x[separator.column.column] = 1.0
            rows = separator.separate(x, is_integral=False)
            if rows is not None:
                assert rows.violation(x).max() > 0
                assert all(rows.violation(tree).max() <= 1e-9 for tree in trees)
