"""What the page makes of conditions, run by node."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from goct.metrics import ALIASES, METRICS, get_metric
from goct.report.exploration import KNOWN_METRICS

NODE = shutil.which("node")
CASES = Path(__file__).parents[1] / "limits.json"
RUN = """
const answer = ({ text, cells }) => {
  const hasParts = cells.some((cell) => !Number.isInteger(cell));
  try { return readLimits(text, hasParts).every((limit) => limit.isKept(cells)); }
  catch (error) { return error.message; }
};
const [cases, names] = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify([cases.map(answer), names.map(metricOf)]));
"""


@pytest.mark.skipif(NODE is None, reason="there is no node")
def test_the_table_of_conditions() -> None:
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    short = {get_metric(name).name: name for name in ("tp", "fp", "fn", "tn")}
    known = {a: short.get(n, n) for a, n in ALIASES.items() if n in KNOWN_METRICS}
    known |= {name: short.get(name, name) for name in METRICS if name in KNOWN_METRICS}
    source = (files("goct.report") / "metrics.js").read_text(encoding="utf-8")
    made = subprocess.run(
        [str(NODE), "-e", source + RUN],
        input=json.dumps([cases, [*known]]),
        check=True,
        capture_output=True,
        text=True,
    )
    answers, names = json.loads(made.stdout)
    for case, answer in zip(cases, answers, strict=True):
        if "error" in case:
            assert case["error"] in str(answer), case
        else:
            assert answer is case["kept"], case
    assert names == [*known.values()]
