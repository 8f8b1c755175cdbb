"""Plain-text reports."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from goct.exact import Exact

if TYPE_CHECKING:
    from goct.solution import Solution


def format_weight(weight: int | Fraction) -> str:
    """Write a weight: integers in full, others with six digits."""
    return str(int(weight)) if weight.denominator == 1 else f"{float(weight):.6g}"


def confusion_table(matrix: Sequence[Sequence[int | Fraction]], classes: Sequence[object]) -> str:
    """Draw a confusion matrix, true classes down and predicted classes across."""
    names = [str(label) for label in classes]
    cells = [[format_weight(entry) for entry in row] for row in matrix]
    first = max(map(len, ["true \\ predicted", *names]))
    widths = [
        max(map(len, [name, *column]))
        for name, column in zip(names, zip(*cells, strict=True), strict=True)
    ]
    header = "true \\ predicted".ljust(first)
    lines = [header + "".join(f"  {name:>{w}}" for name, w in zip(names, widths, strict=True))]
    for name, row in zip(names, cells, strict=True):
        lines.append(
            name.rjust(first) + "".join(f"  {c:>{w}}" for c, w in zip(row, widths, strict=True))
        )
    return "\n".join(lines)


def summarise(solution: Solution) -> str:
    """Return a readable account of a solution."""
    problem, metric = solution.problem, solution.metric
    lines: list[str] = []
    if solution.tree is not None:
        tree = solution.tree
        lines += [tree.to_text(problem), ""]
        lines += [confusion_table(tree.confusion_matrix(problem), problem.classes), ""]
    if solution.tree is not None and solution.value is not None and solution.objective is not None:
        lines.append(f"{metric.name:<18}{format_exact(solution.value)}")
        if solution.split_penalty:
            lines.append(
                f"{'objective':<18}{format_exact(solution.objective)}  "
                f"(minus {float(solution.split_penalty):g} for each of {tree.splits} splits)"
            )
    lines.append(f"{'proven bound':<18}{format_exact(solution.bound)}")
    lines.append(f"{'status':<18}{describe_status(solution)}")
    if (seconds := solution.stats.get("time")) is not None:
        lines.append(f"{'time':<18}{seconds:.2f} s")
    return "\n".join(lines)


def format_exact(number: Exact) -> str:
    """Write an exact number with six digits, and as a short fraction where it is one."""
    text = f"{float(number):.6f}"
    if number.is_rational:
        fraction = number.as_fraction()
        if fraction.denominator == 1:
            return str(fraction)
        if len(str(fraction)) <= 24:
            return f"{text}  (= {fraction})"
    return text


def describe_status(solution: Solution) -> str:
    """Say in words what is proven."""
    from goct.solution import Limit, Status

    depth = f"depth {solution.max_depth}"
    match solution.status:
        case Status.OPTIMAL:
            return f"optimal: no tree of {depth} over these features is better"
        case Status.FEASIBLE:
            why = "" if solution.limit is Limit.NONE else f" ({solution.limit.value} limit)"
            if solution.limit is Limit.INTERRUPTED:
                why = " (interrupted)"
            return f"not proven optimal{why}: at most {solution.gap:.6f} from the best"
        case Status.INFEASIBLE:
            return f"infeasible: no tree of {depth} meets the constraints"
        case Status.NO_SOLUTION:
            return "no tree found"
