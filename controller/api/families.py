"""The controller's metrics by name: what docs/reference/metrics.md and /metrics are made from.

Labels are bounded by what exists (sites) or by closed lists (states, kinds, classes of error); no
commit, no identifier and no name of an application is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

PREFIX: Final = "margrave_"


@dataclass(frozen=True, slots=True)
class Family:
    """A metric."""

    name: str
    says: str
    labels: tuple[str, ...] = ()
    kind: Literal["gauge", "counter", "histogram"] = "gauge"


def _gauge(name: str, says: str, *labels: str) -> Family:
    return Family(name, says, labels)


def _counter(name: str, says: str, *labels: str) -> Family:
    return Family(name, says, labels, "counter")


def _times(name: str, says: str, *labels: str) -> Family:
    return Family(name, says, labels, "histogram")


FAMILIES: Final = (
    _gauge("build_info", "Which version runs", "version"),
    _gauge("http_connections", "Open connections by what they wait for", "phase"),
    _gauge("http_requests_running", "Requests that a thread of a lane handles", "lane"),
    _gauge("http_requests_waiting", "Requests that wait for a thread of a lane", "lane"),
    _counter("http_requests_refused_total", "Requests for which a lane had no room", "lane"),
    _gauge("sse_clients", "Streams of events that are open"),
    _gauge("db_connections_in_use", "Connections to the database that somebody works with"),
    _gauge("db_connections_open", "Connections to the database that are open"),
    _gauge("git_unreachable", "Whether the remote did not answer the last time"),
    _gauge("git_halted", "Whether main was rewritten and waits to be accepted"),
    _counter("git_requests_total", "Requests to the remote by their end", "op", "result"),
    _times("git_request_duration_seconds", "How long they took", "op", "result"),
    _counter("webhook_requests_total", "Deliveries at the door", "provider", "result"),
    _gauge("site_last_seen_timestamp_seconds", "When a site was last heard of", "site"),
    _gauge("site_fresh", "Whether a site's runner is heard of", "site"),
    _gauge(
        "site_desired_revision_age_seconds",
        "How long the oldest wish of a site has been open; no sample where none is",
        "site",
    ),
    _gauge("node_status", "Nodes by site and status", "site", "status"),
    _gauge("deployments", "Deployments by site, state and outcome", "site", "state", "outcome"),
    _counter("operations_total", "Operations that ended", "type", "result", "error_class"),
    _times("operation_duration_seconds", "From begin to end of those taken in here", "type"),
    _gauge("operations_active", "Operations that run or wait"),
    _gauge("operations_queued", "Operations that wait"),
    _counter("placement_transitions_total", "Transitions by the state they led to", "to"),
    _counter("rollbacks_total", "Times that a placement went back"),
    _gauge("requests_queued", "Requests that wait to be published"),
    _times("queue_wait_seconds", "From accepting a request until it was taken out of the queue"),
    _gauge("publish_stage_queue_length", "Work that waits for a stage of publishing", "stage"),
    _times("publish_stage_wait_seconds", "How long work waited for a stage", "stage"),
    _times("publish_stage_duration_seconds", "How long work took in a stage", "stage"),
    _counter("publish_stage_failures_total", "Work that failed in a stage", "stage"),
    _times("callback_lag_seconds", "From what happened at a site until it was stored here"),
    _counter("irregular_transitions_total", "Transitions outside the table"),
    _counter("rejected_reports_total", "Events that were unreadable"),
    _gauge("commands_pending", "Commands that wait for their runners"),
    _counter("events_total", "Events stored"),
)
