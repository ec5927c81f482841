"""Ownership of a node: the runners with rights on it, and whether this one may add it. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from margrave.errors import Conflict

_LINES: Final = ("fence", "rights")


@dataclass(frozen=True, slots=True)
class Owner:
    """A runner as its rights on a node name it; `site` is empty where only the fence names it."""

    runner: str
    epoch: int
    site: str = ""

    def text(self) -> str:
        """Return the owner as one line, for the file of its rights."""
        return json.dumps(asdict(self), sort_keys=True)


def read(output: str) -> tuple[Owner, ...]:
    """Return the owners that the claims script printed, each runner once."""
    known: dict[str, Owner] = {}
    for owner in _printed(output):
        before = known.get(owner.runner, owner)
        epoch, site = max(owner.epoch, before.epoch), owner.site or before.site
        known[owner.runner] = Owner(owner.runner, epoch, site)
    return tuple(known.values())


def check(place: object, owners: tuple[Owner, ...], own: Owner) -> None:
    """Raise Conflict when the node belongs to another runner.

    A runner that took over its own site has a higher epoch than its predecessor there. An epoch of
    another site says nothing.
    """
    for owner in owners:
        succeeded = owner.site in ("", own.site) and owner.epoch < own.epoch
        if owner.runner != own.runner and not succeeded:
            raise Conflict(f"{place} belongs to {_named(owner, own)}", _cure(owner, own))


def _named(owner: Owner, own: Owner) -> str:
    if owner.site in ("", own.site):
        return f"another runner ({owner.runner}, epoch {owner.epoch})"
    return f"site {owner.site} (runner {owner.runner})"


def _cure(owner: Owner, own: Owner) -> str:
    gone = f"rm -f /var/lib/margrave/fence.json /etc/sudoers.d/margrave-{owner.runner}"
    if owner.site == own.site:
        return (
            "margrave runner takeover, when that runner of this site is gone;"
            " else stop the other one"
        )
    return (
        "remove the node there first (margrave node remove);"
        f" when that runner is gone for good, on the node: {gone}"
    )


def _printed(output: str) -> Iterator[Owner]:
    for line in output.splitlines():
        name, _, text = line.partition("=")
        if name in _LINES and (owner := _owner(text)):
            yield owner


def _owner(text: str) -> Owner | None:
    try:
        given: Any = json.loads(text)
        epoch = given["epoch"]
        runner = str(given["runner"])
    except (ValueError, KeyError, TypeError):
        return None  # a mark that no version has written claims nothing
    return Owner(runner, epoch, str(given.get("site") or "")) if isinstance(epoch, int) else None
