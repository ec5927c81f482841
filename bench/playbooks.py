"""Playbooks on nodes of a lab, as a person runs them: how long one takes and what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.compare_ways import Task, community
from bench.figures import ROOT
from lab.layout import cache_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab import Lab

RECAP: Final = re.compile(r"changed=(\d+) +unreachable=(\d+) +failed=(\d+)")
WORDS: Final = re.compile(r'"msg": ("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True)
class Ran:
    """What one call of ansible-playbook came to, over all its nodes."""

    seconds: float
    changed: int
    failed: bool
    words: str


class Playbooks:
    """How playbooks reach these nodes; the community's collections are there beside ours."""

    def __init__(self, lab: Lab, nodes: Sequence[str], base: Path) -> None:
        self._nodes, self._base = nodes, base
        login = {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(lab.key),
            "ansible_ssh_common_args": f"-o UserKnownHostsFile={lab.known_hosts}",
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        hosts = {node: {"ansible_host": lab.node(node).address, **login} for node in nodes}
        self._inventory = base / "nodes.json"
        self._inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
        both = f"{ROOT / 'collections'}:{community(cache_folder().parent)}"
        self._environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": both,
            "ANSIBLE_HOME": str(base / "home"),
            "ANSIBLE_CALLBACK_RESULT_FORMAT": "json",
            "NO_COLOR": "1",
        }

    def play(self, tasks: list[Task]) -> Ran:
        """Run the tasks on all nodes at once, and say how it went."""
        book = self._base / "play.json"
        book.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
        program = Path(sys.executable).with_name("ansible-playbook")
        begin = time.monotonic()
        done = subprocess.run(
            [program, "-i", self._inventory, "--forks", str(len(self._nodes)), book],
            env=self._environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        seconds = time.monotonic() - begin
        recaps = [tuple(map(int, one)) for one in RECAP.findall(done.stdout)]
        if len(recaps) != len(self._nodes):
            sys.exit(f"ansible-playbook ended with {done.returncode}: {done.stdout}{done.stderr}")
        found = WORDS.findall(done.stdout)
        return Ran(
            seconds,
            sum(changed for changed, _, _ in recaps),
            any(unreachable or failed for _, unreachable, failed in recaps),
            json.loads(found[-1]) if found else "",
        )
