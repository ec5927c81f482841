"""The controller's list of nodes becomes an inventory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
NODES = [
    {
        "name": f"node-{number}",
        "site": site,
        "address": f"192.0.2.{number}",
        "status": "active",
        "labels": {"zone": "shop"},
        "capabilities": {"cpus": 2},
    }
    for number, site in enumerate(["harbor", "harbor", "my-depot"])
]


class Controller(BaseHTTPRequestHandler):
    """Answers one node a page, to whoever has the token."""

    def do_GET(self) -> None:
        """Answer as GET /api/v1/nodes does."""
        allowed = self.headers["Authorization"] == "Bearer secret"
        place = int(self.path.partition("&cursor=")[2] or 0)
        following = str(place + 1) if place + 1 < len(NODES) else None
        body = json.dumps({"items": [NODES[place]], "next": following}).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Length", str(len(body) if allowed else 0))
        self.end_headers()
        if allowed:
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def url() -> Iterator[str]:
    """A controller's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Controller)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def _inventory(folder: Path, **options: Any) -> tuple[dict[str, Any], str]:
    file = folder / "fleet.margrave.yml"
    file.write_text(json.dumps({"plugin": "margrave.edge.fleet", **options}))
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["ansible-inventory", "-i", str(file), "--list"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout, object_hook=_plain), done.stderr


def _plain(value: dict[str, Any]) -> Any:
    """Text from outside is marked in Ansible's listing; what counts here is the text."""
    return value.get("__ansible_unsafe", value)


def test_sites_are_groups(tmp_path: Path, url: str) -> None:
    """All pages are read; a node is a host NODE.SITE with all that the controller knows of it."""
    listed, _ = _inventory(tmp_path, url=url, token="secret")

    host = listed["_meta"]["hostvars"]["node-0.harbor"]
    assert set(listed["_meta"]["hostvars"]) == {"node-0.harbor", "node-1.harbor", "node-2.my-depot"}
    assert listed["my_depot"]["hosts"] == ["node-2.my-depot"]
    assert host["ansible_host"] == "192.0.2.0"
    assert host["ansible_user"] == "margrave"
    assert host["margrave_site"] == "harbor"
    assert host["margrave_labels"] == {"zone": "shop"}
    assert host["margrave_capabilities"] == {"cpus": 2}


def test_some_sites_and_groups_of_ones_own(tmp_path: Path, url: str) -> None:
    """An inventory can be of some sites only, and group nodes by what is known of them."""
    keyed = [{"key": "margrave_labels.zone", "prefix": "zone"}]

    listed, _ = _inventory(tmp_path, url=url, token="secret", sites=["harbor"], keyed_groups=keyed)

    assert listed["zone_shop"]["hosts"] == ["node-0.harbor", "node-1.harbor"]


def test_without_an_address_the_source_is_an_error(tmp_path: Path) -> None:
    """Neither the file nor the environment has one: Ansible's message names both."""
    listed, messages = _inventory(tmp_path)

    assert listed["_meta"]["hostvars"] == {}
    assert "set url in the file or MARGRAVE_URL" in " ".join(messages.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [({"token": "wrong"}, "answered 401"), ({"url": "http://127.0.0.1:1"}, "running")],
    ids=["token", "address"],
)
def test_what_is_wrong_is_named(
    tmp_path: Path, url: str, options: dict[str, str], words: str
) -> None:
    """A wrong token and a wrong address are told apart, each with what to look at."""
    listed, told = _inventory(tmp_path, **{"url": url, "token": "secret", **options})

    assert listed["_meta"]["hostvars"] == {}
    assert words in " ".join(told.split())
