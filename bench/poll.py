"""Nothing to do: what a poll costs beyond `git ls-remote`, at a site with 1,000 deployments.

Bar: at most 50 ms of processor time beyond `git ls-remote` itself, and no SSH. Processor time of
this process and of the processes it starts is measured, so that a busy machine does not decide.
Told beside it, without a bar: the first look, a push that is none of this site's business, and one
changed document among the thousand.
"""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import uuid
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from bench.figures import keep
from runner import app
from runner.settings import RunnerSettings
from tests.support.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.reconcile.watch import Watch

DEPLOYMENTS: Final = 1000
TURNS: Final = 21
BAR: Final = 0.050
# Git would start ssh for a remote or a signature if it had to; a node is reached by it alone.
_WATCHED: Final = ("ssh", "ansible-playbook")


class NoNodes:
    """An executor that must not be asked: whoever reaches a node ends the measurement."""

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name == "stop":
            return lambda: None
        raise AssertionError(f"a poll asked the nodes: {name}")


def processor_seconds() -> float:
    """Of this process and of all that it started and that ended."""
    own, started = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + started.ru_utime + started.ru_stime


def cost(work: Callable[[], object], turns: int = TURNS) -> float:
    """Median processor seconds of a piece of work."""
    costs = []
    for _ in range(turns):
        before = processor_seconds()
        work()
        costs.append(processor_seconds() - before)
    return median(costs)


def site_with(deployments: int, base: Path) -> Repository:
    """A repository whose site harbor has that many deployments."""
    made = Repository(base)
    for number in range(deployments):
        made.deploy("1.0.0", name=f"shop-{number}", identifier=str(uuid.UUID(int=number)))
    made.push()
    return made


def traps(folder: Path) -> Path:
    """Programs that leave a mark when they are started, in a folder for the search path."""
    mark = folder / "started"
    folder.mkdir()
    for name in _WATCHED:
        program = folder / name
        program.write_text(f"#!/bin/sh\necho {name} >> {mark}\nexit 1\n")
        program.chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
    return mark


def pushes(repository: Repository, watch: Watch) -> dict[str, float]:
    """What pushes cost, seconds of processor time."""

    def elsewhere() -> float:
        repository.write("sites/depot.yaml", f"labels: {{at: '{datetime.now(UTC).timestamp()}'}}\n")
        repository.push()
        return cost(lambda: watch.look(hinted=True), 1)

    def ours() -> float:
        version = f"1.0.{datetime.now(UTC).microsecond}"
        repository.deploy(version, name="shop-0", identifier=str(uuid.UUID(int=0)))
        repository.push()
        return cost(lambda: watch.look(hinted=True), 1)

    return {
        "push_elsewhere": median(elsewhere() for _ in range(5)),
        "one_document_changed": median(ours() for _ in range(3)),
    }


def measure(base: Path) -> dict[str, Any]:
    """All figures."""
    mark = traps(base / "traps")
    repository = site_with(DEPLOYMENTS, base)
    settings = RunnerSettings.model_validate(
        {
            "site": {"name": "harbor"},
            "git": {"remote": str(repository.bare)},
            "state": {"dir": base / "state"},
        }
    )
    runner = app.build(settings, executor=NoNodes())  # type: ignore[arg-type]  # never asked
    watch = runner.work.watch
    first = cost(lambda: watch.look(hinted=True), 1)
    desired = watch.newest()
    assert desired is not None, repr(watch.last)
    assert len(desired.deployments) == DEPLOYMENTS
    ask = ["git", "ls-remote", "--", str(repository.bare), "refs/heads/main"]
    bare = cost(lambda: subprocess.run(ask, check=True, capture_output=True))
    poll = cost(lambda: watch.look(hinted=False))
    assert watch.newest() is desired  # nothing was fetched
    figures = {
        "deployments": DEPLOYMENTS,
        "poll": {
            "ls_remote": bare,
            "ours": poll,
            "beyond": poll - bare,
            "bar": BAR,
            "kept": poll - bare <= BAR,
        },
        "first_look": first,
        **pushes(repository, watch),
        "ssh_started": mark.read_text().split() if mark.exists() else [],
    }
    runner.close()
    return figures


def main() -> None:
    """Measure, print and keep."""
    with tempfile.TemporaryDirectory(prefix="margrave-poll-") as folder:
        keep("poll", measure(Path(folder)))


if __name__ == "__main__":
    main()
