"""Checking certificates: nothing of the engines is used here.

:mod:`goct.verify.checker` is the checker, one file that needs numpy only.
"""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from goct.verify.checker import (
    Data,
    Number,
    RejectedError,
    Verdict,
    check_certificate,
    of_labels,
    read_header,
)

__all__ = ["RejectedError", "Verdict", "data_of", "feature_in", "verify"]


def verify(
    certificate: str | os.PathLike[str] | bytes, data: Any, *, metric: Any = None
) -> Verdict:
    """Check a certificate, step by step, against the data that it is about.

    Parameters
    ----------
    certificate
        The file, or its content.
    data
        A :class:`goct.Problem`, or a pair of a matrix of numbers and labels
        (without weights).
    metric
        The metric, if it is one of your own: a function is not in the file.
        That it never falls when TP or TN rises is then not checked, but taken
        from you.

    Returns
    -------
    Verdict
        What is proven. ``print`` it.

    Raises
    ------
    RejectedError
        If the certificate does not prove what it says about these data; the
        message is the first step that fails.

    Examples
    --------
    >>> import goct, os, tempfile
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> problem = goct.Problem.from_arrays(X, ["no", "no", "no", "yes"])
    >>> path = os.path.join(tempfile.mkdtemp(), "proof.gct")
    >>> solution = goct.solve(problem, "f1", max_depth=1, certificate=path)
    >>> print(goct.verify(path, problem))
    VERIFIED: no tree of depth 1 over 2 columns has a larger f1 for yes than this one, 0.666667
    """
    content = certificate
    if not isinstance(content, bytes):
        with open(content, "rb") as file:
            content = file.read()
    if isinstance(data, tuple):
        X, y = data
        data = of_labels(np.asarray(X), list(y), read_header(content)["data"]["classes"])
    elif not isinstance(data, Data):
        data = data_of(data)
    return check_certificate(content, data, None if metric is None else values_of(metric))


def data_of(problem: Any) -> Data:
    """Return the data of a problem over its original columns, as the checker sees them."""
    ranks, owners = _ranks(problem), tuple(problem.features.owner.tolist())
    return replace(
        Data.merge(ranks, problem.counts, problem.samples, problem.costs),
        owners=owners,
        weight_unit=problem.weight_unit,
        cost_unit=problem.cost_unit,
        classes=tuple(str(label) for label in problem.classes),
    )


def feature_in(data: Data, problem: Any, feature: int) -> int:
    """Return the feature of the data that a feature of the problem is, which splits its rows."""
    if not problem.has_thresholds:
        return int(data.begin[feature])
    column, _ = problem.features.place(feature)
    ranks = np.unique(_ranks(problem)[:, column], return_inverse=True)[1].ravel()
    return int(data.begin[column] + ranks[problem.features.column(feature) == 0].max())


def _ranks(problem: Any) -> Any:
    """Return the columns of a problem before copies were dropped; 0/1, or ranks."""
    features = problem.features
    if problem.has_thresholds:
        columns = [features.ranks_of(j) for j in range(len(features.sizes))]
        return np.stack(columns, axis=1) if columns else np.zeros((problem.n_rows, 0), int)
    X = np.empty((problem.n_rows, problem.n_features), dtype=np.uint8)
    constant = problem.source < 0
    X[:, constant] = problem.flipped[constant]
    X[:, ~constant] = problem.X[:, problem.source[~constant]] ^ problem.flipped[~constant]
    return X


def values_of(metric: Any) -> Any:
    """Return a metric of the package as a function of the four counts."""

    def value(tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction) -> Number:
        confusion = SimpleNamespace(tp=tp, fp=fp, fn=fn, tn=tn, n_pos=tp + fn, n_neg=tn + fp)
        rational, roots = metric.value(confusion).terms
        return Number.of(rational) + Number(tuple(c * abs(c) * m for c, m in roots))

    return value
