"""Run the examples of the README and of all pages, and compare what they print.

A page is one program, read from top to bottom, in a folder of its own. A ``text``
block right after a ``python`` block is its output. In a ``console`` block the
lines after ``$`` are commands of goct, and what follows them, if anything does, is
what they print; a line that ends with a backslash goes on. Times may differ.
With ``--write`` the outputs are replaced by what the examples print now.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

from typer.testing import CliRunner

from goct.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("tutorials", "how-to", "reference", "explanation")
_EXAMPLE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?"
    r"|^```console\n(?P<session>.*?)^```\n",
    re.MULTILINE | re.DOTALL,
)
_COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
_TIME = re.compile(r"^time +[\d.]+ s( in all, [\d.]+ s of it for the last search)?$", re.MULTILINE)
_SETTLED = (0, 3)  # exit codes: done, or stopped at a limit


def pages() -> list[Path]:
    """Return the pages that may hold examples."""
    written = [ROOT / "docs" / "index.md"]
    for kind in KINDS:
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

    def settle(claimed: str, printed: str) -> str:
        if _TIME.sub("time", claimed) == _TIME.sub("time", printed):
            return claimed
        differences.append((claimed, printed))
        return printed

    def real(example: re.Match[str]) -> str:
        if example["session"] is not None:
            return f"```console\n{_COMMAND.sub(converse, example['session'])}```\n"
        printed = _python(example["code"], name, names)
        if example["output"] is None:
            return example[0]
        output = settle(example["output"], printed)
        return f"```python\n{example['code']}```\n\n```text\n{output}```\n"

    def converse(exchange: re.Match[str]) -> str:
        printed = _shell(exchange["command"])
        output = settle(exchange["output"], printed) if exchange["output"].strip() else ""
        return f"$ {exchange['command']}\n{output or exchange['output']}"

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return _EXAMPLE.sub(real, text), differences


def _python(code: str, name: str, names: dict[str, object]) -> str:
    stdout = io.StringIO()
    with contextlib.redirect_stdout(stdout):
        exec(compile(code, name, "exec"), names)
    return stdout.getvalue()


def _shell(command: str) -> str:
    program, *words = shlex.split(command.replace("\\\n", ""), comments=True)
    if program != "goct":
        raise ValueError(f"{command!r} is no command of goct; use another kind of block")
    result = CliRunner().invoke(app, words, env={"COLUMNS": "100"})
    if result.exit_code not in _SETTLED:
        raise ValueError(f"{command!r} ends with code {result.exit_code}: {result.output}")
    return result.stdout


def main() -> int:
    """Check all pages or some, or rewrite them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="by default all of them")
    parser.add_argument("--write", action="store_true", help="replace outputs that differ")
    options = parser.parse_args()
    failed = False
    for page in options.pages or pages():
        text, differences = run(page.read_text(encoding="utf-8"), str(page))
        print(f"{os.path.relpath(page, ROOT)}: {len(differences)} outputs differ", flush=True)
        if options.write:
            page.write_text(text, encoding="utf-8")
            continue
        failed |= bool(differences)
        for claimed, printed in differences:
            print(f"--- on the page\n{claimed}--- printed\n{printed}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
