"""Beats of the nodes' beacons: verified over the raw bytes, counted in memory, noted now and then.

docs/beacon.md is the wire. A thousand beats a second are a lookup and an HMAC each; what they say
is written every few seconds, all of them in one transaction, because a sign of life that a power
cut takes away comes again by itself.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from margrave.errors import MargraveError, Refused
from runner.nodes.freshness import ACTIVE, age_of
from runner.ports import Beacon, Clock, monotonic_of

PROTOCOL: Final = 1
WINDOW: Final = 300_000  # milliseconds that the two clocks may differ
_KEY_BYTES: Final = 32
_SCHEME: Final = "v1="
_MOST_PROBLEMS: Final = 10
_LONGEST_PROBLEM: Final = 200
_LONGEST_BOOT_ID: Final = 64


class NotBelieved(Refused):
    """A beat that is not taken: nobody with the node's key sent it just now."""


@dataclass(frozen=True, slots=True)
class Came:
    """A beat as it came in."""

    node: str
    timestamp: str
    signature: str
    body: bytes


class Registry(Protocol):
    """The beacons of the site, kept by the store."""

    def list(self) -> tuple[Beacon, ...]:
        """All of them."""

    def save(self, beacon: Beacon) -> None:
        """Add a beacon, or give it another key."""

    def heard(self, some: Iterable[tuple[Beacon, Sequence[str]]]) -> None:
        """Note what they said since the last time."""


@dataclass(frozen=True, slots=True)
class News:
    """Whom to tell what a beat may mean."""

    back: Callable[[str], None]  # a node that was silent is heard again
    restarted: Callable[[str], None]
    changed: Callable[[], None]  # a container ended: look at the nodes now
    silent: Callable[[], None]  # a beacon fell silent: look whether its node did


@dataclass(slots=True)
class _Life:
    """What is known of one beacon at this moment."""

    beacon: Beacon
    problems: Sequence[str] = ()
    unwritten: bool = False
    told_silent: bool = False
    heard: float | None = None  # by the monotonic clock; None before its first beat to this process


class Beats:
    """Takes beats from any thread."""

    def __init__(
        self, registry: Registry, clock: Clock, interval: timedelta, news: News | None = None
    ) -> None:
        self._registry = registry
        self._clock = clock
        self._monotonic = monotonic_of(clock)
        self._interval = interval
        self.news = news
        self._lock = threading.Lock()
        self._issued = 0
        self._lives = {one.node: _Life(one) for one in registry.list()}

    def take(self, came: Came) -> datetime:
        """Count a beat; when it came. NotBelieved when nobody with the key sent it just now."""
        now = self._clock()
        with self._lock:
            life = self._lives.get(came.node)
            beacon = life.beacon if life else None
        sent, key = _believed(came, beacon, now)
        body = _read(came.body)
        with self._lock:
            life = self._lives.get(came.node)
            if life is None or _is_repeated(sent, life.beacon, now):
                raise NotBelieved("a beat of that time came before", "each beat needs a later time")
            before, was_silent = life.beacon, self._is_silent(life)
            boot_id = str(body.get("boot_id") or before.boot_id)[:_LONGEST_BOOT_ID]
            # Once the new key is in use the old one is of no use to anybody.
            old = None if key == before.key else before.old_key
            life.beacon = replace(
                before, last_beat=sent, old_key=old, heard_at=now, boot_id=boot_id
            )
            life.problems = _sentences(body.get("problems"))
            life.unwritten, life.told_silent, life.heard = True, False, self._monotonic()
        self._tell(came.node, before, boot_id, body, was_silent=was_silent)
        return now

    def heard(self, node: str) -> datetime | None:
        """When the node's beacon was heard last; None of a node that has none, or never spoke."""
        with self._lock:
            life = self._lives.get(node)
            return life.beacon.heard_at if life else None

    def silence(self, node: str) -> timedelta | None:
        """Return how long the beacon is silent; None for a node that has none, or never spoke."""
        with self._lock:
            life = self._lives.get(node)
            return self._silence(life) if life else None

    def issue(self, node: str, *, rotate: bool = False) -> str:
        """The node's key, made at the first time; a new one beside the old one when rotated."""
        with self._lock:
            life = self._lives.get(node)
            beacon = life.beacon if life else Beacon(node, secrets.token_hex(_KEY_BYTES))
            if life and rotate:
                fresh = secrets.token_hex(_KEY_BYTES)
                beacon = replace(beacon, key=fresh, old_key=beacon.key)
            self._issued += 1
            self._registry.save(beacon)
            self._lives.setdefault(node, _Life(beacon)).beacon = beacon
            return beacon.key

    def sync(self) -> None:
        """Write what was heard, learn who was added or removed, look after who fell silent."""
        with self._lock:
            fresh = [one for one in self._lives.values() if one.unwritten]
            silent = [one for one in self._lives.values() if self._falls_silent(one)]
            for one in silent:
                since = one.beacon.heard_at
                assert since is not None, "only who spoke falls silent"
                one.told_silent = True
                one.problems = [f"the beacon is silent since {since:%Y-%m-%d %H:%M:%S} UTC"]
            told = [(one.beacon, one.problems) for one in (*fresh, *silent)]
            for one in fresh:
                one.unwritten = False
            issued = self._issued
        # Without the lock: beats that come meanwhile wait for no disk.
        if told:
            self._registry.heard(told)
        known = {one.node for one in self._registry.list()}
        with self._lock:
            # A key that was issued meanwhile may be missing in that list; the next time tells.
            if issued == self._issued:
                for name in self._lives.keys() - known:
                    del self._lives[name]
        if silent and self.news:
            self.news.silent()

    def _silence(self, life: _Life) -> timedelta | None:
        if life.heard is not None:
            return timedelta(seconds=self._monotonic() - life.heard)
        stored = life.beacon.heard_at
        return None if stored is None else age_of(stored, self._clock())

    def _is_silent(self, life: _Life) -> bool:
        silence = self._silence(life)
        return silence is not None and silence >= ACTIVE * self._interval

    def _falls_silent(self, life: _Life) -> bool:
        return not life.told_silent and self._is_silent(life)

    def _tell(
        self, node: str, before: Beacon, boot_id: str, body: Mapping[str, Any], *, was_silent: bool
    ) -> None:
        if self.news is None:
            return
        if was_silent or before.heard_at is None:
            self.news.back(node)
        if before.boot_id and boot_id != before.boot_id:
            self.news.restarted(node)
        if body.get("changed"):
            self.news.changed()


def signature(key: str, node: str, timestamp: str, body: bytes) -> str:
    """The header's value for a beat."""
    text = f"v1.{node}.{timestamp}.".encode() + body
    return _SCHEME + hmac.new(bytes.fromhex(key), text, hashlib.sha256).hexdigest()


def _believed(came: Came, beacon: Beacon | None, now: datetime) -> tuple[int, str]:
    """The signed time and the key that was used; nothing of the body has been read so far."""
    # A node that is not known costs the same work and gets the same answer as a wrong key.
    known = beacon or Beacon(came.node, "00" * _KEY_BYTES)
    keys = [known.key, *([known.old_key] if known.old_key else [])]
    given = came.signature.encode()
    fitting = [
        key
        for key in keys
        if hmac.compare_digest(signature(key, came.node, came.timestamp, came.body).encode(), given)
    ]
    if beacon is None or not fitting:
        cure = "margrave runner beacon NODE prints what belongs into beacon.json"
        raise NotBelieved("the signature does not fit this node's key", cure)
    if not (came.timestamp.isascii() and came.timestamp.isdigit() and len(came.timestamp) < 16):
        raise NotBelieved("X-Margrave-Timestamp is no time", "milliseconds since 1970")
    sent = int(came.timestamp)
    off = sent - _as_milliseconds(now)
    if abs(off) > WINDOW:
        words = f"the node's clock is {abs(off) // 1000} s {'ahead' if off > 0 else 'behind'}"
        raise NotBelieved(words, "turn on time synchronisation (timedatectl set-ntp true)")
    if _is_repeated(sent, beacon, now):
        raise NotBelieved("a beat of that time came before", "each beat needs a later time")
    return sent, fitting[0]


def _is_repeated(sent: int, beacon: Beacon, now: datetime) -> bool:
    """Return whether a beat of that time, or of a later one, was counted before.

    A last beat that lies further ahead than any beat may was counted while both clocks were wrong.
    Held against it, the beacon would not be believed until the clocks come there again.
    """
    return sent <= beacon.last_beat <= _as_milliseconds(now) + WINDOW


def _as_milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _read(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as broken:
        raise MargraveError("the body is not JSON", "docs/beacon.md shows one") from broken
    if not isinstance(value, dict):
        raise MargraveError("the body is not a JSON object", "docs/beacon.md shows one")
    if value.get("protocol") != PROTOCOL:
        raise MargraveError(
            f"protocol {value.get('protocol')!r} is not spoken here", f"protocol {PROTOCOL} is"
        )
    return value


def _sentences(told: object) -> Sequence[str]:
    some = told if isinstance(told, list) else []
    return [str(one)[:_LONGEST_PROBLEM] for one in some[:_MOST_PROBLEMS]]
