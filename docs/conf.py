"""Sphinx: Markdown pages, docstrings in the manner of numpy, a theme that carries all it needs."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
import cli_options

project = "goct"
author = "The goct developers"
copyright = "The goct developers, BSD-3-Clause"
release = version_of("goct")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_ext"]

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
suppress_warnings = ["myst.header"]  # pages of recorded results begin at the second level

autodoc_member_order = "bysource"
autodoc_default_options = {  # scikit-learn's own
    "exclude-members": ", ".join(
        f"set_{name}_request" for name in ("fit", "score", "transform", "predict")
    )
}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = False
napoleon_use_rtype = False
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "goct"
html_static_path = ["assets"]
html_css_files = ["extra.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def setup(app: Any) -> None:
    """Add what is made by programs: the options of the commands, and a list of recorded results."""

    def complete(_app: Any, page: str, source: list[str]) -> None:
        if page == "reference/cli-options":
            source[0] = f"# Options of the commands\n\n{cli_options.markdown()}"
        elif page == "results/index":
            source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"

    app.connect("source-read", complete)
