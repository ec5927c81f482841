"""What the door wants to know of a forge: how it is recognised, verified and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

URLS: Final = ("clone_url", "ssh_url", "html_url", "git_url", "url")


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request as it came: headers by small name, the raw bytes, the time of arrival."""

    headers: Mapping[str, str]
    body: bytes
    at: float

    def header(self, name: str) -> str:
        """The header's value, empty when it was not sent."""
        return self.headers.get(name.lower(), "")


@dataclass(frozen=True, slots=True)
class Move:
    """A ref, and the commit it points to now (zeros: the ref is gone)."""

    ref: str
    commit: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a payload says: where, and which refs moved. None of it is believed later."""

    repositories: tuple[str, ...]
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Forge:
    """One row of the table."""

    name: str
    recognised: Callable[[Delivery], bool]
    verified: Callable[[Delivery, Sequence[bytes]], bool]
    event: Callable[[Delivery, Mapping[str, Any]], str]  # "push", "ping", or anything else
    delivery: Callable[[Delivery, Mapping[str, Any]], str]  # its id; empty when it has none
    read: Callable[[Mapping[str, Any]], Told]
    # Whether id and time are under the signature. Most forges sign the body alone.
    signs_id: Callable[[Delivery], bool] = lambda _: False


def text(value: object) -> str:
    """The value where it is text, else nothing: a payload may hold anything anywhere."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list; what else stands in it, or is no list, is left out."""
    return tuple(one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def urls(repository: Mapping[str, Any], keys: Sequence[str] = URLS) -> tuple[str, ...]:
    """All addresses that a repository's object tells, the first the one to show."""
    return tuple(url for key in keys if (url := text(repository.get(key))))


def read_push(payload: Mapping[str, Any]) -> Told:
    """The shape that GitHub, Gitea, Forgejo and Gogs share."""
    return Told(
        repositories=urls(mapping(payload.get("repository"))),
        moves=(Move(text(payload.get("ref")), text(payload.get("after"))),),
    )
