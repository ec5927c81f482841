"""What runners send: reports and heartbeats; and results of playbooks run by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.api import bodies
from controller.api.problems import Problem, invalid, not_found
from controller.api.routes import Object, Route
from controller.reports import runs
from controller.reports.intake import PROTOCOL, Gap
from controller.reports.messages import Batch, Heartbeat
from controller.reports.runs import Run
from controller.store import fleet
from margrave.findings import Finding

if TYPE_CHECKING:
    from controller.api.call import Call


def reported(call: Call, site: str, body: dict[str, Any]) -> dict[str, Any]:
    """POST reports: what is new is applied once; a gap is told."""
    batch = bodies.read(Batch, body)
    _check(call, site, batch.protocol)
    numbers = [event.seq for event in batch.events]
    if numbers != list(range(batch.first_seq, batch.first_seq + len(numbers))):
        words = "the events' numbers do not follow on first_seq one by one"
        raise invalid([Finding("/events", words, "number them first_seq, first_seq + 1, …")])
    try:
        return {"ack": call.parts.intake.take(site, batch)}
    except Gap as gap:
        raise Problem(409, gap.message, cure=gap.cure, more={"expected": gap.expected}) from None


def beaten(call: Call, site: str, body: dict[str, Any]) -> dict[str, Any]:
    """POST heartbeat: who is alive; the answer holds the head and open commands."""
    beat = bodies.read(Heartbeat, body)
    _check(call, site, beat.protocol)
    return call.parts.heartbeats.take(site, beat)


def ran(call: Call, site: str, body: Run) -> dict[str, Any]:
    """POST runs: a hand-run playbook's results."""
    call.must_see(site)
    with call.parts.store.write() as session:
        if not fleet.site_exists(session, site):
            raise not_found("site", site)
        answer = runs.take(call.parts.intake, session, site, body)
        call.write_down(session, "run.report", site, {"playbook": body.playbook})
    return answer


def _check(call: Call, site: str, protocol: int) -> None:
    if protocol != PROTOCOL:
        words = f"protocol {protocol} is not spoken here"
        raise invalid([Finding("/protocol", words, f"this version speaks {PROTOCOL}")])
    call.must_see(site)


ROUTES: Final = (
    Route(
        "POST",
        "/sites/<site>/reports",
        reported,
        Role.SITE,
        "What happened, in order",
        Object.REQUIRED,
        limit=bodies.REPORT_LIMIT,
    ),
    Route(
        "POST",
        "/sites/<site>/heartbeat",
        beaten,
        Role.SITE,
        "A sign of life",
        Object.REQUIRED,
    ),
    Route(
        "POST",
        "/sites/<site>/runs",
        ran,
        Role.OPERATOR,
        "Results of a playbook run by hand",
        Run,
        201,
        limit=bodies.REPORT_LIMIT,
    ),
)
