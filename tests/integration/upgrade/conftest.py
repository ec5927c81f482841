"""Lab nodes with the disks and containers that earlier versions left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab
from tests.support import fixture_sets
from tests.support.fixture_sets import FixtureSet
from tests.support.restored_node import RestoredNode
from tests.support.shop import ENGINES, Shop

NODES = {"podman": "harbor-1", "docker": "yard-1"}


@pytest.fixture(scope="session")
def lab(lab: Lab) -> Lab:
    """The lab, its registry with the images that the sets name by digest."""
    fixture_sets.push_images(lab)
    return lab


@pytest.fixture(scope="module", params=fixture_sets.sets(), ids=fixture_sets.names())
def fixture_set(request: pytest.FixtureRequest) -> FixtureSet:
    """Each kept set in turn."""
    fixture_set: FixtureSet = request.param
    return fixture_set


@pytest.fixture(scope="module", params=ENGINES)
def node(
    request: pytest.FixtureRequest,
    fixture_set: FixtureSet,
    lab: Lab,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RestoredNode]:
    """A node of the set with its containers running, for all tests of a module."""
    engine = request.param
    if engine == "docker":
        request.getfixturevalue("docker_node")
    base: Path = tmp_path_factory.mktemp("node")
    shop = Shop(lab, base, {}, node=NODES[engine], engine=engine)
    restored = RestoredNode(fixture_set, shop, base)
    try:
        restored.restore()
        yield restored
    finally:
        shop.clean()
