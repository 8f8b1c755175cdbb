"""From raw columns to readable 0/1 conditions."""

from typing import TYPE_CHECKING, Any

from goct.binarize.conditions import Above, After, AtLeast, Condition, IsTrue, Missing, OneOf

if TYPE_CHECKING:
    from goct.binarize.binarizer import Binarizer

__all__ = ["Above", "After", "AtLeast", "Binarizer", "Condition", "IsTrue", "Missing", "OneOf"]


def __getattr__(name: str) -> Any:
    if name == "Binarizer":
        from goct.binarize.binarizer import Binarizer  # loads scikit-learn

        return Binarizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
