"""Reading files with clear errors, and writing them whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any


def read_bytes(path: str | os.PathLike[str], limit: int) -> bytes:
    """Return the first bytes of a file, or raise a `ValueError` that says why, without its name."""
    try:
        with open(path, "rb") as file:
            return file.read(limit)
    except IsADirectoryError:
        raise ValueError("this is a folder, not a file") from None
    except FileNotFoundError:
        raise ValueError("there is no such file") from None
    except PermissionError:
        raise ValueError("you may not read this file") from None
    except OSError as error:
        raise ValueError(error.strerror or error) from None


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], *, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file for writing that appears under its name only when all went well.

    What is written goes to a temporary file in the same folder, which replaces
    `path` at the end. If an error or Ctrl-C comes first, `path` stays as it was.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder, not a file")
    target = target.resolve()  # a link stays a link to the new file
    if target.exists() and not target.is_file():
        # A device or a pipe cannot be replaced; what is written goes through it.
        with open(target, "wb") if binary else open(target, "w", encoding="utf-8") as stream:
            yield stream
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {target.parent}")
    mode = _mode_of(target)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.", suffix="~")
    try:
        with (
            open(handle, "wb")
            if binary
            else open(handle, "w", encoding="utf-8", newline="") as file
        ):
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _mode_of(target: Path) -> int:
    """Return the permissions of a file, or those that a new one would get."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
