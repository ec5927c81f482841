"""Bringing a node in: from a login that works today to our own key, pinned host key and checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Protocol

from margrave.errors import Conflict, NotFound, Refused, Unreachable
from margrave.secret import Secret
from runner import usability
from runner.nodes import checks, ownership, requests, scripts
from runner.nodes.hostkeys import HostKey
from runner.nodes.keys import own_key, public_line
from runner.nodes.login import Login, Place, Session, Via, host_key, session
from runner.nodes.ownership import Owner
from runner.ports import (
    Check,
    Clock,
    Jump,
    Node,
    NodeRequest,
    Observation,
    Onboarded,
    Status,
    Target,
)

NOT_PREPARED: Final = {
    scripts.NO_SUDO: ("sudo is not installed there", "install it (apt-get install sudo)"),
    scripts.NO_USERADD: ("there is no useradd to make our user with", "make the user by hand"),
    scripts.BAD_SUDOERS: ("visudo refuses our rule", "look at `visudo -c` on the node"),
}


class Registry(Protocol):
    """The nodes of the site, kept by the store."""

    def list(self) -> tuple[Node, ...]:
        """All nodes."""

    def get(self, name: str) -> Node:
        """The node, or NotFound."""

    def save(self, node: Node) -> None:
        """Add or change a node."""

    def remove(self, name: str) -> None:
        """Forget a node."""


class Inspector(Protocol):
    """Whoever can ask a node for its capabilities."""

    def inspect(self, nodes: Sequence[Target]) -> Mapping[str, Observation]:
        """Capabilities and checks of these nodes."""


class Onboard:
    """Adds nodes to the site and takes them off."""

    def __init__(
        self,
        nodes: Registry,
        executor: Inspector,
        key_folder: Path,
        clock: Clock,
        owner: Callable[[], Owner],
        connect_timeout: int = 10,
        key: Path | None = None,
        user: str = "margrave",
        beacon: Callable[[str], str] | None = None,
        jump: Callable[[str], Jump | None] = lambda _: None,
    ) -> None:
        self._nodes = nodes
        self._executor = executor
        self._key_folder = key_folder
        self._given_key = key
        self._clock = clock
        self._owner = owner  # this runner, as nodes know it
        self._timeout = connect_timeout
        self._user = user
        self._jump = jump  # the jump host in front of an address
        self._beacon = beacon  # what its beacon.json holds; None where beacons have no way to us

    def probe(self, address: str, port: int) -> str:
        """The fingerprint of the host key at an address."""
        requests.check_place(address, port)
        return host_key(self._place(address, port), self._timeout).fingerprint

    def add(self, request: NodeRequest) -> Onboarded:
        """Prepare the node and register it; the same again is harmless."""
        requests.check(request)
        known = self._known(request)
        place = self._place(request.address, request.port)
        # Also at a new address: the same node shows the same key, and another one has to be named.
        wanted = request.host_key or HostKey(known.host_key if known else "").fingerprint
        with session(place, self._login(request), wanted, self._timeout) as opened:
            pinned = opened.host_key
            self._prepare(place, opened)
        seen = self._enter(place, pinned, self._user)
        judged = checks.judge(seen, self._clock())
        target = Target(
            request.name, place.address, place.port, self._user, str(self._key), pinned.line,
            self._jump(place.address),
        )  # fmt: skip
        told = self._executor.inspect([target])[target.name]
        node = self._node(request, known, pinned, told, judged)
        self._nodes.save(node)
        self._write_beacon(place, pinned, node.name)
        return Onboarded(node, pinned.fingerprint, _joined(judged, told))

    def remove(self, name: str) -> None:
        """Take our key off the node where it answers, and forget it."""
        node = self._nodes.get(name)
        place, pinned = self._place(node.address, node.port), HostKey(node.host_key)
        login = Login(node.user, private_key=self._secret_key())
        # A node that is gone, or lets us in no more, is forgotten all the same.
        with (
            suppress(Unreachable, Refused, Conflict),
            session(place, login, pinned.fingerprint, self._timeout) as opened,
        ):
            opened.run_as_root(scripts.remove(node.user, public_line(self._key), self._owner()))
        self._nodes.remove(name)

    def look(self, name: str) -> tuple[Check, ...]:
        """What the node has now, judged as when it came; a way in that is barred is a check too."""
        node = self._nodes.get(name)
        place = self._place(node.address, node.port)
        try:
            seen = self._enter(place, HostKey(node.host_key), node.user)
        except (Conflict, Refused, Unreachable) as error:
            return (Check("way in", False, error.message, error.cure),)
        way = Check("way in", True, f"{place} shows its own key, and lets {node.user} become root")
        return (way, *checks.judge(seen, self._clock()))

    def _place(self, address: str, port: int) -> Place:
        jump = self._jump(address)
        return Place(address, port, Via(jump, self._secret_key()) if jump else None)

    @property
    def _key(self) -> Path:
        return self._given_key or own_key(self._key_folder)

    def _secret_key(self) -> Secret:
        return Secret(self._key.read_text(encoding="utf-8"))

    def _known(self, request: NodeRequest) -> Node | None:
        """The node of that name so far; another one at this address is a conflict."""
        for node in self._nodes.list():
            same_place = (node.address, node.port) == (request.address, request.port)
            if same_place and node.name != request.name:
                raise Conflict(
                    f'{request.address}:{request.port} is the node "{node.name}" already',
                    f"margrave node remove {node.name} takes it off",
                )
        with suppress(NotFound):
            known = self._nodes.get(request.name)
            if (known.address, known.port) == (request.address, request.port) or request.replace:
                return known
            raise Conflict(
                f'the node "{known.name}" is at {known.address}:{known.port} already',
                "take another name for a new machine; --replace when the node has moved:"
                " nobody manages the old machine then",
            )
        return None

    def _login(self, request: NodeRequest) -> Login:
        """The given login; without one, the key that an earlier onboarding has left there."""
        if request.password is None and request.private_key is None:
            return Login(request.user or self._user, private_key=self._secret_key())
        return Login(request.user or "root", request.password, request.private_key)

    def _prepare(self, place: Place, opened: Session) -> None:
        seen = checks.read(opened.run(scripts.LOOK).output)
        python = checks.python(seen.get("python", ""), seen.get("system", ""))
        if not python.ok:
            raise Refused(f"{place}: Python is {python.detail}", python.cure)
        owner = self._owner()
        ownership.check(place, ownership.read(opened.run_as_root(scripts.CLAIMS).output), owner)
        answer = opened.run_as_root(scripts.prepare(self._user, public_line(self._key), owner))
        if answer.code:
            said = " ".join(answer.errors.split())[:300]
            message, cure = NOT_PREPARED.get(answer.code, (said, "look at the node's own logs"))
            raise Refused(f"{place}: {message}", cure)

    def _enter(self, place: Place, pinned: HostKey, user: str) -> Mapping[str, str]:
        """Come in by our own key as operations will, become root, and look around."""
        login = Login(user, private_key=self._secret_key())
        with session(place, login, pinned.fingerprint, self._timeout) as opened:
            return checks.read(opened.run_as_root(scripts.LOOK).output)

    def _write_beacon(self, place: Place, pinned: HostKey, name: str) -> None:
        """Give the node's beacon its key, whether a beacon is there now or comes later."""
        if self._beacon is None:
            return
        login = Login(self._user, private_key=self._secret_key())
        with session(place, login, pinned.fingerprint, self._timeout) as opened:
            answer = opened.run_as_root(scripts.WRITE_BEACON, self._beacon(name))
        if answer.code:
            said = " ".join(answer.errors.split())[:300]
            raise Refused(f"{place}: {scripts.BEACON} cannot be written: {said}", "make room there")

    def _node(
        self,
        request: NodeRequest,
        known: Node | None,
        pinned: HostKey,
        told: Observation,
        judged: Sequence[Check],
    ) -> Node:
        checks_ = [asdict(check) for check in judged]
        capabilities = usability.with_reason(told.data.get("capabilities"), checks_)
        return Node(
            name=request.name,
            address=request.address,
            port=request.port,
            user=self._user,
            host_key=pinned.line,
            labels=request.labels,
            capabilities=capabilities,
            drain=known.drain if known else False,
            last_seen=self._clock(),
            status=usability.status(capabilities),
            error=usability.reason(capabilities) or told.message,
        )


def _joined(judged: tuple[Check, ...], told: Observation) -> tuple[Check, ...]:
    """Our checks, then those that the node's own look adds; its failure is one of them."""
    if told.status is not Status.OK:
        error: Mapping[str, Any] = told.data.get("error") or {}
        cure = str(error.get("cure", ""))
        return (*judged, Check("capabilities", False, told.message, cure))
    names = {one.name for one in judged}
    added = [
        Check(
            str(one["name"]), bool(one["ok"]), str(one.get("detail", "")), str(one.get("cure", ""))
        )
        for one in told.data.get("checks") or []
        if one["name"] not in names
    ]
    return (*judged, *added)
