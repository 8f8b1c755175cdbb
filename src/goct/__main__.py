"""``python -m goct``: the command line."""

from goct.cli import app

app(prog_name="goct")
