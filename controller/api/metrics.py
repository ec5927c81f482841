"""The controller's numbers in Prometheus' text format."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

import margrave
from controller import measures
from controller.publish import trunk
from controller.store import (
    commands,
    deployments,
    events,
    fleet,
    history,
    operations,
    queue,
    reports,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from controller.measures import Times
    from controller.parts import Parts
    from controller.store import Session
    from controller.store.freshness import Moment

Sample = tuple[dict[str, str], float]

MOST: Final = 100_000  # sites and nodes: their labels are bounded by what exists
ENDED: Final = ("succeeded", "failed", "cancelled")
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def text(parts: Parts) -> str:
    """All metrics; labels are only what is bounded: sites, states, outcomes, kinds."""
    with parts.store.session() as session:
        families = (*_fleet(session, parts.moment()), *_work(session), *_reports(session))
        halted = trunk.halt(session) is not None
    version = [({"version": margrave.__version__}, 1.0)]
    own = (
        _gauge("build_info", "Which version runs", version),
        _gauge("sse_clients", "Streams of events that are open", [({}, parts.broker.clients)]),
    )
    return "".join((*own, *_git(parts, halted), *families))


def _git(parts: Parts, halted: bool) -> Iterator[str]:
    away = float(bool(parts.publisher.problem))
    yield _gauge("git_unreachable", "Whether the remote did not answer the last time", [({}, away)])
    yield _gauge("git_halted", "Whether main was rewritten and waits to be accepted",
                 [({}, float(halted))])  # fmt: skip
    counts = measures.GIT.counts()
    yield _counter("git_requests_total", "Requests to the remote by their end", counts)
    says = "How long requests to the remote took"
    yield _histogram("git_request_duration_seconds", says, measures.GIT)


def _fleet(session: Session, moment: Moment) -> Iterator[str]:
    sites = [site for _, site in fleet.sites(session, moment, after=None, limit=MOST)]
    seen = [
        ({"site": site["name"]}, datetime.fromisoformat(site["last_seen"]).timestamp())
        for site in sites
        if site["last_seen"]
    ]
    yield _gauge("site_last_seen_timestamp_seconds", "When a site was last heard of", seen)
    fresh = [({"site": site["name"]}, float(site["freshness"] == "fresh")) for site in sites]
    yield _gauge("site_fresh", "Whether a site's runner is heard of", fresh)
    counted: dict[tuple[str, str], float] = {}
    for _, node in fleet.nodes(session, moment, limit=MOST):
        key = (str(node["site"]), str(node["status"]))
        counted[key] = counted.get(key, 0) + 1
    nodes = [({"site": site, "status": status}, n) for (site, status), n in counted.items()]
    yield _gauge("node_status", "Nodes by site and status", nodes)


def _work(session: Session) -> Iterator[str]:
    found = [
        ({"site": site, "state": state, "outcome": outcome}, number)
        for (site, state, outcome), number in deployments.by_state(session).items()
    ]
    yield _gauge("deployments", "Deployments by site, state and outcome", found)
    results = operations.by_result(session)
    ended = [
        ({"type": kind, "result": state, "error_class": error}, number)
        for (kind, state, error), number in results.items()
        if state in ENDED
    ]
    yield _counter("operations_total", "Operations that ended", ended)
    active = sum(number for (_, state, _), number in results.items() if state not in ENDED)
    yield _gauge("operations_active", "Operations that run or wait", [({}, active)])
    moved = history.transitions_by_target(session)
    to = [({"to": state}, number) for state, number in moved.items()]
    yield _counter("placement_transitions_total", "Transitions by the state they led to", to)
    back = moved.get("ROLLINGBACK", 0)
    yield _counter("rollbacks_total", "Times that a placement went back", [({}, back)])
    queued = queue.waiting(session)
    yield _gauge("requests_queued", "Requests that wait to be published", [({}, queued)])


def _reports(session: Session) -> Iterator[str]:
    odd, rejected = history.irregular(session), reports.rejected(session)
    yield _counter("irregular_transitions_total", "Transitions outside the table", [({}, odd)])
    yield _counter("rejected_reports_total", "Events that were unreadable", [({}, rejected)])
    waiting = commands.open_commands(session)
    yield _gauge("commands_pending", "Commands that wait for their runners", [({}, waiting)])
    yield _counter("events_total", "Events stored", [({}, events.newest_id(session))])


def _gauge(name: str, says: str, samples: Iterable[Sample]) -> str:
    return _family(name, "gauge", says, samples)


def _counter(name: str, says: str, samples: Iterable[Sample]) -> str:
    return _family(name, "counter", says, samples)


def _histogram(name: str, says: str, times: Times) -> str:
    full = f"margrave_{name}"
    lines = [f"# HELP {full} {says}", f"# TYPE {full} histogram"]
    lines += [_sample(f"{full}{end}", labels, value) for end, labels, value in times.buckets()]
    return "\n".join(lines) + "\n"


def _sample(full: str, labels: dict[str, str], value: float) -> str:
    inner = ",".join(f'{key}="{word.translate(_ESCAPES)}"' for key, word in labels.items())
    number = f"{float(value):.17g}"
    return f"{full}{{{inner}}} {number}" if inner else f"{full} {number}"


def _family(name: str, kind: str, says: str, samples: Iterable[Sample]) -> str:
    full = f"margrave_{name}"
    lines = [f"# HELP {full} {says}", f"# TYPE {full} {kind}"]
    lines += [_sample(full, labels, value) for labels, value in samples]
    return "\n".join(lines) + "\n"
