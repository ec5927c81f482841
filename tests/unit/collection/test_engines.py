"""What runs on one engine stays there; what cannot do the work says so before it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import (
    _compose,
    _engines,
    _facts,
    _info,
    _release,
    _request,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._compose_driver import ComposeDriver
from ansible_collections.margrave.edge.plugins.module_utils._containers import Container
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._errors import EngineError
from ansible_collections.margrave.edge.plugins.module_utils._files import point, write_json
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
OTHER = "4f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
DIGEST = "sha256:" + "0" * 64


@pytest.fixture
def sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets sockets of these engines be there, and the role have said which is meant."""
    places = tuple((name, str(tmp_path / f"{name}.sock")) for name in ("podman", "docker"))
    monkeypatch.setattr(_engines, "SOCKETS", places)
    monkeypatch.setattr(_engines, "WISH", str(tmp_path / "engine"))

    def there(*names: str, wish: str = "") -> None:
        for name in names:
            (tmp_path / f"{name}.sock").touch()
        if wish:
            (tmp_path / "engine").write_text(f"{wish}\n")

    return there


def _call(folder: Path, engine: str | None) -> Call:
    """A call for a deployment whose current release notes this engine; None: for a new one."""
    call = Call(_request.read({"deployment": ID}), "update", Layout(str(folder)), check=False)
    if engine is not None:
        part = _release.Part("web", DIGEST, "margrave-3f2a9c016d3e-web")
        release = _release.Release(
            "a" * 64, DIGEST, "1.0.0", "shop", "shop", {}, [part], engine=engine
        )
        Path(call.folder.release(release.release)).mkdir(parents=True)
        release.store(call.folder)
        point(call.folder.path, {"current": f"releases/{release.release}"})
    return call


@pytest.mark.parametrize(
    ("wish", "noted", "used"),
    [
        ("", None, "podman"),
        ("docker", None, "docker"),
        ("podman", "docker", "docker"),
        ("docker", "podman", "podman"),
    ],
    ids=["a new one", "a new one where the role says", "stays on docker", "stays on podman"],
)
def test_where_a_deployment_runs(
    tmp_path: Path,
    sockets: Any,
    monkeypatch: pytest.MonkeyPatch,
    wish: str,
    noted: str | None,
    used: str,
) -> None:
    """Another engine that is installed later gets no second copy of it."""
    sockets("podman", "docker", wish=wish)
    monkeypatch.setattr(Engine, "containers", lambda *_: [])

    assert ComposeDriver(_call(tmp_path, noted)).engine.name == used


def test_what_was_installed_before_engines_were_noted_stays(
    tmp_path: Path, sockets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its containers tell."""
    sockets("podman", "docker")
    monkeypatch.setattr(
        Engine, "containers", lambda self, _labels: ["one"] if self.name == "docker" else []
    )

    assert ComposeDriver(_call(tmp_path, "")).engine.name == "docker"


def test_an_engine_that_is_away_is_named(tmp_path: Path, sockets: Any) -> None:
    """What runs on Docker is not made on podman because Docker is stopped."""
    sockets("podman")

    with pytest.raises(EngineError) as away:
        _ = ComposeDriver(_call(tmp_path, "docker")).engine

    assert (away.value.code, "docker" in away.value.message) == ("engine-away", True)


def test_podman_that_answers_for_docker_is_one_engine(tmp_path: Path, sockets: Any) -> None:
    """A link in place of Docker's socket is no second engine."""
    sockets("podman")
    (tmp_path / "docker.sock").symlink_to(tmp_path / "podman.sock")

    assert [one.name for one in _engines.all_here()] == ["podman"]


def test_a_component_keeps_its_name_on_the_node(tmp_path: Path) -> None:
    """What is installed under a name of before is updated, not installed beside it."""
    call = _call(tmp_path, "podman")

    assert call.project("web") == "margrave-3f2a9c016d3e-web"
    assert call.project("new") == call.request.project("new")


# -- Compose ----------------------------------------------------------------------------------


@pytest.fixture
def composes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Lets programs be there that tell these versions; None of the plugin: Docker has none."""
    alone, host = tmp_path / "docker-compose", tmp_path / "docker"
    monkeypatch.setattr(_compose, "PROGRAMS", (str(alone),))
    monkeypatch.setattr(_compose, "PLUGIN_HOSTS", (str(host),))

    def there(version: str | None = None, *, docker: bool = False, plugin: str = "") -> None:
        if version is not None:
            alone.write_text(f"#!/bin/sh\necho {version}\n")
            alone.chmod(0o755)
        if docker:
            told = f"echo {plugin}" if plugin else "exit 1"
            host.write_text(f"#!/bin/sh\n{told}\n")
            host.chmod(0o755)

    yield there


def _found() -> _compose.Compose:
    return _compose.find(Engine("docker", "/run/docker.sock"), Programs())


@pytest.mark.parametrize(
    "version", ["2.17.0", "v2.20.2+ds1-0ubuntu1", "3.0.1", "v2.29.1-desktop.1"]
)
def test_a_compose_that_is_new_enough(composes: Any, version: str) -> None:
    """Whatever a distribution writes around the numbers."""
    composes(version)

    assert _found().program[0].endswith("docker-compose")


def test_the_plugin_is_taken_where_the_program_is_too_old(composes: Any) -> None:
    """A node may have both."""
    composes("1.29.2", docker=True, plugin="2.40.0")

    assert _found().program[-1] == "compose"


@pytest.mark.parametrize(
    ("there", "code"),
    [
        ({"version": "1.29.2"}, "compose-too-old"),
        ({"version": "2.16.0", "docker": True}, "compose-too-old"),
        ({"docker": True}, "no-compose"),
        ({}, "no-compose"),
    ],
    ids=["of Debian 12", "older than needed", "docker without the plugin", "none"],
)
def test_a_compose_that_cannot_do_it(
    composes: Any, sockets: Any, monkeypatch: pytest.MonkeyPatch, there: Any, code: str
) -> None:
    """Trouble of the engine's, not of the release's; and no deployment is placed on such a node."""
    composes(**there)
    sockets("docker")
    monkeypatch.setattr(Engine, "version", lambda _: "26.1")
    monkeypatch.setattr(_facts._kubernetes, "detect", lambda: None)

    with pytest.raises(EngineError) as refused:
        _found()
    told = _facts.gather()

    assert refused.value.code == code
    assert "2.17" in refused.value.cure
    assert told["capabilities"]["deployment_types"] == []
    assert {one["name"]: one["ok"] for one in told["checks"]}["compose"] is False


def _counting(script: Path, asked: Path, version: str) -> None:
    script.write_text(f"#!/bin/sh\necho once >>{asked}\necho {version}\n")
    script.chmod(0o755)


def test_a_version_is_asked_once_while_the_program_is_the_same(
    composes: Any, tmp_path: Path
) -> None:
    """Another file at its place is asked anew; notes that cannot be kept are no trouble."""
    composes("2.40.0")
    script, asked, notes = tmp_path / "docker-compose", tmp_path / "asked", tmp_path / "notes.json"
    engine = Engine("docker", "/run/docker.sock")
    _counting(script, asked, "2.40.0")

    for _ in range(3):
        assert _compose.find(engine, Programs(), str(notes)).program == (str(script),)
    assert asked.read_text() == "once\n"

    script.unlink()
    _counting(script, asked, "2.16.0")
    for _ in range(2):
        with pytest.raises(EngineError, match="too old"):
            _compose.find(engine, Programs(), str(notes))
    assert asked.read_text() == "once\n" * 2

    nowhere = str(tmp_path / "none" / "notes.json")
    with pytest.raises(EngineError, match="too old"):
        _compose.find(engine, Programs(), nowhere)
    assert asked.read_text() == "once\n" * 3


def test_an_answer_that_was_none_is_not_remembered(composes: Any, tmp_path: Path) -> None:
    """A program that could not say its version is asked again."""
    composes("")
    script, asked, notes = tmp_path / "docker-compose", tmp_path / "asked", tmp_path / "notes.json"
    _counting(script, asked, "")

    for _ in range(2):
        with pytest.raises(EngineError):
            _compose.find(Engine("docker", "/run/docker.sock"), Programs(), str(notes))
    assert asked.read_text() == "once\n" * 2


# -- looking ----------------------------------------------------------------------------------


def _containers(*owners: str) -> Any:
    named = [Container(f"id{n}", f"c{n}", "i", "i", "running", "") for n, _ in enumerate(owners)]
    for one, owner in zip(named, owners, strict=True):
        one.labels["margrave.deployment"] = owner
    return named


def test_a_label_that_is_no_id_is_none_of_ours(
    tmp_path: Path, sockets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A foreign container that borrows the label does not hide how the others stand."""
    sockets("podman")
    monkeypatch.setattr(Engine, "containers", lambda *_: _containers("foo", ID))
    monkeypatch.setattr(Engine, "volumes", lambda *_: [])

    assert [one["deployment"] for one in _info.workloads(Layout(str(tmp_path)), None)] == [ID]


def test_what_was_only_fetched_has_not_failed(
    tmp_path: Path, sockets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is PREFETCHED; where an install was tried and failed, it is FAILED."""
    sockets("podman")
    monkeypatch.setattr(Engine, "containers", lambda *_: [])
    monkeypatch.setattr(Engine, "volumes", lambda *_: [])
    call = _call(tmp_path, "podman")
    Path(call.folder.link("current")).rename(call.folder.link("next"))

    fetched = _info.workloads(call.layout, ID)[0]["state"]
    write_json(call.folder.journal, {"phase": "done", "kind": "install"})

    assert (fetched, _info.workloads(call.layout, ID)[0]["state"]) == ("PREFETCHED", "FAILED")


def test_an_engine_that_nothing_runs_on_hides_nothing(
    tmp_path: Path, sockets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is ill and in use makes the look fail; one that is ill and unused does not."""
    sockets("podman", "docker", wish="podman")
    layout = Layout(str(tmp_path))

    def containers(self: Engine, _labels: Any) -> list:
        if self.name == "docker":
            raise EngineError("engine-unreachable", "docker is ill")
        return _containers(OTHER)

    monkeypatch.setattr(Engine, "containers", containers)
    monkeypatch.setattr(Engine, "volumes", lambda *_: [])

    assert [one["deployment"] for one in _info.workloads(layout, None)] == [OTHER]
    _call(tmp_path, "docker")
    with pytest.raises(EngineError):
        _info.workloads(layout, None)
