"""P2: one push changes an application on twenty nodes at once, beside two other ways to do it.

All three change one variable of the storefront on the same nodes, in turns, each with a copy of its
own on a port of its own; images are there already. Measured from the push of what is committed
until all are healthy: ours by the site runner, (a) the shell loop of P1, which pulls, copies and
starts, on all nodes in parallel over multiplexed SSH. (b) a plain playbook, from its start: facts,
then a network, a volume and two containers by the modules of `containers.podman`, one task after
the other, with Ansible's default of five forks.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from bench.compare_ways import Plain, community, podman_tasks
from bench.figures import keep, summary
from lab import Lab
from lab.layout import cache_folder
from tests.support.repository import ASK_PATIENTLY, Repository, storefront_component
from tests.support.runner_process import RunnerProcess
from tests.support.waiting import eventually

# The playbook takes half a minute, and is far from its bar: its turns are fewer.
RUNS: Final = {"ours": 5, "loop": 5, "playbook": 2}
# Podman's API ends five seconds after the last request. Without a rest who comes first in a turn
# would start it on all nodes, and who comes next would find it running.
REST: Final = 10
LIMIT: Final = 900
BARS: Final = {"loop": 1.3, "playbook": 3.0}
# Once, at the start, and then not while anything is measured: to look at a container's health takes
# a process or two, and 120 containers are here. With a look a minute those of one way would come
# round while another is at work.
EVERY: Final = "1h"
LOOK: Final = str(json.loads(ASK_PATIENTLY)[1])  # as the files of the other two ask
UP: Final = "DOCKER_HOST=unix:///run/podman/podman.sock docker-compose -p {name} up -d --wait"
# Every node at once; the script ends when the slowest is healthy.
LOOP: Final = """\
set -e
git -C site pull --quiet
for node in $NODES; do
  ( scp $SSH -q site/compose.yaml site/.env root@$node:/root/loop/ &&
    ssh $SSH root@$node "cd /root/loop && $UP" ) &
done
for job in $(jobs -p); do wait $job; done
"""


class Ours:
    """A site runner without a controller; its end is what it would report."""

    def __init__(self, lab: Lab, nodes: list[str], base: Path) -> None:
        self.repository = Repository(base)
        self.component = storefront_component(self.repository.tree, "1.0.0", every=EVERY)
        self.repository.push()
        self.runner = RunnerProcess(base / "runner", str(self.repository.bare))
        self.nodes = set(nodes)
        self.commit, self.written = "", 0
        self.runner.start()
        self.database = sqlite3.connect(f"file:{self.runner.state}/runner.db?mode=ro", uri=True)

        def add(node: str) -> None:
            self.runner.add(node, lab.node(node).address, lab.key, lab.host_key(node))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(add, nodes))

    def prepare(self, greeting: str) -> None:
        """Commit another greeting."""
        self.repository.deploy(
            "1.0.0",
            component=self.component,
            greeting=greeting,
            timeout="5m00s",
            strategy={"batch": "all"},
        )
        self.commit = self.repository.commit()

    def change(self) -> None:
        """Push it and wait until it runs healthy everywhere."""
        self.repository.send()
        self.runner.hint()
        eventually(self._through, LIMIT, "all nodes are through", 0.05)

    def _through(self) -> bool:
        """Asked only when the runner has written something: nodes do without what asking takes."""
        before = self.written
        [self.written] = self.database.execute("pragma data_version").fetchone()
        if self.written == before:
            return False
        return self.runner.reached("INSTALLED", self.commit) == self.nodes


class Loop:
    """What somebody writes in an afternoon, with everything in parallel."""

    def __init__(self, lab: Lab, nodes: list[str], base: Path) -> None:
        self.folder = base / "loop"
        self.folder.mkdir()
        self.repository = Repository(self.folder)
        self.repository.write("compose.yaml", compose(base, 8001))
        self.prepare("first")
        self.repository.send()
        run(
            ["git", "clone", "-q", str(self.repository.bare), "site"], self.folder, dict(os.environ)
        )
        options = f"-i {lab.key} -o UserKnownHostsFile={lab.known_hosts} -o ControlMaster=auto"
        self.environment = {
            **os.environ,
            "NODES": " ".join(lab.node(node).address for node in nodes),
            "SSH": f"{options} -o ControlPersist=600 -o ControlPath={base}/%C -o LogLevel=ERROR",
            "UP": UP.format(name="loop"),
        }
        for node in nodes:
            lab.ssh(node, "mkdir -p /root/loop")

    def prepare(self, greeting: str) -> None:
        """Commit the variable."""
        self.repository.write(".env", f"GREETING={greeting}\n")
        self.repository.commit()

    def change(self) -> None:
        """Push it and run the script."""
        self.repository.send()
        run(["bash", "-c", LOOP], self.folder, self.environment)


class Playbook:
    """The same as tasks: facts, then podman's own modules."""

    def __init__(self, lab: Lab, nodes: list[str], base: Path) -> None:
        self.folder = base / "playbook"
        self.folder.mkdir()
        hosts = {node: {"ansible_host": lab.node(node).address} for node in nodes}
        login = {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(lab.key),
            "ansible_ssh_common_args": f"-o UserKnownHostsFile={lab.known_hosts}",
        }
        inventory = {"all": {"hosts": hosts, "vars": login}}
        (self.folder / "inventory.yml").write_text(json.dumps(inventory))
        self.environment = {
            **os.environ,
            "ANSIBLE_HOME": str(base / "home"),
            "ANSIBLE_CONFIG": str(self.folder / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(community(cache_folder().parent)),
        }
        (self.folder / "ansible.cfg").touch()

    def prepare(self, greeting: str) -> None:
        """Write the variable."""
        wanted = Plain("1.0.0", greeting, "plain-", 8002, LOOK, EVERY)
        play = {"hosts": "all", "tasks": podman_tasks(wanted)}
        (self.folder / "site.yml").write_text(json.dumps([play]))

    def change(self) -> None:
        """Run the playbook."""
        program = str(Path(sys.executable).with_name("ansible-playbook"))
        run([program, "-i", "inventory.yml", "site.yml"], self.folder, self.environment)


def compose(base: Path, port: int) -> str:
    """The very file that the site runner delivers, with another port on the node."""
    [file] = (base / "tree" / "components").glob("*/compose.yaml")
    return file.read_text().replace('"8000:8000"', f'"{port}:8000"')


def run(words: list[str], folder: Path, environment: dict[str, str]) -> None:
    """A command that has to end well."""
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(
            f"{words[0]} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        )


def measure(lab: Lab, nodes: list[str], base: Path) -> dict[str, Any]:
    """All three in turns, after one turn that counts for nothing."""
    ours = Ours(lab, nodes, base)
    ways: dict[str, Ours | Loop | Playbook] = {
        "ours": ours,
        "loop": Loop(lab, nodes, base),
        "playbook": Playbook(lab, nodes, base),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    try:
        for turn in range(max(RUNS.values()) + 1):
            for name, way in ways.items():
                if turn > RUNS[name]:
                    continue
                way.prepare(f"{name}{turn}")
                time.sleep(REST)
                begin = time.monotonic()
                way.change()
                if turn:
                    taken[name].append(time.monotonic() - begin)
    finally:
        ours.runner.kill(signal.SIGTERM)
    medians = {name: summary(seconds) for name, seconds in taken.items()}
    mine = medians["ours"]["median"]
    return {
        "nodes": len(nodes),
        **medians,
        "ratio_to_loop": round(mine / medians["loop"]["median"], 2),
        "faster_than_playbook": round(medians["playbook"]["median"] / mine, 2),
        "bars": BARS,
    }


def main() -> None:
    """Measure, print and keep; the lab goes afterwards: its nodes would slow the next bench."""
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__)
    parser.add_argument("--lab", default="bench-fleet")
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--keep", action="store_true", help="leave the lab up")
    asked = parser.parse_args()
    lab = Lab(asked.lab)
    nodes = [f"fleet-{number:02}" for number in range(1, asked.nodes + 1)]
    lab.up(nodes)
    try:
        with tempfile.TemporaryDirectory(prefix="margrave-fleet-") as base:
            keep("fleet", measure(lab, nodes, Path(base)))
    finally:
        if not asked.keep:
            lab.down()


if __name__ == "__main__":
    main()
