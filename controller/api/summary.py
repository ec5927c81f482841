"""The fleet at a glance: numbers, what needs somebody, what is under way, how the days went."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.api import actions, paging, sites
from controller.api.routes import Route
from controller.store import summary
from controller.store.shapes import stamp
from margrave.lifecycle import Freshness

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from controller.api.call import Call
    from controller.store.freshness import Moment

DAYS: Final = 14
SHOWN: Final = 8  # of what needs somebody: what is more is a number, and a list of its own
ROWS: Final = 5  # of deployments that are told with all their placements
LATEST: Final = 10
OF_REQUEST: Final = 50
HOURS: Final = 24
# How long sites have been silent, by steps that ask for different answers.
SILENCES: Final = (
    ("below a minute", 60.0),
    ("minutes", 3600.0),
    ("hours", 86400.0),
    ("days", math.inf),
)


def shown(call: Call) -> dict[str, Any]:
    """GET /summary."""
    moment, only = call.parts.moment(), call.who.sites
    with call.parts.store.session() as session:
        known = summary.sites(session, only)
        trouble = summary.in_trouble(session, moment, only, SHOWN)
        offline = summary.offline_nodes(session, moment, only, SHOWN)
        sources = summary.ill_sources(session)
        since = (moment.now - timedelta(days=DAYS - 1)).replace(hour=0, minute=0, second=0)
        return {
            "at": stamp(moment.now),
            "deployments": summary.counted(session, only),
            "sites": _sites(known, moment),
            "nodes": summary.nodes(session, moment, only),
            "attention": [*_ill_sites(known, moment), *_ill(trouble), *_rest(offline, sources)],
            "under_way": summary.under_way(session, moment, only, ROWS),
            "changed": summary.changed(session, moment, only, ROWS),
            "latest": summary.transitions(session, only, LATEST),
            "days": _days(summary.days(session, since, only), since),
            "durations": _spread(summary.durations(session, only)),
        }


def activity(call: Call) -> dict[str, Any]:
    """GET /activity: stored events, newest first."""
    page = call.page()
    with call.parts.store.session() as session:
        after = paging.number(page)
        rows = summary.events(session, call.who.sites, after=after, limit=page.fetch)
    return paging.listing(page, rows)


def progress(call: Call, request_id: str) -> dict[str, Any]:
    """GET /requests/{id}/progress: how what was asked for fares, what is open first."""
    asked = actions.request_shown(call, request_id)
    with call.parts.store.session() as session:
        return {
            "id": asked["id"],
            **summary.progress(session, asked["id"], call.who.sites, OF_REQUEST),
        }


def heard(call: Call, site: str) -> dict[str, Any]:
    """GET /sites/{site}/freshness: the spans of the last day in which it was fresh or silent."""
    moment = call.parts.moment()
    since = moment.now - timedelta(hours=HOURS)
    with call.parts.store.session() as session:
        now = sites.find(call, session, site)
        told = summary.heard(session, site, since)
    spans: list[dict[str, Any]] = []
    for at, word in told:
        if not spans or spans[-1]["freshness"] != word:
            spans.append({"freshness": word, "from": stamp(at)})
    if now["last_seen"] and (not spans or spans[-1]["freshness"] != now["freshness"]):
        spans.append({"freshness": now["freshness"], "from": now["last_seen"]})
    return {"site": site, "since": stamp(since), "until": stamp(moment.now), "spans": spans}


def _sites(known: list[dict[str, Any]], moment: Moment) -> dict[str, Any]:
    fresh = [one for one in known if moment.site(one["last_seen"]) is Freshness.FRESH]
    silence = {words: 0 for words, _ in SILENCES}
    never = 0
    for one in known:
        if one["last_seen"] is None:
            never += 1
        elif moment.site(one["last_seen"]) is not Freshness.FRESH:
            age = (moment.now - one["last_seen"]).total_seconds()
            silence[next(words for words, most in SILENCES if age < most)] += 1
    return {
        "total": len(known),
        "fresh": len(fresh),
        "unknown": len(known) - len(fresh),
        "never": never,
        **{
            word: sum(1 for one in known if one[key])
            for word, key in (
                ("paused", "paused"),
                ("drained", "drain"),
                ("locked", "locked"),
                ("halted", "halted"),
            )
        },
        "silence": silence,
    }


def _ill_sites(known: list[dict[str, Any]], moment: Moment) -> Iterator[dict[str, Any]]:
    halted = [one for one in known if one["halted"]]
    for one in halted[:SHOWN]:
        why = one["halted"].get("reason") or "what it fetched cannot be trusted"
        cure = "look at the commit; accept it when the history was rewritten on purpose"
        yield _need("site", one["name"], f"halted: {why}", cure, one["halted"].get("since"))
    silent = [one for one in known if moment.site(one["last_seen"]) is not Freshness.FRESH]
    silent.sort(key=lambda one: stamp(one["last_seen"]) or "", reverse=True)
    for one in silent[:SHOWN]:
        if one["last_seen"] is None:
            words, cure = "its runner was never heard of", "start it with the site's token"
        else:
            words, cure = "silent", "look at the line, then at the runner: margrave runner status"
        yield _need("site", one["name"], words, cure, stamp(one["last_seen"]))
    for one in [one for one in known if one["locked"]][:SHOWN]:
        why = one["locked"].get("reason") or "no reason given"
        cure = "margrave runner unlock, on the runner's machine"
        yield _need("site", one["name"], f"locked at the site: {why}", cure)


def _ill(trouble: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in trouble:
        first = next((own for own in one["placements"] if own["outcome"] == one["outcome"]), None)
        error = (first or {}).get("error") or {}
        why = error.get("message") or (first or {}).get("reason") or ""
        words = one["outcome"].replace("-", " ") + (f": {why}" if why else "")
        cure = error.get("cure") or CURES[one["outcome"]]
        need = _need("deployment", one["name"], words, cure, one["updated_at"])
        yield {**need, "site": one["site"], "id": one["id"], "outcome": one["outcome"]}


def _rest(
    offline: list[tuple[str, str, datetime | None]], sources: list[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    for site, name, seen in offline:
        cure = "look at its power and network; forget it when it is gone for good"
        yield {**_need("node", name, "silent", cure, stamp(seen)), "site": site}
    for name, error in sources:
        yield _need("source", name, f"cannot be read: {error}", "mend it, then sync it")


def _need(kind: str, name: str, words: str, cure: str, since: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "name": name, "words": words, "cure": cure, "since": since}


CURES: Final = {
    "failed": "read its log, mend the cause, then retry or deploy another version",
    "rollback-failed": "read its log; somebody has to look at the node",
    "rolled-back": "the old version runs; mend the release, or release it from quarantine to retry",
    "held": "it is not tried here; release it, or want another version",
}


def _days(found: dict[str, dict[str, int]], since: datetime) -> list[dict[str, Any]]:
    named = [(since + timedelta(days=number)).date().isoformat() for number in range(DAYS)]
    words = ("succeeded", "rolled_back", "failed", "deleted")
    return [
        {"day": day, **{word: found.get(day, {}).get(word, 0) for word in words}} for day in named
    ]


def _spread(found: dict[str, list[float]]) -> list[dict[str, Any]]:
    """The middle and the slow end of each kind."""
    made = []
    for kind in ("install", "update", "rollback", "delete"):
        took = sorted(found.get(kind, ()))
        if took:
            middle, slow = took[len(took) // 2], took[min(len(took) - 1, len(took) * 9 // 10)]
            made.append({"kind": kind, "number": len(took), "p50": middle, "p90": slow})
    return made


ROUTES: Final = (
    Route("GET", "/summary", shown, Role.VIEWER, "The fleet at a glance"),
    Route(
        "GET", "/requests/<request_id>/progress", progress, Role.VIEWER, "How it fares everywhere"
    ),
    Route("GET", "/activity", activity, Role.VIEWER, "Stored events, newest first"),
    Route(
        "GET", "/sites/<site>/freshness", heard, Role.VIEWER, "When it was heard of in the last day"
    ),
)
