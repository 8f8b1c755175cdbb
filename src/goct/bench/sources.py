"""Where datasets come from: some are made here, others are fetched from public collections."""

from __future__ import annotations

import gzip
import io
import os
import re
import urllib.error
import urllib.request
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from goct.bench.data import RAW, SUFFIX, Features, Labels
from goct.binarize import Binarizer
from goct.files import atomic_write

COLLECTION = "https://github.com/MurTree/murtree-data/archive/refs/heads/{}.zip"
"""Binarized datasets of several papers (MIT licence), a row per line, the label first."""
BRANCHES = ("main", "master")
OPENML = {"bank": 1462, "magic": 1120, "segment": 36, "wilt": 40983}
"""Raw tables and their numbers on OpenML."""

_MONK_LEVELS = (3, 3, 2, 3, 4, 2)
_ENDING = re.compile(r"(-un|-bin|-binary|_categorical_bin)?\.txt$")


def own_datasets() -> Iterator[tuple[str, Features, Labels]]:
    """Yield the datasets that need no files: made by rules, or of tables of scikit-learn."""
    from sklearn.datasets import load_breast_cancer, load_digits

    yield "cancer", *_binarized(load_breast_cancer().data, 1 - load_breast_cancer().target)
    digits = load_digits()
    yield "digits-8", *_binarized(digits.data, (digits.target == 8).astype(np.int64))
    yield from _monks()
    yield _multiplexer()


def write_own(folder: Path) -> list[str]:
    """Write the datasets that need no files, and raw tables of scikit-learn; return their names."""
    from sklearn.datasets import load_breast_cancer, load_wine

    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for name, X, y in own_datasets():
        names.append(name)
        _write_dataset(folder / f"{name}{SUFFIX}", X, y)
    for name, load in {"cancer": load_breast_cancer, "wine": load_wine}.items():
        names.append(f"{name}{RAW}")
        table = load(as_frame=True).frame
        _write(folder / f"{name}{RAW}.gz", table.to_csv(index=False).encode())
    return names


def own_folder() -> Path:
    """Return a folder with these datasets, made when it is first asked for."""
    from goct._core import __version__

    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(cache) / "goct" / f"datasets-{__version__}"
    finished = folder / "complete"
    if not finished.exists():
        write_own(folder)
        finished.touch()
    return folder


def fetch(
    folder: Path,
    opened: Callable[[str], bytes] | None = None,
    table: Callable[[int], str] | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Fetch public datasets into a folder; returns what is there now, and why sources failed.

    `opened` returns what is at an address, and `table` a table of OpenML as CSV, its target last;
    by default what the network says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names, failures = [], {}
    try:
        for name, rows in _collection(opened or _download):
            names.append(name)
            _write(folder / f"{name}{SUFFIX}", rows)
    except (OSError, zipfile.BadZipFile) as error:
        failures[COLLECTION.format(BRANCHES[0])] = str(error)
    for name, number in OPENML.items():
        try:
            text = (table or _from_openml)(number)
        except (OSError, ValueError) as error:
            failures[f"{name}, https://www.openml.org/d/{number}"] = str(error)
            continue
        names.append(f"{name}{RAW}")
        _write(folder / f"{name}{RAW}.gz", text.encode())
    return names, failures


def _download(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=60) as answer:
        content: bytes = answer.read()
        return content


def _from_openml(number: int) -> str:
    from sklearn.datasets import fetch_openml

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of another try: what fails is reported
        found = fetch_openml(
            data_id=number, cache=False, as_frame=True, parser="auto", n_retries=1, delay=0.1
        )
    text: str = found.data.assign(label=found.target).to_csv(index=False)
    return text


def _collection(opened: Callable[[str], bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the datasets of the collection, without the endings of their names."""
    try:
        archive = opened(COLLECTION.format(BRANCHES[0]))
    except urllib.error.HTTPError:
        archive = opened(COLLECTION.format(BRANCHES[1]))
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for path in files.namelist():
            text = files.read(path)
            if _ENDING.search(path) and re.match(rb"\d+( [01])+\s", text):
                yield _ENDING.sub("", Path(path).name), text


def _binarized(table: np.ndarray, labels: Labels) -> tuple[Features, Labels]:
    X = Binarizer("quantiles", n_thresholds=3).fit_transform(table)
    return np.asarray(X, dtype=np.uint8), np.asarray(labels, dtype=np.int64)


def _monks() -> Iterator[tuple[str, Features, Labels]]:
    """Yield the three problems of the monks on all of their 432 rows, one feature per level."""
    levels = np.indices(_MONK_LEVELS).reshape(len(_MONK_LEVELS), -1) + 1
    a = dict(enumerate(levels, start=1))
    X = [a[i] == v for i, most in enumerate(_MONK_LEVELS, start=1) for v in range(1, most + 1)]
    rules = {
        "monks-1": (a[1] == a[2]) | (a[5] == 1),
        "monks-2": (levels == 1).sum(axis=0) == 2,
        "monks-3": ((a[5] == 3) & (a[4] == 1)) | ((a[5] != 4) & (a[2] != 3)),
    }
    for name, rule in rules.items():
        yield name, np.array(X, dtype=np.uint8).T.copy(), rule.astype(np.int64)


def _multiplexer() -> tuple[str, Features, Labels]:
    """Return the multiplexer of six bits: two say which of the other four is the label."""
    bits = np.indices((2,) * 6).reshape(6, -1).T
    y = bits[np.arange(len(bits)), 2 + 2 * bits[:, 0] + bits[:, 1]]
    return "multiplexer-6", bits.astype(np.uint8), y.astype(np.int64)


def _write_dataset(path: Path, X: Features, y: Labels) -> None:
    text = io.BytesIO()
    np.savetxt(text, np.column_stack([y, X]), fmt="%d")
    _write(path, text.getvalue())


def _write(path: Path, content: bytes) -> None:
    """Write a compressed file; the same content gives the same bytes."""
    with atomic_write(path, binary=True) as file:
        file.write(gzip.compress(content, mtime=0))
