"""What the runner says of itself: one value for the status, the page, the metrics and readiness."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from margrave import __version__
from margrave.lifecycle import State
from runner.instruments import PREFIX, Instruments, head
from runner.ports import Node, NodeStatus
from runner.store import OperationState, Store, nodes, operations, outbox, placements, site
from runner.store.resources import (
    moment,
    node_resource,
    operation_resource,
    placement_resource,
    site_resource,
)

_LATEST: Final = 20
# Without room for a few transactions and logs nothing can be written down, so nothing is begun.
_LEAST_FREE: Final = 64 * 1024 * 1024
# A tick rests at most half a minute: one that did not come for so long hangs.
_LONGEST_PAUSE: Final = 300.0


def _at_rest() -> Mapping[str, Any]:
    return {"state": "waiting", "reason": "Git was not asked yet"}


@dataclass(frozen=True)
class Status:
    """Reads the store and asks the threads."""

    site: str
    store: Store
    node_status: Callable[[Node], NodeStatus]
    last_tick: Callable[[], datetime | None] = lambda: None
    tick_age: Callable[[], float] = float  # seconds since then
    tick_trouble: Callable[[], str] = str  # why the last tick failed; empty when it did not
    git: Callable[[], Mapping[str, Any]] = _at_rest
    trouble: Callable[[], str] = str  # why the controller is not reached; empty when it is
    log: Callable[[str], str] = lambda _: ""  # what an operation said, as far as it is kept
    instruments: Instruments = field(default_factory=Instruments)

    def value(self) -> dict[str, Any]:
        """The whole status."""
        with self.store.read() as tx:
            who, held = site.identity_of(tx), site.site_state(tx)
            known, placed = nodes.all_nodes(tx), placements.newest(tx)
            waiting, latest = outbox.count_waiting(tx), operations.latest(tx, _LATEST)
        statuses = {one.name: self.node_status(one) for one in known}
        return {
            "site": {"name": self.site, **site_resource(held)},
            "runner": {"id": who.runner, "epoch": who.epoch, "version": __version__},
            "git": dict(self.git()),
            "controller": {"trouble": self.trouble(), "reports_waiting": waiting},
            "last_tick": moment(self.last_tick()),
            "nodes": [node_resource(one) | {"status": statuses[one.name]} for one in known],
            "placements": [
                placement_resource(one) | {"freshness": _freshness(statuses.get(one.node))}
                for one in placed
            ],
            "operations": [operation_resource(one) for one in latest],
        }

    def site_value(self) -> dict[str, Any]:
        """The site's part of the status alone."""
        with self.store.read() as tx:
            return site_resource(site.site_state(tx))

    def readiness(self) -> dict[str, Any]:
        """Whether the site is looked after, and each part that is ill.

        Git, a halted commit and the controller are told and fail nothing: the site goes on with
        what it has, and nobody would be helped by a runner that is taken out of service for them.
        """
        with self.store.read() as tx:
            held = site.site_state(tx)
        free = shutil.disk_usage(self.store.path.parent).free
        last = self.last_tick()
        late = self.tick_age() > _LONGEST_PAUSE
        broken = self.tick_trouble()
        git = self.git()
        failing = [
            ("claim", f"stood down: {held.stood_down}" if held.stood_down else ""),
            ("disk", f"{free // 1024**2} MiB free below the state folder" if _tight(free) else ""),
            ("ticks", _of_ticks(last, broken, late=late)),
        ]
        ill = [
            ("git", str(git["reason"]) if git["state"] in ("waiting", "stalled") else ""),
            ("halted", str((held.halted or {}).get("reason", ""))),
            ("controller", self.trouble()),
        ]
        reason = next((detail for _, detail in failing if detail), "")
        return {
            "status": "failing" if reason else "ok",
            "reason": reason,
            "checks": [
                {"name": name, "ok": not detail, "detail": detail or "ok"}
                for name, detail in (*failing, *ill)
            ],
        }

    def metrics(self) -> str:
        """The metrics as Prometheus reads them."""
        lines = (*self._gauges(), *self.instruments.lines())
        return "".join(f"{line}\n" for line in lines)

    def _gauges(self) -> Iterator[str]:
        with self.store.read() as tx:
            held, known, now = site.site_state(tx), nodes.all_nodes(tx), tx.now
            placed, unfinished = placements.newest(tx), operations.unfinished(tx)
            waiting = outbox.count_waiting(tx)
        yield from head("build_info", "The version that runs.")
        yield f'{PREFIX}build_info{{version="{__version__}"}} 1'
        yield from _by_word("placements", "Placements by state.", "state", State, placed)
        yield from head("node_status", "Nodes by status.")
        seen = Counter(self.node_status(one) for one in known)
        yield from (f'{PREFIX}node_status{{status="{one}"}} {seen[one]}' for one in NodeStatus)
        busy = Counter(one.state for one in unfinished)
        last = self.last_tick()
        open_ = [one.since for one in placed if one.wanted_revision != one.revision]
        age = max(0.0, (now - min(open_)).total_seconds()) if open_ else 0
        for name, text, value in (
            ("operations_active", "Calls that are at a node.", busy[OperationState.RUNNING]),
            ("operations_queued", "Calls that wait.", busy[OperationState.WAITING]),
            ("outbox_pending", "Reports the controller has not acknowledged.", waiting),
            ("halted", "1 while a commit is not taken.", int(held.halted is not None)),
            ("locked", "1 while an operator holds the site.", int(held.locked is not None)),
            ("stood_down", "1 while the nodes are another's.", int(held.stood_down is not None)),
            ("site_desired_revision_age_seconds", "How long what is wanted does not run.", age),
            (
                "last_tick_timestamp_seconds",
                "When the last tick ended.",
                last.timestamp() if last else 0,
            ),
        ):
            yield from head(name, text)
            yield f"{PREFIX}{name} {value}"


def _of_ticks(last: datetime | None, broken: str, *, late: bool) -> str:
    if broken:
        return f"the last one failed: {broken}"
    return f"the last one was at {moment(last)}" if late else ""


def _freshness(status: NodeStatus | None) -> str:
    """What a silent node runs is not known, only what it ran."""
    return "fresh" if status is NodeStatus.ACTIVE else "unknown"


def _tight(free: int) -> bool:
    return free < _LEAST_FREE


def _by_word(name: str, text: str, label: str, words: Any, some: Any) -> Iterator[str]:
    yield from head(name, text)
    states = Counter(one.state for one in some)
    yield from (f'{PREFIX}{name}{{{label}="{one}"}} {states[one]}' for one in words)
