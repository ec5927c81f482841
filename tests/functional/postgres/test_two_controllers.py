"""Two controllers on one PostgreSQL: each event and each commit once, and one takes over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
import uuid

import httpx

from tests.functional.controller.kit import NOON, placed
from tests.functional.postgres.conftest import Tell
from tests.functional.postgres.pair import OPERATOR, SITES, Pair, answers, runner
from tests.support import postgres
from tests.support.waiting import eventually

EACH = 10


def test_a_stream_of_one_sees_what_the_other_took_in(pair: Pair, tell: Tell) -> None:
    """A report posted to the second controller is streamed by the first, each event once."""
    told = {"protocol": 1, "runner": str(uuid.uuid4()), "epoch": 1, "first_seq": 1}
    known = SITES["harbor"]
    steps = [(None, "PENDING"), ("PENDING", "INSTALLING"), ("INSTALLING", "INSTALLED")]
    events = [
        {"seq": number, "at": NOON.isoformat(), "kind": "placement",
         "data": placed(known, "harbor-1", to, frm)}
        for number, (frm, to) in enumerate(steps, 1)
    ]  # fmt: skip
    url = f"{pair.urls[0]}/api/v1/events?deployment={known}"
    with httpx.stream("GET", url, headers=OPERATOR, timeout=20) as stream:
        lines = stream.iter_lines()
        assert next(line for line in lines if line == ": open")
        path = f"{pair.urls[1]}/api/v1/sites/harbor/reports"
        begin = time.monotonic()
        answer = httpx.post(
            path, json={**told, "events": events}, headers=runner("harbor"), timeout=20
        )
        assert answer.json() == {"ack": 3}
        data = (json.loads(line[6:]) for line in lines if line.startswith("data: "))
        found = [next(data) for _ in range(4)]
        tell(f"seen at the other controller {time.monotonic() - begin:.2f} s after it was sent")
    assert [one["state"] for one in found] == [*(to for _, to in steps), "INSTALLED"]
    assert "node" not in found[3]


def test_requests_to_both_are_published_once_each(pair: Pair) -> None:
    """Both work the same queue off: a commit for each request, and none twice."""
    asked: list[str] = []

    def ask(which: int) -> None:
        asked.extend(pair.create(which, f"shop-{which}-{one}") for one in range(EACH))

    threads = [threading.Thread(target=ask, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asked) == 2 * EACH
    eventually(lambda: pair.published(asked), 60, "not all are published", pause=0.5)
    assert sorted(pair.commits()) == sorted(asked)


def test_one_killed_while_it_publishes_is_followed_by_the_other(pair: Pair, tell: Tell) -> None:
    """kill -9 in the middle of a push: within 30 seconds the other one has finished, once."""
    pair.marker.touch()
    request = pair.create(0, "shop")
    reached = pair.marker.with_name(f"{pair.marker.name}.reached")
    eventually(reached.exists, 60, "no push began")
    publishing = _publishing(pair)
    pid = pair.processes[publishing].pid
    assert pid is not None
    begin = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    for child in _workers(pid):
        os.kill(child, signal.SIGKILL)
    pair.marker.unlink()
    other = 1 - publishing
    state = lambda: pair.get(other, f"/requests/{request}")["state"]  # noqa: E731
    eventually(lambda: state() == "published", 30, "nobody went on", pause=0.5)
    tell(f"published by the other {time.monotonic() - begin:.1f} s after kill -9")
    assert pair.commits() == [request]


def test_a_database_that_restarts_while_they_publish(
    pair: Pair, lasting: postgres.Postgres, tell: Tell
) -> None:
    """The server goes away under requests that are being published: both controllers find back by
    themselves, and each request is published once."""
    pair.marker.touch()
    requests = [pair.create(which, f"shop-{which}-{one}") for one in range(3) for which in (0, 1)]
    reached = pair.marker.with_name(f"{pair.marker.name}.reached")
    eventually(reached.exists, 60, "no push began")
    lasting.restart()
    begin = time.monotonic()
    pair.marker.unlink()

    def published() -> bool:
        for which in (0, 1):
            for one in requests:
                url = f"{pair.urls[which]}/api/v1/requests/{one}"
                answer = httpx.get(url, headers=OPERATOR, timeout=30)
                if answer.status_code != 200 or answer.json()["state"] != "published":
                    return False
        return True

    eventually(published, 60, "not all are published", pause=0.5)
    tell(f"all published {time.monotonic() - begin:.1f} s after the database was back")
    assert sorted(pair.commits()) == sorted(requests)
    for url in pair.urls:
        eventually(lambda url=url: answers(f"{url}/readyz"), 60, "it is not ready again")


def _publishing(pair: Pair) -> int:
    """Which of them has a push under way."""
    listed = subprocess.check_output(["ps", "-e", "-ww", "-o", "pid=,ppid=,args="], text=True)
    parent = {int(line.split()[0]): int(line.split()[1]) for line in listed.splitlines()}
    (first, *_) = [
        int(line.split()[0]) for line in listed.splitlines()
        if "push" in line and str(pair.forge) in line
    ]  # fmt: skip
    above = set()
    while first > 1:
        first = parent.get(first, 0)
        above.add(first)
    return next(which for which, one in enumerate(pair.processes) if one.pid in above)


def _workers(pid: int) -> list[int]:
    """gunicorn's worker below its master, which would notice the end only after a second."""
    listed = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(one) for one in listed.stdout.split()]
