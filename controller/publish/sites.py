"""Sites as documents in Git: made, changed, paused, drained and removed by commits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from controller.merging import merged
from controller.publish.building import Note
from controller.publish.site_edit import SiteEdit, checked, on_text
from controller.store import documents as rows
from controller.store import removals
from margrave import commits
from margrave.errors import Conflict, DocumentError, NotFound
from margrave.findings import Finding, did_you_mean, pointer
from margrave.names import LABEL_CURE, is_label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from controller.access.identity import Identity
    from controller.publish.proposals import Landed
    from controller.publish.site_changes import SiteChanges
    from controller.store import Store
    from controller.store.audit import Deed

KEYS: Final = (
    "labels",
    "timezone",
    "windows",
    "policy",
    "paused",
    "drain",
    "nodes",
    "defaults",
)


@dataclass(frozen=True)
class Caller:
    """Author of an emergency change, with the id of the request and its audit entry."""

    who: Identity
    trace: str = ""
    deed: Deed | None = None


class Sites:
    """Operators' changes of sites.

    Each method returns where the change stands: in main, or on a branch where main is protected.
    `trace` is the id of the request.
    """

    def __init__(self, store: Store, changes: SiteChanges, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._changes = changes
        self._clock = clock

    def create(self, body: Mapping[str, Any], who: Identity, trace: str = "") -> Landed:
        """A new site from {name, labels?, timezone?, …}; Conflict when there is one already."""
        name = body.get("name")
        values = {key: value for key, value in body.items() if key != "name" and value is not None}
        findings = _unknown(values)
        if not is_label(name):
            findings.append(Finding("/name", f"{name!r} is not a name", LABEL_CURE))
        if findings:
            raise DocumentError(findings)
        assert isinstance(name, str)
        checked(values)
        with self._store.session() as session:
            if name in rows.sites(session):
                raise Conflict(f'there is a site "{name}" already', "choose another name")

        def fresh(old: dict[str, Any]) -> dict[str, Any]:
            if old:  # somebody else was quicker; an empty document holds nothing to lose
                raise Conflict(f'there is a site "{name}" already', "choose another name")
            return values

        landed = self._edit(name, fresh, who, trace, f"Add site {name}")
        with self._store.write() as session:
            rows.ensure_site(session, name, self._clock())
        return landed

    def change(self, name: str, body: Mapping[str, Any], who: Identity, trace: str = "") -> Landed:
        """Apply a JSON merge patch to the site's document."""
        self._must_be(name)
        findings = _unknown(body)
        if findings:
            raise DocumentError(findings)
        return self._edit(
            name, lambda old: merged(old, dict(body)), who, trace, f"Change site {name}"
        )

    def remove(self, name: str, who: Identity, trace: str = "") -> Landed:
        """Forget a site, once its document is gone from main; Conflict while it has deployments."""
        self._must_be(name)
        self._begin_removal(name)
        gone = False
        try:
            title = f"Remove site {name}"
            landed = self._edit(name, lambda _: None, who, trace, title, remove=True)
            gone = landed.branch is None
        finally:
            with self._store.write() as session:
                if gone:
                    rows.remove_site(session, name)
                removals.end(session, name)
        return landed

    def _begin_removal(self, name: str) -> None:
        """Keep new deployments away from here on; Conflict while there are any."""
        with self._store.write() as session:
            if name in removals.under_way(session, self._clock()):
                raise Conflict(f'site "{name}" is being removed already', "wait until it is gone")
            left = rows.occupants(session, name)
            if left:
                what = "a deployment" if left == 1 else f"{left} deployments"
                raise Conflict(f'site "{name}" still has {what}', "delete first what stands there")
            removals.begin(session, name, self._clock())

    def pause(self, name: str, reason: str, until: str | None, caller: Caller) -> Landed:
        """Start nothing new at the site until it is resumed."""
        paused = {"reason": reason or "paused", "by": caller.who.actor}
        if until:
            paused["until"] = until
        return self._hasten(name, f"Pause site {name}", caller, {"paused": paused}, ("paused",))

    def resume(self, name: str, caller: Caller) -> Landed:
        """End a pause."""
        return self._hasten(name, f"Resume site {name}", caller, {"paused": None})

    def drain(self, name: str, on: bool, caller: Caller) -> Landed:
        """Take deployments off the whole site, or let them come back."""
        title = f"{'Drain' if on else 'Undrain'} site {name}"
        return self._hasten(name, title, caller, {"drain": True if on else None})

    def drain_node(self, name: str, node: str, on: bool, caller: Caller) -> Landed:
        """Take deployments off a node, or let them come back."""
        title = f"{'Drain' if on else 'Undrain'} node {node} of site {name}"
        patch = {"nodes": {node: {"drain": True if on else None}}}
        return self._hasten(name, title, caller, patch)

    def _hasten(
        self,
        name: str,
        title: str,
        caller: Caller,
        patch: Mapping[str, Any],
        replaced: tuple[str, ...] = (),
    ) -> Landed:
        """Make an emergency change: ahead of everything, and kept where Git does not answer."""
        self._must_be(name)
        deed = asdict(caller.deed) if caller.deed else None
        at = self._clock().isoformat()
        who, trace = caller.who.actor, caller.trace
        return self._changes.hasten(SiteEdit(name, title, who, trace, at, patch, replaced, deed))

    def _edit(
        self,
        name: str,
        change: Callable[[dict[str, Any]], dict[str, Any] | None],
        who: Identity,
        trace: str,
        title: str,
        *,
        remove: bool = False,
    ) -> Landed:
        trailers = {commits.ACTOR: who.actor, commits.TRACE: trace}
        note = Note(title, who.actor, self._clock(), trailers=trailers)
        return self._changes.edit(name, on_text(name, change), note, remove=remove)

    def _must_be(self, name: str) -> None:
        with self._store.session() as session:
            if name not in rows.sites(session):
                raise NotFound(f'there is no site "{name}"', "list them with margrave site list")


def _unknown(body: Mapping[str, Any]) -> list[Finding]:
    return [
        Finding(pointer([key]), "is not a key of a site", did_you_mean(key, KEYS), "unknown-key")
        for key in sorted(set(body) - set(KEYS))
    ]
