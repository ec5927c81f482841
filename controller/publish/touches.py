"""Who last changed a path: what a log says of commits, whatever people wrote into them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Final, Self

from margrave.names import is_uuid

MOST: Final = 255  # characters of a name: what is longer says no more
# One field each behind a null character, which no commit holds. An empty one begins a commit, as
# no path is empty; the paths that it touched come behind its fields.
FORM: Final = "--format=%x00" + "%x00".join(
    (
        "%H",
        "%an",
        "%(trailers:key=Margrave-Actor,valueonly,unfold)",
        "%(trailers:key=Margrave-Request,valueonly,unfold)",
    )
)
_FIELDS: Final = 4


@dataclass(frozen=True)
class Touch:
    """The commit that last changed a path."""

    commit: str
    author: str
    request: str | None

    @classmethod
    def of(cls, commit: str, author: str, request: str) -> Self:
        """As people are shown it: a name is one line, and a request has an id of ours."""
        return cls(commit, _line(author)[:MOST] or "unknown", request if is_uuid(request) else None)


def read_log(log: bytes) -> dict[str, Touch]:
    """For each path the first commit that the log names it in; a log's first is the newest."""
    found: dict[str, Touch] = {}
    touch: Touch | None = None
    parts = iter(log.decode("utf-8", "surrogateescape").split("\0"))
    for part in parts:
        if part and touch is not None:
            found.setdefault(part.removeprefix("\n"), touch)  # Git's own, before the first path
        elif not part:
            touch = _touch(list(islice(parts, _FIELDS)))
    return found


def _touch(fields: list[str]) -> Touch | None:
    """The commit that a log's fields tell of; None behind the last."""
    if len(fields) < _FIELDS:
        return None
    commit, author, actor, request = fields
    return Touch.of(commit, _first(actor) or author, _first(request))


def _first(trailers: str) -> str:
    """Of trailers with the same name the first one counts."""
    return trailers.partition("\n")[0].strip()


def _line(name: str) -> str:
    """What a name says, without the characters that nobody sees."""
    return " ".join("".join(one if one.isprintable() else " " for one in name).split())
