"""The controller's numbers in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Final

import margrave
from controller import measures
from controller.api.families import FAMILIES, PREFIX, Family
from controller.measures import Counts, Times
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
    from collections.abc import Iterator

    from controller.parts import Parts
    from controller.store import Session
    from controller.store.freshness import Moment

Sample = tuple[dict[str, str], float]
Samples = Iterable[Sample] | Times | Counts
Found = tuple[str, Samples]  # a family's name, and what there is of it

MOST: Final = 100_000  # sites and nodes: their labels are bounded by what exists
VERSION: Final = "build_info"
ENDED: Final = ("succeeded", "failed", "cancelled")
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def text(parts: Parts, sites: frozenset[str] | None = None) -> str:
    """Return all metrics, in the order of their table.

    For some `sites` only: the samples that name one of them. Other numbers count all sites
    together, so of these the version alone is left.
    """
    with parts.store.session() as session:
        found = {
            **dict(_process(parts, halted=trunk.halt(session) is not None)),
            **dict(_fleet(session, parts.moment())),
            **dict(_work(session)),
            **dict(_reports(session)),
        }
    lines: list[str] = []
    for family in FAMILIES:
        full, samples = f"{PREFIX}{family.name}", found.pop(family.name)
        if sites is not None:
            samples = _within(sites, family, samples)
        lines += [f"# HELP {full} {family.says}", f"# TYPE {full} {family.kind}"]
        if isinstance(samples, Times) and family.kind == "histogram":
            buckets = samples.buckets()
            lines += [_sample(f"{full}{end}", labels, value) for end, labels, value in buckets]
            continue
        some = samples.counts() if isinstance(samples, Times | Counts) else samples
        lines += [_sample(full, labels, value) for labels, value in some]
    assert not found, f"not in the table: {', '.join(found)}"
    return "\n".join(lines) + "\n"


def _within(sites: frozenset[str], family: Family, samples: Samples) -> Samples:
    """Return the samples that name one of the sites, and the version."""
    if family.name == VERSION:
        return samples
    if "site" not in family.labels or isinstance(samples, Times | Counts):
        return ()
    return [(labels, value) for labels, value in samples if labels["site"] in sites]


def _process(parts: Parts, *, halted: bool) -> Iterator[Found]:
    in_use, open_ = parts.store.connections()
    yield "build_info", [({"version": margrave.__version__}, 1.0)]
    yield "http_connections", measures.HTTP_CONNECTIONS
    yield "http_requests_running", measures.HTTP_RUNNING
    yield "http_requests_waiting", measures.HTTP_WAITING
    yield "http_requests_refused_total", measures.HTTP_REFUSED
    yield "sse_clients", [({}, parts.broker.clients)]
    yield "db_connections_in_use", [({}, in_use)]
    yield "db_connections_open", [({}, open_)]
    yield "git_unreachable", [({}, bool(parts.publisher.problem))]
    yield "git_halted", [({}, halted)]
    yield "git_requests_total", measures.GIT
    yield "git_request_duration_seconds", measures.GIT
    yield "webhook_requests_total", measures.WEBHOOKS
    yield "operation_duration_seconds", measures.OPERATIONS
    yield "queue_wait_seconds", measures.QUEUE
    yield "callback_lag_seconds", measures.LAG
    lengths = parts.publisher.queue_lengths()
    yield "publish_stage_queue_length", [({"stage": name}, n) for name, n in lengths.items()]
    yield "publish_stage_wait_seconds", measures.STAGE_WAIT
    yield "publish_stage_duration_seconds", measures.STAGE_TIME
    yield "publish_stage_failures_total", measures.STAGE_FAILURES


def _fleet(session: Session, moment: Moment) -> Iterator[Found]:
    sites = [site for _, site in fleet.sites(session, moment, after=None, limit=MOST)]
    seen = [
        ({"site": site["name"]}, datetime.fromisoformat(site["last_seen"]).timestamp())
        for site in sites
        if site["last_seen"]
    ]
    yield "site_last_seen_timestamp_seconds", seen
    fresh = [({"site": site["name"]}, float(site["freshness"] == "fresh")) for site in sites]
    yield "site_fresh", fresh
    counted: dict[tuple[str, str], float] = {}
    for _, node in fleet.nodes(session, moment, limit=MOST):
        key = (str(node["site"]), str(node["status"]))
        counted[key] = counted.get(key, 0) + 1
    nodes = [({"site": site, "status": status}, n) for (site, status), n in counted.items()]
    yield "node_status", nodes
    since = deployments.pending_since(session)
    ages = [({"site": one}, (moment.now - at).total_seconds()) for one, at in since.items()]
    yield "site_desired_revision_age_seconds", ages


def _work(session: Session) -> Iterator[Found]:
    found = [
        ({"site": site, "state": state, "outcome": outcome}, number)
        for (site, state, outcome), number in deployments.by_state(session).items()
    ]
    yield "deployments", found
    results = operations.by_result(session)
    ended = [
        ({"type": kind, "result": state, "error_class": error}, number)
        for (kind, state, error), number in results.items()
        if state in ENDED
    ]
    yield "operations_total", ended
    open_ = {key: number for key, number in results.items() if key[1] not in ENDED}
    yield "operations_active", [({}, sum(open_.values()))]
    waiting = sum(number for (_, state, _), number in open_.items() if state == "waiting")
    yield "operations_queued", [({}, waiting)]
    moved = history.transitions_by_target(session)
    yield "placement_transitions_total", [({"to": state}, n) for state, n in moved.items()]
    yield "rollbacks_total", [({}, moved.get("ROLLINGBACK", 0))]
    yield "requests_queued", [({}, queue.waiting(session))]


def _reports(session: Session) -> Iterator[Found]:
    yield "irregular_transitions_total", [({}, history.irregular(session))]
    yield "rejected_reports_total", [({}, reports.rejected(session))]
    yield "commands_pending", [({}, commands.open_commands(session))]
    yield "events_total", [({}, events.newest_id(session))]


def _sample(full: str, labels: dict[str, str], value: float) -> str:
    inner = ",".join(f'{key}="{word.translate(_ESCAPES)}"' for key, word in labels.items())
    number = f"{float(value):.17g}"
    return f"{full}{{{inner}}} {number}" if inner else f"{full} {number}"
