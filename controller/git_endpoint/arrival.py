"""A push as the audit records it: who pushes, and which references are to move where."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from controller.gate.git_command import BRANCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from controller.access.identity import Identity

# The hook refuses half as many (gate.pre_receive); some that it never sees come on top of those.
# Beyond this the request is cut off before Git has acted on any of it.
MOST_MOVES: Final = 1000
OWN_ENTRIES: Final = 50  # references that have an entry of their own; people move one or two
LONGEST_NAME: Final = 255  # characters of a reference that are recorded
_SIZE: Final = 4  # hex digits of a line's length, which counts them too
_FLUSH: Final = b"0000"
_LARGEST_LINE: Final = 65520
_INFLATED: Final = 64 * 1024  # bytes at a time, whatever a packed body holds
_PACKED: Final = ("gzip", "x-gzip")  # the encodings that Git's http-backend unpacks
# Lines of a push certificate, and the capabilities behind a NUL, are not commands.
_COMMAND: Final = re.compile(rb"([0-9a-fA-F]{40,64}) ([0-9a-fA-F]{40,64}) ([^\0\n]+)")

Deed = tuple[str, str, dict[str, object]]  # outcome, target, detail


@dataclass(frozen=True, slots=True)
class Move:
    """A command: a reference with its old and its new commit (zeros: none)."""

    old: str
    new: str
    reference: str


class Commands:
    """The commands of a push, read from the body of the request while it passes on to Git."""

    def __init__(self, encoding: str = "") -> None:
        self.moves: list[Move] = []
        self.complete = False  # the line that ends the commands has come
        self.began = False
        self._inflate = zlib.decompressobj(wbits=31) if encoding in _PACKED else None
        self._broken = False
        self._rest = b""

    @property
    def too_many(self) -> bool:
        """Return True when the request moves more references than are recorded."""
        return len(self.moves) > MOST_MOVES

    def feed(self, chunk: bytes) -> None:
        """Read the next bytes of the body; what follows the commands is left alone."""
        self.began = self.began or bool(chunk)
        while chunk and not self._done:
            if self._inflate is None:
                self._read(chunk)
                return
            try:
                self._read(self._inflate.decompress(chunk, _INFLATED))
            except zlib.error:  # Git cannot unpack it either
                self._broken = True
                return
            chunk = self._inflate.unconsumed_tail

    @property
    def _done(self) -> bool:
        return self.complete or self._broken or self.too_many

    def _read(self, more: bytes) -> None:
        self._rest += more
        while not self._done and len(self._rest) >= _SIZE:
            head = self._rest[:_SIZE]
            if head == _FLUSH:
                self.complete, self._rest = True, b""
                return
            size = int(head, 16) if re.fullmatch(rb"[0-9a-fA-F]{4}", head) else 0
            if not _SIZE < size <= _LARGEST_LINE:  # not Git's protocol: Git refuses it
                self._broken, self._rest = True, b""
                return
            if len(self._rest) < size:
                return
            self._line(self._rest[_SIZE:size])
            self._rest = self._rest[size:]

    def _line(self, line: bytes) -> None:
        for text in line.split(b"\n"):
            found = _COMMAND.match(text)
            if found is not None and not self.too_many:
                old, new, reference = (part.decode("utf-8", "replace") for part in found.groups())
                self.moves.append(Move(old.lower(), new.lower(), reference))


@dataclass(slots=True)
class Arrival:
    """An attempt to push; `refusal` is the reason when it was not let in at all."""

    who: Identity
    address: str | None
    trace: str
    refusal: str = ""
    commands: Commands = field(default_factory=Commands)

    def watch(self, chunk: bytes) -> bool:
        """Read the next bytes of the request; False when no more of it may reach Git."""
        self.commands.feed(chunk)
        return not self.commands.too_many

    def deeds(self, reached: Callable[[Mapping[str, str]], set[str]]) -> list[Deed]:
        """Return what the audit records; `reached` gives the references that are where they were
        to be. Every push leaves an entry; one that only asked whether it may push leaves none."""
        if self.refusal:
            return [("refused", BRANCH, {"reason": self.refusal})]
        if self.commands.too_many:
            words = f"it moves more than {MOST_MOVES} references"
            return [("refused", BRANCH, {"reason": words})]
        if not self.commands.moves:
            unread = self.commands.began and not self.commands.complete
            words = "the request could not be read"
            return [("refused", BRANCH, {"reason": words})] if unread else []
        ordered = sorted(self.commands.moves, key=lambda move: move.reference != BRANCH)
        wanted = {move.reference: move.new for move in ordered}
        done = reached(wanted) if self.commands.complete else set()
        own = [_deed(move, done) for move in ordered[:OWN_ENTRIES]]
        return [*own, *_together(ordered[OWN_ENTRIES:], done)]


def _deed(move: Move, done: set[str]) -> Deed:
    commits: dict[str, object] = {"old": move.old, "new": move.new}
    return _outcome(move, done), move.reference[:LONGEST_NAME], commits


def _together(moves: Iterable[Move], done: set[str]) -> list[Deed]:
    """Return one entry for each outcome of the references that have none of their own."""
    told: dict[str, dict[str, list[str]]] = {}
    for move in moves:
        named = told.setdefault(_outcome(move, done), {})
        named[move.reference[:LONGEST_NAME]] = [move.old, move.new]
    return [
        (outcome, f"{len(named)} more references", {"references": named})
        for outcome, named in sorted(told.items())
    ]


def _outcome(move: Move, done: set[str]) -> str:
    return "done" if move.reference in done else "refused"
