"""The role edge_node on a node that is already prepared."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from lab import Lab
from lab.engines import ROLE
from lab.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator

# Every lab proves the role by being made with it; molecule/edge_node goes further than this.
pytestmark = [pytest.mark.lab, pytest.mark.full]

ROOT = Path(__file__).parents[3]
RECAP = re.compile(r"changed=(\d+).*failed=(\d+)")


@pytest.fixture(scope="module")
def one(needs_lab: None) -> Iterator[Lab]:
    """A lab with a single node."""
    made = Lab(f"t{uuid4().hex[:8]}")
    try:
        made.up(["one"])
        yield made
    finally:
        made.down()


def play(lab: Lab, scratch: Path, variables: dict[str, object], *words: str) -> tuple[int, int]:
    """Run the role; how many tasks changed something, how many failed."""
    book = scratch / "play.yml"
    book.write_text("- hosts: all\n  gather_facts: false\n  roles: [edge_node]\n")
    playbook = Path(sys.executable).with_name("ansible-playbook")
    values = json.dumps({**ROLE, **variables, "ansible_user": "root"})
    *ssh, _host = lab.ssh_command("one")
    # One connection for all tasks; its socket goes with the lab.
    shared = f"-o ControlMaster=auto -o ControlPersist=5s -o ControlPath={Layout(lab.name).run}/cm"
    done = subprocess.run(
        [playbook, "-i", f"{lab.node('one').address},", "-e", values, *words, book],
        env={
            **os.environ,
            "ANSIBLE_ROLES_PATH": str(ROOT / "roles"),
            "ANSIBLE_SSH_ARGS": f"{' '.join(ssh[1:])} {shared}",
            "ANSIBLE_PIPELINING": "true",
            "ANSIBLE_HOME": str(scratch),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    recap = RECAP.search(done.stdout)
    assert recap, done.stdout + done.stderr
    return int(recap[1]), int(recap[2])


def test_a_prepared_node_is_not_changed_again(one: Lab, tmp_path: Path) -> None:
    """The base system was prepared by this role: check mode finds nothing left to do."""
    assert play(one, tmp_path, {}, "--check") == (0, 0)


def test_with_a_key_the_role_lets_a_runner_in_once(one: Lab, tmp_path: Path) -> None:
    """The user gets the key and root without a password; the second run changes nothing."""
    key = {"edge_node_authorized_key": one.key.with_suffix(".pub").read_text().strip()}
    assert play(one, tmp_path, key) == (4, 0)
    assert play(one, tmp_path, key) == (0, 0)
    *ssh, _host = one.ssh_command("one")
    words = [*ssh, f"margrave@{one.node('one').address}", "sudo -n id -u"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "0\n"


def test_a_registry_that_is_named_later_is_known_to_the_engine_that_runs(
    one: Lab, tmp_path: Path
) -> None:
    """Podman's API goes on, for the beacon listens to it, and what it is doing is not cut off."""

    def told() -> tuple[str, set[str]]:
        info = json.loads(one.ssh("one", "podman --remote info --format json").stdout)
        unit = one.ssh("one", "systemctl show --value --property MainPID podman.service").stdout
        return unit.strip(), set(info["registries"])

    pid, before = told()
    names = [*ROLE["edge_node_insecure_registries"], "later.example:5000"]
    assert play(one, tmp_path, {"edge_node_insecure_registries": names}) == (2, 0)
    assert told() == (pid, before | {"later.example:5000"})
    assert play(one, tmp_path, {}) == (2, 0)
    assert told() == (pid, before)
