"""``python -m goct`` and the command ``goct``."""

import sys

from goct._core import __version__


def main() -> None:
    """Run the command line; Ctrl-C while it is being loaded ends it without a word."""
    if sys.argv[1:] == ["--version"]:  # needs nothing of what takes a moment to load
        print(__version__)
        return
    try:
        from goct._ctrl_c import is_loaded, leave_while_loading

        leave_while_loading()
        from goct.cli import app

        is_loaded()
        app(prog_name="goct")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
