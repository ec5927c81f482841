"""The fleet at a glance: numbers, what needs somebody, what is under way, how the days went."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.api import actions, attention, paging, sites
from controller.api.routes import Route
from controller.store import lately, summary
from controller.store.shapes import stamp
from margrave.lifecycle import Freshness, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from controller.api.call import Call
    from controller.store.freshness import Moment

DAYS: Final = 14
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
        counted = summary.counted(session, only)
        needs = attention.needs(call, session, known, counted)
        since = (moment.now - timedelta(days=DAYS - 1)).replace(
            hour=0, minute=0, second=0, microsecond=0
        )
        return {
            "at": stamp(moment.now),
            "deployments": counted,
            "unknown": summary.unknown(session, moment, only),
            "sites": _sites(known, moment),
            "nodes": summary.nodes(session, moment, only),
            "nodes_failing": summary.failing_nodes(session, moment, only),
            "attention": [{"why": need.why, **one} for need in needs for one in need.shown],
            "needs": {need.why: need.number for need in needs},
            "under_way": summary.latest(session, moment, only, ROWS, (Outcome.PENDING,), counted),
            "changed": summary.changed(session, moment, only, ROWS),
            "latest": summary.transitions(session, only, LATEST),
            "days": _days(lately.days(session, since, only), since, lately.days_from(session)),
            "durations": _spread(lately.durations(session, only)),
        }


def activity(call: Call) -> dict[str, Any]:
    """GET /activity: stored events, newest first."""
    page = call.page()
    with call.parts.store.session() as session:
        after = paging.number(page)
        rows = lately.events(session, call.who.sites, after=after, limit=page.fetch)
    return paging.listing(page, rows)


def progress(call: Call, request_id: str) -> dict[str, Any]:
    """GET /requests/{id}/progress: how what was asked for fares, what is open first."""
    asked, moment = actions.request_shown(call, request_id), call.parts.moment()
    with call.parts.store.session() as session:
        return {
            "id": asked["id"],
            **summary.progress(session, asked["id"], moment, call.who.sites, OF_REQUEST),
        }


def heard(call: Call, site: str) -> dict[str, Any]:
    """GET /sites/{site}/freshness: the spans of the last day in which it was fresh or silent."""
    moment = call.parts.moment()
    since = moment.now - timedelta(hours=HOURS)
    with call.parts.store.session() as session:
        now = sites.find(call, session, site)
        told = lately.heard(session, site, since)
    spans = list(_spans(now, told, since))
    return {"site": site, "since": stamp(since), "until": stamp(moment.now), "spans": spans}


def _spans(now: dict[str, Any], told: lately.Told, since: datetime) -> Iterator[dict[str, Any]]:
    """One span for each change; what nobody told of is left out."""
    words = [(stamp(max(at, since)), word) for at, word in told.words]
    if now["last_seen"] and now["freshness"] == Freshness.FRESH and not words:
        # Nothing was told as far as is known: it has been fresh all that time.
        begin = stamp(max(since, told.reach or since))
        words = [(max(begin, now["created_at"]), Freshness.FRESH.value)]
    elif now["last_seen"] and (not words or words[-1][1] != now["freshness"]):
        words.append((max(now["last_seen"], stamp(since)), now["freshness"]))
    last = None
    for at, word in words:
        if word != last:
            yield {"freshness": word, "from": at}
        last = word


def _sites(known: list[dict[str, Any]], moment: Moment) -> dict[str, Any]:
    silence = {words: 0 for words, _ in SILENCES}
    fresh = never = 0
    for one in known:
        if one["last_seen"] is None:
            never += 1
        elif moment.site(one["last_seen"]) is Freshness.FRESH:
            fresh += 1
        else:
            age = (moment.now - one["last_seen"]).total_seconds()
            silence[next(words for words, most in SILENCES if age < most)] += 1
    return {
        "total": len(known),
        "fresh": fresh,
        "unknown": len(known) - fresh,
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


def _days(
    found: dict[str, dict[str, int]], since: datetime, whole_from: datetime | None
) -> list[dict[str, Any]]:
    """Each day's numbers; `known` says whether all of the day was counted."""
    known = "" if whole_from is None else (whole_from + timedelta(days=1)).date().isoformat()
    named = [(since + timedelta(days=number)).date().isoformat() for number in range(DAYS)]
    words = ("succeeded", "rolled_back", "failed", "deleted")
    return [
        {
            "day": day,
            "known": day >= known,
            **{word: found.get(day, {}).get(word, 0) for word in words},
        }
        for day in named
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
