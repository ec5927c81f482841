"""Beats of beacons a second: what the runner's door takes, each verified and counted.

A runner process with a thousand nodes; a few connections that stay open send signed beats, each
with a later time than the last of its node. Beside it, in the same run and by the same means, the
same process answers /healthz: what a request costs there that does nothing. Bar: 1,000 a second.
"""

from __future__ import annotations

import http.client
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.figures import keep
from runner.nodes.beats import signature
from runner.ports import Beacon, Node
from runner.store import Store
from runner.store.beacons import Beacons
from runner.store.nodes import Nodes
from tests.support.repository import Repository
from tests.support.runner_process import RunnerProcess
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NODES: Final = 1_000
BEATS: Final = 8_000
CONNECTIONS: Final = 4
BAR: Final = 1_000
KEY: Final = "ab" * 32
BODY: Final = b'{"protocol": 1, "boot_id": "4f0c", "beacon": "1.0.0", "changed": []}'

Ask = tuple[str, str, bytes | None, dict[str, str]]


def register(state: Path) -> None:
    """A site with many nodes that have a beacon."""
    store = Store(state)
    nodes, beacons = Nodes(store), Beacons(store)
    for number in range(NODES):
        # Nobody listens there, and that is known at once: these nodes are made up.
        made_up = Node(f"node-{number}", "127.0.0.1", port=9, host_key="ssh-ed25519 AAAA")
        nodes.save(made_up)
        beacons.save(Beacon(f"node-{number}", KEY))
    store.close()


def beats() -> list[Ask]:
    """Signed requests, made before the clock starts: signing them is the nodes' own work."""
    now = int(time.time() * 1000)
    found: list[Ask] = []
    for number in range(BEATS):
        node, stamp = f"node-{number % NODES}", str(now + number // NODES)
        headers = {
            "X-Margrave-Node": node,
            "X-Margrave-Timestamp": stamp,
            "X-Margrave-Signature": signature(KEY, node, stamp, BODY),
            "Content-Type": "application/json",
        }
        found.append(("POST", "/heartbeat", BODY, headers))
    return found


def carry(port: int, asked: list[Ask]) -> float:
    """Requests a second over all connections; each answer has to be 200."""
    line: Iterator[Ask] = iter(asked)
    lock, wrong = threading.Lock(), []

    def send() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while True:
            with lock:
                one = next(line, None)
            if one is None:
                connection.close()
                return
            method, path, body, headers = one
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            said = answer.read()
            if answer.status != 200:
                wrong.append(said)

    seconds = timed(lambda: in_threads(send))
    assert not wrong, f"{len(wrong)} were refused: {wrong[0]!r}"
    return len(asked) / seconds


def in_threads(work: Callable[[], None]) -> None:
    """All connections at once."""
    threads = [threading.Thread(target=work) for _ in range(CONNECTIONS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


def timed(work: Callable[[], None]) -> float:
    """Seconds."""
    began = time.monotonic()
    work()
    return time.monotonic() - began


def processor_seconds(pid: int) -> float:
    """What the process has used so far."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(words[11]) + int(words[12])) / 100


def measure(base: Path) -> dict[str, Any]:
    """All figures."""
    repository = Repository(base)
    repository.write("sites/harbor.yaml", "{}\n")
    repository.push()
    served = RunnerProcess(base / "runner", str(repository.bare))
    register(served.state)
    served.start()
    try:
        assert served.process is not None
        # The first look at them has to be through, with no answer.
        eventually(lambda: all(one["error"] for one in served.status()["nodes"]), 300, "the look")
        healthz: list[Ask] = [("GET", "/healthz", None, {})] * BEATS
        before = processor_seconds(served.process.pid)
        bare = carry(served.port, healthz)
        idle = processor_seconds(served.process.pid) - before
        before = processor_seconds(served.process.pid)
        rate = carry(served.port, beats())
        spent = processor_seconds(served.process.pid) - before
    finally:
        served.kill(signal.SIGTERM)
    return {
        "nodes": NODES,
        "beats": BEATS,
        "beats_per_second": round(rate),
        "healthz_per_second": round(bare),
        "ratio": round(rate / bare, 2),
        # Of one core, without what the senders need: what a busy machine does not distort.
        "processor_milliseconds_each": round(spent / BEATS * 1000, 3),
        "healthz_processor_milliseconds_each": round(idle / BEATS * 1000, 3),
        "a_core_alone_would_take": round(BEATS / spent),
        "bar": BAR,
        "kept": rate >= BAR,
    }


def main() -> None:
    """Measure, print and keep."""
    with tempfile.TemporaryDirectory(prefix="margrave-beats-") as folder:
        keep("heartbeats", measure(Path(folder)))


if __name__ == "__main__":
    main()
