from __future__ import annotations

import subprocess
import sys

import goct


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, goct; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.split(".")[0] in ("goct", "numpy")}
    assert loaded == {"goct", "goct._core"}


def test_every_name_is_there() -> None:
    assert {*goct.__all__} <= {*dir(goct)}
    assert all(getattr(goct, name) is not None for name in goct.__all__)


def test_functions_named_like_modules_stay_functions() -> None:
    code = (
        "import goct, goct.path, goct.solve, goct.verify.checker\n"
        "assert all(map(callable, [goct.path, goct.solve, goct.verify]))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
