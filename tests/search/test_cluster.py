"""One question on a Dask cluster of processes."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from contextlib import suppress

import numpy as np
import pytest

import goct
from goct import Limit, Problem, Status, solve
from goct.search import cluster
from goct.search.frontier import frontier

distributed = pytest.importorskip("distributed", reason="Dask is in the extra 'cluster'")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.filterwarnings("default"),  # Dask's own
]


def draw(rows: int = 400, columns: int = 24, seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    X = (rng.random((rows, columns)) < 0.5).astype(int)
    y = (X[:, 0] & X[:, 1]) ^ (X[:, 2] | X[:, 3]) ^ (rng.random(rows) < 0.3)
    return Problem.from_arrays(X, y.astype(int))


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Leave even small questions to the workers."""
    monkeypatch.setattr(cluster, "_ALONE", 0.0)
    monkeypatch.setattr(cluster, "_ALONE_AGAIN", 0.0)


@pytest.mark.parametrize(
    ("metric", "more"),
    [
        ("accuracy", {}),
        ("f1", {}),
        ("accuracy", {"split_penalty": 0.005}),
        ("f1", {"split_penalty": 0.01}),
        ("accuracy", {"max_splits": 6, "min_samples_leaf": 10}),
        ("precision", {"constraints": "recall >= 0.6"}),
    ],
)
def test_the_answer_is_that_of_one_machine(client, metric, more, monkeypatch):
    answers = []
    ask = cluster.Cluster.ask

    def watch(*unit):
        answers.append(ask(*unit))
        return answers[-1]

    monkeypatch.setattr(cluster.Cluster, "ask", watch)
    monkeypatch.setattr(cluster, "_LONG_UNIT", 0.01)  # some are divided
    problem = draw(columns=16)
    alone = solve(problem, metric, 4, **more)
    found = solve(problem, metric, 4, executor=client, **more)
    assert answers  # of the workers
    assert found.status is Status.OPTIMAL
    assert found.objective == alone.objective == found.bound
    assert found.tree == alone.tree


def test_paths_and_frontiers(client):
    problem = draw(200, 12)
    alone, found = goct.path(problem, "f1", 4), goct.path(problem, "f1", 4, executor=client)
    assert [s.objective for s in found] == [s.objective for s in alone]
    assert found.is_proven


def test_points_inside_the_hull_are_searched_by_workers(client, monkeypatch):
    asked = []
    answer_all = cluster.Cluster.answer_all

    def watch(self, method, questions, *more):
        answers = answer_all(self, method, questions, *more)
        asked.extend(method for answer in answers[0] if answer is not None)
        return answers

    monkeypatch.setattr(cluster.Cluster, "answer_all", watch)
    problem = draw(200, 12)
    alone, found = (
        frontier(problem, 4, pareto=True),
        frontier(problem, 4, pareto=True, executor=client),
    )
    assert {*asked} == {"solve", "search_front"}
    assert found.is_complete
    assert found.pareto == alone.pareto
    assert found.vertices == alone.vertices


@pytest.mark.parametrize("happens", ["kill", "stop", "time", "ctrl-c"])
def test_a_frontier_that_is_disturbed(client, happens):
    problem = draw(1200, 30)  # some seconds
    done = []

    def look(_progress):
        if done:
            return False
        done.append(True)
        if happens == "kill":
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        if happens == "ctrl-c":
            os.kill(os.getpid(), signal.SIGINT)
        return happens == "stop"

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        limit = 0.3 if happens == "time" else None
        found = frontier(problem, 4, pareto=True, executor=client, callback=look, time_limit=limit)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done or happens == "time"
    limits = {"kill": Limit.NONE, "time": Limit.TIME}
    assert found.limit is limits.get(happens, Limit.INTERRUPTED)
    if happens == "kill":
        assert found.pareto == frontier(problem, 4, pareto=True, n_jobs=2).pareto
    else:
        assert len(found.vertices) >= 2


def count_desks(client):
    return client.run(lambda dask_worker: len(dask_worker.state.actors)).values()


def test_every_threshold_is_searched_by_the_client(client):
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    problem = Problem.from_columns(X, (X[:, 0] + X[:, 1] * rng.random(200) > 0.8).astype(int))
    alone = solve(problem, "f1", 2)
    with pytest.warns(UserWarning, match="every threshold is searched by this machine alone"):
        together = solve(problem, "f1", 2, executor=client)
    assert together.tree == alone.tree
    assert together.bound == alone.bound == alone.objective


def test_workers_forget_the_data(client):
    solve(draw(columns=12), "accuracy", 4, executor=client)
    until = time.monotonic() + 10
    while any(count_desks(client)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(count_desks(client))


def test_a_time_limit_and_a_callback(client):
    problem = draw(600, 40)
    for more in ({"time_limit": 2.0}, {"callback": lambda progress: progress.elapsed > 2}):
        begin = time.monotonic()
        found = solve(problem, "accuracy", 6, executor=client, **more)
        assert time.monotonic() - begin < 100  # a day without a limit
        assert found.limit in (Limit.TIME, Limit.INTERRUPTED)
        assert found.tree is not None
        assert found.objective <= found.bound
        # Nobody works on after that.
        begin = time.monotonic()
        solve(draw(columns=12), "accuracy", 4, executor=client)
        assert time.monotonic() - begin < 20


def test_ctrl_c(client):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        found = solve(draw(600, 40), "accuracy", 6, executor=client)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert found.limit is Limit.INTERRUPTED
    assert found.tree is not None


@pytest.mark.parametrize("kind", [signal.SIGSTOP, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_lost_worker_costs_its_unit(client, kind):
    problem = draw(600, 60)
    alone = solve(problem, "accuracy", 5)
    lost = []

    def lose(progress):
        if not lost and progress.elapsed > 0.3:
            lost.append(next(iter(client.run(os.getpid).values())))
            os.kill(lost[0], kind)

    try:
        found = solve(problem, "accuracy", 5, executor=client, callback=lose, time_limit=200)
    finally:
        with suppress(ProcessLookupError):
            os.kill(lost[0], signal.SIGKILL)
    assert found.status is Status.OPTIMAL
    assert (found.objective, found.tree) == (alone.objective, alone.tree)


def test_a_lost_scheduler_leaves_the_best_tree():
    workers = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
    client = distributed.Client(workers)
    closed = []

    def close(progress):
        if not closed and progress.elapsed > 1.5:
            closed.append(True)
            client.close()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = solve(draw(600, 40), "accuracy", 6, executor=client, callback=close)
    workers.close()
    assert any("best tree so far" in str(w.message) for w in caught)
    assert found.limit is Limit.INTERRUPTED
    assert found.tree is not None
    assert found.objective <= found.bound


def test_clear_messages(client, monkeypatch):
    problem = draw()
    monkeypatch.setattr(cluster, "_WAIT", 1)
    with pytest.raises(TypeError, match=r"Dask client.*got str"):
        solve(problem, executor="tcp://nowhere")
    with pytest.raises(ValueError, match="no Dask scheduler answers"):
        cluster.connect("tcp://127.0.0.1:1")
    other = distributed.Client(client.scheduler.address, set_as_default=False)
    other.close()
    with pytest.raises(ValueError, match="the client is closed"):
        solve(problem, executor=other)
    monkeypatch.setattr(cluster.Cluster, "memory", lambda _: 1000)
    with pytest.raises(ValueError, match="larger --memory-limit"):
        solve(problem, executor=client)
    monkeypatch.undo()

    def is_gone(*_):
        raise OSError("it was ended")  # as CommClosedError is

    monkeypatch.setattr(client, "nthreads", is_gone)
    with pytest.raises(ValueError, match=r"the scheduler does not answer \(it was ended\)"):
        solve(problem, executor=client)
    monkeypatch.undo()
    monkeypatch.setattr(cluster, "_version", lambda: "0.0.0")
    with pytest.raises(ValueError, match=r"has goct .*, this is goct 0\.0\.0; install the same"):
        solve(problem, executor=client)


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(cluster, "_WAIT", 0.1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as empty,
        distributed.Client(empty) as client,
        pytest.raises(ValueError, match="has no workers; start some with 'dask worker tcp"),
    ):
        solve(draw(), executor=client)
