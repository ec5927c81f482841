"""After a restart the site lives on what was kept; what of it cannot be read removes nothing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from margrave.documents.deployment import Deployment, read_deployment
from margrave.errors import DocumentError
from margrave.findings import Finding
from margrave.lifecycle import Kind
from tests.support.repository import STOREFRONT
from tests.support.site import World

OTHER = STOREFRONT.replace("3f", "4f", 1)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A site where 1.0.0 runs on both nodes, with another deployment beside it."""
    made = World(tmp_path)
    made.repository.deploy("1.0.0")
    made.repository.deploy("1.0.0", name="other", identifier=OTHER)
    made.repository.write("sites/harbor.yaml", "labels: {zone: shop}\n")
    made.repository.push()
    made.settle()
    assert len(made.executor.calls) == 4
    yield made
    made.runner.close()


@pytest.fixture
def stricter(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A version that refuses the storefront's document; undone, it is the version before."""

    def read(text: str, path: str = "") -> Deployment:
        if STOREFRONT in path:
            raise DocumentError([Finding("/spec/old", "is no known key", "leave it", file=path)])
        return read_deployment(text, path)

    monkeypatch.setattr("runner.source.subtree.read_out_of_bounds", read)
    return monkeypatch


def ready_check(world: World, name: str) -> str:
    """What readiness says of one part."""
    checks = world.runner.public.test_client().get("/readyz").get_json()["checks"]
    return str(next(one["detail"] for one in checks if one["name"] == name))


def test_a_kept_document_that_cannot_be_read_any_more_removes_nothing(
    world: World, stricter: pytest.MonkeyPatch
) -> None:
    """Neither before Git was asked nor after it, and the reason names the file."""
    world.restart()
    world.runner.work.reconciler.tick()
    assert f"deployments/harbor/{STOREFRONT}.yaml" in world.halted()
    assert "is no known key" in ready_check(world, "halted")
    assert "is no known key" in ready_check(world, "git")
    world.executor.nodes["harbor-2"].drift[OTHER] = [{"what": "web is missing"}]
    world.settle()
    world.runner.work.watch.look(hinted=False)
    world.settle()
    assert len(world.executor.calls) == 4
    assert set(world.versions().values()) == {"1.0.0"}
    assert "is no known key" in world.halted()


def test_a_site_whose_document_cannot_be_read_begins_nothing(world: World) -> None:
    """Its pause, its windows and its policy are not what a site without a document has."""
    with sqlite3.connect(world.base / "state/runner.db") as kept:
        kept.execute("update desired set site_document = 'paused: nonsense'")
    world.restart()
    world.repository.bare.rename(world.base / "elsewhere.git")
    world.executor.nodes["harbor-2"].drift[STOREFRONT] = [{"what": "web is missing"}]
    world.settle()
    assert len(world.executor.calls) == 4
    assert "sites/harbor.yaml" in world.halted()


def test_a_push_that_mends_it_lets_the_site_go_on(
    world: World, stricter: pytest.MonkeyPatch
) -> None:
    """What was halted is compared with the history it followed, as any other commit."""
    world.restart()
    world.runner.work.reconciler.tick()
    world.repository.remove(f"deployments/harbor/{STOREFRONT}.yaml")
    world.repository.push()
    world.settle()
    assert not world.halted()
    assert set(world.versions().values()) == {None}
    assert len(world.executor.calls) == 6


def test_rewritten_history_is_not_taken_for_the_mend(
    world: World, stricter: pytest.MonkeyPatch
) -> None:
    """A halt for one reason must not open the door for another."""
    world.restart()
    world.repository.rewrite()
    world.settle()
    assert "history was rewritten" in world.halted()
    assert len(world.executor.calls) == 4


def test_the_version_that_took_it_goes_on_where_it_was(
    world: World, stricter: pytest.MonkeyPatch
) -> None:
    """Going back to it ends the halt, and nothing is done twice."""
    world.restart()
    world.settle()
    assert world.halted()
    stricter.undo()
    world.restart()
    world.settle()
    assert not world.halted()
    assert len(world.executor.calls) == 4


def test_a_runner_that_knows_no_state_of_git_takes_nothing_off(world: World) -> None:
    """Not knowing what is wanted is something else than nothing being wanted."""
    with sqlite3.connect(world.base / "state/runner.db") as kept:
        kept.execute("delete from desired")
    world.restart()
    world.repository.bare.rename(world.base / "elsewhere.git")
    world.settle()
    assert len(world.executor.calls) == 4
    assert set(world.versions().values()) == {"1.0.0"}


def test_a_component_that_a_power_cut_left_empty_is_taken_again(world: World) -> None:
    """Nothing of it reaches a node, and nothing is begun while it cannot be had."""
    for file in (world.base / "state/components").rglob("compose.yaml"):
        file.write_bytes(b"")
    world.restart()
    world.executor.nodes["harbor-2"].drift[STOREFRONT] = [{"what": "web is missing"}]
    elsewhere = world.base / "elsewhere.git"
    world.repository.bare.rename(elsewhere)
    world.settle()
    assert len(world.executor.calls) == 4
    assert "is not whole in the state folder" in world.halted()
    elsewhere.rename(world.repository.bare)
    world.settle()
    assert not world.halted()
    (call,) = world.executor.calls[4:]
    assert Path(call.arguments["components"][0]["src"], "compose.yaml").read_bytes()


def test_a_call_that_a_power_cut_interrupted_waits_for_what_it_carries(world: World) -> None:
    """It is made again once its components are whole: a release is not blamed for our disk."""
    world.executor.lost = {Kind.UPDATE}
    answered = threading.Event()
    world.executor.before_answer = lambda call: answered.set()
    world.repository.deploy("1.1.0", number=1)
    world.repository.push()
    world.runner.work.watch.look(hinted=True)
    world.runner.work.reconciler.tick()
    assert answered.wait(30)
    made = len(world.executor.calls)
    world.executor.lost = set()
    for file in (world.base / "state/components").rglob("compose.yaml"):
        file.write_bytes(b"")
    elsewhere = world.base / "elsewhere.git"
    world.repository.bare.rename(elsewhere)
    world.restart()
    world.settle()
    assert len(world.executor.calls) == made
    elsewhere.rename(world.repository.bare)
    world.settle()
    assert set(world.versions().values()) == {"1.1.0"}
    assert {one.kind for one in world.executor.calls[made:]} == {Kind.UPDATE}
