"""Our modules by a plain playbook: one operation on one node, on twenty, and nothing to do.

Each turn changes a variable of the storefront on all nodes, and then runs the same playbook again;
images are there already. Beside each: Ansible's `ping`, which does nothing on as many nodes.

    python -m bench.operations [--nodes 20]
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.compare_ways import Task, ours
from bench.figures import keep, summary
from bench.playbooks import Playbooks
from lab import Lab

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.playbooks import Ran

TURNS: Final = 3
APPS: Final = Path(__file__).parents[1] / "examples/apps/storefront"
PING: Final[list[Task]] = [{"name": "Do nothing", "ansible.builtin.ping": {}}]


def update(greeting: str) -> list[Task]:
    """Our one task, with another variable and so another revision."""
    return ours(APPS, "1.0.0", greeting)


def measure(lab: Lab, nodes: Sequence[str], base: Path) -> dict[str, Any]:
    """All of it in turns, after one turn that counts for nothing."""
    all_of_them, alone = (Playbooks(lab, some, _folder(base, some)) for some in (nodes, nodes[:1]))
    taken: dict[str, list[float]] = defaultdict(list)
    for turn in range(TURNS + 1):
        for where, count, books in (("one node", 1, alone), ("all", len(nodes), all_of_them)):
            tasks = update(f"{where} {turn}")
            for name, expected, ran in (
                (f"change on {count}", count, books.play(tasks)),
                (f"nothing to do on {count}", 0, books.play(tasks)),
                (f"ping on {count}", 0, books.play(PING)),
            ):
                _refuse(ran, expected)
                if turn:
                    taken[name].append(ran.seconds)
    return {"nodes": len(nodes), **{name: summary(seconds) for name, seconds in taken.items()}}


def _folder(base: Path, nodes: Sequence[str]) -> Path:
    folder = base / f"of-{len(nodes)}"
    folder.mkdir()
    return folder


def _refuse(ran: Ran, changed: int) -> None:
    """A figure counts only where what was to happen did happen, everywhere."""
    if ran.failed or ran.changed != changed:
        raise SystemExit(f"{ran.changed} changed, not {changed}: {ran.words}")


def main() -> None:
    """Measure, print and keep; the lab goes afterwards."""
    parser = argparse.ArgumentParser(prog="python -m bench.operations", description=__doc__)
    parser.add_argument("--lab", default="bench-operations")
    parser.add_argument("--nodes", type=int, default=20)
    asked = parser.parse_args()
    lab = Lab(asked.lab)
    nodes = [f"fleet-{number:02}" for number in range(1, asked.nodes + 1)]
    lab.up(nodes)
    try:
        with tempfile.TemporaryDirectory(prefix="margrave-operations-") as base:
            keep("operations", measure(lab, nodes, Path(base)))
    finally:
        lab.down()


if __name__ == "__main__":
    main()
