"""What a runner holds in memory at rest: without a deployment, and with a thousand of them.

The proportional share (PSS) of every process of the runner, the warm one that has Ansible in memory
included: pages that two of them share count once. It tells a controller of itself, as runners do.
Bars: 100 MB, and 150 MB with 1,000 deployments.
"""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from bench.figures import keep
from bench.poll import site_with
from tests.support.runner_process import RunnerProcess
from tests.support.small_server import Asked, SmallServer, Told
from tests.support.waiting import eventually

DEPLOYMENTS: Final = 1_000
BARS: Final = {"at_rest": 100, "with_deployments": 150}
SETTLED: Final = 10  # seconds: first looks and the warm process's imports are over by then


class Controller(SmallServer):
    """Takes what it is told; it has no hints to give."""

    def answer(self, asked: Asked) -> Told:
        """As the real one would."""
        if "Content-Encoding" in asked.headers:
            return Told(415)
        what = asked.path.rpartition("/")[2]
        if what == "reports":
            told = json.loads(asked.body)
            return Told(body={"ack": told["first_seq"] + len(told["events"]) - 1})
        if what == "heartbeat":
            return Told(body={"time": "2026-01-01T00:00:00Z", "head": None, "commands": []})
        return Told(503)


def family(pid: int) -> list[int]:
    """The process and all that came from it."""
    told = subprocess.run(
        ["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout
    parents = {int(one): int(above) for one, above in map(str.split, told.splitlines())}
    found = [pid]
    for one in found:
        found += [child for child, above in parents.items() if above == one]
    return found


def megabytes(pid: int) -> float:
    """PSS of a process; of one that has just ended nothing."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    line = next(one for one in text.splitlines() if one.startswith("Pss:"))
    return int(line.split()[1]) / 1024


def command(pid: int) -> str:
    """The end of its command line, where its name stands."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")[-60:]
    except OSError:
        return "ended"


def weigh(base: Path, deployments: int) -> dict[str, Any]:
    """A runner that has looked at Git and has nothing to do."""
    base.mkdir()
    repository = site_with(deployments, base)
    controller = Controller().start()
    line = f'[controller]\nurl = "http://{controller.address}"\ntoken = "a site\'s"\n'
    served = RunnerProcess(base / "runner", str(repository.bare), more=line)
    # The second start: the first one makes the tables, and what that takes is not given back.
    served.start()
    served.kill(signal.SIGTERM)
    served.start()
    assert served.process is not None
    try:
        eventually(lambda: (served.state / "execute/c/warm").exists(), 120, "it warms up")
        eventually(lambda: served.status()["site"]["applied_commit"], 120, "Git was looked at")
        all_told = {"trouble": "", "reports_waiting": 0}
        eventually(lambda: served.status()["controller"] == all_told, 120, "all was told")
        time.sleep(SETTLED)
        by_process = {command(one): round(megabytes(one), 1) for one in family(served.process.pid)}
    finally:
        served.kill(signal.SIGTERM)
        controller.stop()
    return {"megabytes": round(sum(by_process.values()), 1), "processes": by_process}


def measure(base: Path) -> dict[str, Any]:
    """All figures."""
    rest = weigh(base / "rest", 0)
    many = weigh(base / "many", DEPLOYMENTS)
    return {
        "deployments": DEPLOYMENTS,
        "at_rest": rest,
        "with_deployments": many,
        "bars": BARS,
        "kept": rest["megabytes"] <= BARS["at_rest"]
        and many["megabytes"] <= BARS["with_deployments"],
    }


def main() -> None:
    """Measure, print and keep."""
    with tempfile.TemporaryDirectory(prefix="margrave-memory-") as folder:
        keep("runner_memory", measure(Path(folder)))


if __name__ == "__main__":
    main()
