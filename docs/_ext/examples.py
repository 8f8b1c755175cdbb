"""Run the Python examples of the README and of all pages, and compare what they print.

A page is one program, read from top to bottom. A ``text`` block right after a
``python`` block is its output; times may differ. With ``--write`` the outputs
are replaced by what the examples print now.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_EXAMPLE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
_TIME = re.compile(r"^time +[\d.]+ s$", re.MULTILINE)


def pages() -> list[Path]:
    """Return the pages that may hold examples."""
    kinds = ("tutorials", "how-to", "reference", "explanation")
    written = [ROOT / "docs" / "index.md"]
    for kind in kinds:
        written += sorted((ROOT / "docs" / kind).glob("*.md"))
    return [ROOT / "README.md", *written]


def run(text: str, name: str = "<page>") -> tuple[str, list[tuple[str, str]]]:
    """Run the examples of a page.

    Returns
    -------
    text, differences
        The page with real outputs, and pairs of the output it claims and the
        real one, where these differ.
    """
    names: dict[str, object] = {"__name__": "__main__"}
    differences: list[tuple[str, str]] = []

    def real(example: re.Match[str]) -> str:
        stdout = io.StringIO()
        with contextlib.redirect_stdout(stdout):
            exec(compile(example["code"], name, "exec"), names)
        claimed, printed = example["output"], stdout.getvalue()
        if claimed is None or _TIME.sub("time", claimed) == _TIME.sub("time", printed):
            return example[0]
        differences.append((claimed, printed))
        return f"```python\n{example['code']}```\n\n```text\n{printed}```\n"

    return _EXAMPLE.sub(real, text), differences


def main() -> int:
    """Check all pages, or rewrite them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="replace outputs that differ")
    options = parser.parse_args()
    failed = False
    for page in pages():
        text, differences = run(page.read_text(encoding="utf-8"), str(page.relative_to(ROOT)))
        print(f"{page.relative_to(ROOT)}: {len(differences)} outputs differ")
        if options.write:
            page.write_text(text, encoding="utf-8")
            continue
        failed |= bool(differences)
        for claimed, printed in differences:
            print(f"--- on the page\n{claimed}--- printed\n{printed}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
