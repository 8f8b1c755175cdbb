"""What a run is, and what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any

ANY_DEPTH = 0  # as the depth of a run: no limit


@dataclass(frozen=True)
class Spec:
    """A run, completely specified: the same specification asks the same question."""

    dataset: str
    digest: str  # tells the content of the dataset from others of that name
    solver: str  # see goct.bench.peers
    metric: str = "accuracy"
    depth: int = 2  # the largest depth of the tree; ANY_DEPTH without a limit
    limit: float = 60.0  # seconds for the solver
    memory: int = 0  # bytes for the process; 0 for no limit
    penalty: str = "0"  # of a split, as a decimal number
    split: int | None = None  # of which random split to learn from a half; None for all rows
    seed: int = 0  # for solvers, and for datasets that are made on the spot
    options: tuple[tuple[str, Any], ...] = ()  # of the solver: names and plain values
    package: str = ""  # behind the solver, with its version; "" if that is goct

    def __post_init__(self) -> None:
        pairs = tuple(sorted((str(name), _frozen(value)) for name, value in self.options))
        object.__setattr__(self, "options", pairs)

    @property
    def key(self) -> str:
        """A name for the specification, made of all that is in it."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """A short description for people."""
        rows = "" if self.split is None else f" split {self.split}"
        penalty = "" if self.penalty == "0" else f" λ={self.penalty}"
        options = "".join(f" {name}={value}" for name, value in self.options)
        depth = "any depth" if self.depth == ANY_DEPTH else f"depth {self.depth}"
        return f"{self.dataset}{rows} {self.solver} {self.metric} {depth}{penalty}{options}"

    def option(self, name: str, default: Any = None) -> Any:
        """Return the value of an option."""
        return dict(self.options).get(name, default)

    def to_json(self) -> str:
        """Return the specification as text."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Spec:
        """Read a specification."""
        data = json.loads(text)
        data["options"] = tuple((name, _frozen(value)) for name, value in data["options"])
        return cls(**data)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Status(Enum):
    """How a run ended."""

    OK = "ok"  # with a tree; whether it is proven best is another question
    NO_TREE = "no tree"  # the solver stopped without one
    TIMEOUT = "time-out"  # it did not stop by itself in time and was killed
    MEMORY = "out of memory"  # it needed more than it was given
    CRASH = "crash"  # its process died
    ERROR = "error"  # it raised an exception
    WRONG = "wrong"  # the value it claims is not that of its tree
    UNSUPPORTED = "unsupported"  # the solver cannot answer such a question
    MISSING = "not installed"  # the solver is not there


@dataclass(frozen=True)
class Outcome:
    """What came of a run; all values are computed from predictions, not taken from the solver.

    Times are of the solver, its preparation of the data included; for runs that were killed, of the
    whole process. Confusion matrices (TP, FP, FN, TN) of two classes are on the rows that were
    learnt from and, for splits, on the others.
    """

    status: Status
    seconds: float = 0.0  # wall-clock time
    cpu: float | None = None  # processor time
    value: float | None = None  # the metric on the rows that were learnt from
    objective: float | None = None  # the same minus the penalty
    claimed: float | None = None  # the value that the solver states itself
    bound: float | None = None  # a proven one on the objective, if the solver gives one
    is_proven: bool = False  # whether the solver claims that no tree is better
    splits: int | None = None
    depth: int | None = None
    train: tuple[int, int, int, int] | None = None
    validation: tuple[int, int, int, int] | None = None
    test: tuple[int, int, int, int] | None = None
    path: tuple[Mapping[str, Any], ...] = ()  # trees for penalties: penalty, splits, matrices
    peak: int | None = None  # the largest memory of the process, in bytes
    message: str = ""  # what went wrong
    stats: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_tree(self) -> bool:
        """Whether there is a tree with a value."""
        return self.value is not None

    @property
    def gap(self) -> float | None:
        """The distance from the bound, in the metric's own unit; None without a bound."""
        if self.is_proven:
            return 0.0
        if self.bound is None or self.objective is None:
            return None
        return max(self.bound - self.objective, 0.0)

    def to_json(self) -> str:
        """Return the outcome as text."""
        return json.dumps(asdict(self) | {"status": self.status.value}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Outcome:
        """Read an outcome."""
        data = json.loads(text)
        known = {f.name for f in fields(cls)}
        data = {name: value for name, value in data.items() if name in known}
        for name in ("train", "validation", "test", "path"):
            if data.get(name) is not None:
                data[name] = tuple(data[name])
        return cls(**data | {"status": Status(data["status"])})
