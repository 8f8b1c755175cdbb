"""Errors and warnings that a program may want to catch."""

from __future__ import annotations


class NoTreeError(ValueError):
    """No tree that meets the constraints was found before a limit was reached."""


class InfeasibleError(NoTreeError):
    """It is proven that no tree meets the constraints."""


class GoctWarning(UserWarning):
    """The base of all warnings of this package."""


class NotProvenWarning(GoctWarning):
    """A search stopped at a limit: the tree is the best so far, not proven to be the best."""


class BinarizationWarning(GoctWarning):
    """A column, or the whole table, gives no condition by the method that was asked for."""


class CertificateWarning(GoctWarning):
    """No certificate was written, or one that proves less than the solution says."""
