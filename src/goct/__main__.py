"""``python -m goct`` and the command ``goct``."""

import sys

from goct._ctrl_c import is_loaded


def main() -> None:
    """Run the command line; Ctrl-C while it is being loaded ends it without a word."""
    try:
        from goct.cli import app  # takes a moment

        is_loaded()
        app(prog_name="goct")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
