"""The lab's OCI registry: Debian's, one process per lab, on the lab's bridge."""

from __future__ import annotations

import signal
import subprocess
from http import HTTPStatus
from typing import TYPE_CHECKING

from lab import processes
from lab.commands import environment
from lab.errors import LabError
from lab.plain_http import ask
from lab.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from lab.layout import Layout

PORT = 5000


def config(storage: Path, address: str) -> str:
    """The packaged configuration asks for a password file that is not there; this one does not."""
    return f"""\
version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage:
  filesystem: {{rootdirectory: {storage}}}
  delete: {{enabled: true}}
http:
  addr: {address}
  headers: {{X-Content-Type-Options: [nosniff]}}
"""


def address(gateway: str) -> str:
    return f"{gateway}:{PORT}"


def is_running(layout: Layout) -> bool:
    return any(processes.alive(pid) for pid in processes.with_word(str(_file(layout))))


def start(layout: Layout, gateway: str) -> None:
    """Start it unless it runs; returns when it answers."""
    if not is_running(layout):
        layout.registry.mkdir(parents=True, exist_ok=True)
        layout.run.mkdir(parents=True, exist_ok=True)
        _file(layout).write_text(config(layout.registry, address(gateway)))
        with (layout.run / "registry.log").open("wb") as log:
            subprocess.run(
                ["setsid", "--fork", "docker-registry", "serve", str(_file(layout))],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment(),
                cwd="/",
                check=True,
            )
    until(lambda: answers(address(gateway)), "the lab's registry to answer", timeout=60)


def stop(layout: Layout) -> None:
    processes.end(processes.with_word(str(_file(layout))), signal.SIGTERM)


def answers(where: str) -> bool:
    try:
        return ask("GET", f"http://{where}/v2/").status == HTTPStatus.OK
    except LabError:
        return False


def _file(layout: Layout) -> Path:
    return layout.run / "registry.yml"
