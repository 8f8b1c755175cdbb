"""Trees in other forms: text, rules, SQL, Python source and DOT.

Each form predicts exactly what the model does, for missing values and unknown
categories too.
"""

from goct.export.dot import export_dot
from goct.export.python import export_python
from goct.export.rules import export_rules
from goct.export.sql import export_sql
from goct.export.text import export_text

FORMATS = {
    "text": export_text,
    "rules": export_rules,
    "sql": export_sql,
    "python": export_python,
    "dot": export_dot,
}
"""The function behind each format."""

__all__ = ["FORMATS", "export_dot", "export_python", "export_rules", "export_sql", "export_text"]
