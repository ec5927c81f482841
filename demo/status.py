"""`margrave demo status`: which parts live, and where they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from demo import http, parts
from demo.places import CONTROLLER_PORT, LAB, RUNNER_PORTS, site_of
from lab import Lab

if TYPE_CHECKING:
    from demo.places import Places

BEACON_PORT: Final = 9180


def status(places: Places) -> dict[str, Any]:
    """Parts with their pids (null when dead) and the nodes with the URL of their beacon, if any."""
    controller = {"pid": parts.controller(places).pid(), "url": parts.url(CONTROLLER_PORT)}
    runners = [
        {"site": site, "pid": parts.runner(places, site).pid(), "url": parts.url(port)}
        for site, port in RUNNER_PORTS.items()
    ]
    nodes = [
        {
            "name": node.name,
            "site": site_of(node.name),
            "address": node.address,
            "state": str(node.state),
            "healthz": _healthz(node.address) if str(node.state) == "running" else None,
        }
        for node in Lab(LAB).nodes()
    ]
    return {"controller": controller, "runners": runners, "nodes": nodes}


def _healthz(address: str) -> str | None:
    url = f"http://{address}:{BEACON_PORT}/healthz"
    return url if http.answers(url, timeout=0.5) else None
