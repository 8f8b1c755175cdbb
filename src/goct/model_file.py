"""The former place of :class:`goct.model.ModelFileError`."""

from goct.model import ModelFileError

__all__ = ["ModelFileError"]
