"""The demo's processes: what starts each, and whether it is ready."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from demo import http, ports
from demo.places import CONTROLLER_PORT, HOST, RUNNER_PORTS, DemoError
from demo.processes import Process, started, until

if TYPE_CHECKING:
    from demo.places import Places

READY_WITHIN = 60.0
RELEASED_WITHIN = 2.0  # a killed worker is gone at once, its socket a moment later


def controller(places: Places) -> Process:
    """The controller's process."""
    config = places.controller / "margrave.toml"
    command = (str(places.command), "controller", "serve", "--config", str(config))
    return Process("controller", command, places.base)


def runner(places: Places, site: str) -> Process:
    """The process of a site's runner."""
    config = places.runner(site) / "margrave.toml"
    command = (str(places.command), "runner", "serve", "--config", str(config))
    return Process(f"runner-{site}", command, places.base)


def all_of(places: Places) -> dict[str, tuple[Process, int]]:
    """Every process with its port, in the order of their start."""
    found = {"controller": (controller(places), CONTROLLER_PORT)}
    return found | {site: (runner(places, site), port) for site, port in RUNNER_PORTS.items()}


def url(port: int) -> str:
    """Where a part answers."""
    return f"http://{HOST}:{port}"


def check_ports(places: Places) -> None:
    """All ports are free or ours; else DemoError that names who has them."""
    for process, port in all_of(places).values():
        if process.pid() is not None:
            continue
        process.sweep()
        if not until(partial(ports.is_free, HOST, port), RELEASED_WITHIN):
            raise DemoError(
                f"port {port} is taken by {ports.holder(port)}",
                "end that first; there is one demo per machine (margrave demo down ends it)",
            )


def ensure(process: Process, port: int, *, renew: bool) -> bool:
    """It runs (again, if it died or shall be renewed) and is ready; whether it was started."""
    if renew:
        process.stop()
    fresh = process.pid() is None
    if fresh:
        process.start()
    wait_ready(process, port)
    return fresh


def wait_ready(process: Process, port: int) -> None:
    """Returns when /readyz does; a part that died says its last words."""
    pid = process.pid()

    def settled() -> bool:
        return pid is None or started(pid) is None or http.answers(f"{url(port)}/readyz")

    came = until(settled, READY_WITHIN, 0.1)
    if process.pid() is None:
        raise DemoError(f"{process.name} ended: {process.last_words()}", f"see {process.log}")
    if not came:
        raise DemoError(
            f"{process.name} is not ready: {process.last_words()}", f"see {process.log}"
        )
