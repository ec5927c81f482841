"""Heartbeats that come together are taken together, and each is answered for its own site."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from controller.reports.messages import Heartbeat
from controller.store import Session, Store
from margrave.errors import NotFound
from tests.functional.controller.kit import Api, Clock, Runner, add_deployment, add_site
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.parts import Parts

SITES = tuple(f"site-{number:02}" for number in range(12))


def _beat(parts: Parts, epoch: int = 1, commit: str = "c" * 40) -> Heartbeat:
    return Heartbeat.model_validate(
        {
            "protocol": 1,
            "runner": str(uuid.uuid4()),
            "epoch": epoch,
            "at": parts.clock().isoformat(),
            "applied_commit": commit,
            "nodes": [],
        }
    )


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for each transaction that writes."""
    found: list[int] = []
    write = Store.write

    @contextmanager
    def counted(store: Store) -> Iterator[Session]:
        with write(store) as session:
            found.append(len(found))
            yield session

    monkeypatch.setattr(Store, "write", counted)
    return found


def _while_one_writes(parts: Parts, sites: tuple[str, ...]) -> dict[str, Future[dict[str, Any]]]:
    """Let heartbeats of all these sites come while another transaction is under way."""
    with ThreadPoolExecutor(len(sites)) as pool, parts.store.write():
        told = {one: pool.submit(parts.heartbeats.take, one, _beat(parts)) for one in sites}
        others = len(sites) - 1
        eventually(lambda: parts.heartbeats.waiting >= others, 60, "all have come", 0.01)
    return told


def test_many_at_once_share_a_transaction(parts: Parts, writes: list[int], viewer: Api) -> None:
    """A dozen sites are noted in two transactions: the first that came, and all the others."""
    for site in SITES:
        add_site(parts, site)
    writes.clear()

    told = _while_one_writes(parts, SITES)

    assert all(one.result()["epoch"] == 1 for one in told.values())
    assert len(writes) == 3  # ours, the first one's, and that of the others
    shown = viewer.get("/sites").json["items"]
    assert {one["name"]: one["freshness"] for one in shown} == dict.fromkeys(SITES, "fresh")


def test_one_that_fails_harms_no_other(parts: Parts, writes: list[int]) -> None:
    """A site that is not known is told so; those that came with it are noted and answered."""
    for site in SITES:
        add_site(parts, site)

    told = _while_one_writes(parts, (*SITES, "nowhere"))

    with pytest.raises(NotFound, match="nowhere"):
        told["nowhere"].result()
    assert all(told[site].result()["epoch"] == 1 for site in SITES)


def test_of_one_site_the_higher_epoch_speaks(parts: Parts, viewer: Api, clock: Clock) -> None:
    """Two runners of one site in the same moment: both are answered, one after the other."""
    add_site(parts, "harbor")
    together = threading.Barrier(2)

    def come(epoch: int, commit: str) -> dict[str, Any]:
        together.wait(10)
        return parts.heartbeats.take("harbor", _beat(parts, epoch, commit))

    with ThreadPoolExecutor(2) as pool:
        older, newer = pool.submit(come, 1, "a" * 40), pool.submit(come, 2, "b" * 40)
    assert newer.result()["epoch"] == 2
    assert older.result()["epoch"] in (1, 2)
    assert viewer.get("/sites/harbor").json["applied_commit"] == "b" * 40


def test_a_quiet_heartbeat_wakes_no_stream(parts: Parts, harbor: Runner, clock: Clock) -> None:
    """Only a heartbeat that changes something stores an event, and only then streams are woken."""
    woken: list[int] = []
    harbor.beat()
    parts.store.on_events(lambda: woken.append(1))
    clock.forward(timedelta(seconds=10).total_seconds())
    harbor.beat()
    assert woken == []
    harbor.beat(applied_commit="d" * 40)
    assert woken == [1]


def test_a_wrong_clock_is_noticed_and_told(
    parts: Parts, harbor: Runner, clock: Clock, viewer: Api
) -> None:
    """How far a runner's clock is off is told and explained; a slow way is no fault."""
    one = add_deployment(parts, "harbor")

    def told(seconds: float) -> Any:
        later = (clock() + timedelta(seconds=seconds)).isoformat()
        assert harbor.beat(at=later).status_code == 200
        return viewer.get("/sites/harbor").json["clock_offset"]

    assert [told(at) for at in (-20, 3600, 3605, -90)] == [None, 3600, 3600, -90]
    steps = viewer.get(f"/deployments/{one}/explain").json["steps"]
    (wrong,) = [step for step in steps if step["step"] == "clock"]
    assert "90 s behind" in wrong["detail"]
    assert told(0) is None
