"""What a push asks for, read from its first bytes while they pass on to Git."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.access.identity import Identity

LOOKED_AT: Final = 64 * 1024  # bytes in which the references are; behind them comes the pack
_HEAD: Final = 4  # hex digits of a line's length, which counts them too
_SHALLOW: Final = b"shallow "


@dataclass(frozen=True, slots=True)
class Move:
    """A reference, what the pusher took it to be at, and what it is to be at; zeros: nothing."""

    old: str
    new: str
    reference: str


@dataclass(slots=True)
class Arrival:
    """Somebody who came to push; `refusal` says why he was not let in at all."""

    who: Identity
    address: str | None
    trace: str
    refusal: str = ""
    _begin: bytearray = field(default_factory=bytearray)

    def watch(self, chunk: bytes) -> None:
        """The next bytes of what he sends."""
        if len(self._begin) < LOOKED_AT:
            self._begin += chunk

    @property
    def moves(self) -> list[Move]:
        """What he asked for; none where he only tried whether he may."""
        words = (line.partition(b"\0")[0].split() for line in _lines(bytes(self._begin)))
        return [
            Move(*(word.decode("utf-8", "replace") for word in three))
            for three in words
            if len(three) == len(Move.__slots__)
        ]


def _lines(begin: bytes) -> Iterator[bytes]:
    """Git's lines up to the empty one that ends the references."""
    position = 0
    while position + _HEAD <= len(begin):
        try:
            size = int(begin[position : position + _HEAD], 16)
        except ValueError:  # packed, or no Git: who refuses it is Git
            return
        if size <= _HEAD:
            return
        line = begin[position + _HEAD : position + size]
        if not line.startswith(_SHALLOW):
            yield line
        position += size
