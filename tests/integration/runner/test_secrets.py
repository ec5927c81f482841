"""Secrets that travel in Git: used, rotated, and what cannot be opened halts before it harms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyrage
import pytest

from margrave.lifecycle import Outcome, State
from runner.settings import Secrets
from runner.store import operations
from tests.support.repository import STOREFRONT
from tests.support.site import World

DOCUMENT = f"deployments/harbor/{STOREFRONT}.yaml"
TOKEN = "secrets/harbor/token.age"


class Keeper:
    """Whoever may encrypt for the site."""

    def __init__(self, key: Path) -> None:
        identity = pyrage.x25519.Identity.generate()
        self.recipient = identity.to_public()
        key.write_text(f"# public key: {self.recipient}\n{identity}\n")

    def write(self, world: World, value: str) -> None:
        """Put the secret into the work tree, closed to everybody but the site."""
        path = world.repository.tree / TOKEN
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pyrage.encrypt(value.encode(), [self.recipient]))


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    """With a key that the site has."""
    return Keeper(tmp_path / "site.key")


@pytest.fixture
def world(tmp_path: Path, keeper: Keeper) -> Iterator[World]:
    """A site where a deployment runs that takes its greeting from a secret in Git."""
    made = World(tmp_path, secrets=Secrets(age_key=tmp_path / "site.key"))
    made.repository.deploy("1.0.0")
    document = made.repository.tree / DOCUMENT
    document.write_text(document.read_text().replace("hello 1.0.0", "secret://token"))
    keeper.write(made, "first")
    made.repository.push()
    made.settle()
    yield made
    made.runner.close()


def greetings(world: World) -> list[str]:
    """What each call was given, in order."""
    calls = world.executor.calls
    return [one.arguments["components"][0]["variables"]["GREETING"] for one in calls]


def test_a_rotated_secret_is_an_update_that_says_so(world: World, keeper: Keeper) -> None:
    """The document is the same; what its secret is changed, canary first as any update."""
    assert greetings(world) == ["first", "first"]
    keeper.write(world, "second")
    world.repository.push()
    world.settle()
    assert greetings(world) == ["first", "first", "second", "second"]
    with world.runner.ground.store.read() as tx:
        reasons = {one.reason for one in operations.latest(tx, 2)}
    assert reasons == {"secret changed"}


def test_a_secret_is_nowhere_but_in_the_call(world: World, keeper: Keeper, tmp_path: Path) -> None:
    """Neither value nor key lies in database, logs, status or reports."""
    keeper.write(world, "s3cr3t-v4lue")
    world.repository.push()
    world.settle()
    assert greetings(world)[-1] == "s3cr3t-v4lue"
    world.runner.ground.store.close()
    found = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert len(found) > 5
    for path in found:
        content = path.read_bytes()
        assert b"s3cr3t-v4lue" not in content, path
        assert b"AGE-SECRET-KEY" not in content, path


def test_a_restart_without_git_still_has_its_secrets(world: World) -> None:
    """A heal needs the value too, and the repository may be away."""
    world.restart()
    world.repository.bare.rename(world.base / "away.git")
    world.executor.nodes["harbor-1"].drift[STOREFRONT] = [{"what": "web is missing"}]
    world.settle()
    assert greetings(world) == ["first", "first", "first"]


def test_what_cannot_be_opened_halts_and_the_next_commit_goes_on(
    world: World, keeper: Keeper, tmp_path: Path
) -> None:
    """What runs stays as it is; file, reason and cure are told."""
    stranger = Keeper(tmp_path / "strange.key")
    stranger.write(world, "second")
    world.repository.push()
    world.settle()
    assert world.halted().startswith(f"{TOKEN}: cannot be opened with {tmp_path / 'site.key'}")
    assert greetings(world) == ["first", "first"]
    keeper.write(world, "second")
    world.repository.push()
    world.settle()
    assert world.halted() == ""
    assert greetings(world)[2:] == ["second", "second"]


def test_a_secret_that_nobody_has_fails_before_the_node_hears_of_it(world: World) -> None:
    """A config error with the name and both places where it could be put."""
    (world.repository.tree / TOKEN).unlink()
    world.repository.push()
    world.settle()
    one = world.placements()["harbor-1"]
    assert one.error is not None
    assert "secret token is not at this site" in one.error["message"]
    assert (one.state, one.version, one.outcome) == (State.INSTALLED, "1.0.0", Outcome.ROLLED_BACK)
    assert set(world.versions().values()) == {"1.0.0"}
