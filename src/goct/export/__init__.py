"""Trees in other forms: text, rules, SQL, source code, DOT, PMML, ONNX, and for scikit-learn.

Each form predicts exactly what the model does, for missing values and unknown
categories too.
"""

from typing import TYPE_CHECKING, Any

from goct.export.c import export_c
from goct.export.dot import export_dot
from goct.export.javascript import export_javascript
from goct.export.onnx import export_onnx
from goct.export.pmml import export_pmml
from goct.export.python import export_python
from goct.export.sql import export_sql
from goct.export.text import export_rules, export_text

if TYPE_CHECKING:
    from goct.export.sklearn import to_sklearn

FORMATS = {
    "text": export_text, "rules": export_rules, "sql": export_sql, "python": export_python,
    "javascript": export_javascript, "c": export_c, "pmml": export_pmml, "dot": export_dot,
}  # fmt: skip
"""The function behind each format."""

__all__ = [
    "FORMATS", "export_c", "export_dot", "export_javascript", "export_onnx", "export_pmml",
    "export_python", "export_rules", "export_sql", "export_text", "to_sklearn",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "to_sklearn":
        from goct.export.sklearn import to_sklearn

        return to_sklearn
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
