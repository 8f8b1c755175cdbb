"""Files made by hand to deceive the checker, or to break it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goct.verify import RejectedError, Verdict, checker, data_of
from goct.verify.checker import Data, check_certificate, of_labels
from tests.support.certificates import (
    FAMILIES,
    certified,
    read_certificate,
    write_certificate,
)

RECALL = [["1", "recall", {}]]

TASKS: list[dict[str, Any]] = [
    *({"max_depth": depth} for depth in (-1, 10**6, 2.5, True, 0, "3", None, 4)),
    *({"split_penalty": text} for text in ("1e999999999", "nan", "-1", "1/0", "\u0663", 0.5)),
    *({"metric": metric} for metric in ([], [["0", "f_beta", {"beta": "1"}]], RECALL)),
    {"metric": [["1", "f_beta", {"beta": "-1"}]]},
    {"metric": [["1", "class_cost", {"false_negative": "-1", "false_positive": "1"}]]},
    {"metric": [["-1", "f_beta", {"beta": "1"}]]},
    {"metric": [["1", "dor", {"upper": "-1"}]]},
    {"metric": [["1", "dor_smoothed", {"epsilon": "0"}]]},
    {"metric": [["1", "own", {}]]},
    {"metric": [["1", "false_positives", {}]]},
    {"metric": [["1", ["f_beta"], {}]]},
    {"max_splits": -3},
    {"constraints": [[RECALL, ">", "1"]]},
    {"constraints": [[RECALL, ">=", "2"]]},
    {"limits": [[[[0, "-1"]], "0"]]},
    {"limits": [[[[0, "1"]], "-1"]]},
]
DATA: list[dict[str, Any]] = [
    *({"positive": positive} for positive in (7, -1, None, 0, "1", True)),
    *({"units": [unit, "1"]} for unit in ("0", "1/0", "2", "-1", 1)),
    *({"classes": classes} for classes in (["0", "0"], ["\u0660", "1"], ["0"], None)),
    *({"owners": owners} for owners in ([0], [0] * 8, None)),
    {"digest": None},
    {"against_rest": True, "positive": None},
]
QUESTIONS: list[dict[str, Any]] = [
    *({"costs": [[0, 1], [a, 0]]} for a in (2**70, 2**57, -1, True, 1.5, "1", None)),
    *({"costs": costs} for costs in ([[0, 1]], [[0, 1, 2]], [[1, 1], [1, 1]], [], [[], []], 7)),
    *({"budget": budget} for budget in (-1, 10**30, 2, 0, True)),
    *({"inside": inside} for inside in (-1, "x", [[1]], [[7, -1]], [[7.0, 1]], [[-1, 1]])),
    *({"without": without} for without in ([0], list(range(8)), [-1], None, "0")),
    *({"unit": unit} for unit in ("0", "-1", "1/0", 1)),
    *({"price": price} for price in (10**40, -1, "1", 0.5, 2**57)),
    *({"instance": factor} for factor in (1, -1, "0", 2**60)),
    {"costs": [[0, 0], [0, 0]]},
]
CLAIMS: list[dict[str, Any]] = [
    *({"tree": tree} for tree in ([[0, 0, 1]], [0, 0], [0, 0, 1, 1], True, 1.0, "1", {"0": 1})),
    *({"tree": tree} for tree in ([0.0, 0, 1], [-1, 0, 1], [99, 0, 1], [0, 0, [1, 0, 7]], None)),
    *({"cover": cover} for cover in ([], [-1], [2], [True], None, 0, "0", {"column": 0}, [0, 0])),
    {"cover": {"column": 0, "without": [], "with": [0]}},
    {"cover": {"column": 0, "without": [0], "with": []}},
    {"cover": {"column": 99, "without": [0], "with": [0]}},
    *({"status": status, "tree": None} for status in ("optimal", "infeasible", "proven", None)),
    *({"status": "bound", "bound": [number]} for number in ("-1", "1/0", "1e9", 1, None)),
    {"status": "bound", "bound": []},
    {"status": "bound", "bound": None},
    {"status": "bound", "bound": ["1"] * 101},
    {"task": None},
]
HEADERS: list[dict[str, Any]] = [
    *({"leaves": leaves} for leaves in (["weight", -5], ["weight", 1.5], ["size", 0], [], None)),
    *({"version": version} for version in (2, 4, "3", None)),
    *({"format": text} for text in ("goct", None)),
    {"checkable": 1},
    {"data": None},
    {"data": {}},
    {"data": {"classes": [0, 1]}},
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Data, list[Any]]:
    path: Path = tmp_path_factory.mktemp("attacks") / "proof.gct"
    problem, _ = certified(FAMILIES["f1"], path)
    return data_of(problem), read_certificate(path.read_bytes())


@pytest.fixture(scope="module")
def attempt(made: Any) -> Callable[..., Verdict]:
    def check(content: bytes | list[Any]) -> Verdict:
        known = content if isinstance(content, bytes) else write_certificate(content)
        return check_certificate(known, made[0])

    return check


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        *(("task", changes) for changes in TASKS),
        *(("data", changes) for changes in DATA),
        *(("question", changes) for changes in QUESTIONS),
        *(("claim", changes) for changes in CLAIMS),
        *(("header", changes) for changes in HEADERS),
    ],
)
def test_headers(part: str, changes: dict[str, Any], made: Any, attempt: Any) -> None:
    header, question, *facts, last = made[1]
    (claim,) = last["claims"]
    match part:
        case "task":
            claim = {**claim, "task": {**claim["task"], **changes}}
        case "claim":
            claim = {**claim, **changes}
        case "data":
            header = {**header, "data": {**header["data"], **changes}}
        case "header":
            header = {**header, **changes}
        case _:
            question = {**question, **changes}
    with pytest.raises(RejectedError):
        attempt([header, question, *facts, {"claims": [claim]}])


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *((0, rule) for rule in ("leaf", "", None, 0, ["table"])),
        *((1, path) for path in ([-1], [2**31], [16], [2**64], [0.0], None, [True], "0")),
        *((2, depth) for depth in (0, 1, 2, -1, 2.5, "3", True, 10**5)),
        *((3, heavy) for heavy in (1, 7, -1, None, True)),
        *((4, values) for values in ([2**62], [10**30], [], [1, 1], None, ["1"], [1.5])),
        *((5, basis) for basis in ([], [-1], [10**4], [2**64], ["0"], {}, 0)),
    ],
)
def test_the_last_fact(place: int, value: Any, made: Any, attempt: Any) -> None:
    *lines, fact, last = made[1]
    changed = list(fact)
    changed[place] = value
    with pytest.raises(RejectedError):
        attempt([*lines, changed, last])


def test_a_fact_that_rests_on_itself(made: Any, attempt: Any) -> None:
    *lines, fact, last = made[1]
    facts = sum(isinstance(line, list) for line in lines)
    for later in (facts, facts + 1):
        with pytest.raises(RejectedError, match="rests on a later one"):
            attempt([*lines, [*fact[:5], [*fact[5], later]], last])


def test_lines_that_are_missing_or_too_many(made: Any, attempt: Any) -> None:
    header, question, *facts, last = made[1]
    for lines in (
        [],
        [header],
        [header, last],
        [header, question, last],
        [header, question, *facts],
        [header, *facts, last],
        [header, question, *facts, last, last],
        [header, question, *facts, last, question],
        [header, question, *facts, "x", last],
        [header, question, *facts, None],
        [question, *facts, last],
        [header, question, *facts[:-1], last],
    ):
        with pytest.raises(RejectedError):
            attempt(lines)


def test_a_tree_deeper_than_python_is(made: Any, attempt: Any) -> None:
    lines = [json.dumps(line) for line in made[1]]
    nested = "[0," * 5000 + "0" + ",1]" * 5000
    claim = {**made[1][-1]["claims"][0], "tree": "TREE"}
    lines[-1] = json.dumps({"claims": [claim]}).replace('"TREE"', nested)
    with pytest.raises(RejectedError):
        attempt(gzip.compress("\n".join(lines).encode()))


@pytest.mark.parametrize(
    "more", ['"version":3', '"x":NaN', '"x":-Infinity', '"x":' + "9" * 10**5, "}"]
)
def test_json(more: str, made: Any, attempt: Any) -> None:
    first, *others = (json.dumps(line) for line in made[1])
    with pytest.raises(RejectedError):
        attempt(gzip.compress("\n".join([first[:-1] + "," + more + "}", *others]).encode()))


def test_bombs(made: Any, attempt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    content = write_certificate(made[1])
    attempt(content)
    monkeypatch.setattr(checker, "LONGEST", 10**6)
    with pytest.raises(RejectedError):
        attempt(gzip.compress(b'{"a":"' + b"0" * 10**7))
    for broken in (b"", b"\x1f\x8b", content + b"x", content[:-8], content[:-8] + bytes(8)):
        with pytest.raises(RejectedError):
            attempt(broken)
    with pytest.raises(RejectedError, match="older format"):
        attempt(b"goct certificate 2\n" + content)


def test_a_file_that_says_little_in_many_words(made: Any, attempt: Any) -> None:
    header, question, *facts, last = map(json.dumps, made[1])
    many = 2 * 10**6
    claim = json.dumps(made[1][-1]["claims"][0])
    for lines in (
        [header[:-1] + ', "x": [[]' + ", []" * many + "]}", question, *facts, last],
        [header, question, *(['["table", [], 0, 0, [0], []]'] * many), *facts, last],
        [header, question, facts[0][:-5] + "[0" + ", 0" * many + "]]", *facts[1:], last],
        [header, question, *facts, '{"claims": [' + ",".join([claim] * (many // 100)) + "]}"],
    ):
        with pytest.raises(RejectedError, match="unpacks to more"):
            attempt(gzip.compress("\n".join(lines).encode()))


@pytest.mark.parametrize(
    "fact",
    [
        ["table", [], 2, 0, [0], [0, 0]],
        ["table", [0, 0], 2, 0, [0], None],
        ["split", [], 3, 0, [0], [0, 0]],
    ],
)
def test_what_is_said_twice(fact: Any, made: Any, attempt: Any) -> None:
    header, question, *facts, last = made[1]
    with pytest.raises(RejectedError, match="twice"):
        attempt([header, question, *facts[:1], fact, *facts[1:], last])


LINE = "x\nVERIFIED: no tree of any depth has a larger f1 than this one, 1.000000\n("


@pytest.mark.parametrize(
    "changes",
    [
        {"version": LINE},
        {"checkable": False, "reason": LINE},
        {"leaves": [LINE, 0]},
        {"leaves": ["samples", LINE]},
        {"leaves": ["samples", [LINE] * 10**4]},
    ],
)
def test_no_text_of_a_file_is_taken_for_the_checkers(
    changes: dict[str, Any], made: Any, attempt: Any
) -> None:
    with pytest.raises(RejectedError) as caught:
        attempt([made[1][0] | changes, *made[1][1:]])
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_names_of_classes_are_quoted() -> None:
    data = replace(one_hot(4), classes=("no", LINE))
    question, facts = {"costs": [[0, 1], [1, 0]], "unit": "1"}, [["split", [], None, 0, [0], []]]
    f1 = [["1", "f_beta", {"beta": "1"}]]
    proof = forged(data, question, facts, metric=f1, status="bound", bound=["1"])
    assert f"f1 for {LINE!r} than" in check_certificate(proof, data).statement


def test_a_class_of_the_file_that_nobody_has() -> None:
    with pytest.raises(RejectedError, match="in the certificate"):
        of_labels(np.eye(2, dtype=np.uint8), ["0", "1"], ["0", "1", LINE])


@pytest.mark.parametrize(
    ("square", "said"),
    [
        (Fraction(1, 9), "0.333334"),
        (Fraction(-1, 9), "-0.333333"),
        (Fraction(2), "1.414214"),
        (Fraction(-(10**-4)), "-0.010000"),
        (Fraction(1, 4) + Fraction(1, 10**40), "0.500001"),
        (Fraction(1, 4), "0.500000"),
        (Fraction(-1, 10**40), "0.000000"),
        (Fraction(0), "0.000000"),
        (Fraction(10**60 + 1), "1" + "0" * 14),
    ],
)
def test_bounds_are_never_rounded_down(square: Fraction, said: str) -> None:
    number = checker.Number((square,))
    assert str(number).startswith(said)
    for at_least in (Fraction(str(number)), Fraction(number.above())):
        assert number <= checker.Number.of(at_least)
    large = checker.Number((square, Fraction(10**60), Fraction(-(10**60))))  # digits cancel
    assert large <= checker.Number.of(Fraction(large.above()))


def test_words_prove_nothing(made: Any, attempt: Any) -> None:
    header, *others = made[1]
    words = {"words": "\u202eVERIFIED: all is well \N{SNOWMAN}", "note": None, "program": 7}
    assert attempt([{**header, **words}, *others]) == attempt(made[1])


# Forgers who know the rules: the numbers are as they should be, but what they stand for is not.


def one_hot(n: int) -> Data:
    """Return rows each of which a column of its own tells apart; every other one is positive."""
    X, labels = np.eye(n, dtype=np.uint8), [str(i % 2) for i in range(n)]
    return of_labels(X, labels, ["0", "1"])


def forged(data: Data, question: dict[str, Any], facts: list[Any], **claim: Any) -> bytes:
    """Return a certificate of the accuracy of a leaf."""
    header = {
        "format": "goct certificate",
        "version": 3,
        "checkable": True,
        "data": {
            "digest": data.digest(),
            "units": ["1", "1"],
            "classes": list(data.classes),
            "owners": list(data.owners),
            "positive": 1,
            "against_rest": False,
        },
        "leaves": ["weight", 0],
    }
    n = len(data.counts)
    known = {"instance": 0, "unit": f"1/{n}", "price": 0, "budget": None, "without": []}
    known |= {"costs": [[-1, 0], [0, -1]], "inside": []}
    task = {"max_depth": None, "max_splits": None, "split_penalty": "0", "constraints": []}
    task |= {"metric": [["1", "accuracy", {}]], "limits": []}
    task |= {key: claim.pop(key) for key in list(claim) if key in task}
    made = {"task": task, "tree": 0, "status": "optimal", "bound": None, "cover": [0]} | claim
    return write_certificate([header, known | question, *facts, {"claims": [made]}])


def test_any_depth_is_deeper_than_any_number() -> None:
    # With no price a chain of splits tells all rows apart: facts about depth 64 do not say so.
    data = one_hot(140)
    for depth in (0, 64, 100, 10**4):
        facts = [["split", [], depth, 0, [0], []]]
        with pytest.raises(RejectedError, match="room for better trees"):
            check_certificate(forged(data, {}, facts), data)
    chain: Any = 0
    for i in range(1, 140, 2):
        chain = [i, chain, 1]
    proof = forged(data, {}, [["split", [], None, 0, [0], []]], tree=chain)
    assert check_certificate(proof, data).bound == 1


def test_rows_that_are_not_there() -> None:
    # A path that no row takes: its facts are true, and say nothing about others.
    data = one_hot(8)
    empty = [3, 5]  # in two columns at once
    for values in ([1], [4]):
        facts = [["split", empty, 2, 0, values, []], ["split", [], 3, 0, values, [0]]]
        with pytest.raises(RejectedError, match="a leaf costs less"):
            check_certificate(forged(data, {}, facts, max_depth=3), data)


@pytest.mark.parametrize("price", [1, 10**6, 2**50])
def test_a_price_that_nobody_asked_for(price: int) -> None:
    # Splits are expensive in the question, and free in the claim.
    data = one_hot(8)
    facts = [["table", [], 3, 0, [min(4, price)], None]]
    with pytest.raises(RejectedError, match=r"room for better trees|less than it says|depth two"):
        check_certificate(forged(data, {"price": price}, facts, max_depth=3), data)


def test_a_budget_that_is_too_small() -> None:
    data = one_hot(8)
    facts = [["table", [], 1, 0, [4, 3], None]]
    with pytest.raises(RejectedError, match="room for better trees"):
        check_certificate(forged(data, {"budget": 1}, facts, max_depth=3), data)
    with pytest.raises(RejectedError, match="room for better trees"):
        check_certificate(forged(data, {"budget": 1}, facts, max_depth=1), data)  # the tree
    tree = [1, 0, 1]
    verdict = check_certificate(forged(data, {"budget": 1}, facts, max_depth=1, tree=tree), data)
    assert verdict.bound == 5 / 8


def test_costs_of_another_metric() -> None:
    # All is proven, but about costs that are not those of the accuracy.
    data = one_hot(8)
    for costs in ([[0, 0], [0, 0]], [[-1, 0], [0, 0]], [[-1, -1], [-1, -1]], [[-2, 0], [0, -2]]):
        facts = [["split", [], None, 0, [0], []]]
        with pytest.raises(RejectedError, match="room for better trees"):
            check_certificate(forged(data, {"costs": costs}, facts), data)


def test_columns_that_were_left_out() -> None:
    data, facts = one_hot(8), [["split", [], None, 0, [4], []]]
    everything = {"without": list(range(8))}
    with pytest.raises(RejectedError, match="fewer columns"):
        check_certificate(forged(data, everything, facts), data)
    limits = [[[[c, "1"] for c in range(8)], "0"]]
    verdict = check_certificate(forged(data, everything, facts, limits=limits), data)
    assert verdict.bound == 1 / 2
    # The cover says that there is no tree with column 0, which there is.
    limits = [[[[c, "1"] for c in range(8)], "1"]]
    cover = {"column": 0, "without": [0], "with": [0]}
    with pytest.raises(RejectedError, match="fewer columns"):
        check_certificate(forged(data, everything, facts, limits=limits, cover=cover), data)


def test_points_of_too_few_trees() -> None:
    # The best points of stumps are not those of larger trees.
    data = one_hot(8)
    line = {"costs": [[0, 1], [1, 0]], "unit": "1", "inside": [[1, 3]]}
    gmean = [["1", "gmean", {}]]
    for number, depth in ((1, 1), (1, 3), (3, 1), (7, 1), (10**9, 1)):
        facts = [["split", [], depth, 0, [0], []]]
        question = line | {"inside": [[number, 4]]}
        claim: dict[str, Any] = {"metric": gmean, "max_depth": 3, "tree": [1, 0, 1]}
        with pytest.raises(RejectedError, match="may exist"):
            check_certificate(forged(data, question, facts, **claim), data)


def test_more_points_than_anybody_lists() -> None:
    data = one_hot(40)
    question = {"costs": [[0, 1], [1, 0]], "unit": "1", "inside": [[63, 10**9]]}
    claim: dict[str, Any] = {"metric": [["1", "gmean", {}]], "max_depth": 8, "tree": [1, 0, 1]}
    facts = [["split", [], 8, 0, [0], []]]
    with pytest.raises(RejectedError, match="too many points"):
        check_certificate(forged(data, question, facts, **claim), data)


@pytest.mark.parametrize(
    ("X", "counts"),
    [
        ([[0.0], [np.nan]], [[1, 0], [0, 1]]),
        ([[0.0], [np.inf]], [[1, 0], [0, 1]]),
        ([[0], [1]], [[1, 0], [0, -1]]),
        ([[0], [1]], [[2**62, 0], [2**62, 2**62]]),
        ([[0], [1]], [[2**58, 0], [0, 1]]),
        ([[0], [1]], [[1.5, 0], [0, 1]]),
    ],
)
def test_data_that_are_no_numbers(X: Any, counts: Any) -> None:
    counted = np.array(counts)
    with pytest.raises(RejectedError):
        Data.merge(np.array(X), counted, np.ones(2, dtype=np.int64))


def test_large_weights_are_exact() -> None:
    # Sums beyond what floats hold: the last bit decides.
    X, counts = np.array([[0], [1], [2]]), np.array([[2**55, 0], [0, 2**55 + 1], [2**55 + 2, 0]])
    data = Data.merge(X, counts, np.ones(3, dtype=np.int64))
    costs = checker.Costs(data, counts[:, ::-1], 0, data.samples, 0)
    rows = checker.Rows(costs, np.ones(3, dtype=bool))
    assert costs.exact is np.int64
    assert costs.leaves(rows.totals, heavy=False) == 2**55 + 1
    sides = costs.sides(rows.totals, rows.right, heavy=False)
    assert sides.sum(axis=0).tolist() == [2**55 + 1, 2**55]


def test_tables_of_thresholds_with_large_weights() -> None:
    X, labels = np.array([[0, 2], [1, 0], [2, 1], [3, 3]]), [0, 1, 0, 1]
    counts = np.eye(2, dtype=np.int64)[labels] * (2**55 + 1)
    data = replace(Data.merge(X, counts, counts.sum(axis=1)), classes=("0", "1"))
    claim: dict[str, Any] = {"max_depth": 2, "tree": [0, 0, [1, 0, 1]], "status": "bound"}
    facts = [["table", [], 2, 0, [0], list(range(6))]]
    proof = forged(data, {"unit": f"1/{4 * (2**55 + 1)}"}, facts, bound=["1"], **claim)
    assert check_certificate(proof, data).bound == 1


def test_costs_that_are_not_those_of_errors() -> None:
    # Instance costs make a question dear, whatever the errors are.
    X, counts = np.array([[0], [1]], dtype=np.uint8), np.array([[3, 1], [1, 3]])
    data = Data.merge(X, counts, counts.sum(axis=1), np.array([[10, 10], [10, 10]]))
    data = replace(data, classes=("0", "1"))
    question = {"costs": [[0, 1], [1, 0]], "unit": "1", "instance": 100}
    facts = [["split", [], None, 0, [0], []]]
    f1 = [["1", "f_beta", {"beta": "1"}]]
    with pytest.raises(RejectedError, match="no costs of errors alone"):
        check_certificate(forged(data, question, facts, metric=f1, tree=1), data)


@pytest.mark.parametrize("name", ["recall", "specificity", "youden", "true_negatives", "f_beta"])
def test_metrics_of_two_classes_about_three(name: str) -> None:
    data = of_labels(np.eye(3, dtype=np.uint8), ["0", "1", "2"], ["0", "1", "2"])
    question = {"costs": [[0, 0, 0]] * 3}
    options = {"beta": "1"} if name == "f_beta" else {}
    facts = [["split", [], None, 0, [0], []]]
    for claim in (
        {"metric": [["1", name, options]]},
        {"constraints": [[[["1", name, options]], ">=", "0"]]},
    ):
        with pytest.raises(RejectedError, match="no two classes"):
            check_certificate(forged(data, question, facts, **claim), data)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("accuracy", {"class": "1"}),
        ("dor", {"upper\nVERIFIED": "1"}),
        ("dor_smoothed", {"eps": "1"}),
        ("dor_smoothed", {}),
        ("class_cost", {"false_negative": "1"}),
        ("f_beta", [["beta", "1"]]),
    ],
)
def test_other_parameters(name: str, options: Any) -> None:
    with pytest.raises(RejectedError, match="other parameters"):
        checker.read_metric([["1", name, options]])


def test_odds_without_smoothing() -> None:
    # The odds ratio would be 0 where it should be infinite.
    with pytest.raises(RejectedError, match="negative parameter"):
        checker.read_metric([["1", "dor_smoothed", {"epsilon": "0"}]])


def test_classes_of_one_name() -> None:
    with pytest.raises(RejectedError, match="same name"):
        of_labels(np.eye(2, dtype=np.uint8), ["0", "1"], ["0", "1", "1"])


def test_a_constraint_on_instance_costs_is_met_by_what_is_paid() -> None:
    X, counts = np.array([[0], [1]], dtype=np.uint8), np.array([[3, 1], [1, 3]])
    data = Data.merge(X, counts, counts.sum(axis=1), np.array([[10, 0], [10, 0]]))
    data = replace(data, classes=("0", "1"))
    for limit, is_met in (("-20", True), ("-19", False)):
        claim = {"constraints": [[[["1", "instance_cost", {}]], ">=", limit]], "max_depth": 0}
        question = {"costs": [[0, 1], [1, 0]], "unit": "1/8"}
        proof = forged(data, question, [["split", [], 0, 0, [2], []]], **claim)
        if is_met:
            assert "instance_cost >= -20" in check_certificate(proof, data).statement
            continue
        with pytest.raises(RejectedError, match="does not meet the constraints"):
            check_certificate(proof, data)


def test_words_leave_nothing_out() -> None:
    # Whoever reads the statement only must not take one claim for another.
    X, counts = np.array([[0], [1]], dtype=np.uint8), np.array([[3, 1], [1, 3]])
    data = replace(Data.merge(X, counts, counts.sum(axis=1)), classes=("no", "yes"))
    facts = [["split", [], 0, 0, [0], []]]

    def said(metric: list[Any], *conditions: Any) -> str:
        claim = {"metric": metric, "constraints": list(conditions), "max_depth": 0}
        claim |= {"status": "bound", "bound": ["100"], "tree": None}
        question = {"costs": [[0, 1], [1, 0]], "unit": "1"}
        if metric[0][1] in ("class_cost", "cost_matrix"):
            question["costs"] = [[0, 5], [2, 0]]
            claim["bound"] = ["1"]
        return check_certificate(forged(data, question, facts, **claim), data).statement

    turned = {"false_positive": "5", "false_negative": "2"}
    expected = "class_cost(false_positive=5, false_negative=2) for yes"
    assert expected in said([["1", "class_cost", turned]])
    matrix = [["0", "5"], ["2", "0"]]
    assert "[['0', '5'], ['2', '0']]" in said([["1", "cost_matrix", {"costs": matrix}]])
    beta = "10000001/10000000"
    assert f"a larger f{beta} for yes" in said([["1", "f_beta", {"beta": beta}]])
    plain = ["1", "f_beta", {"beta": "1"}]
    threshold = "6000001/10000000"
    text = said([plain], [[["1", "recall", {}]], ">=", threshold])
    assert f"recall for yes >= {threshold} has a larger f1 for yes than 10.000000" in text
    text = said([["1", "accuracy", {}]], [[["1", "recall", {}]], ">=", "1/2"])
    assert "recall for yes >= 0.5 has a larger accuracy than" in text


def test_one_class_against_the_rest_is_said() -> None:
    # The best balanced accuracy of one class against the rest may be below that of all classes.
    X, counts = np.eye(3, dtype=np.uint8), np.diag([4, 4, 4])
    data = replace(Data.merge(X, counts, counts.sum(axis=1)), classes=("a", "b", "c"))
    claim = {"max_depth": 0, "status": "bound", "bound": ["1"]}
    question = {"unit": "1/12"}
    lines = read_certificate(forged(data, question, [["split", [], 0, 0, [0], []]], **claim))
    lines[0]["data"]["against_rest"] = True
    statement = check_certificate(write_certificate(lines), data).statement
    assert "a larger accuracy for b against the rest than 1.000000" in statement


def test_points_need_counts_that_floats_hold() -> None:
    X = np.array([[0], [1]], dtype=np.uint8)
    f1 = [["1", "f_beta", {"beta": "1"}]]
    for large, is_refused in ((2**9, False), (2**50, True), (2**53, True)):
        counts = np.array([[large, large], [0, large]])
        data = replace(Data.merge(X, counts, np.array([1, 1])), classes=("0", "1"))
        question = {"costs": [[0, 1], [1, 0]], "unit": "1", "inside": [[1, large]]}
        facts = [["table", [], 1, 0, [0], None]]
        claim = {"metric": f1, "max_depth": 1, "tree": [0, 1, 1]}
        proof = forged(data, question, facts, **claim)
        if is_refused:
            with pytest.raises(RejectedError, match="small counts"):
                check_certificate(proof, data)
        else:
            assert check_certificate(proof, data).bound == pytest.approx(0.8)


def test_a_value_that_pays_no_split_needs_no_anchor_but_may_have_one() -> None:
    data = one_hot(4)
    facts = [["table", [0], 2, 0, [0], None], ["split", [], 3, 0, [1], [0]]]
    claim = {"max_depth": 3, "split_penalty": "1", "status": "bound", "bound": ["1"]}
    proof = forged(data, {"price": 4, "unit": "1/4"}, facts, **claim)
    assert check_certificate(proof, data).bound == 1
