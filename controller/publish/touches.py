"""Who last changed a path: what a log says of commits, whatever people wrote into them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from margrave import commits
from margrave.names import is_uuid

MOST: Final = 255  # characters of a name: what is longer says no more
_FIELDS: Final = ("%H", "%an", commits.trailer(commits.ACTOR), commits.trailer(commits.REQUEST))
FORM: Final = commits.form(*_FIELDS)


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
    text = log.decode("utf-8", "surrogateescape")
    for (commit, author, actor, request), paths in commits.read(text, len(_FIELDS)):
        touch = Touch.of(commit, commits.first(actor) or author, commits.first(request))
        for path in paths:
            found.setdefault(path, touch)
    return found


def _line(name: str) -> str:
    """What a name says, without the characters that nobody sees."""
    return " ".join("".join(one if one.isprintable() else " " for one in name).split())
