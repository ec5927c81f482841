"""The controller's numbers in Prometheus' text format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import margrave
from controller.store import commands, deployments, events, fleet, history, operations, reports

if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.parts import Parts

Sample = tuple[dict[str, str], float]

_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def text(parts: Parts) -> str:
    """All metrics; labels are only what is bounded: sites, states, outcomes, kinds."""
    moment = parts.moment()
    with parts.store.session() as session:
        found = deployments.by_state(session)
        nodes = fleet.nodes(session, moment, limit=100_000)
        sites = fleet.sites(session, moment, after=None, limit=100_000)
        ended = operations.by_outcome(session)
        moved = history.transitions_by_target(session)
        odd = history.irregular(session)
        rejected = reports.rejected(session)
        waiting = commands.open_commands(session)
        newest = events.newest_id(session)
    by_status: dict[tuple[str, str], float] = {}
    for _, node in nodes:
        key = (str(node["site"]), str(node["status"]))
        by_status[key] = by_status.get(key, 0) + 1
    families = (
        _gauge("build_info", "Which version runs", [({"version": margrave.__version__}, 1)]),
        _gauge(
            "deployments",
            "Deployments by site, state and outcome",
            [
                ({"site": site, "state": state, "outcome": outcome}, number)
                for (site, state, outcome), number in found.items()
            ],
        ),
        _gauge(
            "nodes",
            "Nodes by site and status",
            [({"site": site, "status": status}, n) for (site, status), n in by_status.items()],
        ),
        _gauge(
            "site_fresh",
            "Whether a site's runner is heard of",
            [({"site": site["name"]}, site["freshness"] == "fresh") for _, site in sites],
        ),
        _gauge(
            "operations",
            "Operations by kind and state",
            [({"kind": kind.value, "state": state}, n) for (kind, state), n in ended.items()],
        ),
        _counter(
            "placement_transitions_total",
            "Transitions of placements by the state they led to",
            [({"to": state}, number) for state, number in moved.items()],
        ),
        _counter("irregular_transitions_total", "Transitions outside the table", [({}, odd)]),
        _counter("rejected_reports_total", "Report events that were unreadable", [({}, rejected)]),
        _gauge("commands_pending", "Commands that wait for their runners", [({}, waiting)]),
        _counter("events_total", "Events stored", [({}, newest)]),
        _gauge("event_streams", "Streams of events that are open", [({}, parts.broker.clients)]),
    )
    return "".join(families)


def _gauge(name: str, says: str, samples: Iterable[Sample]) -> str:
    return _family(name, "gauge", says, samples)


def _counter(name: str, says: str, samples: Iterable[Sample]) -> str:
    return _family(name, "counter", says, samples)


def _family(name: str, kind: str, says: str, samples: Iterable[Sample]) -> str:
    full = f"margrave_{name}"
    lines = [f"# HELP {full} {says}", f"# TYPE {full} {kind}"]
    for labels, value in samples:
        inner = ",".join(f'{key}="{word.translate(_ESCAPES)}"' for key, word in labels.items())
        lines.append(f"{full}{{{inner}}} {float(value):g}" if inner else f"{full} {float(value):g}")
    return "\n".join(lines) + "\n"
