"""Mutation testing: put small errors into a module, one at a time; do its tests notice?

``python -m tests.support.mutate exact --sample 40`` tries forty mutants of the exact
numbers, ``checker`` those of the checker of certificates; without ``--sample`` all of
them. A mutant that no test notices is shown. Each runs in a fork that has loaded
everything but goct, so that a mutant costs little more than its tests.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib.util
import io
import os
import random
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Target:
    """A module, the tests that should notice errors in it, and how much CPU time these may take."""

    module: str
    tests: tuple[str, ...]
    seconds: int

    @property
    def path(self) -> Path:
        return ROOT / "src" / Path(*self.module.split(".")).with_suffix(".py")


TARGETS = {
    "exact": Target("goct.exact", ("tests/test_exact.py",), 60),
    "checker": Target("goct.verify.checker", ("tests/verify",), 120),
}
_COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        changed = copy.deepcopy(node)
        changed.ops[0] = _COMPARISONS[type(node.ops[0])]()
        yield changed
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        changed = copy.deepcopy(node)
        changed.op = _OPERATORS[type(node.op)]()
        yield changed
    elif isinstance(node, ast.BoolOp):
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield changed
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        other = not node.value if isinstance(node.value, bool) else node.value + 1
        yield ast.copy_location(ast.Constant(other), node)
    elif isinstance(node, ast.IfExp):
        yield ast.copy_location(ast.IfExp(test=node.test, body=node.orelse, orelse=node.body), node)


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield the places of expressions that run: not in annotations, docstrings or messages."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if name in ("annotation", "returns", "decorator_list", "type_params", "exc"):
                continue
            if isinstance(value, ast.expr):
                yield parent, name, None
            elif isinstance(value, list):
                yield from (
                    (parent, name, i) for i, v in enumerate(value) if isinstance(v, ast.expr)
                )


def mutants(source: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield mutants of a module, each with a line that says what was changed."""
    tree = ast.parse(source)
    quiet = {id(n) for raised in ast.walk(tree) if isinstance(raised, ast.Raise | ast.JoinedStr)
             for n in ast.walk(raised)}  # fmt: skip
    for parent, name, index in list(places(tree)):
        old = getattr(parent, name) if index is None else getattr(parent, name)[index]
        if id(old) in quiet:
            continue
        for new in changes(old):
            _put(parent, name, index, new)
            yield f"line {old.lineno}: {ast.unparse(old)}  ->  {ast.unparse(new)}", tree
            _put(parent, name, index, old)


def _put(parent: ast.AST, name: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


class _Mutated(importlib.machinery.SourceFileLoader):
    """Loads a module whose code is given, whatever its file says."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self.tree = tree

    def get_code(self, fullname: str) -> object:
        return compile(ast.fix_missing_locations(self.tree), self.path, "exec")


def is_noticed(target: Target, tree: ast.Module) -> bool:
    """Run the tests of a mutant in a fork; say whether they fail, or take too long."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (target.seconds, target.seconds))
        loader = _Mutated(target.module, str(target.path), tree)

        class Finder:
            @staticmethod
            def find_spec(name: str, *_: object) -> object:
                if name != target.module:
                    return None
                return importlib.util.spec_from_file_location(name, target.path, loader=loader)

        sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]
        import pytest

        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
            code = int(pytest.main([*options, *(str(ROOT / test) for test in target.tests)]))
    finally:
        os._exit(code)


def main() -> int:
    """Try mutants, show those that live, and fail if too many do."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--sample", type=int, help="try only so many, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.0, help="the share to be noticed")
    options = parser.parse_args()
    target = TARGETS[options.target]
    source = target.path.read_text(encoding="utf-8")
    import sklearn.utils  # loaded once, before the forks, and numpy and scipy with it

    assert sklearn.utils
    if is_noticed(target, ast.parse(source)):
        print(f"{target.module}: its tests fail without any mutant")
        return 1
    count = sum(1 for _ in mutants(source))
    chosen = set(range(count))
    if options.sample is not None and options.sample < count:
        chosen = set(random.Random(options.seed).sample(range(count), options.sample))
    alive = []
    for number, (change, tree) in enumerate(mutants(source)):
        if number in chosen and not is_noticed(target, tree):
            alive.append(change)
            print(f"{target.module}: not noticed, {change}", flush=True)
    share = 1 - len(alive) / len(chosen)
    print(f"{target.module}: {len(chosen) - len(alive)} of {len(chosen)} mutants noticed "
          f"({share:.0%}), of {count} in all")  # fmt: skip
    return int(share < options.least)


if __name__ == "__main__":
    sys.exit(main())
