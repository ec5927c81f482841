"""The runner as a process: its doors, its signals, its lock, its end."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from runner.ports import Node
from runner.socket_client import ask
from runner.store import Store
from runner.store.nodes import Nodes
from tests.support.repository import Repository
from tests.support.waiting import eventually

COMMAND = Path(sys.executable).parent / "margrave"
SECRET = "webhook secret"
PATIENCE = 60  # seconds: starting a process takes long on a busy machine


class Process:
    """A served runner."""

    def __init__(self, base: Path, remote: str) -> None:
        self.base = base
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.config = base / "margrave.toml"
        self.config.write_text(
            f'[site]\nname = "harbor"\n[git]\nremote = "{remote}"\n[poll]\ninterval = "600s"\n'
            f'[http]\nbind = "127.0.0.1:{self.port}"\nexternal_url = "{self.url}/"\n'
            f'[hooks]\nsecrets = ["{SECRET}"]\n'
        )
        self.socket = base / "state/runner.sock"
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Start it and wait until it is ready."""
        self.process = subprocess.Popen(
            self.command("serve"), stderr=(self.base / "log").open("ab")
        )
        eventually(self.ready, PATIENCE, "the runner gets ready")
        return self.process

    def command(self, *words: str) -> list[str]:
        """The operator's command for this runner."""
        return [str(COMMAND), "runner", *words, "--config", str(self.config)]

    def ready(self) -> bool:
        """Whether it answers."""
        try:
            return httpx.get(self.url + "/readyz").status_code == 200
        except httpx.HTTPError:
            return False

    def status(self) -> Any:
        """What it says of itself."""
        return ask(self.socket, "GET", "/status")

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository with a deployment for harbor."""
    made = Repository(tmp_path_factory.mktemp("git"))
    made.deploy("1.0.0")
    made.push()
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, repository: Repository) -> Iterator[Process]:
    """A runner of harbor, shared by tests that leave it running."""
    made = Process(tmp_path_factory.mktemp("runner"), str(repository.bare))
    yield made
    made.end()


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def add_node(state: Path, name: str) -> None:
    """Put a node into a running runner's registry, as onboarding does at its end."""
    store = Store(state)
    Nodes(store).save(Node(name, "192.0.2.9", host_key="ssh-ed25519 AAAA"))
    store.close()


def push_payload(repository: Repository, commit: str) -> bytes:
    """A push as Gitea tells it."""
    url = f"http://forge.example/{repository.bare.name}"
    return json.dumps(
        {
            "ref": "refs/heads/main",
            "after": commit,
            "repository": {"full_name": "margrave/deployments", "clone_url": url, "html_url": url},
        }
    ).encode()


def test_doors_and_their_keys(served: Process) -> None:
    """Health is open; the socket is its owner's alone."""
    assert httpx.get(served.url + "/healthz").json() == {"status": "ok"}
    ready = httpx.get(served.url + "/readyz").json()
    assert ready["status"] == "ok"
    assert {one["name"] for one in ready["checks"]} >= {"claim", "disk", "ticks", "git"}
    assert "margrave_runner_placements" in httpx.get(served.url + "/metrics").text
    fetched = 'margrave_runner_git_requests_total{op="fetch",result="done"}'
    eventually(lambda: fetched in httpx.get(served.url + "/metrics").text, 60, "no fetch counted")
    assert httpx.get(served.url + "/status").json()["site"]["name"] == "harbor"
    page = httpx.get(served.url + "/")
    assert "<h1>harbor</h1>" in page.text
    assert "unsafe" not in page.headers["content-security-policy"]
    from_elsewhere = {"X-Forwarded-For": "203.0.113.9"}
    assert httpx.get(served.url + "/status", headers=from_elsewhere).status_code == 401
    assert stat.S_IMODE(served.socket.stat().st_mode) == 0o600
    missing = httpx.get(served.url + "/nothing")
    assert missing.headers["content-type"] == "application/problem+json"


def test_a_push_told_by_a_webhook_is_looked_at_at_once(
    served: Process, repository: Repository
) -> None:
    """The poll is ten minutes away; the hint is enough."""
    eventually(lambda: served.status()["site"]["applied_commit"], PATIENCE)
    commit = repository.push()
    body = push_payload(repository, commit)
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "X-Gitea-Event": "push",
        "X-Gitea-Delivery": "d1",
        "X-Gitea-Signature": signature,
        "Content-Type": "application/json",
    }
    wrong = headers | {"X-Gitea-Signature": "0" * 64}
    assert httpx.post(served.url + "/hooks/git", content=body, headers=wrong).status_code == 401
    taken = httpx.post(served.url + "/hooks/git", content=body, headers=headers)
    assert (taken.status_code, taken.json()["id"]) == (202, "d1")
    eventually(lambda: served.status()["site"]["applied_commit"] == commit, PATIENCE)
    eventually(lambda: httpx.get(served.url + "/hooks/git/d1").json()["looked"], PATIENCE)
    assert httpx.get(served.url + "/hooks/git/d1").json()["applied_commit"] == commit


def test_a_beat_reaches_the_registry_and_the_wrong_ones_are_told_why(served: Process) -> None:
    """Over HTTP as docs/beacon.md says: the key from the command, the answer with our time."""
    add_node(served.base / "state", "harbor-9")
    words = served.command("beacon", "harbor-9")
    made = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=True)
    told = json.loads(made.stdout)
    assert (told["node"], told["url"], told["interval"]) == ("harbor-9", served.url, 10)

    def beat(body: bytes = b'{"protocol": 1, "boot_id": "b1"}', **changes: str) -> httpx.Response:
        stamp = str(int(datetime.now(UTC).timestamp() * 1000))
        text = f"v1.harbor-9.{stamp}.".encode() + body
        headers = {
            "X-Margrave-Node": "harbor-9",
            "X-Margrave-Timestamp": stamp,
            "X-Margrave-Signature": "v1="
            + hmac.new(bytes.fromhex(told["key"]), text, hashlib.sha256).hexdigest(),
            "Content-Type": "application/json",
            **changes,
        }
        return httpx.post(told["url"] + "/heartbeat", content=body, headers=headers)

    def node() -> Any:
        return next(one for one in served.status()["nodes"] if one["name"] == "harbor-9")

    assert node()["status"] == "offline"
    eventually(lambda: beat().status_code == 200, PATIENCE, "a beat is believed")
    assert beat(b'{"protocol": 1, "problems": ["hot"]}').json()["interval"] == 10
    assert node()["status"] == "active"
    eventually(lambda: node()["problems"] == ["hot"], PATIENCE)
    wrong = beat(**{"X-Margrave-Signature": "v1=00"})
    assert (wrong.status_code, wrong.headers["content-type"]) == (401, "application/problem+json")
    assert abs(wrong.json()["time"] / 1000 - datetime.now(UTC).timestamp()) < 60
    assert beat(**{"X-Margrave-Node": "harbor-8"}).json()["detail"] == wrong.json()["detail"]
    assert beat(b"nothing").status_code == 400
    assert beat(b" " * 20_000).status_code == 413
    unknown = subprocess.run(
        served.command("beacon", "nobody"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (unknown.returncode, "nobody" in unknown.stderr) == (3, True)


def test_only_one_runner_serves_a_state_folder(served: Process) -> None:
    """The second one says who is in its way, and ends."""
    second = subprocess.run(
        served.command("serve"), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert second.returncode == 5
    assert second.stderr.startswith("margrave: ")
    assert str(served.process.pid) in second.stderr
    assert served.ready()


def test_commands_of_the_socket(served: Process) -> None:
    """Lock, status, unlock, accept, once and takeover, as an operator types them."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            served.command(*words), capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    assert run("lock", "--reason", "inventory", "--for", "2h").returncode == 0
    assert re.search(r"^locked +inventory$", run("status").stdout, re.M)
    assert run("unlock").returncode == 0
    assert "locked" not in run("status").stdout
    assert run("accept", "--commit", "abc", "--yes").returncode == 0
    assert json.loads(run("once", "-o", "json").stdout)["fetch"] == "done"
    assert "epoch 2" in run("takeover", "--yes").stdout
    assert run("status", "-o", "json").stdout.startswith("{")


def test_bad_requests_at_the_socket_name_each_finding(served: Process) -> None:
    """All findings at once, and nothing is changed."""
    with pytest.raises(Exception, match="colour") as raised:
        ask(served.socket, "POST", "/lock", {"colour": "red"})
    assert "owner" in str(raised.value)
    with pytest.raises(Exception, match="is not a name"):
        ask(
            served.socket,
            "POST",
            "/nodes",
            {"name": "../x", "address": "a", "login": {"password": "p"}},
        )


def test_rewritten_history_waits_for_a_person(tmp_path: Path) -> None:
    """What ran stays, the status says what is wrong, and `accept` goes on at once."""
    own_repository = Repository(tmp_path)
    own_repository.deploy("1.0.0")
    first = own_repository.push()
    own = Process(tmp_path, str(own_repository.bare))
    try:
        eventually(lambda: own.status()["site"]["applied_commit"] == first, PATIENCE)
        rewritten = own_repository.rewrite()
        os.kill(own.process.pid, signal.SIGUSR1)
        eventually(lambda: own.status()["site"]["halted"], PATIENCE)
        held = own.status()["site"]
        assert held["halted"]["commit"] == rewritten
        assert "history was rewritten" in held["halted"]["reason"]
        assert held["applied_commit"] == first
        words = own.command("accept", "--commit", rewritten, "--yes")
        assert subprocess.run(words, capture_output=True, timeout=60, check=False).returncode == 0
        eventually(lambda: own.status()["site"]["applied_commit"] == rewritten, PATIENCE)
        assert own.status()["site"]["halted"] is None
    finally:
        own.end()


def test_sigusr1_looks_at_git(served: Process, repository: Repository) -> None:
    """For those who have no webhook but a shell."""
    eventually(lambda: served.status()["site"]["applied_commit"], PATIENCE)
    commit = repository.push()
    os.kill(served.process.pid, signal.SIGUSR1)
    eventually(lambda: served.status()["site"]["applied_commit"] == commit, PATIENCE)


def test_it_starts_again_after_kill_9_and_ends_when_asked(
    tmp_path: Path, repository: Repository
) -> None:
    """Neither lock nor socket of the dead one is in the way; SIGTERM leaves no process of ours."""
    own = Process(tmp_path, str(repository.bare))
    before = own.status()["runner"]["id"]
    own.end(signal.SIGKILL)
    assert own.socket.exists()
    own.start()
    assert own.status()["runner"]["id"] == before
    assert own.end() == 0
    assert not own.socket.exists()
    words = ["pgrep", "-f", str(own.base / "state")]
    eventually(
        lambda: subprocess.run(words, capture_output=True, check=False).returncode == 1, PATIENCE
    )
