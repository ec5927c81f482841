"""What an operator may leave out of a node's request, and what stands in for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from margrave.secret import Secret
from runner.ports import Node, NodeRequest, NodeStatus, Onboarded
from runner.store import Store
from runner.web import admin
from runner.web.status import Status


class Notes:
    """Onboards nobody, and notes what was asked for."""

    def __init__(self) -> None:
        self.asked: list[NodeRequest] = []
        self.probed: list[tuple[str, int]] = []

    def probe(self, address: str, port: int) -> str:
        """A fingerprint."""
        self.probed.append((address, port))
        return "SHA256:x"

    def add(self, request: NodeRequest) -> Onboarded:
        """The node as it was asked for."""
        self.asked.append(request)
        return Onboarded(Node(request.name, request.address), "SHA256:x", ())

    def remove(self, name: str) -> None:
        """Nothing."""

    def changed(self) -> None:
        """Nothing."""


def ask(tmp_path: Path, path: str, body: Mapping[str, Any], notes: Notes) -> Any:
    """The socket's answer, of a runner whose nodes listen at another port than most."""
    store = Store(tmp_path)
    status = Status("harbor", store, node_status=lambda _: NodeStatus.ACTIVE)
    desk = cast(admin.Desk, notes)
    client = admin.create_app(status, desk, notes, ssh_port=2222).test_client()
    answer = client.post(path, json=body)
    store.close()
    return answer


@pytest.mark.parametrize(("more", "port"), [({}, 2222), ({"port": 22}, 22)])
def test_a_node_without_a_port_has_the_one_of_the_configuration(
    tmp_path: Path, more: dict[str, int], port: int
) -> None:
    """`ssh.port` stands in, when its host key is asked for as when it is added."""
    notes = Notes()
    place = {"address": "192.0.2.9", **more}
    node = {"name": "press-1", **place, "login": {"user": "pi", "password": "p"}}
    assert ask(tmp_path, "/nodes/probe", place, notes).status_code == 200
    assert ask(tmp_path, "/nodes", node, notes).status_code == 201
    assert notes.probed == [("192.0.2.9", port)]
    assert [(one.port, one.user, one.password) for one in notes.asked] == [
        (port, "pi", Secret("p"))
    ]


def test_a_login_without_a_secret_is_the_runners_own(tmp_path: Path) -> None:
    """Its key is on the node already: after a new address, or after the runner was restored."""
    notes = Notes()
    node = {"name": "press-1", "address": "192.0.2.9", "login": {}}
    assert ask(tmp_path, "/nodes", node, notes).status_code == 201
    (asked,) = notes.asked
    assert (asked.user, asked.password, asked.private_key) == ("", None, None)


def test_a_login_that_is_no_object_is_refused(tmp_path: Path) -> None:
    """With what may stand there."""
    node = {"name": "press-1", "address": "192.0.2.9", "login": "root"}
    answer = ask(tmp_path, "/nodes", node, Notes())
    assert answer.status_code == 422
    assert answer.json["errors"][0]["pointer"] == "/login"
