"""How soon a controller is ready, and how much memory it takes: at rest, and while it works.

`margrave init` and `margrave controller serve` as an operator starts them. From the start of the
process to the first `/readyz` that says ok, and the seconds of a processor that it took (which a
busy machine leaves as they are); then the memory of all its processes a while later (proportional
set size: what they share is counted once), and the most while four clients report and read lists.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from bench.figures import keep, summary
from tests.support.runner_process import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

BARS = {"ready in seconds": 2, "megabytes at rest": 120, "megabytes at work": 300}
STARTS = 5
REST = 10.0
WORK = 20.0
COMMAND = Path(sys.executable).parent / "margrave"


def make(folder: Path) -> None:
    """The folder of a controller with its SQLite database, and its admin's token."""
    made = subprocess.run(
        [COMMAND, "init", folder, "-o", "json"], check=True, capture_output=True, text=True
    )
    (folder / "token").write_text(json.loads(made.stdout)["token"])


@contextmanager
def controller(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], httpx.Client, float]]:
    """A controller that runs: its process, a client with an admin's token, seconds to ready."""
    if not (folder / "margrave.toml").exists():
        make(folder)
    port = free_port()
    environ = {**os.environ, "MARGRAVE_HTTP__BIND": f"127.0.0.1:{port}"}
    begun = time.perf_counter()
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [COMMAND, "controller", "serve", "--config", folder / "margrave.toml"],
            env=environ,
            stdout=log,
            stderr=log,
        )
    try:
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {(folder / 'token').read_text()}"},
            timeout=30,
        ) as client:
            while not _ready(client):
                assert process.poll() is None, (folder / "log").read_text()[-2000:]
                time.sleep(0.01)
            yield process, client, time.perf_counter() - begun
    finally:
        process.terminate()
        process.wait(60)


def _ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def memory(pid: int) -> float:
    """Megabytes of a process and of all that it started."""
    return round(sum(map(_own, _family(pid))) / 1024, 1)


def processor(pid: int) -> float:
    """Seconds of a processor that a process and all that it started have used."""
    ticks = 0
    for one in _family(pid):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _own(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [pid, *itertools.chain.from_iterable(_family(int(one)) for one in children)]


def at_work(pid: int, client: httpx.Client) -> dict[str, Any]:
    """The most memory while four clients ask for lists and report as fast as they can."""
    names = [f"site-{one}" for one in range(4)]
    tokens = {n: client.post("/api/v1/sites", json={"name": n}).json()["token"] for n in names}
    until, asked = time.monotonic() + WORK, [0] * len(names)

    def work(number: int) -> None:
        name = names[number]
        own = {"Authorization": f"Bearer {tokens[name]}"}
        runner, seq = str(uuid.uuid4()), 1
        with httpx.Client(base_url=client.base_url, timeout=60) as mine:
            while time.monotonic() < until:
                body = _batch(runner, seq)
                seq += len(body["events"])
                mine.post(
                    f"/api/v1/sites/{name}/reports", json=body, headers=own
                ).raise_for_status()
                mine.get("/api/v1/deployments", headers=client.headers).raise_for_status()
                mine.get(f"/api/v1/deployments?site={name}&q=shop", headers=client.headers)
                asked[number] += 3

    threads = [threading.Thread(target=work, args=(one,)) for one in range(len(names))]
    for thread in threads:
        thread.start()
    most = 0.0
    while any(thread.is_alive() for thread in threads):
        most = max(most, memory(pid))
        time.sleep(0.5)
    return {"megabytes": most, "requests": sum(asked)}


def _batch(runner: str, seq: int) -> dict[str, Any]:
    """Five hundred placements of a hundred deployments, that nobody knew before or knows by now."""
    at = "2026-03-01T12:00:00Z"
    events = [
        {
            "seq": seq + one,
            "at": at,
            "kind": "placement",
            "data": {
                "deployment": str(uuid.uuid5(uuid.UUID(runner), str(one % 100))),
                "node": f"node-{one % 5}",
                "name": f"shop-{one % 100}",
                "state": "PENDING",
                "outcome": "pending",
                "reason": "waits for its turn " * 5,
            },
        }
        for one in range(500)
    ]
    return {"protocol": 1, "runner": runner, "epoch": 1, "first_seq": seq, "events": events}


def main() -> None:
    """Measure and keep."""
    with tempfile.TemporaryDirectory() as name:
        folder, ready, used = Path(name) / "controller", [], []
        for _ in range(STARTS):
            with controller(folder) as (process, _client, seconds):
                ready.append(seconds)
                used.append(processor(process.pid))
        with controller(folder) as (process, client, _seconds):
            time.sleep(REST)
            resting = memory(process.pid)
            working = at_work(process.pid, client)
    figures = {
        "ready": summary(ready),
        "processor to ready": summary(used),
        "megabytes at rest": resting,
        "at work": working,
    }
    keep("resting", {"bars": BARS, **figures})


if __name__ == "__main__":
    main()
