"""`margrave doctor` finds what is wrong, and says what mends it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from margrave import __version__
from margrave.cli.doctor import controller as looked_at

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run

SITE = {
    "name": "harbor", "freshness": "fresh", "nodes": 1, "halted": None, "locked": None,
    "paused": None, "wanted_commit": "c" * 40,
}  # fmt: skip
NODE = {"site": "harbor", "name": "harbor-1", "status": "active"}
STATUS = {
    "site": {"name": "harbor", "halted": None, "locked": None, "applied_commit": "c" * 40},
    "controller": {"trouble": "", "reports_waiting": 0},
    "nodes": [{"name": "harbor-1", "address": "10.0.0.1", "status": "active"}],
}


def fleet(controller: FakeController, site: dict[str, Any], node: dict[str, Any]) -> None:
    """A controller with one site and one node."""
    controller.on("GET", "/healthz", 200, {"status": "ok"})
    controller.on("HEAD", "/healthz", 200, "")
    checks = [{"name": "git", "ok": True, "detail": "ok"}]
    controller.on("GET", "/readyz", 200, {"status": "ok", "checks": checks})
    controller.on("GET", "/api/v1/meta/capabilities", 200, {"version": __version__})
    controller.lists("/api/v1/requests")
    controller.lists("/api/v1/sites", {**SITE, **site})
    controller.lists("/api/v1/nodes", {**NODE, **node})


def ills(run: Run, *words: str) -> dict[str, dict[str, Any]]:
    """What was found wrong, by name."""
    found = run("doctor", "-o", "json", *words).json["items"]
    return {one["name"]: one for one in found if not one["ok"]}


def test_a_healthy_fleet_is_0(run: Run, controller: FakeController) -> None:
    """Nothing wrong, nothing to do."""
    fleet(controller, {}, {})

    ran = run("doctor")

    assert (ran.code, "all is well" in ran.out) == (0, True), ran.out


@pytest.mark.parametrize(
    ("site", "node", "name", "cure"),
    [
        ({"halted": {"reason": "rewritten", "commit": "abc"}}, {}, "harbor", "--commit abc"),
        ({"freshness": "unknown"}, {}, "harbor", "runner's machine"),
        ({"locked": {"reason": "stocktaking"}}, {}, "harbor", "margrave runner unlock"),
        ({"paused": {"reason": "stocktaking"}}, {}, "harbor", "margrave site resume harbor"),
        ({}, {"status": "offline"}, "harbor/harbor-1", "is it on"),
        ({}, {"status": "active", "reason": "no route"}, "harbor/harbor-1", "is it on"),
        ({}, {"status": "unusable", "reason": "no engine"}, "harbor/harbor-1", "install what"),
    ],
)
def test_what_ails_the_fleet_is_named_with_its_cure(
    run: Run, controller: FakeController, site: Any, node: Any, name: str, cure: str
) -> None:
    """One line each, exit code 1."""
    fleet(controller, site, node)

    assert cure in ills(run)[name]["cure"]
    assert run("doctor").code == 1


def test_a_request_that_cannot_be_published_is_named(run: Run, controller: FakeController) -> None:
    """With the reason and the setting that helps."""
    fleet(controller, {}, {})
    error = {"message": "registry plant.lan does not answer", "cure": "add [[registries]]"}
    request = {"id": "12345678-aaaa", "state": "queued", "error": error}
    controller.lists("/api/v1/requests", request, {**request, "id": "9", "error": None})

    found = ills(run)["request 12345678"]

    assert (found["detail"], found["cure"]) == (
        "waits: registry plant.lan does not answer",
        "add [[registries]]",
    )


def test_a_part_of_the_controller_that_is_ill(run: Run, controller: FakeController) -> None:
    """503 with the parts is an answer, not an end."""
    fleet(controller, {}, {})
    checks = [{"name": "database", "ok": False, "detail": "does not answer"}]
    controller.on("GET", "/readyz", 503, {"status": "failing", "checks": checks})

    assert ills(run)["database"]["detail"] == "does not answer"


def test_a_dead_controller_ends_its_part_alone(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine was looked at all the same."""
    monkeypatch.setenv("MARGRAVE_URL", "http://127.0.0.1:9")

    found = run("doctor", "-o", "json").json["items"]

    assert [one["name"] for one in found if not one["ok"]] == ["answers"]
    assert any(one["where"] == "machine" for one in found)


def test_a_clock_that_is_wrong(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokens and windows go by it."""
    fleet(controller, {}, {})
    monkeypatch.setattr(looked_at, "SKEW", -1.0)

    assert "NTP" in ills(run)["clock"]["cure"]


def test_a_token_that_is_not_taken(run: Run, controller: FakeController) -> None:
    """What needs one is left out."""
    fleet(controller, {}, {})
    controller.problem("GET", "/api/v1/meta/capabilities", 401, "the token has expired")

    assert "margrave login" in ills(run)["signed in"]["cure"]


@pytest.mark.parametrize(
    ("status", "name"),
    [
        ({**STATUS, "site": {**STATUS["site"], "halted": {"reason": "unsigned"}}}, "desired state"),
        ({**STATUS, "controller": {"trouble": "refused", "reports_waiting": 7}}, "controller"),
        (
            {**STATUS, "nodes": [{"name": "harbor-1", "address": "a", "status": "stale"}]},
            "node harbor-1",
        ),
    ],
)
def test_the_runner_here_is_asked_too(
    run: Run, controller: FakeController, runner: FakeController, status: Any, name: str
) -> None:
    """Through its socket."""
    fleet(controller, {}, {})
    runner.on("GET", "/status", 200, status)

    assert set(ills(run, "--config", runner.url)) == {name}


def test_a_configuration_that_everybody_can_read(
    run: Run, controller: FakeController, runner: FakeController
) -> None:
    """A file with secrets is for its user alone; why Git was not read stands beside it."""
    fleet(controller, {}, {})
    file = Path(runner.url)
    file.write_text(file.read_text() + '[controller]\ntoken = "t"\n')
    file.chmod(0o644)
    site = {**STATUS["site"], "applied_commit": None}
    git = {"state": "waiting", "reason": "the controller refused this token"}
    runner.on("GET", "/status", 200, {**STATUS, "site": site, "git": git})

    found = ills(run, "--config", runner.url)

    assert found["configuration"]["cure"] == f"chmod 600 {file}"
    assert "the controller refused this token" in found["desired state"]["detail"]


def test_a_runner_that_does_not_listen(run: Run, controller: FakeController, tmp_path: Any) -> None:
    """Its configuration is here, its socket is not."""
    fleet(controller, {}, {})
    config = tmp_path / "silent.toml"
    config.write_text('[site]\nname = "harbor"\n[state]\ndir = "nowhere"\n')

    assert "no runner listens" in ills(run, "--config", str(config))["answers"]["detail"]


def test_the_runner_looks_at_each_of_its_nodes(
    run: Run, controller: FakeController, runner: FakeController
) -> None:
    """What is wrong on a node is told with the cure that onboarding would have told."""
    fleet(controller, {}, {})
    runner.on("GET", "/status", 200, STATUS)
    checks = [
        {"name": "way in", "ok": True, "detail": "shows its own key", "cure": ""},
        {"name": "engine", "ok": False, "detail": "not found", "cure": "install podman"},
    ]
    runner.on("GET", "/nodes/harbor-1/checks", 200, {"items": checks, "next": None})

    found = run("doctor", "-o", "json", "--config", runner.url).json["items"]

    there = {one["name"]: one for one in found if one["where"] == "node harbor-1"}
    assert (there["way in"]["ok"], there["engine"]["ok"]) == (True, False)
    assert there["engine"]["cure"] == "install podman"


def test_a_runner_of_another_version_is_told(
    run: Run, controller: FakeController, runner: FakeController
) -> None:
    """More than one minor version apart is not promised to work."""
    fleet(controller, {}, {})
    runner.on("GET", "/status", 200, {**STATUS, "runner": {"version": "0.9.0"}})

    assert "0.9.0" in ills(run, "--config", runner.url)["version"]["detail"]


def test_on_a_runners_machine_nobody_needs_a_login(
    run: Run, runner: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no controller was named, the runner's own line to it is what counts."""
    monkeypatch.delenv("MARGRAVE_URL")
    monkeypatch.delenv("MARGRAVE_TOKEN")
    runner.on("GET", "/status", 200, STATUS)

    ran = run("doctor", "-o", "json", "--config", runner.url)

    places = {one["where"] for one in ran.json["items"]}
    assert (ran.code, "runner" in places, "controller" in places) == (0, True, False), ran.out
