"""What a solver is asked, what it answers, and what it can do."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from goct.bench.data import Features, Labels


@dataclass(frozen=True)
class Question:
    """Data to learn from, 0/1 features and labels 0, 1, ..., and what to maximise.

    Label 1 is the positive class. The other fields are as in :class:`goct.bench.spec.Spec`.
    """

    X: Features
    y: Labels
    metric: str
    depth: int | None
    penalty: Fraction
    limit: float
    seed: int
    options: Mapping[str, Any]


Predict: TypeAlias = Callable[[Features], Labels]


@dataclass(frozen=True)
class PathTree:
    """A tree for a penalty: what it predicts, and its size."""

    penalty: str
    predict: Predict
    splits: int


@dataclass(frozen=True)
class Answer:
    """What a solver says; None where it says nothing."""

    predict: Predict | None  # its tree as a function from features to labels
    path: Sequence[PathTree] = ()  # further trees, each for a penalty
    claimed: float | None = None  # the value of the metric that it states itself
    bound: float | None = None  # a proven one on the objective
    is_proven: bool = False  # whether it claims that no tree is better
    splits: int | None = None
    depth: int | None = None
    stats: Mapping[str, Any] = field(default_factory=dict)  # plain values


def find_modules(*names: str) -> bool:
    """Say whether all of some modules are installed."""
    return all(importlib.util.find_spec(name) is not None for name in names)


class Unsupported(Exception):  # noqa: N818
    """A solver cannot answer such a question."""


class Solver(ABC):
    """Someone who learns trees; the class attributes state what it can do."""

    module: ClassVar[str] = "goct"  # what is imported
    distribution: ClassVar[str] = "goct"  # the package that brings it
    metrics: ClassVar[frozenset[str] | None] = None  # those that it maximises; None for all
    penalised: ClassVar[frozenset[str] | None] = None  # minus a penalty per split
    has_many_classes: ClassVar[bool] = True  # takes more than two
    learns: ClassVar[bool] = True  # answers with a tree; others only measure something
    needs_depth: ClassVar[bool] = True  # cannot do without a limit on the depth

    @property
    def requirement(self) -> str:
        """The package that is missing where it is not installed."""
        return self.distribution

    @property
    def is_installed(self) -> bool:
        """Whether its package is there."""
        return find_modules(self.module)

    @property
    def version(self) -> str | None:
        """The version of its package; None if it is not known."""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return None

    def package(self, options: Mapping[str, Any]) -> str:
        """Return what answers, and its version; "" if that is goct, or not there.

        A solver of a user's own is known by the content of its file as well.
        """
        parts = []
        if self.distribution != "goct" and self.is_installed and self.version is not None:
            parts.append(f"{self.distribution} {self.version}")
        file = getattr(sys.modules[type(self).__module__], "__file__", None)
        if not type(self).__module__.startswith("goct.") and file is not None:
            content = Path(file).read_bytes()
            parts.append(f"{Path(file).name} {hashlib.sha256(content).hexdigest()[:12]}")
        return ", ".join(parts)

    def refusal(self, question: Question) -> str | None:
        """Say why the solver cannot answer a question; None if it can."""
        if self.metrics is not None and question.metric not in self.metrics:
            return f"does not maximise {question.metric}"
        if (
            question.penalty
            and self.penalised is not None
            and question.metric not in self.penalised
        ):
            return f"takes no penalty per split with {question.metric}"
        if self.needs_depth and question.depth is None:
            return "needs a limit on depth"
        if not self.has_many_classes and question.y.max() > 1:
            return "takes two classes only"
        return None

    def load(self) -> None:
        """Import what the solver needs, which is not timed."""
        import_module(self.module)

    @abstractmethod
    def fit(self, question: Question) -> Answer:
        """Learn a tree. What is done here is timed."""
