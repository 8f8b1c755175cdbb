"""From raw columns to readable 0/1 conditions."""

from goct.binarize.binarizer import Binarizer
from goct.binarize.conditions import Above, After, Condition, IsTrue, Missing, OneOf

__all__ = ["Above", "After", "Binarizer", "Condition", "IsTrue", "Missing", "OneOf"]
