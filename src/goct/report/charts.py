"""The two charts to choose a tree by, as lines and spots of SVG pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10

from goct.metrics import Confusion
from goct.model import Model
from goct.report.exploration import Exploration, Size
from goct.report.per_row import per_row, rival_per_row
from goct.report.sections import metric_words

# Pixels: where the axes are.
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 446, 16, 252
_STEPS = 4
_MOST_SHRINKING = 3  # of our own points, to show all others
_LEAST_SPAN = 0.2  # of rates
_MOST_TICKS = 8

Point = tuple[float, float]


@dataclass(frozen=True)
class Spot:
    """A point of a chart: its kind, its place, and the place of its tree, if it is one of ours."""

    kind: str
    x: float
    y: float
    radius: float
    tree: int | None = None


@dataclass
class Chart:
    """A chart in pixels."""

    name: str
    axes: tuple[str, str]  # what they show, across and up
    x_ticks: list[tuple[float, str]]  # places and texts
    y_ticks: list[tuple[float, str]]
    lines: list[tuple[str, str]] = field(default_factory=list)  # kinds and paths
    spots: list[Spot] = field(default_factory=list)
    columns: list[tuple[int, float, float]] = field(default_factory=list)  # place, x, width

    def draw(self, kind: str, points: Iterable[Point]) -> None:
        """Draw a line through points."""
        text = "L".join(f"{x:.4g} {y:.4g}" for x, y in points)
        if "L" in text:
            self.lines.append((kind, f"M{text}"))


def size_chart(exploration: Exploration) -> Chart | None:
    """Return the metric by number of splits: training, folds, test, CART; None if there is one."""
    shown = per_row(exploration.models[exploration.shown])
    sizes, validation = exploration.sizes, shown.validation
    if len(sizes) < 2 and (validation is None or len(validation.means) < 2):
        return None
    best = [per_row(exploration.models[size.best]) for size in sizes]
    means = () if validation is None else validation.means
    splits = [size.splits for size in sizes]
    metric = exploration.models[0].question.metric
    found = [size.rival and rival_per_row(size.rival, metric) for size in sizes]
    rivals = [rival.train_value if rival else None for rival in found]
    series = {
        "cart": _known(splits, [None if value is None else value.value for value in rivals]),
        "validation": _known(range(len(means)), means),
        "test": _known(splits, [model.test.number if model.test else None for model in best]),
        "best": _known(splits, [model.train.number for model in best]),
    }
    last = max(sizes[-1].splits, len(means) - 1, 1)
    across, up, chart = _axes(
        "sizes",
        (0, last),
        _room(series),
        ("splits, at most", metric_words(shown.question.metric)),
        whole=True,
    )
    if validation is not None:
        for k, (mean, error) in enumerate(zip(means, validation.errors, strict=True)):
            if mean is not None and error is not None:
                ends = (across(k), up(mean - error)), (across(k), up(mean + error))
                chart.draw("validation", ends)
    for kind, points in series.items():
        places = [(across(k), up(value)) for k, value in points]
        chart.draw(kind, places)
        if kind != "cart":
            chart.spots += [Spot(kind, x, y, 3.5) for x, y in places]
    width = (_RIGHT - _LEFT) / last
    chart.columns = [
        (i, across(size.splits), width) for i, size in enumerate(sizes) if len(sizes) > 1
    ]
    return chart


def _known(splits: Iterable[int], values: Iterable[float | None]) -> list[Point]:
    """Return the points whose value is known."""
    return [(k, value) for k, value in zip(splits, values, strict=True) if value is not None]


def _room(series: dict[str, list[Point]]) -> tuple[float, float]:
    """Return what the y axis shows.

    A single leaf may be so much worse that nothing else could be told apart, and so may CART.
    """
    own = [point for kind, points in series.items() if kind != "cart" for point in points]
    most = max((splits for splits, _ in own), default=0)
    ours = [value for splits, value in own if splits > 0 or most < 2]
    if not ours:
        return 0.0, 1.0
    every = [value for points in series.values() for _, value in points]
    low, high = min(ours), max([*ours, *(value for _, value in series["cart"])])
    if high - min(every) <= _MOST_SHRINKING * (high - low):
        low = min(every)
    room = (high - low) * 0.1 or 0.01
    return low - room, high + room if high > 1 else min(high + room, 1.0)


def points_chart(exploration: Exploration, size: Size, *, is_roc: bool) -> Chart:
    """Return what trees of a size trade: recall against false alarms, or against precision."""
    where = _rates if is_roc else _recall_and_precision
    cells = {place: _confusion(exploration.models[place]) for place in {*size.points, size.best}}
    train = {place: where(confusion) for place, (confusion, _) in cells.items()}
    # The corner where trees of this size are, without those that say the same to every row.
    real = [p for p in train.values() if (p[0] < 1 and p[1] > 0 if is_roc else p[0] > 0)] or [
        (0.0, 0.0),
        (1.0, 1.0),
    ]
    names = ("false positive rate", "recall (sensitivity)") if is_roc else ("recall", "precision")
    across, up, chart = _axes("points", _span(real, 0), _span(real, 1), names)

    def at(point: Point) -> Point:
        return across(point[0]), up(point[1])

    for part, curve in enumerate(size.curves):
        negatives, positives = curve[-1]
        greedy = [
            where(Confusion(tp, fp, positives - tp, negatives - fp))
            for fp, tp in (curve if is_roc else curve[1:])
        ]
        chart.draw("cart held" if part else "cart", map(at, sorted(greedy)))
    chart.draw("best", map(at, sorted(train[place] for place in size.hull)))
    tested = [(place, cells[place][1]) for place in size.points]
    for place, confusion in tested:
        if confusion is not None and confusion.n_pos and confusion.n_neg:
            chart.spots.append(Spot("test", *at(where(confusion)), 2.5, place))
    corners = set(size.hull)
    for place, point in train.items():
        kind = "best" if place in corners or place not in size.points else "best inner"
        radius = 4 if place in corners else 3
        chart.spots.append(Spot(kind, *at(point), radius, place))
    return chart


def _confusion(model: Model) -> tuple[Confusion, Confusion | None]:
    train = model.confusion()
    assert train is not None
    return train, None if model.test is None else model.confusion(model.test)


def _rates(c: Confusion) -> Point:
    return float(c.fp / c.n_neg), float(c.tp / c.n_pos)


def _recall_and_precision(c: Confusion) -> Point:
    return float(c.tp / c.n_pos), float(c.tp / (c.tp + c.fp)) if c.tp + c.fp else 1.0


def _span(points: Sequence[Point], axis: int) -> tuple[float, float]:
    values = [point[axis] for point in points]
    room = 0.15 * (max(values) - min(values))
    room = max(room, (_LEAST_SPAN - max(values) + min(values)) / 2)
    return max(0.0, min(values) - room), min(1.0, max(values) + room)


def _axes(
    name: str, x: tuple[float, float], y: tuple[float, float], names: tuple[str, str], *,
    whole: bool = False,
) -> tuple[Callable[[float], float], Callable[[float], float], Chart]:  # fmt: skip
    """Return how values become pixels, and a chart with axes."""

    def across(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (value - x[0]) / (x[1] - x[0] or 1)

    def up(value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (value - y[0]) / (y[1] - y[0] or 1)

    x_ticks = [(across(value), text) for value, text in _ticks(*x)]
    if whole:
        step = ceil((x[1] - x[0]) / _MOST_TICKS)
        x_ticks = [(across(k), str(k)) for k in range(int(x[0]), int(x[1]) + 1, step)]
    y_ticks = [(up(value), text) for value, text in _ticks(*y)]
    return across, up, Chart(name, names, x_ticks, y_ticks)


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return round numbers between two others, with as many digits as they need."""
    rough = (high - low or 1) / _STEPS
    power = 10.0 ** floor(log10(rough))
    step = next(n * power for n in (1, 2, 5, 10) if n * power >= 0.6 * rough)
    digits = max(0, -floor(log10(step) + 1e-9))
    numbers = [k * step for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
    return [(number, f"{number:.{digits}f}") for number in numbers]
