"""The fitted model: a tree with its conditions, its file, and where it comes from."""

import warnings
from typing import Any

from goct.model.file import ModelFileError
from goct.model.model import Model, as_model, columns_of
from goct.model.records import (
    ColumnInfo,
    Part,
    Proof,
    Quantity,
    Question,
    Rival,
    Source,
    Validation,
)
from goct.model.schema import model_schema

__all__ = [
    "ColumnInfo", "Model", "ModelFileError", "Part", "Proof", "Quantity", "Question", "Rival",
    "Source", "Validation", "as_model", "columns_of", "model_schema",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "Column":
        warnings.warn("goct.model.Column is now ColumnInfo", DeprecationWarning, stacklevel=2)
        return ColumnInfo
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
