"""Lanes of threads: served in turn, none taken by one client, and bounded."""

from __future__ import annotations

import threading
import time

import pytest

from controller.edge import lanes, routing
from controller.edge.lanes import Lane, LaneSize
from tests.support.waiting import eventually


class Gate:
    """Tasks that wait until they are let go, in the order in which they began."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.open = threading.Event()

    def task(self, name: str) -> None:
        self.begun.append(name)
        assert self.open.wait(10)


def test_clients_are_served_in_turn() -> None:
    """Who sends twenty requests at once waits for nobody else's one to be forgotten."""
    lane, gate = Lane("test", LaneSize(threads=1, share=1)), Gate()
    for number in range(20):
        assert lane.offer(lambda n=number: gate.task(f"greedy {n}"), ("address a",))
    eventually(lambda: len(gate.begun) == 1, 5, "the first began")
    assert lane.offer(lambda: gate.task("modest"), ("address b",))
    gate.open.set()
    eventually(lambda: len(gate.begun) == 21, 5, "all began")
    assert gate.begun.index("modest") <= 2


def test_a_client_gets_its_share_of_the_threads() -> None:
    """With four threads and a share of three one is always free for somebody else."""
    lane, gate = Lane("test", LaneSize(threads=4, share=3)), Gate()
    for number in range(8):
        lane.offer(lambda n=number: gate.task(f"a {n}"), ("address a", f"credential {number}"))
    eventually(lambda: len(gate.begun) == 3, 5, "three began")
    lane.offer(lambda: gate.task("b"), ("address b",))
    eventually(lambda: "b" in gate.begun, 5, "the other began")
    assert len(gate.begun) == 4
    assert lane.state() == lanes.LaneState(running=4, waiting=5, refused=0)
    gate.open.set()
    eventually(lambda: lane.state().waiting == 0, 5, "all began")


def test_a_full_queue_refuses() -> None:
    """Beyond its room a lane takes nothing, and counts what it refused."""
    lane, gate = Lane("test", LaneSize(threads=1, share=1, waiting=2)), Gate()
    lane.offer(lambda: gate.task("running"), ("a",))
    eventually(lambda: bool(gate.begun), 5, "it runs")
    assert [lane.offer(lambda: gate.task("x"), ("a",)) for _ in range(3)] == [True, True, False]
    assert lane.state().refused == 1
    gate.open.set()


def test_threads_without_work_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A burst leaves no threads behind."""
    monkeypatch.setattr(lanes, "IDLE_THREAD", 0.05)
    lane, done = Lane("burst", LaneSize(threads=8, share=8)), threading.Semaphore(0)
    for _ in range(20):
        lane.offer(done.release, ("a",))
    for _ in range(20):
        assert done.acquire(timeout=5)
    eventually(
        lambda: not [t for t in threading.enumerate() if t.name.startswith("http-burst")], 5, "end"
    )
    lane.offer(done.release, ("a",))
    assert done.acquire(timeout=5)


def test_a_failing_task_ends_alone() -> None:
    """Its thread and its share are there for the next one."""
    lane, done = Lane("test", LaneSize(threads=1, share=1)), threading.Event()
    lane.offer(lambda: 1 / 0, ("a",))
    lane.offer(done.set, ("a",))
    assert done.wait(5)


def test_a_lane_that_makes_no_progress_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that waits while nothing ends: systemd is to know."""
    monkeypatch.setattr(lanes, "STALLED", 0.1)
    lane, gate = Lane("test", LaneSize(threads=1, share=1)), Gate()
    lane.offer(lambda: gate.task("stuck"), ("a",))
    eventually(lambda: bool(gate.begun), 5, "it runs")
    time.sleep(0.15)
    assert not lane.stalled()  # nothing waits behind it
    lane.offer(lambda: gate.task("next"), ("a",))
    eventually(lane.stalled, 5, "it is noticed")
    gate.open.set()
    eventually(lambda: not lane.stalled(), 5, "it goes on")


@pytest.mark.parametrize(
    ("request_", "lane"),
    [
        ("GET /healthz", routing.HEALTH),
        ("GET /readyz", routing.READINESS),
        ("GET /api/v1/events", routing.STREAMS),
        ("GET /live", routing.STREAMS),
        ("GET /api/v1/sites/harbor/stream", routing.STREAMS),
        ("GET /api/v1/operations/42/events", routing.STREAMS),
        ("POST /git/deployments.git/git-receive-pack", routing.GIT),
        ("POST /api/v1/sites/harbor/heartbeat", routing.RUNNERS),
        ("POST /api/v1/sites/harbor/reports", routing.RUNNERS),
        ("POST /api/v1/login", routing.SIGN_INS),
        ("POST /sign-in", routing.SIGN_INS),
        ("GET /sign-in/oidc/back", routing.SIGN_INS),
        ("GET /api/v1/deployments", routing.READS),
        ("GET /sign-in", routing.READS),
        ("POST /api/v1/deployments", routing.CHANGES),
        ("DELETE /api/v1/sites/harbor", routing.CHANGES),
    ],
)
def test_each_request_has_its_lane(request_: str, lane: str) -> None:
    """By method and path; a lane's name is one of those that have threads."""
    assert routing.lane_of(*request_.split()) == lane
    assert lane in routing.sizes(16, 64)
