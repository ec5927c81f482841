"""One lab for all integration tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from lab import Engine, Lab, preflight
from lab.errors import NotPossibleHere

if TYPE_CHECKING:
    from collections.abc import Iterator

NODES = ("harbor-1", "harbor-2", "depot-1")


@pytest.fixture(scope="session")
def needs_lab() -> None:
    """Skip, with the reason, where no lab can be made."""
    try:
        preflight.check()
    except NotPossibleHere as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def lab(needs_lab: None) -> Iterator[Lab]:
    """Three running nodes and a filled registry, shared by all tests: leave them as they were.

    With MARGRAVE_TEST_LAB=NAME the lab of that name is used, and kept for the next run.
    """
    kept = os.environ.get("MARGRAVE_TEST_LAB")
    shared = Lab(kept or "test")
    shared.up(NODES)
    yield shared
    if not kept:
        shared.down()


@pytest.fixture(scope="session")
def docker_node(lab: Lab) -> str:
    """A node of the shared lab with Docker Engine and no podman; made when first asked for."""
    lab.up(["yard-1"], engine=Engine.DOCKER)
    return "yard-1"
