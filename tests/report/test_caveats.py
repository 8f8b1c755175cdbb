"""What terminal and report warn of, from one place."""

from __future__ import annotations

from dataclasses import replace

from goct.model import Part, Quantity
from goct.report.caveats import warnings_of
from tests.support.models import small_model


def test_nothing_to_warn_of() -> None:
    model = replace(small_model(), test=None)
    assert warnings_of(model) == []
    assert warnings_of(replace(model, notes=("id is different",))) == ["id is different"]


def test_a_large_drop_is_said_in_words() -> None:
    model = replace(small_model(), question=replace(small_model().question, constraints=()))
    assert model.train.value is not None
    value = model.train.value.value
    test = Part(model.train.counts, Quantity(value - 0.2))
    (text,) = warnings_of(replace(model, test=test))
    assert f"is {value:.4f} on the training data and {value - 0.2:.4f} on the test data" in text
    assert warnings_of(replace(model, test=model.train)) == []


def test_a_constraint_that_breaks_on_test_rows() -> None:
    model = small_model()
    question = replace(model.question, constraints=("recall >= 0.99999",))
    swapped = tuple(tuple(reversed(counts)) for counts in model.train.counts)
    (text,) = warnings_of(replace(model, question=question, test=Part(swapped, None)))
    assert text.startswith("recall >= 0.99999 holds on the training data, but not on the test")
