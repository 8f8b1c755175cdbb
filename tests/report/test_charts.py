from __future__ import annotations

import pytest

from goct.report.charts import _span, _ticks


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0.482, 0.589, ["0.50", "0.52", "0.54", "0.56", "0.58"]),
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-532, -30, ["-500", "-400", "-300", "-200", "-100"]),
    ],
)
def test_ticks_are_round(low: float, high: float, texts: list[str]) -> None:
    assert [text for _, text in _ticks(low, high)] == texts


def test_a_single_point_stands_in_a_wide_frame() -> None:
    low, high = _span([(0.25, 0.8)], 0)
    assert low == pytest.approx(0.15)
    assert high == pytest.approx(0.35)
