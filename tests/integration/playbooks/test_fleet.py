"""A real controller's fleet is an inventory that playbooks work with."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.support.hand import NODES, Hand
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab

MARGRAVE = Path(sys.executable).with_name("margrave")


@dataclass(frozen=True)
class Controller:
    """A controller that serves, and its admin's token."""

    url: str
    token: str

    def post(self, path: str, body: object, token: str = "") -> dict[str, str]:
        """What it answers."""
        headers = {"Authorization": f"Bearer {token or self.token}"}
        answer = httpx.post(f"{self.url}/api/v1{path}", json=body, headers=headers)
        assert answer.is_success, answer.text
        found: dict[str, str] = answer.json()
        return found

    def ready(self) -> bool:
        """Whether it serves."""
        try:
            return httpx.get(f"{self.url}/readyz").is_success
        except httpx.TransportError:
            return False


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Controller]:
    """`margrave init` and `margrave controller serve`, on a port that is free."""
    made = subprocess.run(
        [MARGRAVE, "init", "controller", "-o", "json"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        bind = f"127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen(
        [MARGRAVE, "controller", "serve", "--config", "controller/margrave.toml"],
        cwd=tmp_path,
        env={**os.environ, "MARGRAVE_HTTP__BIND": bind},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    served = Controller(f"http://{bind}", json.loads(made.stdout)["token"])
    try:
        eventually(served.ready, 30, "the controller does not serve")
        yield served
    finally:
        process.terminate()
        process.wait(30)


def _register(controller: Controller, hand: Hand) -> None:
    """The site, and its nodes as its runner reports them."""
    token = controller.post("/sites", {"name": "harbor"})["token"]
    nodes = [
        {"name": name, "address": hand.lab.node(name).address, "labels": {"zone": "shop"}}
        for name in NODES
    ]
    events = [
        {
            "seq": seq,
            "at": "2026-01-01T00:00:00Z",
            "kind": "node",
            "data": {**one, "status": "active"},
        }
        for seq, one in enumerate(nodes, 1)
    ]
    head = {"protocol": 1, "runner": "11111111-1111-4111-8111-111111111111", "epoch": 1}
    report = {**head, "first_seq": 1, "events": events}
    controller.post("/sites/harbor/reports", report, token)


def test_the_controllers_nodes_are_hosts(hand: Hand, controller: Controller) -> None:
    """Sites are groups, nodes are hosts that a playbook reaches; a wrong token is called that."""
    _register(controller, hand)
    environment = {"MARGRAVE_URL": controller.url, "MARGRAVE_TOKEN": controller.token}

    listed = hand.run("ansible-inventory", "--graph", "--vars", **environment)
    told = hand.run(
        *("ansible-playbook", "playbooks/info.yml"),
        *("-e", json.dumps({"target": "harbor", **hand.login})),
        **environment,
    )
    refused = hand.run("ansible-inventory", "--graph", **{**environment, "MARGRAVE_TOKEN": "x"})

    assert "|--@harbor: | |--harbor-1.harbor" in listed.words, listed.out
    assert "{margrave_site = harbor}" in listed.words
    assert "@status_active" in listed.words
    assert "example" not in listed.out
    assert told.code == 0, told.out
    assert set(told.recap) == {"harbor-1.harbor", "harbor-2.harbor", "localhost"}
    assert "answered 401: the token is not valid" in refused.words


def test_the_link_works_without_the_collection(hand: Hand, controller: Controller) -> None:
    """`plugins/inventory` alone is enough for who has no collections path."""
    _register(controller, hand)
    source = hand.base / "fleet.margrave.yml"
    source.write_text("plugin: fleet\n")
    settings = hand.base / "ansible.cfg"
    settings.write_text("")

    listed = hand.run(
        *("ansible-inventory", "-i", str(source), "--list"),
        ANSIBLE_CONFIG=str(settings),
        ANSIBLE_COLLECTIONS_PATH=str(hand.base),
        ANSIBLE_INVENTORY_PLUGINS="plugins/inventory",
        ANSIBLE_INVENTORY_ENABLED="fleet",
        MARGRAVE_URL=controller.url,
        MARGRAVE_TOKEN=controller.token,
    )

    hosts = set(json.loads(listed.out)["_meta"]["hostvars"])
    assert hosts == {"harbor-1.harbor", "harbor-2.harbor"}, listed.out
