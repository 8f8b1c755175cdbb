from __future__ import annotations

from dataclasses import replace

from goct.bench.spec import Outcome, Spec, Status

SPEC = Spec("d", "abc", "mip", "f1", 3, options=(("b", 1), ("a", ["x", "y"])))


def test_the_key_is_that_of_the_content() -> None:
    assert SPEC.key == replace(SPEC, options=SPEC.options[::-1]).key
    changes = [
        {"dataset": "e"}, {"digest": "d"}, {"solver": "search"}, {"metric": "mcc"}, {"depth": 4},
        {"limit": 1.0}, {"memory": 1}, {"penalty": "0.1"}, {"split": 0}, {"seed": 1},
        {"options": ()},
    ]  # fmt: skip
    keys = {replace(SPEC, **change).key for change in changes}  # type: ignore[arg-type]
    assert len(keys | {SPEC.key}) == len(changes) + 1


def test_specifications_and_outcomes_survive_as_text() -> None:
    assert Spec.from_json(SPEC.to_json()) == SPEC
    assert Spec.from_json(SPEC.to_json()).key == SPEC.key
    outcome = Outcome(Status.WRONG, 1.0, value=0.5, train=(1, 2, 3, 4), stats={"a": 1})
    assert Outcome.from_json(outcome.to_json()) == outcome


def test_gap() -> None:
    assert Outcome(Status.OK, objective=0.5, bound=0.75).gap == 0.25
    assert Outcome(Status.OK, objective=0.5, is_proven=True).gap == 0
    assert Outcome(Status.OK, objective=0.5).gap is None
