"""What holds a whole site: a lock and its end, and a document that this version cannot read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from margrave.lifecycle import State
from runner.store import desired, outbox, site
from tests.support.site import World
from tests.support.waiting import eventually


def test_a_lock_holds_everything_back(running: World) -> None:
    """An operator at the site can stop it, and let it go on."""
    desk = running.runner.admin.test_client()
    answer = desk.post("/lock", json={"owner": "eva", "reason": "inventory"})
    assert answer.get_json()["locked"]["reason"] == "inventory"
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.settle()
    assert set(running.versions().values()) == {"1.0.0"}
    waiting = running.placements()["harbor-1"].waiting
    assert waiting is not None and (waiting["for"], waiting["detail"]) == (
        "lock",
        "inventory (eva)",
    )
    desk.post("/unlock")
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}


def test_a_lock_that_has_ended_is_told_of_no_more(running: World) -> None:
    """Neither at the site nor at its controller; what waited for it begins."""
    until = datetime.now(UTC) + timedelta(seconds=1)
    desk = running.runner.admin.test_client()
    locked = {"owner": "eva", "reason": "inventory", "until": until.isoformat()}
    assert desk.post("/lock", json=locked).status_code == 200
    running.repository.deploy("1.1.0")
    running.repository.push()
    eventually(lambda: datetime.now(UTC) > until)
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}
    with running.runner.ground.store.read() as tx:
        assert site.site_state(tx).locked is None
        sites = [one.data["locked"] for one in outbox.waiting(tx, 10_000) if one.kind == "site"]
    assert [bool(one) for one in sites[-2:]] == [True, False]
    assert "margrave_runner_locked 0" in running.runner.public.test_client().get("/metrics").text


def test_what_a_newer_version_cannot_read_is_not_taken_for_removed(running: World) -> None:
    """It was fine for the version before: the site halts with the finding, what runs runs on."""
    store = running.runner.ground.store
    with store.write() as tx:
        kept = desired.load(tx)
        assert kept is not None
        texts = {path: f"{text}colour: blue\n" for path, text in kept.documents.items()}
        desired.save(tx, replace(kept, tree="as it was read then", documents=texts))
    calls = len(running.executor.calls)
    running.restart()
    for _ in range(2):
        running.runner.work.reconciler.tick()
    assert "colour" in running.halted()
    assert {one.state for one in running.placements().values()} == {State.INSTALLED}
    assert len(running.executor.calls) == calls
    running.settle()
    assert not running.halted()
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}
