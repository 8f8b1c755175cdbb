"""Data flow in one direction: which part of the package may import which."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import goct

ROOT = Path(goct.__file__).parent
TOOLS = "_core _ctrl_c _deadline _validation exceptions exact"
CORE = f"{TOOLS} _html _plot _text metrics tree constraints features problem task solution"
MAY_IMPORT = {
    "_ctrl_c": "",
    "_deadline": "exceptions",
    "_validation": "exact",
    "exceptions": "",
    "exact": "",
    "files": "",
    "_html": "",
    "_plot": "",
    "_text": "exact",
    "metrics": "exact",
    "tree": "_html _text _validation metrics",
    "constraints": "_validation exact metrics",
    "class_weight": "_validation exact",
    "features": TOOLS,
    "problem": f"{TOOLS} class_weight features tree data binarize",
    "probabilities": "_validation tree",
    "one_vs_rest": "problem tree",
    "cart": "features problem tree",
    "task": f"{TOOLS} metrics tree constraints problem",
    "solution": f"{CORE} one_vs_rest",
    # The engines: plane/ knows neither of them, and none knows data frames, models or reports.
    "plane": CORE,
    # Who checks proofs trusts nobody; who writes them down asks him what to write.
    "verify": "",
    "certificate": f"{CORE} files plane verify",
    "search": f"{CORE} one_vs_rest certificate plane",
    "mip": f"{CORE} one_vs_rest files cart plane search",
    "solve": f"{CORE} one_vs_rest certificate plane search mip",
    "path": f"{CORE} one_vs_rest certificate plane search solve",
    # From columns to conditions, and from a solution to what people keep: no engine.
    "data": "_validation files",
    "binarize": f"{TOOLS} data",
    "model": f"{CORE} probabilities files data binarize",
    "export": f"{CORE} binarize model",
    "report": f"{CORE} one_vs_rest cart files model export",
    # On top of all.
    "estimator": f"{CORE} class_weight probabilities data binarize model export solve",
    "tuning": f"{CORE} data estimator path",
    "estimator_cv": f"{CORE} data estimator path tuning",
    "demo": f"{CORE} data binarize files solve",
    "citation": "_core",
    "bench": f"{CORE} files verify cart binarize estimator estimator_cv search mip solve goct",
    "explore": f"{CORE} cart model path report search",
    "cli": (
        f"{CORE} probabilities cart certificate verify files data binarize model export report "
        "explore search mip solve path estimator tuning demo citation bench"
    ),
    "__main__": "_core _ctrl_c cli",
    "table": "data",
    "model_file": "model",
}
# Where a module is loaded late because it takes a moment, never to hide a cycle.
LOADS_LATE = {"data", "problem", "solve", "cli", "bench", "binarize", "export", "__main__"}


def unit_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(node: ast.AST, *, late: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the parts of goct that code imports, and whether it does so in a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        names: list[str] = []
        if isinstance(child, ast.Import):
            names = [alias.name for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            names = [f"{child.module}.{alias.name}" for alias in child.names]
        yield from ((n.split(".")[1], late) for n in names if n.startswith("goct."))
        yield from (("goct", late) for n in names if n == "goct")
        yield from imports(child, late=late or isinstance(child, ast.FunctionDef))


MODULES = [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


@pytest.mark.slow
@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_imports_what_is_above_it(path: Path) -> None:
    unit = unit_of(path)
    allowed = {unit, *MAY_IMPORT[unit].split()}
    for imported, late in imports(ast.parse(path.read_text(encoding="utf-8"))):
        assert imported in allowed, f"{unit} may not import {imported}"
        assert not late or unit in LOADS_LATE, f"{imported} is imported in a function"


def test_the_layers_are_layers() -> None:
    graph = {unit: set(below.split()) - {unit} for unit, below in MAY_IMPORT.items()}
    TopologicalSorter(graph).prepare()  # raises an error if there is a cycle


def test_imports_are_found() -> None:
    code = (
        "import goct.tree\ndef f():\n    from goct.plane.hull import Hull\nfrom goct import _core\n"
    )
    assert sorted(imports(ast.parse(code))) == [("_core", False), ("plane", True), ("tree", False)]
