"""What the tests of the runner's ways to nodes and to Git share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab
from runner.reconcile.commands import Commands
from runner.source import Source
from tests.support.place import LIMIT, NODE, Place
from tests.support.repository import Repository
from tests.support.shop import clean
from tests.support.site import World
from tests.support.sources import make_source
from tests.support.waiting import eventually

FILE = "/etc/ssh/sshd_config.d/00-patient.conf"


@pytest.fixture(scope="session")
def lab(lab: Lab) -> Iterator[Lab]:
    """The lab, its sshd not counting failed logins: tests of those come from one address."""
    names = [node.name for node in lab.nodes()]
    for name in names:
        lab.ssh(name, f"echo 'PerSourcePenalties no' > {FILE}; systemctl restart ssh")
    yield lab
    for name in names:
        lab.ssh(name, f"rm -f {FILE}; systemctl restart ssh")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with storefront 1.0.0 for harbor."""
    made = Repository(tmp_path)
    made.deploy("1.0.0")
    made.push()
    return made


@pytest.fixture
def source(tmp_path: Path, repository: Repository) -> Source:
    """Harbor's view of it."""
    return make_source(tmp_path, repository)


@pytest.fixture
def place(lab: Lab, tmp_path: Path) -> Iterator[Place]:
    """A site where 1.0.0 runs on one node, and whose controller knows it."""
    made = Place(lab, tmp_path)
    try:
        made.runner.start()
        made.runner.add(NODE, lab.node(NODE).address, lab.key, lab.host_key(NODE))
        made.want("1.0.0")
        eventually(lambda: made.runs("1.0.0"), LIMIT, "1.0.0 runs", 0.2)
        eventually(lambda: len(made.history()) == len(made.moves()), LIMIT, "it is known", 0.2)
        yield made
    finally:
        made.runner.kill(signal.SIGTERM)
        made.controller.stop()
        made.controller.registry.stop()
        clean(lab, NODE)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A site where nothing is deployed yet; its two nodes are only pretended."""
    made = World(tmp_path)
    yield made
    made.runner.close()


@pytest.fixture
def running(world: World) -> World:
    """A site where 1.0.0 runs on both nodes."""
    world.repository.deploy("1.0.0")
    world.repository.push()
    world.settle()
    assert world.versions() == {"harbor-1": "1.0.0", "harbor-2": "1.0.0"}
    return world


@pytest.fixture
def commands(running: World) -> Commands:
    """The commands of that site."""
    work, ground = running.runner.work, running.runner.ground
    return Commands(
        ground.store,
        running.executor,
        work.look_at,
        lambda: None,
        work.wanted_release,
    )
