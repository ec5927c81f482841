"""`margrave node …`, through the controller and through the runner's socket."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.cli.conftest import FakeController, Run

ADDED = {
    "node": {"name": "press-1"},
    "host_key": "SHA256:abc",
    "checks": [{"name": "engine", "ok": True, "detail": "podman 5.4", "cure": ""}],
}


@pytest.fixture
def key(tmp_path: Path) -> str:
    """A private key's file."""
    path = tmp_path / "id"
    path.write_text("PRIVATE")
    return str(path)


def add(runner: FakeController, key: str, *more: str) -> tuple[str, ...]:
    """The words of a complete `node add`."""
    words = ("node", "add", "press-1", "192.0.2.1", "--site", "harbor", "--config", runner.url)
    return (*words, "--identity", key, *more)


def test_add_shows_the_host_key_first(
    run: Run, runner: FakeController, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key that was shown and confirmed is the one that must be met."""
    runner.on("POST", "/nodes/probe", 200, {"host_key": "SHA256:abc"})
    runner.on("POST", "/nodes", 201, ADDED)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))

    ran = run(*add(runner, key, "--label", "zone=shop"))

    assert ran.code == 0, ran.err
    assert "SHA256:abc" in ran.err
    assert "podman 5.4" in ran.out
    assert runner.sent("POST", "/nodes") == [
        {
            "name": "press-1",
            "address": "192.0.2.1",
            "login": {"user": "root", "private_key": "PRIVATE"},
            "host_key": "SHA256:abc",
            "labels": {"zone": "shop"},
        }
    ]


def test_a_port_is_named_where_it_is_another(run: Run, runner: FakeController, key: str) -> None:
    """Else the runner's own configuration says which."""
    runner.on("POST", "/nodes/probe", 200, {"host_key": "SHA256:abc"})
    runner.on("POST", "/nodes", 201, ADDED)

    assert run(*add(runner, key, "--port", "2222", "--yes")).code == 0

    assert runner.sent("POST", "/nodes/probe") == [{"address": "192.0.2.1", "port": 2222}]
    assert [one["port"] for one in runner.sent("POST", "/nodes")] == [2222]


def test_a_known_name_is_not_moved_by_accident(run: Run, runner: FakeController, key: str) -> None:
    """The address that the name has is shown, before anything is asked; --replace moves it."""
    nodes = [{"name": "press-1", "address": "192.0.2.7"}]
    runner.on("GET", "/status", 200, {"site": {"name": "harbor"}, "nodes": nodes})
    runner.on("POST", "/nodes", 201, ADDED)

    ran = run(*add(runner, key, "--host-key", "SHA256:abc"))
    assert (ran.code, "192.0.2.7" in ran.err, "--replace" in ran.err) == (5, True, True)
    assert runner.sent("POST", "/nodes") == []

    assert run(*add(runner, key, "--host-key", "SHA256:abc", "--replace")).code == 0
    assert [body["replace"] for body in runner.sent("POST", "/nodes")] == [True]


def test_an_unusable_node_is_not_called_ready(run: Run, runner: FakeController, key: str) -> None:
    """It is added, and the first line says that nothing can run on it yet."""
    check = {"name": "engine", "ok": False, "detail": "none found", "cure": "install podman"}
    node = {"name": "press-1", "status": "unusable"}
    runner.on("POST", "/nodes", 201, {**ADDED, "node": node, "checks": [check]})

    ran = run(*add(runner, key, "--host-key", "SHA256:abc"))

    assert (ran.code, "unusable" in ran.out.splitlines()[0]) == (1, True), ran.out


def test_a_node_that_has_the_runners_key_needs_no_login(run: Run, runner: FakeController) -> None:
    """Nothing is asked for and nothing is sent: the runner comes in by itself."""
    runner.on("POST", "/nodes", 201, ADDED)
    words = ("node", "add", "press-1", "192.0.2.1", "--site", "harbor", "--config", runner.url)

    assert run(*words, "--host-key", "SHA256:abc", "--key-in-place").code == 0

    assert [one["login"] for one in runner.sent("POST", "/nodes")] == [{}]


def test_a_known_host_key_asks_nobody(run: Run, runner: FakeController, key: str) -> None:
    """With --host-key nothing is probed; the runner compares."""
    runner.problem("POST", "/nodes", 409, "shows another host key")

    assert run(*add(runner, key, "--host-key", "SHA256:other")).code == 5
    assert runner.sent("POST", "/nodes/probe") == []


def test_what_is_missing_is_told(run: Run, runner: FakeController, key: str) -> None:
    """A check that fails comes with its cure, and exit code 1."""
    check = {"name": "engine", "ok": False, "detail": "none found", "cure": "install podman"}
    runner.on("POST", "/nodes", 201, {**ADDED, "checks": [check]})

    ran = run(*add(runner, key, "--host-key", "SHA256:abc"))

    assert (ran.code, "install podman" in ran.out) == (1, True)


def test_another_sites_runner_is_refused(run: Run, runner: FakeController, key: str) -> None:
    """A node is not added to the wrong site by a forgotten --config."""
    runner.on("GET", "/status", 200, {"site": {"name": "depot"}})

    assert run(*add(runner, key, "--host-key", "SHA256:abc")).code == 5
    assert runner.sent("POST", "/nodes") == []


def test_no_runner_here_is_unreachable(run: Run, tmp_path: Path, key: str) -> None:
    """A configuration without a socket: exit code 6, with the cure."""
    config = tmp_path / "margrave.toml"
    config.write_text("")

    words = ("node", "add", "a", "b", "--site", "harbor", "--identity", key)
    ran = run(*words, "--config", str(config))

    assert (ran.code, "runner serve" in ran.err) == (6, True)


def test_remove_goes_through_the_socket(run: Run, runner: FakeController) -> None:
    """DELETE at the runner; unknown names are 3."""
    runner.on("DELETE", "/nodes/press-1", 200, {})
    words = ("--site", "harbor", "--config", runner.url, "--yes")

    assert run("node", "remove", "press-1", *words).code == 0
    assert run("node", "remove", "press-2", *words).code == 3


def test_a_node_that_is_gone_is_forgotten(run: Run, runner: FakeController) -> None:
    """--forget says so in so many words; without it the runner refuses what would be lost."""
    runner.on("DELETE", "/nodes/press-1", 200, {})
    words = ("--site", "harbor", "--config", runner.url, "--yes", "--forget")

    assert run("node", "remove", "press-1", *words).code == 0
    assert [one.query for one in runner.calls if one.method == "DELETE"] == [{"forget": "true"}]


def test_a_node_is_named_with_its_site_where_names_repeat(
    run: Run, controller: FakeController
) -> None:
    """The name alone is ambiguous (2); with the site it is one."""
    nodes = [{"site": site, "name": "press-1", "address": "a"} for site in ("harbor", "depot")]
    controller.lists("/api/v1/nodes", *nodes)
    controller.on("POST", "/api/v1/sites/depot/nodes/press-1/undrain", 202, {})

    assert run("node", "undrain", "press-1").code == 2
    assert run("node", "undrain", "depot/press-1").code == 0
