"""What the runner says of itself: one value for the status, the page, the metrics and readiness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from margrave import __version__
from margrave.lifecycle import State
from runner.ports import Node, NodeStatus
from runner.store import Store, nodes, operations, outbox, placements, site
from runner.store.resources import (
    moment,
    node_resource,
    operation_resource,
    placement_resource,
    site_resource,
)

_LATEST: Final = 20


@dataclass(frozen=True)
class Status:
    """Reads the store and asks the threads."""

    site: str
    store: Store
    node_status: Callable[[Node], NodeStatus]
    last_tick: Callable[[], datetime | None]
    git: Callable[[], str]
    trouble: Callable[[], str]  # why the controller is not reached; empty when it is

    def value(self) -> dict[str, Any]:
        """The whole status."""
        with self.store.read() as tx:
            who, held = site.identity_of(tx), site.site_state(tx)
            known, placed = nodes.all_nodes(tx), placements.newest(tx)
            waiting, latest = outbox.count_waiting(tx), operations.latest(tx, _LATEST)
        return {
            "site": {"name": self.site, **site_resource(held)},
            "runner": {"id": who.runner, "epoch": who.epoch, "version": __version__},
            "git": self.git(),
            "controller": {"trouble": self.trouble(), "reports_waiting": waiting},
            "last_tick": moment(self.last_tick()),
            "nodes": [node_resource(one) | {"status": self.node_status(one)} for one in known],
            "placements": [placement_resource(one) for one in placed],
            "operations": [operation_resource(one) for one in latest],
        }

    def site_value(self) -> dict[str, Any]:
        """The site's part of the status alone."""
        with self.store.read() as tx:
            return site_resource(site.site_state(tx))

    def unready(self) -> str:
        """Why the runner is not ready; empty when it is."""
        with self.store.read() as tx:
            held = site.site_state(tx)
        return f"stood down: {held.stood_down}" if held.stood_down else ""

    def metrics(self) -> str:
        """The metrics as Prometheus reads them."""
        return "".join(f"{line}\n" for line in self._metric_lines())

    def _metric_lines(self) -> Iterator[str]:
        with self.store.read() as tx:
            held, known = site.site_state(tx), nodes.all_nodes(tx)
            states = Counter(one.state for one in placements.newest(tx))
            waiting, busy = outbox.count_waiting(tx), len(operations.unfinished(tx))
        yield from _head("placements", "Placements by state.")
        yield from (
            f'margrave_runner_placements{{state="{state}"}} {states[state]}' for state in State
        )
        yield from _head("nodes", "Nodes by status.")
        seen = Counter(self.node_status(one) for one in known)
        yield from (f'margrave_runner_nodes{{status="{one}"}} {seen[one]}' for one in NodeStatus)
        last = self.last_tick()
        for name, text, value in (
            ("operations_unfinished", "Operations that run or wait.", busy),
            ("outbox_waiting", "Reports the controller has not acknowledged.", waiting),
            ("halted", "1 while a commit is not taken.", int(held.halted is not None)),
            ("locked", "1 while an operator holds the site.", int(held.locked is not None)),
            ("last_tick_seconds", "When the last tick ended.", last.timestamp() if last else 0),
        ):
            yield from _head(name, text)
            yield f"margrave_runner_{name} {value}"


def _head(name: str, text: str) -> Iterator[str]:
    yield f"# HELP margrave_runner_{name} {text}"
    yield f"# TYPE margrave_runner_{name} gauge"
