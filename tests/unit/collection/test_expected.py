"""What is half made or sick is made again, and nothing that holds data is taken away for it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _expected
from ansible_collections.margrave.edge.plugins.module_utils._containers import (
    NUMBER,
    REPLACES,
    SERVICE,
    Container,
)
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release

PART = Part(name="shop", digest="sha256:0", project="p")


def _container(ident: str, state: str = "running", **labels: str) -> Container:
    own = {SERVICE: "web", NUMBER: "1", **labels}
    return Container(ident, ident, "", "", state, "", labels=own)


OLD, NEW = _container("old"), _container("new", "created", **{REPLACES: "web-1"})


@pytest.mark.parametrize(
    ("mine", "twins"),
    [
        ([OLD], []),
        ([OLD, NEW], ["new"]),
        ([NEW], []),  # it alone has what the other wrote
        ([NEW, _container("newer", "created", **{REPLACES: "web-1"})], ["new"]),
        ([OLD, _container("second", "created", **{REPLACES: "web-2", NUMBER: "2"})], []),
        ([OLD, _container("running", "running", **{REPLACES: "web-1"})], []),
    ],
)
def test_of_two_that_are_one_the_half_made_goes(mine: list[Container], twins: list[str]) -> None:
    """A container that was to replace another goes while that one is there, and never both."""
    assert [one.id for one in _expected.twins(mine)] == twins


def test_services_that_compose_would_leave_sick() -> None:
    """Those of the model that are unhealthy or half made; others Compose ends by itself."""
    sick = Container("1", "web-1", "", "", "running", "unhealthy", labels={SERVICE: "web"})
    gone = Container("2", "gone-1", "", "", "created", "", labels={SERVICE: "gone"})

    assert _expected.unfit(PART, {"services": {"web": {}}}, [sick, gone]) == {"web"}
    assert _expected.unfit(PART, {"services": {"web": {}}}, [OLD]) == set()


def test_a_container_without_its_files_is_made_again() -> None:
    """It would not start again after the next boot."""
    lost = Container("1", "web-1", "", "", "running", "", labels=OLD.labels, lost=("/gone",))

    assert _expected.unfit(PART, {"services": {"web": {}}}, [lost]) == {"web"}


@pytest.mark.parametrize(
    ("service", "restart"),
    [
        ({}, ""),
        ({"restart": "always"}, "always"),
        ({"deploy": {"restart_policy": {"condition": "any"}}}, "always"),
        ({"deploy": {"restart_policy": {"condition": "none"}}}, "no"),
        (
            {"deploy": {"restart_policy": {"condition": "on-failure", "max_attempts": 3}}},
            "on-failure:3",
        ),
    ],
)
def test_when_a_service_is_started_again(service: dict[str, Any], restart: str) -> None:
    """Compose has two places to say it."""
    release = Release("r", "sha256:r", None, "", "", {}, [PART])

    judge = _expected.judge({"services": {"web": service}}, release, [])

    assert judge.services == {"web": restart}
