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


def one_line(text: str) -> str:
    """Return a text without line breaks and control characters, as a terminal can show it."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def confusion_table(matrix: Sequence[Sequence[int | Fraction]], classes: Sequence[object]) -> str:
    """Draw a confusion matrix, true classes down and predicted classes across."""
    names = [one_line(str(label)) for label in classes]
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
    from goct.solution import Status

    problem, metric = solution.problem, solution.metric
    lines: list[str] = []
    if solution.tree is not None:
        tree = solution.tree
        lines += [tree.to_text(problem), ""]
        lines += [confusion_table(tree.confusion_matrix(problem), problem.classes), ""]
    facts: list[tuple[str, str]] = []
    if solution.tree is not None and solution.value is not None and solution.objective is not None:
        facts.append((metric.name, format_exact(solution.value)))
        if solution.split_penalty:
            splits = "1 split" if tree.splits == 1 else f"each of {tree.splits} splits"
            note = f"  (minus {float(solution.split_penalty):g} for {splits})"
            facts.append(("objective", format_exact(solution.objective) + note))
        for constraint in solution.constraints:
            facts.append(("constraint", constraint.describe(tree, problem)))
    if solution.status is not Status.INFEASIBLE:
        facts.append(("proven bound", format_exact(solution.bound)))
    facts.append(("status", describe_status(solution)))
    if (seconds := solution.stats.get("time")) is not None:
        facts.append(("time", f"{seconds:.2f} s"))
    width = max(len(name) for name, _ in facts) + 2
    lines += [f"{one_line(name):<{width}}{one_line(fact)}" for name, fact in facts]
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

    trees = f"tree of depth {solution.max_depth}"
    if solution.max_splits is not None:
        trees += f" with at most {solution.max_splits} splits"
    over = "over these features"
    if solution.constraints:
        over += " that meets the constraints"
    match solution.status:
        case Status.OPTIMAL:
            note = "" if solution.problem.is_exact else " (weights or costs were rounded)"
            return f"optimal: no {trees} {over} is better{note}"
        case Status.FEASIBLE:
            why = {
                Limit.NONE: "the solver's precision ended",
                Limit.TIME: "time limit",
                Limit.NODES: "node limit",
                Limit.MEMORY: "memory limit",
                Limit.GAP: "close enough",
                Limit.INTERRUPTED: "interrupted",
            }[solution.limit]
            gap = float(solution.gap or 0)
            size = f"{gap:.6f}" if gap >= 1e-6 else f"{gap:.1e}"
            return f"not proven optimal ({why}): at most {size} from the best"
        case Status.INFEASIBLE:
            return f"infeasible: no {trees} over these features meets the constraints"
        case Status.NO_SOLUTION:
            return "no tree found"
