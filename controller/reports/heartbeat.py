"""Heartbeats: who is alive, and what the runner is told in return."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from controller.reports import told as telling
from controller.reports.placed import Told
from controller.store import beats, facts
from controller.store.batch import Page
from controller.store.freshness import Moment, NodeStatus
from controller.store.shapes import stamp
from margrave import times
from margrave.lifecycle import Freshness

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, timedelta

    from controller.reports.messages import Heartbeat, HeartbeatNode
    from controller.store import Session, Store
    from controller.store.beats import Claim

FARTHEST: Final = 2**31 - 1  # seconds, 68 years: what the column holds on every database
WRONG: Final = 30.0  # seconds: certificates, windows and the order of history begin to suffer
MOST: Final = 200  # in one transaction; others wait for its end


@dataclass(eq=False, slots=True)
class _Asked:
    """A heartbeat that waits for its answer."""

    site: str
    beat: Heartbeat
    alone: bool = False  # something was wrong with those that it was taken with
    answer: dict[str, Any] | None = None


@dataclass(slots=True)
class Heartbeats:
    """The door that heartbeats come through.

    A transaction costs more than what a heartbeat writes in it. So all that have come while another
    one was under way are taken together by the first of them that gets its turn: the busier the
    controller, the more of them share one. One that comes alone waits for nobody.
    """

    store: Store
    clock: Callable[[], datetime]
    period: timedelta
    _waiting: list[_Asked] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def waiting(self) -> int:
        """How many have come and are not being taken yet."""
        return len(self._waiting)

    def take(self, site: str, beat: Heartbeat) -> dict[str, Any]:
        """Note a heartbeat; the head of the repository, open commands, and the time."""
        asked = _Asked(site, beat)
        with self._lock:
            self._waiting.append(asked)
        with self._turn:
            if asked.answer is None:
                self._answer(asked)
        assert asked.answer is not None
        return asked.answer

    def _answer(self, asked: _Asked) -> None:
        together = self._with(asked)
        try:
            self._take(together)
        except Exception:
            if together == [asked]:
                raise
            # One of them is the trouble: each goes by itself then, and is told of its own.
            for one in together:
                one.alone = True
            self._take([asked])

    def _with(self, asked: _Asked) -> list[_Asked]:
        """This one and those that can go with it: of each site one, the first that came."""
        with self._lock:
            found = {asked.site: asked}
            for one in self._waiting if not asked.alone else ():
                if not one.alone and one.answer is None and len(found) < MOST:
                    found.setdefault(one.site, one)
            together = list(found.values())
            self._waiting = [one for one in self._waiting if one not in together]
        return together

    def _take(self, together: Sequence[_Asked]) -> None:
        moment = Moment(self.clock(), self.period)
        sites = [one.site for one in together]
        with self.store.write() as session:
            claims = beats.claims(session, sites)
            _note(
                session,
                [one for one in together if one.beat.epoch >= claims[one.site].highest],
                claims,
                moment,
            )
            head, orders = facts.head(session), beats.orders(session, sites)
        for one in together:
            one.answer = {
                "head": head,
                "wanted_commit": claims[one.site].wanted_commit,
                "commands": orders[one.site],
                "epoch": max(claims[one.site].highest, one.beat.epoch),
                "time": stamp(moment.now),
            }


def _note(
    session: Session, heard: Sequence[_Asked], claims: dict[str, Claim], moment: Moment
) -> None:
    """Keep what those say that speak for their sites, and tell what has changed."""
    values = {one.site: _site_values(one.beat, claims[one.site], moment.now) for one in heard}
    beats.tell_sites(session, values)
    changed = beats.tell_nodes(
        session,
        {
            one.site: {
                node.name: _node_values(node, one.beat.at, moment.now) for node in one.beat.nodes
            }
            for one in heard
        },
    )
    for one in heard:
        was = claims[one.site]
        news = moment.site(was.last_seen) is not Freshness.FRESH or any(
            getattr(was, name) != value
            for name, value in values[one.site].items()
            if name != "last_seen"
        )
        if news or changed[one.site]:
            page = Page(session, one.site, moment)
            told = Told(one.site, one.beat.runner, moment, True, page)
            for name in changed[one.site]:
                telling.tell_node(told, name)
            if news:
                telling.tell_site(told)
            page.write()


def _site_values(beat: Heartbeat, was: Claim, now: datetime) -> dict[str, Any]:
    return {
        "last_seen": now,
        "runner": beat.runner,
        "epoch": beat.epoch,
        "applied_commit": beat.applied_commit or was.applied_commit,
        "clock_offset": _offset((beat.at - now).total_seconds(), was.clock_offset),
    }


def _offset(seconds: float, known: int | None) -> int | None:
    """How far the runner's clock is ahead, where that is more than the way of a heartbeat can be.

    About the same as before is told as before: a way that takes longer now and then is no news.
    """
    if abs(seconds) < WRONG:
        return None
    if known is not None and abs(seconds - known) < WRONG / 2:
        return known
    return max(-FARTHEST, min(FARTHEST, round(seconds)))


def _node_values(node: HeartbeatNode, at: datetime, now: datetime) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if node.status in tuple(NodeStatus):
        values["status"] = str(node.status)
    if node.error is not None:  # an older runner reports none
        values["reason"] = node.error or None
    if node.last_seen is not None:
        # How long ago it was by the runner's own clock, so a wrong clock there does no harm.
        values["last_seen"] = times.before(now, at - node.last_seen)
    return values
