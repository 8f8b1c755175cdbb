"""From raw columns to readable 0/1 conditions."""

from goct.binarize.binarizer import Binarizer

__all__ = ["Binarizer"]
