"""Sizes of images never keep a plan waiting for long, whatever a registry does."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from controller.admission.sizes import LEFT_ALONE, Sizes
from controller.publish.images import NOT_REACHED, Images
from margrave.errors import NotFound, Unreachable
from margrave.findings import Severity
from tests.support.waiting import eventually

DEAD, ALIVE = "dead.example/shop:1", "alive.example/shop:1"


class Registries:
    """`dead.example` says nothing until the test lets it; everybody else answers at once."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.speaks = threading.Event()

    def layers(self, image: str, architecture: str) -> dict[str, int]:
        self.asked.append(image)
        if image.startswith("dead."):
            assert self.speaks.wait(30)
        if image.startswith("nodes."):
            raise Unreachable(f"{image}: registry nodes.example does not answer", NOT_REACHED)
        if image.startswith("empty."):
            raise NotFound("no such image", "push it")
        return {f"sha256:{image}": len(architecture)}


@pytest.fixture
def registries() -> Registries:
    return Registries()


@pytest.fixture
def now() -> list[float]:
    return [0.0]


@pytest.fixture
def sizes(registries: Registries, now: list[float]) -> Sizes:
    return Sizes(cast(Images, registries), lambda: now[0])


def plan(*images: str) -> list[dict[str, Any]]:
    return [
        {
            "nodes": [
                {"action": "install", "images": [one], "present": [], "architecture": "amd64"}
                for one in images
            ]
        }
    ]


def told(sizes: Sizes, sites: list[dict[str, Any]]) -> list[int | None]:
    sizes.fill(sites)
    return [node["bytes"] for node in sites[0]["nodes"]]


def test_a_silent_registry_is_waited_for_once(
    sizes: Sizes, registries: Registries, now: list[float]
) -> None:
    """The first plan waits a moment, those of the next minute not at all; others are asked."""
    sizes.ask(plan(DEAD, ALIVE))
    assert told(sizes, plan(DEAD, ALIVE)) == [None, 5]
    sizes.ask(plan(DEAD, "alive.example/shop:2", "dead.example/other:1"))
    assert registries.asked == [DEAD, ALIVE, "alive.example/shop:2"]
    now[0] += LEFT_ALONE + 1
    registries.speaks.set()
    sizes.ask(plan("dead.example/other:1"))
    assert told(sizes, plan("dead.example/other:1")) == [5]


def test_a_late_answer_ends_the_silence(sizes: Sizes, registries: Registries) -> None:
    """What comes after the plan helps the next one, and the registry is asked again."""
    sizes.ask(plan(DEAD))
    registries.speaks.set()
    eventually(lambda: told(sizes, plan(DEAD)) == [5])
    sizes.ask(plan("dead.example/other:1"))
    assert told(sizes, plan("dead.example/other:1")) == [5]


def test_what_is_refused_at_once_is_asked_again(sizes: Sizes, registries: Registries) -> None:
    """Only silence is remembered: an image that was missing may be pushed a moment later."""
    sizes.ask(plan("empty.example/shop:1"))
    sizes.ask(plan("empty.example/shop:1", "$IMAGE"))
    assert registries.asked == ["empty.example/shop:1", "empty.example/shop:1", "$IMAGE"]


def test_a_registry_that_only_nodes_reach_is_a_warning_of_the_plan(
    sizes: Sizes, registries: Registries
) -> None:
    """Each tagged image of a registry that gives no answer; one with its digest needs none."""
    pinned = f"nodes.example/shop@sha256:{'a' * 64}"
    sites = plan("nodes.example/shop:1", DEAD, ALIVE, pinned)
    sizes.ask(sites)

    found = sizes.warnings(sites)

    registries.speaks.set()
    assert [one.severity for one in found] == [Severity.WARNING] * 2
    first, second = (one.message for one in found)
    assert first.startswith("registry dead.example does not answer the controller within 1 s")
    assert second.startswith("nodes.example/shop:1: registry nodes.example does not answer")
    assert all("the request waits until it does" in one.message for one in found)
    assert all("[[registries]]" in one.cure for one in found)
