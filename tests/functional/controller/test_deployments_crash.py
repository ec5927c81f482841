"""The publisher killed at any moment: started again, each request is in Git exactly once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from controller.publish import Repository
from controller.store import queue
from tests.support.registry import FakeRegistry
from tests.support.works import Works

REQUESTS = 5
ATTEMPTS = 200
WORKER = """
import sys
from pathlib import Path
from tests.support.registry import FakeRegistry
from tests.support.works import Works

class Known(FakeRegistry):
    address = sys.argv[2]

works = Works(Path(sys.argv[1]), Known())
works.publisher.recover()
print("ready", flush=True)
works.publisher.refresh()
works.publisher.publish_all()
"""


def test_killed_again_and_again(tmp_path: Path, on_both: None) -> None:
    """Whenever the process dies, nothing that was accepted is lost, and nothing is doubled."""
    registry = FakeRegistry().start()
    works = Works(tmp_path / "state", registry).with_apps("depot", "harbor")
    answers = [works.create("harbor", "depot", name=f"shop-{one}") for one in range(REQUESTS)]
    chance = random.Random(4)
    kills = 0
    for attempt in range(ATTEMPTS):
        if _finished(works):
            break
        # At first sooner than any machine publishes all; a moment later each time, so that at last
        # one publishes in it that is busy.
        after = chance.uniform(0.01, 0.1) * (1 + attempt / 3)
        kills += _run(tmp_path / "state", registry.address, after)
    assert kills > 0
    assert {works.request(answer)["state"] for answer in answers} == {"published"}
    repository = Repository(works.settings)
    head = repository.head()
    assert head is not None
    log = repository.git.text("log", "--format=%B", head)
    for answer in answers:
        assert log.count(f"Margrave-Request: {answer['id']}") == 1
    assert len(repository.paths(head, ["deployments"])) == 2 * REQUESTS
    assert repository.git.text("for-each-ref", "refs/margrave") == ""
    works.store.close()
    registry.stop()


def _finished(works: Works) -> bool:
    with works.store.session() as session:
        return queue.waiting(session) == 0


def _run(state: Path, registry: str, after: float) -> int:
    """Let a worker work for a moment; 1 when it had to be killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(state), registry],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    process.stdout.readline()
    deadline = time.monotonic() + after
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return 1
    finally:
        process.stdout.close()
    return 0
