"""The command line."""

from goct.cli.app import app

__all__ = ["app"]
