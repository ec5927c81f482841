"""The queue of what is asked for: how long it takes, when it is full, and what is taken back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from controller.parts import Parts
from controller.publish import Repository
from controller.publish.images import Images
from controller.settings import ControllerSettings
from tests.functional.controller import shopping
from tests.functional.controller.kit import Api, Clock
from tests.functional.controller.shopping import DEPLOY, deploy


@pytest.fixture
def settings(tmp_path: Path, database: str | None) -> Iterator[ControllerSettings]:
    """With a registry, and a queue that is soon full."""
    with shopping.settings(tmp_path, database, queue={"limit": 3}) as made:
        yield made


@pytest.fixture
def shop(admin: Api) -> str:
    """Storefront in the catalogue and the site harbor; the token of harbor's runner."""
    return shopping.opened(admin)


def test_a_full_queue_says_when_to_come_back(shop, operator: Api):
    """Past queue.limit it is 429 with Retry-After."""
    found = [
        operator.post("/deployments", json={**DEPLOY, "name": f"shop-{number}"})
        for number in range(4)
    ]
    assert [answer.status_code for answer in found] == [202, 202, 202, 429]
    assert int(found[3].headers["Retry-After"]) >= 1


def test_a_request_that_waits_can_be_taken_back(shop, operator: Api, parts: Parts):
    """Queued, it is cancelled; published, it is not."""
    first = operator.post("/deployments", json=DEPLOY).json["id"]
    answer = operator.delete(f"/requests/{first}")
    assert (answer.status_code, answer.json["state"]) == (200, "cancelled")
    deploy(operator, parts)
    second = operator.get("/requests").json["items"][0]["id"]
    assert operator.delete(f"/requests/{second}").status_code == 409


def test_a_request_that_is_being_published_can_be_taken_back(
    shop, operator: Api, parts: Parts, monkeypatch: pytest.MonkeyPatch
):
    """While its documents are made it is cancelled, and nothing of it gets into Git."""
    head, pinned, told = parts.repository.head(), Images.pinned, []

    def slow(images: Images, image: str) -> str:
        told.append(operator.get("/requests").json["items"][0]["state"])
        told.append(operator.delete(f"/requests/{asked}").json["state"])
        return pinned(images, image)

    monkeypatch.setattr(Images, "pinned", slow)
    asked = operator.post("/deployments", json=DEPLOY).json["id"]
    parts.publisher.publish_all()
    assert told[:2] == ["publishing", "cancelled"]
    assert operator.get(f"/requests/{asked}").json["state"] == "cancelled"
    assert parts.repository.head() == head
    assert operator.get("/deployments").json["items"] == []


def test_what_is_being_pushed_is_not_taken_back(
    shop, operator: Api, parts: Parts, monkeypatch: pytest.MonkeyPatch
):
    """Its commit is on its way: 409 says what to do, and it is published."""
    advance, told = Repository.advance, []

    def pushing(repository: Repository, head: str | None, new: str) -> bool:
        told.append(operator.delete(f"/requests/{asked}"))
        return advance(repository, head, new)

    monkeypatch.setattr(Repository, "advance", pushing)
    asked = operator.post("/deployments", json=DEPLOY).json["id"]
    parts.publisher.publish_all()
    assert (told[0].status_code, told[0].json["title"]) == (409, "Conflict")
    assert "being pushed" in told[0].json["cure"]
    assert operator.get(f"/requests/{asked}").json["state"] == "published"


def test_when_it_is_published_is_told_by_what_was(
    shop, operator: Api, parts: Parts, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    """The next one takes as long as the one before it took, and one behind it twice that."""
    advance = Repository.advance

    def slowly(self: Repository, head: str | None, new: str) -> bool:
        clock.forward(8)
        return advance(self, head, new)

    monkeypatch.setattr(Repository, "advance", slowly)
    deploy(operator, parts)
    other = {**DEPLOY, "name": "other"}
    first = operator.post("/deployments", json=other).json
    second = operator.post("/deployments", json={**other, "name": "third"}).json
    in_seconds = [
        (datetime.fromisoformat(one["eta"]) - clock()).total_seconds() for one in (first, second)
    ]
    assert in_seconds == [8, 16]
