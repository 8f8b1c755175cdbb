"""From raw columns to readable 0/1 conditions."""

from goct.binarize.binarizer import Binarizer
from goct.binarize.conditions import Above, After, AtLeast, Condition, IsTrue, Missing, OneOf

__all__ = ["Above", "After", "AtLeast", "Binarizer", "Condition", "IsTrue", "Missing", "OneOf"]
