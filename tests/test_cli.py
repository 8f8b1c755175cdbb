from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

from typer.testing import CliRunner

from goct.cli import app

runner = CliRunner()


def test_version() -> None:
    result = runner.invoke(app, ["version"])
    assert result.exit_code == 0
    assert result.output.strip() == version("goct")


def test_metrics() -> None:
    lines = runner.invoke(app, ["metrics"]).output.splitlines()
    assert lines[1].split()[:2] == ["accuracy", "linear"]
    assert any(line.split()[:2] == ["mcc", "quasiconvex"] for line in lines)


def test_demo_proves_a_tree() -> None:
    result = runner.invoke(app, ["demo", "--depth", "1"])
    assert result.exit_code == 0
    assert "proven bound" in result.output
    assert "optimal: no tree of depth 1 over these features is better" in result.output
    assert "true \\ predicted" in result.output


def test_help_and_unknown_command() -> None:
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output
    assert runner.invoke(app, ["dmo"]).exit_code == 2


def test_console_script_and_import_are_quiet() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import goct"], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
