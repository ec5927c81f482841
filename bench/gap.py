"""The last-known-good promise, measured: how long an application is silent while it is changed.

A client asks every 50 ms while a site runner updates the storefront on a real node, takes it back
to the older version, and meets a release that never gets healthy. Told are the longest time without
an answer and how many requests failed; and nothing but the old version may answer until the switch.
Compose replaces service by service once everything is fetched: the gap is one container's stop and
start, whatever the download took. `switches` counts how often the answering version changed: once,
or there and back. The failing release answers, but never healthily; its gap is two
switches, there and back.
"""

from __future__ import annotations

import argparse
import tempfile
import uuid
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from bench.figures import keep, summary
from lab import Lab
from tests.faults.ground import Ground
from tests.support.clients import Client
from tests.support.waiting import eventually

NODE: Final = "harbor-1"
RUNS: Final = 5
PAUSE: Final = 0.05
LIMIT: Final = 120


def change(ground: Ground, version: str, ends: str, outcome: str = "succeeded") -> dict[str, Any]:
    """Push a version, and ask the application until the runner says how it ended."""
    with Client(ground.lab.node(NODE).address, pause=PAUSE) as client:
        ground.want(version, "0m04s" if outcome != "succeeded" else "0m30s")
        wanted = ("INSTALLED", outcome, ends)
        # Its last outcome may be the same: it has to begin first.
        eventually(lambda: ground.standing()[0] != "INSTALLED", LIMIT, f"{version} begins", 0.01)
        eventually(lambda: ground.standing() == wanted, LIMIT, f"{version} ends {outcome}", 0.05)
        # What comes after the end counts too: healthy inside is not yet answering outside.
        eventually(lambda: client.answers[-1].version == ends, LIMIT, f"{ends} answers", PAUSE)
    seen = [one.version for one in client.answers if one.version is not None]
    return {
        "gap": client.longest_gap(),
        "requests": len(client.answers),
        "unanswered": sum(one.version is None for one in client.answers),
        "switches": sum(one != later for one, later in pairwise(seen)),
    }


def measure(lab: Lab, base: Path) -> dict[str, Any]:
    """Update, go back, and fail, so many times."""
    ground = Ground(lab, NODE, base)
    ground.open()
    found: dict[str, list[dict[str, Any]]] = {"update": [], "rollback": [], "failing": []}
    try:
        ground.deployment = str(uuid.uuid4())
        ground.want("1.0.0")
        ends = ("INSTALLED", "succeeded", "1.0.0")
        eventually(lambda: ground.standing() == ends, LIMIT, "1.0.0 is installed")
        for _ in range(RUNS):
            found["update"].append(change(ground, "1.1.0", "1.1.0"))
            found["rollback"].append(change(ground, "1.0.0", "1.0.0"))
        found["failing"].append(change(ground, "1.2.0", "1.0.0", "rolled-back"))
        ground.recover()
    finally:
        ground.close()
    return {name: _told(runs) for name, runs in found.items()}


def _told(runs: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "gap": summary([one["gap"] for one in runs]),
        "requests": sum(one["requests"] for one in runs),
        "unanswered": sum(one["unanswered"] for one in runs),
        "switches": sorted({one["switches"] for one in runs}),
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.gap", description=__doc__)
    parser.add_argument("--lab", default="bench", help="its name; it stays for the next run")
    lab = Lab(parser.parse_args().lab)
    lab.up([NODE])
    with tempfile.TemporaryDirectory(prefix="margrave-gap-") as base:
        keep("gap", {"every": PAUSE, **measure(lab, Path(base))})


if __name__ == "__main__":
    main()
