"""Secrets that cannot be read for a moment are neither changed nor missing."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from margrave.lifecycle import Kind, Outcome, State
from runner.settings import Secrets
from runner.store import placements
from tests.support.repository import STOREFRONT
from tests.support.site import World

DOCUMENT = f"deployments/harbor/{STOREFRONT}.yaml"
OTHER = "9d0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d99"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The site's folder of secrets."""
    made = tmp_path / "secrets"
    made.mkdir()
    (made / "token").write_text("first\n")
    return made


@pytest.fixture
def world(tmp_path: Path, folder: Path) -> Iterator[World]:
    """A site where a deployment runs that takes its greeting from a secret in the folder."""
    made = World(tmp_path, secrets=Secrets(dir=folder))
    want(made, "1.0.0")
    made.settle()
    assert greetings(made) == ["first", "first"]
    yield made
    made.runner.close()


def want(world: World, version: str) -> None:
    """Push a version that takes its greeting from the secret, and a deployment without one."""
    world.repository.deploy(version)
    document = world.repository.tree / DOCUMENT
    document.write_text(document.read_text().replace(f"hello {version}", "secret://token"))
    world.repository.deploy("1.0.0", name="other", identifier=OTHER, number=7)
    world.repository.push()


def greetings(world: World) -> list[str]:
    """What each call of the deployment was given, in order."""
    calls = [one for one in world.executor.calls if one.arguments["deployment"] == STOREFRONT]
    return [one.arguments["components"][0]["variables"]["GREETING"] for one in calls]


def told(world: World) -> set[tuple[Any, ...]]:
    """How the placements of the deployment stand, and what they wait for."""
    with world.runner.ground.store.read() as tx:
        found = [one for one in placements.newest(tx) if one.deployment == STOREFRONT]
    return {(one.state, one.outcome, one.version, (one.waiting or {}).get("for")) for one in found}


def quarantined(world: World) -> int:
    with world.runner.ground.store.read() as tx:
        return len(placements.quarantined(tx))


def unreadable(number: int) -> Callable[[pytest.MonkeyPatch, Path], None]:
    """Let every read below the folder fail as a disk or a mount does."""

    def apply(patch: pytest.MonkeyPatch, folder: Path) -> None:
        def failing(work: Callable[..., Any]) -> Callable[..., Any]:
            def work_elsewhere(path: Path, *given: Any, **options: Any) -> Any:
                if path == folder or folder in path.parents:
                    raise OSError(number, "made so", str(path))
                return work(path, *given, **options)

            return work_elsewhere

        for name in ("read_text", "read_bytes", "iterdir"):
            patch.setattr(Path, name, failing(getattr(Path, name)))

    return apply


def away(_: pytest.MonkeyPatch, folder: Path) -> None:
    folder.rename(folder.with_name("unmounted"))


def empty(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """A mount that is away leaves the folder that it is mounted on."""
    away(patch, folder)
    folder.mkdir()


def dangling(_: pytest.MonkeyPatch, folder: Path) -> None:
    """As where a link leads into a folder that is being exchanged."""
    (folder / "token").rename(folder.with_name("token"))
    (folder / "token").symlink_to(folder / "..data" / "token")


def come_back(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Undo whatever made the folder unreadable."""
    patch.undo()
    if (folder / "token").is_symlink():
        (folder / "token").unlink()
        folder.with_name("token").rename(folder / "token")
    if folder.with_name("unmounted").exists():
        if folder.exists():
            folder.rmdir()
        folder.with_name("unmounted").rename(folder)


MOMENTS: dict[str, Callable[[pytest.MonkeyPatch, Path], None]] = {
    "EIO": unreadable(errno.EIO),
    "EACCES": unreadable(errno.EACCES),
    "ESTALE": unreadable(errno.ESTALE),
    "no folder": away,
    "an empty folder": empty,
    "a link to nowhere": dangling,
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("restarted", [False, True])
def test_a_moment_without_secrets_changes_nothing(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch, moment: str, restarted: bool
) -> None:
    """The placements wait and say for what; no call is made, nothing goes back, and they go on by
    themselves; a deployment without secrets is not held."""
    calls = len(world.executor.calls)
    MOMENTS[moment](monkeypatch, folder)
    if restarted:
        world.restart()
    for _ in range(3):
        world.settle()
        world.later += timedelta(minutes=2)
    assert told(world) == {(State.INSTALLED, Outcome.SUCCEEDED, "1.0.0", "secrets")}
    with world.runner.ground.store.read() as tx:
        [why] = {one.waiting["detail"] for one in placements.newest(tx) if one.waiting}
    assert "secret token cannot be read now: " in why
    assert len(world.executor.calls) == calls
    come_back(monkeypatch, folder)
    world.settle()
    assert told(world) == {(State.INSTALLED, Outcome.SUCCEEDED, "1.0.0", None)}
    assert (len(world.executor.calls), quarantined(world)) == (calls, 0)


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_update_waits_for_its_secrets(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """It is neither failed nor gone back from, and is done when they can be read again."""
    MOMENTS[moment](monkeypatch, folder)
    want(world, "1.1.0")
    world.settle()
    world.hurry()
    world.settle()
    assert {(state, version) for state, _, version, _ in told(world)} == {
        (State.INSTALLED, "1.0.0")
    }
    assert {waits_for for *_, waits_for in told(world)} == {"secrets"}
    come_back(monkeypatch, folder)
    world.settle()
    assert told(world) == {(State.INSTALLED, Outcome.SUCCEEDED, "1.1.0", None)}
    assert greetings(world)[2:] == ["first", "first"]
    assert {call.kind for call in world.executor.calls} == {Kind.INSTALL, Kind.UPDATE}


def test_a_call_whose_secret_cannot_be_read_is_tried_again(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could be read when the call was planned, and cannot when it is made: that is no failure of
    the release, however often it comes."""
    sensitive = world.runner.work.operations._calls.sensitive
    apply = unreadable(errno.EIO)

    def just_now(arguments: Any) -> Any:
        with monkeypatch.context() as patch:
            apply(patch, folder)
            return sensitive(arguments)

    calls = world.runner.work.operations._calls
    object.__setattr__(calls, "sensitive", just_now)
    want(world, "1.1.0")
    for _ in range(4):
        world.settle()
        world.hurry()
    found = world.placements()["harbor-1"]
    with world.runner.ground.store.read() as tx:
        errors = [one.error for one in placements.newest(tx) if one.error]
    assert {error["class"] for error in errors} == {"disk"}
    assert quarantined(world) == 0
    assert found.version == "1.0.0"
    object.__setattr__(calls, "sensitive", sensitive)
    world.hurry()
    world.settle()
    assert told(world) == {(State.INSTALLED, Outcome.SUCCEEDED, "1.1.0", None)}


def test_a_secret_that_is_gone_from_a_folder_with_others_is_missing(
    world: World, folder: Path
) -> None:
    """That is a finding about the deployment: the folder is the one that is meant."""
    (folder / "another").write_text("x")
    (folder / "token").unlink()
    want(world, "1.1.0")
    for _ in range(3):
        world.settle()
        world.hurry()
    with world.runner.ground.store.read() as tx:
        errors = [one.error for one in placements.newest(tx) if one.error]
    assert {error["class"] for error in errors} == {"config"}
    assert "secret token is not at this site" in errors[0]["message"]
