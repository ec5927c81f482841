"""P4: a drift check of a node with 50 deployments, beside one `ssh podman ps` on the same node.

Each goes over an SSH connection that is open already, in turns. The check is what the runner does
once a minute: it asks the engine and compares each deployment with its release. The deployments are
real: installed by the modules, a container each, on a lab node of their own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any, Final

from bench.figures import keep, summary
from lab import Lab
from margrave import digest, folder
from margrave.lifecycle import Kind
from runner.execute import AnsibleExecutor
from runner.ports import Call, Result, Status, Target

NODE: Final = "drift-1"
DEPLOYMENTS: Final = 50
TURNS: Final = 21
ROUNDS: Final = 3
BAR: Final = 3.0
COMPOSE: Final = "services: {one: {image: 'registry.margrave.lab:5000/idle:1'}}\n"


def target(lab: Lab) -> Target:
    """The node as root: nothing but the look itself is measured."""
    line = lab.ssh(NODE, "cat /etc/ssh/ssh_host_ed25519_key.pub").stdout
    host_key = " ".join(line.split()[:2])
    return Target(NODE, lab.node(NODE).address, 22, "root", str(lab.key), host_key)


def fill(executor: AnsibleExecutor, node: Target, source: Path) -> None:
    """Install what is missing to 50 deployments; a busy machine may need more than one round."""
    for _ in range(ROUNDS):
        there = executor.observe([node])[NODE].data.get("workloads") or []
        halves = [one["deployment"] for one in there if one["release"] is None]
        new = [str(uuid.uuid4()) for _ in range(DEPLOYMENTS - len(there))]
        if not halves + new:
            return
        results = _carry(executor, [_install(node, source, name) for name in halves + new])
    bad = [one.data.get("error") for one in results if one.status is not Status.OK]
    if bad:
        sys.exit(f"{len(bad)} installs failed, the first with {bad[0]}")


def _carry(executor: AnsibleExecutor, calls: list[Call]) -> list[Result]:
    results: list[Result] = []
    done = threading.Event()

    def take(result: Result) -> None:
        results.append(result)
        if len(results) == len(calls):
            done.set()

    executor.start(calls, lambda _: None, take)
    if not done.wait(1800):
        sys.exit(f"only {len(results)} of {len(calls)} deployments were installed")
    return results


def _install(node: Target, source: Path, name: str) -> Call:
    component = {
        "name": "idle",
        "src": str(source),
        "digest": digest.of_files(folder.read(source)),
        "timeout": 300,
    }
    arguments = {
        "deployment": name,
        "name": f"idle-{name[:8]}",
        "application": "com-example-idle",
        "version": "1",
        "revision": f"sha256:{uuid.UUID(name).hex * 2}",
        "components": [component],
        "health": {"grace": 1},
        "force": True,
    }
    return Call(name, Kind.INSTALL, node, arguments, 600)


def seconds(work: Any) -> float:
    """How long it took."""
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def connections(lab: Lab) -> int:
    """SSH connections that the node has now, but for the one that asks."""
    listed = lab.ssh(NODE, "ss -Htn state established sport = :22").stdout
    return len(listed.splitlines()) - 1


def measure(lab: Lab, folder: Path) -> dict[str, Any]:
    """Fill the node, and look at it in turns."""
    source = folder / "idle"
    source.mkdir()
    (source / "compose.yaml").write_text(COMPOSE)
    executor = AnsibleExecutor(folder / "execute")
    executor.open()
    try:
        node = target(lab)
        fill(executor, node, source)
        *ssh, host = lab.ssh_command(NODE)
        shared = ["-o", "ControlMaster=auto", "-o", "ControlPersist=600"]
        beside = [*ssh, *shared, "-o", f"ControlPath={folder}/reference", host, "podman ps"]

        def look() -> None:
            seen = executor.observe([node])[NODE]
            if seen.status is not Status.OK or len(seen.data["workloads"]) != DEPLOYMENTS:
                sys.exit(f"the look went wrong: {seen.status} {seen.message}")

        def list_containers() -> None:
            subprocess.run(beside, check=True, capture_output=True)

        look()
        look()
        open_now = connections(lab)
        list_containers()
        pairs = [(seconds(list_containers), seconds(look)) for _ in range(TURNS)]
        subprocess.run([*beside[:-2], "-O", "exit", host], check=False, capture_output=True)
    finally:
        executor.stop()
    theirs, ours = summary([one for one, _ in pairs]), summary([one for _, one in pairs])
    return {
        "deployments": DEPLOYMENTS,
        "podman_ps": theirs,
        "look": ours,
        "ratio": round(ours["median"] / theirs["median"], 2),
        "ratio_of_fastest": round(ours["min"] / theirs["min"], 2),
        "connections": open_now,
        "bar": BAR,
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.drift", description=__doc__)
    parser.add_argument("--lab", default="bench", help="its name; it stays for the next run")
    lab = Lab(parser.parse_args().lab)
    lab.up([NODE])
    with tempfile.TemporaryDirectory(prefix="margrave-drift-") as base:
        keep("drift", measure(lab, Path(base)))


if __name__ == "__main__":
    main()
