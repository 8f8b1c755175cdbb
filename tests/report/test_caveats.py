"""What terminal and report warn of, from one place."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from goct.model import Part, Quantity
from goct.report.caveats import warnings_of
from goct.report.intervals import standard_error
from goct.tree import Leaf, Split, Tree
from tests.support.models import model_of, small_model


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


def test_a_drop_that_few_test_rows_may_make_is_none() -> None:
    model = replace(small_model(), question=replace(small_model().question, constraints=()))
    assert model.train.value is not None
    error = standard_error(model, model.train)
    assert error is not None
    value, drop = model.train.value.value, 3 * error
    few = tuple(tuple(n / Fraction(20) for n in counts) for counts in model.train.counts)
    for counts, n_warnings in ((model.train.counts, 1), (few, 0)):
        test = Part(counts, Quantity(value - drop))
        assert len(warnings_of(replace(model, test=test))) == n_warnings


@pytest.mark.parametrize("metric", ["precision", "recall", "npv", "specificity"])
def test_a_metric_of_one_kind_of_error(metric: str) -> None:
    model = replace(small_model(), test=None)
    alone = replace(model.question, metric=metric, constraints=("leaves of 5 samples at least",))
    (text,) = warnings_of(replace(model, question=alone))
    assert text.startswith(f"{metric} alone sees one kind of error only")
    limited = replace(alone, constraints=("recall >= 0.5",))
    assert warnings_of(replace(model, question=limited)) == []


def test_a_constraint_that_breaks_on_test_rows() -> None:
    model = small_model()
    question = replace(model.question, constraints=("recall >= 0.99999",))
    swapped = tuple(tuple(reversed(counts)) for counts in model.train.counts)
    (text,) = warnings_of(replace(model, question=question, test=Part(swapped, None)))
    assert text.startswith("recall >= 0.99999 holds on the training data, but not on the test")


def test_classes_that_are_never_predicted() -> None:
    model = replace(small_model(("low", "middle", "high")), test=None)
    sizes = model.train.counts[0]
    (text,) = warnings_of(model)
    assert text.startswith(f"never predicted: high ({sizes[2]}) of {sum(sizes)}. A larger tree")
    stump = Tree(Split(0, Leaf(0), Leaf(2)), model.classes, model.tree.feature_names)
    (text,) = warnings_of(replace(model_of(stump), test=None))
    assert text.startswith("never predicted: middle (")
    assert "The tree has 2 leaves for 3 classes." in text
    every = Tree(Split(0, Split(2, Leaf(0), Leaf(2)), Leaf(1)), model.classes, stump.feature_names)
    assert warnings_of(replace(model_of(every), test=None)) == []
