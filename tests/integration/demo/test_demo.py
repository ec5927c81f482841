"""The demo's own promises: it comes up from anywhere, mends itself, and leaves nothing."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from demo.processes import started
from tests.support.demo import CLI, ROOT, Demo, ask, margrave
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.lab

FOLDER = ROOT / "var/demo"


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    """The demo, brought up from a folder that is not the checkout."""
    if (FOLDER / "demo.env").exists():
        pytest.fail("a demo is up on this machine: run `make demo-down` before the tests")
    try:
        up = subprocess.run(
            [str(CLI), "demo", "up"], cwd="/", capture_output=True, text=True, timeout=600,
            check=False,
        )  # fmt: skip
        assert up.returncode == 0, up.stdout + up.stderr
        yield Demo()
    finally:
        margrave("demo", "down", "--yes", timeout=300)


def test_a_port_that_is_taken_is_told_with_its_holder() -> None:
    """Nothing is started; the line names the process and what to do."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 8802))
        holder.listen()

        up = margrave("demo", "up")

    assert up.code == 1
    assert f"pid {os.getpid()}" in up.err
    assert "8802" in up.err
    assert not (FOLDER / "demo.env").exists()


def test_status_tells_what_lives(demo: Demo) -> None:
    """Parts with pids, nodes with addresses and their beacons, which answer."""
    status = demo.status()

    assert status["controller"]["url"] == demo.env["MARGRAVE_URL"]
    assert {one["site"] for one in status["runners"]} == {"harbor", "depot"}
    assert all(one["pid"] for one in [status["controller"], *status["runners"]])
    assert [(one["name"], one["site"]) for one in status["nodes"]] == [
        ("harbor-1", "harbor"),
        ("harbor-2", "harbor"),
        ("depot-1", "depot"),
    ]
    for one in status["nodes"]:
        assert one["healthz"] == f"http://{one['address']}:9180/healthz"
        assert httpx.get(one["healthz"]).status_code == 200


def test_what_died_is_started_again_and_the_rest_left_alone(demo: Demo) -> None:
    """Controller and one runner killed, one node without power: up brings exactly those back."""
    before = demo.status()
    runners = {one["site"]: one["pid"] for one in before["runners"]}
    os.kill(before["controller"]["pid"], signal.SIGKILL)
    os.kill(runners["depot"], signal.SIGKILL)
    demo.done("lab", "fail", "--name", "demo", "depot-1", "--kill")

    demo.done("demo", "up")

    after = demo.status()
    again = {one["site"]: one["pid"] for one in after["runners"]}
    assert again["harbor"] == runners["harbor"]
    assert again["depot"] not in (None, runners["depot"])
    assert after["controller"]["pid"] not in (None, before["controller"]["pid"])
    assert {one["state"] for one in after["nodes"]} == {"running"}
    for part in [after["controller"], *after["runners"]]:
        assert httpx.get(part["url"] + "/readyz").status_code == 200
    address = demo.addresses()["depot-1"]
    eventually(lambda: ask(address) is not None, 150, "depot-1 serves again after a power cut")


def test_secrets_are_for_their_owner_alone(demo: Demo) -> None:
    """Tokens lie in files of mode 0600, and in no log."""
    for path in ("demo.env", "memory.json", "harbor/margrave.toml", "controller/margrave.toml"):
        assert (FOLDER / path).stat().st_mode & 0o777 == 0o600, path
    tokens = [demo.env["MARGRAVE_TOKEN"], demo.env["MARGRAVE_WEBHOOK_SECRET"]]
    tokens += json.loads((FOLDER / "memory.json").read_text())["site_tokens"].values()
    for log in FOLDER.glob("*.log"):
        text = log.read_text()
        assert not any(token in text for token in tokens), log


def test_down_asks_and_then_leaves_nothing(demo: Demo, tmp_path: Path) -> None:
    """No process, port, node or folder is left."""
    status = demo.status()
    assert margrave("demo", "down").code != 0
    assert demo.status() == status

    demo.done("demo", "down", "--yes")

    assert not FOLDER.exists()
    assert not _demo_nodes()
    for port in (8800, 8801, 8802):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
    for part in [status["controller"], *status["runners"]]:
        assert started(part["pid"]) is None


def _demo_nodes() -> list[Any]:
    nodes: list[Any] = margrave("lab", "list", "-o", "json").json()
    return [one for one in nodes if one.get("lab") == "demo"]
