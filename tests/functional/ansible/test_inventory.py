"""Sites and nodes as inventory, from a controller and from a site's own runner."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from margrave.secret import Secret
from runner.settings import Http
from tests.support.listening import listening
from tests.support.served import ROOT, PretendRunner, Served
from tests.support.site import World


def _run(source: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("ansible-inventory"), "-i", source, "--list"],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(source.parent),
            "LC_ALL": "C.UTF-8",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _listed(source: Path, **environment: str) -> tuple[dict[str, Any], str]:
    done = _run(source, **environment)
    found = json.loads(done.stdout, object_hook=_plain)
    return found, " ".join(done.stderr.split())


def _plain(value: dict[str, Any]) -> Any:
    """Text that came over the network is marked as such in the list."""
    return value.get("__ansible_unsafe", value)


def test_a_controllers_sites_are_groups(controller: Served, tmp_path: Path) -> None:
    """With their labels, beside what nodes are and can; a wrong token is called that."""
    body = {"name": "dock", "labels": {"country": "no"}, "timezone": "Europe/Oslo"}
    runner = PretendRunner(controller, "dock", controller.post("/sites", body)["token"])
    runner.node("dock-1", labels={"zone": "shop"}, capabilities={"memory": 8 * 1024**3})
    controller.post("/sites", {"name": "empty"})
    source = tmp_path / "one.margrave.yml"
    text = {
        "plugin": "margrave.edge.fleet",
        "sites": ["dock"],
        "keyed_groups": [{"key": "margrave_labels.zone", "prefix": "zone"}],
        "groups": {"big": "margrave_capabilities.memory >= ('2Gi' | margrave.edge.to_bytes)"},
    }
    source.write_text(json.dumps(text))

    found, _ = _listed(source, **controller.environment)
    _, refused = _listed(source, MARGRAVE_URL=controller.url, MARGRAVE_TOKEN="wrong")

    host = found["_meta"]["hostvars"]["dock-1.dock"]
    assert found["dock"]["hosts"] == found["zone_shop"]["hosts"] == ["dock-1.dock"]
    assert found["big"]["hosts"] == ["dock-1.dock"]
    assert (host["margrave_site_labels"], host["margrave_site_timezone"]) == (
        {"country": "no"},
        "Europe/Oslo",
    )
    assert host["margrave_status"] == "active"
    assert host["margrave_node"] == "dock-1"
    assert "empty" not in found
    assert "answered 401" in refused
    assert "look at MARGRAVE_TOKEN" in refused


FIX = "set url in the file or MARGRAVE_URL and MARGRAVE_TOKEN in the environment"
FAIL_IF_UNPARSED = {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true"}


def test_a_source_without_an_address_is_an_error(tmp_path: Path) -> None:
    """An empty inventory would look like success; who wants Ansible to end has it end."""
    source = tmp_path / "one.margrave.yml"
    source.write_text(json.dumps({"plugin": "margrave.edge.fleet"}))

    found, messages = _listed(source)
    ended = _run(source, **FAIL_IF_UNPARSED)

    assert found["_meta"]["hostvars"] == {}
    assert FIX in messages
    assert ended.returncode != 0
    assert FIX in " ".join(ended.stderr.split())


def test_a_shared_source_without_an_address_is_a_warning(tmp_path: Path) -> None:
    """The checkout's own file is read by people who have no controller, too."""
    source = tmp_path / "one.margrave.yml"
    source.write_text((ROOT / "inventory/fleet.margrave.yml").read_text())

    listed = _run(source, **FAIL_IF_UNPARSED)

    assert listed.returncode == 0
    assert FIX in " ".join(listed.stderr.split())
    assert "Failed to parse" not in listed.stderr


def test_a_controller_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    """The message has its address and a hint."""
    source = tmp_path / "one.margrave.yml"
    source.write_text(json.dumps({"plugin": "margrave.edge.fleet"}))

    ended = _run(source, MARGRAVE_URL="http://127.0.0.1:9", **FAIL_IF_UNPARSED)

    assert ended.returncode != 0
    messages = " ".join(ended.stderr.split())
    assert "http://127.0.0.1:9: " in messages
    assert "(is the controller running there?)" in messages


@pytest.fixture
def runner_socket(tmp_path: Path) -> Iterator[Path]:
    """The admin socket of a site's runner."""
    world = World(tmp_path)
    path = tmp_path / "runner.sock"
    with listening(world.runner.admin, f"unix://{path}"):
        yield path


def test_a_runners_nodes_without_a_controller(runner_socket: Path, tmp_path: Path) -> None:
    """On the runner's machine its socket is enough; what is no socket of one is told."""
    source = tmp_path / "harbor.margrave.yml"
    text = {"plugin": "margrave.edge.fleet", "source": "runner", "socket": str(runner_socket)}
    source.write_text(json.dumps(text))

    found, said = _listed(source)
    source.write_text(json.dumps({**text, "socket": str(tmp_path / "nothing.sock")}))
    _, missing = _listed(source)

    assert found["harbor"]["hosts"] == ["harbor-1.harbor", "harbor-2.harbor"], said
    assert found["_meta"]["hostvars"]["harbor-1.harbor"]["ansible_host"] == "192.0.2.1"
    assert found["_meta"]["hostvars"]["harbor-1.harbor"]["margrave_site"] == "harbor"
    assert "(is the runner running there?)" in missing


@pytest.fixture
def runner_url(tmp_path: Path) -> Iterator[str]:
    """The address of a site's runner, as who comes from another machine finds it."""
    public = World(tmp_path, http=Http(token=Secret("of the runner"))).runner.public.wsgi_app

    def from_elsewhere(environ: dict[str, Any], start: Any) -> Any:
        return public({**environ, "REMOTE_ADDR": "192.0.2.200"}, start)

    with listening(from_elsewhere) as server:
        yield f"http://127.0.0.1:{server.server_port}"


def test_a_runners_nodes_from_another_machine(runner_url: str, tmp_path: Path) -> None:
    """Its address and its token are enough; without the token nobody is told."""
    source = tmp_path / "harbor.margrave.yml"
    source.write_text(json.dumps({"plugin": "margrave.edge.fleet", "source": "runner"}))

    found, said = _listed(source, MARGRAVE_URL=runner_url, MARGRAVE_TOKEN="of the runner")
    nothing, refused = _listed(source, MARGRAVE_URL=runner_url, MARGRAVE_TOKEN="guessed")

    assert found["harbor"]["hosts"] == ["harbor-1.harbor", "harbor-2.harbor"], said
    assert found["_meta"]["hostvars"]["harbor-2.harbor"]["ansible_host"] == "192.0.2.2"
    assert "harbor" not in nothing
    assert "the runner answered 401: the token is not valid" in refused
