"""Stages of publishing: their order, and what stops none of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from controller import measures
from controller.publish.delays import Delays
from controller.publish.reader import Reader
from controller.store import documents, requests
from margrave.documents.deployment import read_deployment
from margrave.errors import MargraveError
from tests.support.registry import FakeRegistry
from tests.support.waiting import eventually
from tests.support.works import ADA, Clock, Works


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    registry = FakeRegistry().start()
    yield registry
    registry.stop()


@pytest.fixture
def works(tmp_path: Path, registry: FakeRegistry) -> Iterator[Works]:
    """Storefront 1.0.0 at depot and harbor."""
    works = Works(tmp_path / "state", registry).with_apps("depot", "harbor")
    yield works
    works.store.close()


@pytest.fixture
def storefront(works: Works) -> dict[str, str]:
    """The deployment at harbor, as requests name it."""
    answer = works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    found: dict[str, str] = answer["deployments"][0]
    return found


def greeting(works: Works, deployment: dict[str, str]) -> Any:
    return read_deployment(works.document(deployment)).values["greeting"]


def test_an_older_request_never_overwrites_a_newer_one(
    works: Works, registry: FakeRegistry, storefront: dict[str, str]
) -> None:
    """A request that waits for a registry holds back later requests for the same deployment."""
    registry.ill = True
    name = storefront["id"]
    older = works.act("update", name, version="1.1.0", parameters={"greeting": "older"})
    works.publisher.publish_all()
    newer = works.act("update", name, parameters={"greeting": "newer"})
    works.publisher.publish_all()
    assert works.request(older)["state"] == "queued"
    waiting = works.request(newer)
    assert waiting["state"] == "queued"
    assert older["id"] in waiting["error"]["message"]
    registry.ill = False
    works.clock.forward(120)
    works.publisher.publish_all()
    assert {works.request(one)["state"] for one in (older, newer)} == {"published"}
    document = read_deployment(works.document(storefront))
    assert (document.version, document.values["greeting"]) == ("1.1.0", "newer")


def test_other_deployments_of_the_site_do_not_wait_for_a_registry(
    works: Works, registry: FakeRegistry, storefront: dict[str, str]
) -> None:
    """A request that needs no registry passes one of another deployment that waits for it."""
    second = works.create("harbor", name="second", version="1.0.0")
    works.publisher.publish_all()
    registry.ill = True
    waits = works.act("update", storefront["id"], version="1.1.0")
    passes = works.act("update", second["deployments"][0]["id"], parameters={"greeting": "moin"})
    works.publisher.publish_all()
    assert works.request(waits)["state"] == "queued"
    assert works.request(passes)["state"] == "published"


def test_an_urgent_request_does_not_overtake_its_own_deployment(
    works: Works, storefront: dict[str, str]
) -> None:
    """An urgent change follows earlier changes of its deployment and passes all others."""
    name = storefront["id"]
    first = works.act("update", name, parameters={"greeting": "first"})
    other = works.create("harbor", name="other", version="1.0.0")
    urgent = {"priority": "urgent", "reason": "line stands still"}
    second = works.act("update", name, parameters={"greeting": "second"}, **urgent)
    order = []
    while works.publisher.publish_next():
        done = [one for one in (first, other, second) if works.request(one)["state"] == "published"]
        order += [one["id"] for one in done if one["id"] not in order]
    assert order == [first["id"], second["id"], other["id"]]
    assert greeting(works, storefront) == "second"


def test_what_an_urgent_request_waits_for_is_urgent_too(
    works: Works, storefront: dict[str, str]
) -> None:
    """Earlier changes of an urgent request's deployment pass all others with it."""
    name = storefront["id"]
    first = works.act("update", name, parameters={"greeting": "first"}, priority="bulk")
    other = works.create("depot", name="other", version="1.0.0")
    urgent = {"priority": "urgent", "reason": "line stands still"}
    works.act("update", name, parameters={"greeting": "second"}, **urgent)
    works.publisher.publish_next()
    assert works.request(first)["state"] == "published"
    works.publisher.publish_next()
    assert works.request(other)["state"] == "queued"
    assert greeting(works, storefront) == "second"


def test_a_cancelled_request_leaves_no_delay_behind(
    works: Works, registry: FakeRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The publisher sleeps until there is something to do, also after a delayed request ended."""
    registry.ill = True
    answer = works.create("harbor")
    works.publisher.publish_all()
    with works.store.write() as session:
        assert requests.cancel(session, answer["id"], works.clock())
    works.clock.forward(120)
    rounds: list[int] = []
    step = works.publisher.publish_next

    def counted() -> bool:
        rounds.append(1)
        return step()

    monkeypatch.setattr(works.publisher, "publish_next", counted)
    stop = threading.Event()
    thread = threading.Thread(target=works.publisher.run, args=(stop,), daemon=True)
    thread.start()
    eventually(lambda: rounds)
    stop.wait(2)  # the time in which a publisher that spins takes twenty turns
    stop.set()
    works.publisher.wake()
    thread.join(30)
    assert len(rounds) < 5


def test_a_delay_in_the_past_is_no_reason_to_wake() -> None:
    """Only requests that are still open count for the next turn."""
    clock = Clock()
    delays = Delays(clock)
    delays.later("gone")
    clock.forward(60)
    delays.keep(())
    assert delays.next_due() is None


def test_a_site_that_is_being_removed_takes_no_create(
    works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A create and the removal of its site are ordered: one of them is refused, and the site never
    comes back without its token."""
    edit = works.publisher.changes.edit

    def meanwhile(*given: Any, **more: Any) -> Any:
        with suppress(MargraveError):
            works.create("harbor", version="1.0.0")
        return edit(*given, **more)

    monkeypatch.setattr(works.publisher.changes, "edit", meanwhile)
    with suppress(MargraveError):
        works.sites.remove("harbor", ADA)
    monkeypatch.undo()
    works.publisher.publish_all()
    head = works.repository.head()
    assert head is not None
    in_git = works.repository.paths(head, ["deployments", "sites"])
    with works.store.session() as session:
        known = "harbor" in documents.sites(session)
    assert known == ("sites/harbor.yaml" in in_git)
    assert known or not any("harbor" in path for path in in_git)


def test_a_removal_that_fails_opens_the_site_again(
    works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When Git does not take the removal, the site accepts deployments as before."""

    def away(*_: Any, **__: Any) -> Any:
        raise MargraveError("Git is away")

    monkeypatch.setattr(works.publisher.changes, "edit", away)
    with pytest.raises(MargraveError, match="away"):
        works.sites.remove("harbor", ADA)
    monkeypatch.undo()
    answer = works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    assert works.request(answer)["state"] == "published"


def test_a_head_that_cannot_be_read_does_not_stop_publishing(
    works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a person pushed that reading fails at, requests are committed and published."""

    def broken(*_: object, **__: object) -> None:
        raise ValueError("a defect in reading")

    monkeypatch.setattr(Reader, "follow", broken)
    stop = threading.Event()
    thread = threading.Thread(target=works.publisher.run, args=(stop,), daemon=True)
    thread.start()
    answer = works.create("harbor", version="1.0.0")
    works.publisher.wake()
    eventually(lambda: works.request(answer)["state"] == "published", 30)
    stop.set()
    works.publisher.wake()
    thread.join(30)
    assert works.request(answer)["commit"] == works.repository.head()


def test_stages_are_measured(works: Works, registry: FakeRegistry) -> None:
    """Each stage tells how long work waited and took, and how often it failed."""
    before = {stage: _seen(stage) for stage in ("resolve", "commit", "index")}
    failures = dict(_failures())
    registry.ill = True
    works.create("harbor", version="1.0.0")
    works.publisher.publish_all()
    registry.ill = False
    works.clock.forward(60)
    works.publisher.publish_all()
    assert all(_seen(stage) > count for stage, count in before.items())
    assert _failures()["resolve"] > failures.get("resolve", 0)
    assert works.publisher.queue_lengths() == {
        "resolve": 0,
        "commit": 0,
        "index": 0,
        "emergency": 0,
    }


def _seen(stage: str) -> float:
    return sum(n for labels, n in measures.STAGE_TIME.counts() if labels["stage"] == stage)


def _failures() -> dict[str, float]:
    return {labels["stage"]: n for labels, n in measures.STAGE_FAILURES.counts()}
