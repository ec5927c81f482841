"""A command as it came, read into a value. Pure.

It came over a line, from a controller that may be newer: what cannot be understood says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from margrave.errors import Refused

# What each kind of command cannot be without.
KINDS: Final[Mapping[str, str]] = {
    "retry": "deployment",
    "release": "deployment",
    "cancel": "deployment",
    "reload": "",
    "accept": "commit",
    "forget": "node",
}
_CURE: Final = "controller and runner may be too many versions apart"
_LONGEST: Final = 64  # of an id: what was handled is kept by it
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Order:
    """What an operator asks for; what its kind does not need is empty."""

    kind: str
    deployment: str = ""
    node: str = ""
    commit: str = ""
    trace: object = None  # the id that what it leads to is followed by, for who knows one


def identifier(said: object) -> str:
    """The command's own id; empty where it has none, so that nobody could be answered."""
    found = said.get("id") if isinstance(said, Mapping) else None
    fits = isinstance(found, str) and len(found) <= _LONGEST and found.isprintable()
    return str(found) if fits else ""


def read(said: Mapping[str, object]) -> Order:
    """The order, or Refused."""
    kind = _text(said, "kind")
    if kind not in KINDS:
        raise Refused(f"this runner knows no command {_shown(kind)}", _CURE)
    deployment, node, commit = (_text(said, key) for key in ("deployment", "node", "commit"))
    order = Order(kind, deployment, node, commit, said.get("trace"))
    needed = KINDS[kind]
    if needed and not getattr(order, needed):
        raise Refused(f"{kind} names no {needed}", _CURE)
    return order


def _text(said: Mapping[str, object], key: str) -> str:
    found = said.get(key)
    if found is None:
        return ""
    if not isinstance(found, str) or not found.isprintable():
        raise Refused(f"its {key} is no text: {_shown(found)}", _CURE)
    return found


def _shown(found: object) -> str:
    words = ascii(found)
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
