"""From the webhook door to one question at Git."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from flask import Flask

from margrave.documents.site import SiteDocument
from margrave.errors import Unreachable
from margrave.secret import Secret
from runner.reconcile.loop import Repeater, pause
from runner.reconcile.watch import Watch
from runner.source import Desired, Source
from runner.store import Store
from runner.web import hooks, public
from runner.web.status import Status
from tests.support.forges import FOLLOWED, NOW, SECRET, github, recorded
from tests.support.waiting import eventually
from webhook import Deliveries, door

HOOKS = 1000


class CountingSource:
    """A remote with one commit for us, that counts how it is asked."""

    def __init__(self, folder: Path) -> None:
        self.asked = self.fetched = 0
        self.found = Desired("c" * 40, "t", (), SiteDocument(), folder, {}, None)

    def has_moved(self, commit: str | None) -> bool:
        """git ls-remote."""
        self.asked += 1
        return commit != self.found.commit

    def fetch(self, last: Desired | None, accepted: str | None) -> Desired:
        """git fetch."""
        self.fetched += 1
        return self.found

    def keep_components(self, *_: object) -> None:
        """Nothing is kept."""


@contextmanager
def running(repeater: Repeater) -> Iterator[None]:
    """Its thread, ended at the end."""
    thread = threading.Thread(target=repeater.run)
    thread.start()
    try:
        yield
    finally:
        repeater.stop()
        thread.join(10)
        assert not thread.is_alive()


def opened(repeater: Repeater) -> Flask:
    """The real door in front of it."""
    app = Flask("test")
    app.register_blueprint(door([Secret(SECRET)], FOLLOWED, lambda _: repeater.hint(), lambda: NOW))
    return app


def knock(app: Flask, number: int) -> str:
    """Deliver a push of its own id and body; the status that is answered."""
    body = json.dumps(json.loads(recorded("github_push")) | {"number": number}).encode()
    headers = github(body) | {"X-GitHub-Delivery": f"delivery-{number}"}
    return str(app.test_client().post("/hooks/git", data=body, headers=headers).json["status"])


def test_a_thousand_hooks_in_a_second_become_one_fetch(tmp_path: Path) -> None:
    """All are taken; one is fetched for, and the rest share a cheap question."""
    source = CountingSource(tmp_path)
    store = Store(tmp_path / "state", lambda: datetime.now(UTC))
    watch = Watch(store, cast(Source, source))
    repeater = Repeater(
        "git", 600, lambda hinted: watch.look(hinted=hinted), at_once=False, gather=1.0
    )
    app = opened(repeater)
    with running(repeater), ThreadPoolExecutor(4) as pool:
        begun = datetime.now(UTC)
        answers = list(pool.map(lambda number: knock(app, number), range(HOOKS)))
        seconds = (datetime.now(UTC) - begun).total_seconds()
        assert answers == ["accepted"] * HOOKS
        assert source.fetched == 1
        eventually(lambda: source.asked >= 1)
        assert source.asked <= seconds + 1
    assert source.fetched == 1
    store.close()


def test_what_comes_while_it_looks_is_looked_at_again() -> None:
    """A hint during a turn may tell of what that turn missed, so another turn follows."""
    turns: list[bool] = []
    begun, go_on = threading.Event(), threading.Event()

    def work(hinted: bool) -> None:
        turns.append(hinted)
        begun.set()
        go_on.wait(10)

    repeater = Repeater("git", 600, work, gather=0.01)
    with running(repeater):
        assert begun.wait(10)
        repeater.hint()
        go_on.set()
        eventually(lambda: turns == [True, False])
        eventually(lambda: repeater.hint() is None and turns[-1] and len(turns) > 2)


def test_a_remote_that_is_away_is_asked_ever_more_rarely() -> None:
    """Intervals double up to a bound, and are the plain ones again after a success."""
    assert [pause(30, failures, 8) for failures in (0, 1, 2, 3, 4, 10_000)] == [
        30, 60, 120, 240, 240, 240,
    ]  # fmt: skip
    assert pause(10, 7, 1) == 10


def test_a_failing_turn_backs_off_until_a_hint(caplog: pytest.LogCaptureFixture) -> None:
    """What failed is told in a line; who has news is heard at once; then the pace is as before."""
    turns: list[bool] = []

    def work(hinted: bool) -> None:
        turns.append(hinted)
        if len(turns) == 1:
            raise Unreachable("git.example: no route", "")

    repeater = Repeater("git", 0.2, work, slowest=1_000_000)
    repeater._failures = 20  # before this one: its next turn by itself would be minutes away
    with running(repeater):
        eventually(lambda: "git: git.example: no route; it is tried again" in caplog.text)
        repeater.hint()
        eventually(lambda: len(turns) >= 4)
    assert turns[:2] == [True, True]


def test_gathering_ends_with_the_runner() -> None:
    """Who stops need not wait until the pause is over."""
    repeater = Repeater("git", 600, lambda _: None, gather=600)
    with running(repeater):
        repeater.hint()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A runner's store."""
    made = Store(tmp_path / "state", lambda: datetime.now(UTC))
    yield made
    made.close()


def test_a_delivery_is_looked_up_by_its_id(store: Store) -> None:
    """What it was, and whether Git was asked since; unknown ids are 404, strangers 401."""
    looked: list[datetime] = []
    deliveries, repeater = Deliveries(), Repeater("git", 600, lambda _: None)
    status = Status("harbor", store, lambda _: None)  # type: ignore[arg-type, return-value]
    lookup = hooks.lookup(
        deliveries, lambda: looked[-1] if looked else None, status, Secret("token")
    )
    entrance = door([Secret(SECRET)], FOLLOWED, lambda _: repeater.hint(), lambda: NOW, deliveries)
    app = public.create_app(status, Secret("token"), entrance, lookup)
    client = app.test_client()
    assert knock(app, 7) == "accepted"
    found = client.get("/hooks/git/delivery-7").json
    assert (found["forge"], found["ref"], found["looked"]) == ("github", "refs/heads/main", False)
    assert found["received_at"].startswith("2025-11-18T12:00:00")
    assert (found["applied_commit"], found["halted"]) == (None, None)
    for offset, answer in ((-1.0, False), (0.5, True)):
        looked.append(datetime.fromtimestamp(NOW + offset, UTC))
        assert client.get("/hooks/git/delivery-7").json["looked"] is answer
    assert client.get("/hooks/git/another").status_code == 404
    far = {"REMOTE_ADDR": "203.0.113.9"}
    assert client.get("/hooks/git/delivery-7", environ_base=far).status_code == 401
    bearer = {"Authorization": "Bearer token"}
    assert client.get("/hooks/git/delivery-7", environ_base=far, headers=bearer).status_code == 200
