"""Settings and data shared by all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from goct import _ctrl_c

settings.register_profile(
    "goct", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=100
)
settings.load_profile("goct")

# Whoever starts the tests in the background leaves them, and what they start, deaf to Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _first_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no Ctrl-C of another test make that of this one the second."""
    monkeypatch.setattr(_ctrl_c, "_EAR", _ctrl_c._Ear())


@pytest.fixture(scope="session")
def datasets_folder() -> Path:
    """The folder with the benchmark datasets, or a skipped test where there is none."""
    default = Path(__file__).resolve().parents[2] / "shared" / "datasets"
    folder = Path(os.environ.get("GOCT_DATASETS", default))
    if not (folder / "catalog.csv").exists():
        pytest.skip(f"no benchmark datasets in {folder}; set GOCT_DATASETS to their folder")
    return folder
