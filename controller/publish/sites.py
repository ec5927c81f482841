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
class Asked:
    """Who asks for an emergency change of which site; `deed` is its audit entry."""

    site: str
    title: str
    who: Identity
    trace: str
    deed: Deed | None


class Sites:
    """What operators do with sites; each method returns once it stands in Git: in main, or on the
    branch that is told, where main is protected. `trace` is the id of the request that asks."""

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

    def pause(
        self,
        name: str,
        reason: str,
        until: str | None,
        who: Identity,
        trace: str = "",
        deed: Deed | None = None,
    ) -> Landed:
        """Nothing new starts at the site until it is resumed."""
        paused = {"reason": reason or "paused", "by": who.actor}
        if until:
            paused["until"] = until
        asked = Asked(name, f"Pause site {name}", who, trace, deed)
        return self._hasten(asked, {"paused": paused}, ("paused",))

    def resume(self, name: str, who: Identity, trace: str = "", deed: Deed | None = None) -> Landed:
        """Work may start again."""
        return self._hasten(Asked(name, f"Resume site {name}", who, trace, deed), {"paused": None})

    def drain(
        self, name: str, on: bool, who: Identity, trace: str = "", deed: Deed | None = None
    ) -> Landed:
        """Take deployments off the whole site, or let them come back."""
        title = f"{'Drain' if on else 'Undrain'} site {name}"
        patch = {"drain": True if on else None}
        return self._hasten(Asked(name, title, who, trace, deed), patch)

    def drain_node(
        self,
        name: str,
        node: str,
        on: bool,
        who: Identity,
        trace: str = "",
        deed: Deed | None = None,
    ) -> Landed:
        """Take deployments off a node, or let them come back."""
        title = f"{'Drain' if on else 'Undrain'} node {node} of site {name}"
        patch = {"nodes": {node: {"drain": True if on else None}}}
        return self._hasten(Asked(name, title, who, trace, deed), patch)

    def _hasten(
        self, asked: Asked, patch: Mapping[str, Any], replaced: tuple[str, ...] = ()
    ) -> Landed:
        """Make an emergency change: ahead of everything, and kept where Git does not answer."""
        self._must_be(asked.site)
        deed = asdict(asked.deed) if asked.deed else None
        at = self._clock().isoformat()
        who, trace = asked.who.actor, asked.trace
        edit = SiteEdit(asked.site, asked.title, who, trace, at, patch, replaced, deed)
        return self._changes.hasten(edit)

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
