"""What needs somebody, each with its next step: a few of every kind, and how many there are.

Silence is told beside failures, and so is whatever somebody stopped on purpose: a fleet at which
nothing is published, or where a site stands still, has not nothing that needs anybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from controller.publish import trunk
from controller.store import attention, requests, summary
from controller.store.attention import TROUBLE
from controller.store.freshness import NodeStatus
from controller.store.shapes import stamp
from margrave.lifecycle import Freshness, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from controller.api.call import Call
    from controller.store import Session
    from controller.store.models import Request

SHOWN: Final = 8  # of each kind: how many there are is told beside them
MOST_QUEUED: Final = 200  # requests of the queue that are looked through for errors
LATELY: Final = timedelta(days=1)  # a request that came to nothing is asked for again, or forgotten
_NEVER: Final = datetime.min.replace(tzinfo=UTC)
CURES: Final[Mapping[str, str]] = {
    Outcome.FAILED: "read its log, mend the cause, then retry or deploy another version",
    Outcome.ROLLBACK_FAILED: "read its log; somebody has to look at the node",
    Outcome.ROLLED_BACK: "the old version runs; mend the release, or release it from quarantine"
    " to retry",
    Outcome.HELD: "it is not tried here; release it, or want another version",
}

Site = dict[str, Any]
Shown = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Need:
    """One kind of what needs somebody: those that are shown, and how many there are."""

    why: str
    number: int
    shown: list[Shown]


def needs(
    call: Call,
    session: Session,
    sites: Sequence[Site],
    counted: summary.Counted,
) -> list[Need]:
    """Everything, what stops most first; kinds of which there is none are left out."""
    moment, only = call.parts.moment(), call.who.sites
    silent = [one for one in sites if moment.site(one["last_seen"]) is not Freshness.FRESH]
    silent.sort(key=lambda one: one["last_seen"] or _NEVER, reverse=True)
    late = moment.now - LATELY
    found = [
        _unpublished(call, session),
        _of_sites("halted", [one for one in sites if one["halted"]], _halted),
        _trouble(call, session, counted),
        _requests(*attention.refused_requests(session, late, only, SHOWN)),
        _waiting_requests(requests.waiting_with_error(session, only, MOST_QUEUED)),
        _of_sites("findings", [one for one in sites if one["findings"]], _findings),
        _of_sites("silent", silent, _silent),
        _of_sites("clock", [one for one in sites if one["clock_offset"] is not None], _clock),
        _nodes(*attention.offline_nodes(session, moment, only, SHOWN)),
        _of_sites("locked", [one for one in sites if one["locked"]], _locked),
        _of_sites("paused", [one for one in sites if one["paused"]], _paused),
        _windows(*attention.waiting_for_windows(session, only, SHOWN)),
        _sources(attention.ill_sources(session)),
    ]
    return [need for need in found if need.number]


def _unpublished(call: Call, session: Session) -> Need:
    halt, problem = trunk.halt(session), call.parts.publisher.problem
    shown = []
    if halt:
        shown = [_shown("repository", "main", halt["reason"], halt["cure"], halt["since"])]
    elif problem:
        cure = "see that the forge answers; what is asked for waits until then"
        shown = [_shown("repository", "main", f"cannot be reached: {problem}", cure)]
    for one in call.parts.publisher.changes.pending():
        if call.who.sees(one["site"]):
            cure = "mend the cause; it is made by itself then"
            words = f"{one['change']} waits: {one['problem']}"
            shown.append(_shown("site", one["site"], words, cure, one["since"]))
    return Need("unpublished", len(shown), shown)


def _trouble(call: Call, session: Session, counted: summary.Counted) -> Need:
    number = sum(own.get(one, 0) for own in counted.values() for one in TROUBLE)
    found = summary.latest(session, call.parts.moment(), call.who.sites, SHOWN, TROUBLE, counted)
    return Need("trouble", number, [_in_trouble(one) for one in found])


def _in_trouble(one: dict[str, Any]) -> Shown:
    first = next((own for own in one["placements"] if own["outcome"] == one["outcome"]), None)
    error = (first or {}).get("error") or {}
    why = error.get("message") or (first or {}).get("reason") or ""
    words = one["outcome"].replace("-", " ") + (f": {why}" if why else "")
    cure = error.get("cure") or CURES[one["outcome"]]
    need = _shown("deployment", one["name"], words, cure, one["updated_at"])
    return {**need, "site": one["site"], "id": one["id"], "outcome": one["outcome"]}


def _requests(found: list[dict[str, Any]], number: int) -> Need:
    shown = []
    for one in found:
        said = one["error"].get("message")
        words = f"{one['state']}, asked for by {one['actor']}" + (f": {said}" if said else "")
        cure = one["error"].get("cure") or "look at it, and ask again"
        need = _shown("request", one["action"], words, cure, one["since"])
        shown.append({**need, "id": one["id"]})
    return Need("request", number, shown)


def _waiting_requests(found: list[Request]) -> Need:
    """Requests that were tried and wait: a registry or the remote did not answer."""
    shown = []
    for row in found[:SHOWN]:
        error = row.error or {}
        words = f"waits to be published: {error.get('message')}"
        cure = error.get("cure") or "it is tried again by itself"
        need = _shown("request", row.action.value, words, cure, stamp(row.created_at))
        shown.append({**need, "id": row.id})
    return Need("waiting", len(found), shown)


def _of_sites(why: str, found: Sequence[Site], told: Callable[[Site], Shown]) -> Need:
    return Need(why, len(found), [told(one) for one in found[:SHOWN]])


def _halted(one: Site) -> Shown:
    why = one["halted"].get("reason") or "what it fetched cannot be trusted"
    cure = "look at the commit; accept it when the history was rewritten on purpose"
    return _shown("site", one["name"], f"halted: {why}", cure, one["halted"].get("since"))


def _findings(one: Site) -> Shown:
    first, number = one["findings"][0], len(one["findings"])
    where = f"{first['file']}: " if first.get("file") else ""
    words = f"its documents have findings: {where}{first.get('message') or ''}"
    words += f" (and {number - 1} more)" if number > 1 else ""
    return _shown("site", one["name"], words, first.get("cure") or "mend the document in Git")


def _silent(one: Site) -> Shown:
    if one["last_seen"] is None:
        words, cure = "its runner was never heard of", "start it with the site's token"
    else:
        words, cure = "silent", "look at the line, then at the runner: margrave runner status"
    return _shown("site", one["name"], words, cure, stamp(one["last_seen"]))


def _clock(one: Site) -> Shown:
    offset = one["clock_offset"]
    words = f"its runner's clock is {abs(offset)} s {'ahead' if offset > 0 else 'behind'}"
    return _shown("site", one["name"], words, "set it: windows and times are told by it")


def _locked(one: Site) -> Shown:
    why = one["locked"].get("reason") or "no reason given"
    cure = "margrave runner unlock, on the runner's machine"
    return _shown("site", one["name"], f"locked at the site: {why}", cure)


def _paused(one: Site) -> Shown:
    why = one["paused"].get("reason") or "no reason given"
    until = one["paused"].get("until")
    words = f"paused: {why}" + (f", until {until}" if until else "")
    return _shown("site", one["name"], words, "resume it when the reason is gone")


def _nodes(found: list[dict[str, Any]], number: int) -> Need:
    shown = []
    for node in found:
        words, cure = _node_words(node)
        shown.append(
            {**_shown("node", node["name"], words, cure, node["since"]), "site": node["site"]}
        )
    return Need("node", number, shown)


def _node_words(node: dict[str, Any]) -> tuple[str, str]:
    """State what is wrong with a node, and what to do about it."""
    reason = f": {node['reason']}" if node["reason"] else ""
    if node["status"] == NodeStatus.UNUSABLE:
        return f"nothing can run there{reason}", "install what it lacks; it is inspected by itself"
    cure = "check its power and network; forget it when it is gone for good"
    if node["status"] == NodeStatus.ACTIVE:
        return f"its last check failed{reason}", cure
    return f"does not answer{reason}", cure


def _windows(found: list[dict[str, Any]], number: int) -> Need:
    shown = []
    for one in found:
        words = "waits for a window" + (f" until {one['until']}" if one["until"] else "")
        cure = "it goes on by itself then; for now, ask with urgent priority or open the window"
        need = _shown("deployment", one["name"], words, cure, one["since"])
        shown.append({**need, "site": one["site"], "id": one["id"], "outcome": "pending"})
    return Need("window", number, shown)


def _sources(found: list[tuple[str, str]]) -> Need:
    shown = [
        _shown("source", name, f"cannot be read: {error}", "mend it, then sync it")
        for name, error in found[:SHOWN]
    ]
    return Need("source", len(found), shown)


def _shown(kind: str, name: str, words: str, cure: str, since: str | None = None) -> Shown:
    return {"kind": kind, "name": name, "words": words, "cure": cure, "since": since}
