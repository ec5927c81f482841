"""The values and seams between the runner's rooms: what is handed over, and by whom."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol

from margrave.lifecycle import Kind
from margrave.secret import Secret

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time of the wall clock, which may be set at any moment."""
    return datetime.now(UTC)


class SystemClock:
    """The clocks of a running process; tests hand in their own.

    The wall clock tells when something is, for people, calendars and other machines. How long
    something took, and what came first, is never told by it.
    """

    def __call__(self) -> datetime:
        return utc_now()

    def monotonic(self) -> float:
        """Return seconds of a clock that nobody can set."""
        return time.monotonic()


def monotonic_of(clock: Clock) -> Callable[[], float]:
    """Return the clock that measures intervals; one without such a hand serves for both."""
    own: Callable[[], float] | None = getattr(clock, "monotonic", None)
    return own or (lambda: clock().timestamp())


class NodeStatus(StrEnum):
    """Age of a node's last answer; `unusable` answers, and has nothing to run applications with."""

    ACTIVE = "active"
    UNUSABLE = "unusable"
    STALE = "stale"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class Node:
    """A node of this site as the runner's registry keeps it."""

    name: str
    address: str
    port: int = 22
    user: str = "margrave"
    host_key: str = ""  # "ssh-ed25519 AAAA…", pinned at onboarding
    labels: Mapping[str, str] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    drain: bool = False
    last_seen: datetime | None = None
    status: NodeStatus = NodeStatus.OFFLINE
    error: str = ""
    problems: Sequence[str] = ()  # what its beacon says of it, for people


@dataclass(frozen=True, slots=True)
class Sign:
    """Result of a check of a node; `at` is None when the node did not answer."""

    node: str
    at: datetime | None
    status: NodeStatus
    error: str = ""


@dataclass(frozen=True, slots=True)
class Beacon:
    """A node's beacon as the registry keeps it."""

    node: str
    key: str = field(repr=False)  # hex
    old_key: str | None = field(default=None, repr=False)  # counts until the new one was used
    last_beat: int = 0  # the signed time of its last beat, in milliseconds
    heard_at: datetime | None = None  # when that came, by our clock
    boot_id: str = ""


@dataclass(frozen=True, slots=True)
class Jump:
    """A host that stands between the runner and its nodes; it is held to one host key, too."""

    address: str
    port: int
    user: str
    host_key: str  # "ssh-ed25519 AAAA…"


@dataclass(frozen=True, slots=True)
class Target:
    """All that is needed to reach a node over SSH."""

    name: str
    address: str
    port: int
    user: str
    key: str
    host_key: str
    jump: Jump | None = None


class Status(StrEnum):
    """How a module call ended, seen from the runner."""

    OK = "ok"
    FAILED = "failed"
    UNREACHABLE = "unreachable"
    LOST = "lost"  # the run died: nobody knows how far the call came; its fence does


@dataclass(frozen=True, slots=True)
class Call:
    """One operation on one node: one module call."""

    operation: str
    kind: Kind
    node: Target
    arguments: Mapping[str, Any]
    deadline: int  # seconds
    ahead: bool = False  # only fetch what it needs, and touch nothing that runs
    apart: bool = False  # may have to stop another call at work: over a connection of its own
    hidden: tuple[str, ...] = ()  # secrets among the arguments, which no answer may repeat


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to; `data` is the module's own return value."""

    operation: str
    status: Status
    data: Mapping[str, Any]
    started: datetime
    ended: datetime
    message: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """A line that a running operation says."""

    operation: str
    at: datetime
    line: str
    phase: str = ""  # the step that it has begun, where the line is about that


@dataclass(frozen=True, slots=True)
class Observation:
    """What a node says of itself: the return value of workload_info or node_info."""

    node: str
    status: Status
    data: Mapping[str, Any]
    at: datetime
    message: str = ""


class Executor(Protocol):
    """Carries module calls to nodes."""

    def start(
        self,
        calls: Sequence[Call],
        on_progress: Callable[[Progress], None],
        on_result: Callable[[Result], None],
    ) -> None:
        """Begin these calls and return; each call gets exactly one result, from another thread."""

    def observe(
        self, nodes: Sequence[Target], deployments: Sequence[str] = ()
    ) -> dict[str, Observation]:
        """What runs on these nodes; every node has an entry, reachable or not."""

    def inspect(self, nodes: Sequence[Target]) -> dict[str, Observation]:
        """Capabilities and checks; every node has an entry, reachable or not."""

    def cancel(self, operation: str) -> None:
        """Stop waiting for an operation and end its processes; unknown ones are ignored."""

    def stop(self) -> None:
        """End everything that still runs and leave nothing behind."""


@dataclass(frozen=True, slots=True)
class NodeRequest:
    """A node to be onboarded, with the login that works on it today.

    Without a secret it is the runner's own, whose key is there from an earlier time.
    """

    name: str
    address: str
    port: int = 22
    user: str = ""  # root, or the runner's own remote user when the login is its own
    password: Secret | None = None
    private_key: Secret | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    host_key: str = ""  # the fingerprint that is expected, or empty: what is met is pinned
    replace: bool = False  # a node of this name at another address is moved here


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a node needs, and what to do where it lacks it."""

    name: str
    ok: bool
    detail: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Onboarded:
    """A node that has been added."""

    node: Node
    host_key: str  # its fingerprint, "SHA256:…"
    checks: tuple[Check, ...]


class Onboarding(Protocol):
    """Adds nodes to the site and takes them off."""

    def probe(self, address: str, port: int) -> str:
        """The fingerprint of the host key at an address."""

    def add(self, request: NodeRequest) -> Onboarded:
        """Prepare the node and register it; the same again is harmless."""

    def look(self, name: str) -> tuple[Check, ...]:
        """What the node has now, judged as when it came."""

    def remove(self, name: str) -> None:
        """Take our key off the node where it answers, and forget it."""
