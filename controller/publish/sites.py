"""Sites as documents in Git: made, changed, paused, drained and removed by commits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from controller.merging import merged
from controller.publish.building import Note
from controller.store import documents as rows
from margrave import commits, yaml_text
from margrave.documents.site import read_site, render_site
from margrave.errors import Conflict, DocumentError, NotFound
from margrave.findings import Finding, did_you_mean, pointer
from margrave.names import LABEL_CURE, is_label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from controller.access.identity import Identity
    from controller.publish.proposals import Landed
    from controller.publish.publisher import Publisher
    from controller.store import Store

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


class Sites:
    """What operators do with sites; each method returns once it stands in Git: in main, or on the
    branch that is told, where main is protected. `trace` is the id of the request that asks."""

    def __init__(self, store: Store, publisher: Publisher, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._publisher = publisher
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
        _checked(values)
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
        with self._store.session() as session:
            left = rows.occupants(session, name)
        if left:
            what = "a deployment" if left == 1 else f"{left} deployments"
            raise Conflict(f'site "{name}" still has {what}', "delete first what stands there")
        landed = self._edit(name, lambda _: None, who, trace, f"Remove site {name}", remove=True)
        if landed.branch is None:
            with self._store.write() as session:
                rows.remove_site(session, name)
        return landed

    def pause(
        self, name: str, reason: str, until: str | None, who: Identity, trace: str = ""
    ) -> Landed:
        """Nothing new starts at the site until it is resumed."""
        self._must_be(name)
        paused = {"reason": reason or "paused", "by": who.actor}
        if until:
            paused["until"] = until
        return self._edit(
            name, lambda old: {**old, "paused": paused}, who, trace, f"Pause site {name}"
        )

    def resume(self, name: str, who: Identity, trace: str = "") -> Landed:
        """Work may start again."""
        self._must_be(name)
        return self._edit(
            name, lambda old: merged(old, {"paused": None}), who, trace, f"Resume site {name}"
        )

    def drain(self, name: str, on: bool, who: Identity, trace: str = "") -> Landed:
        """Take deployments off the whole site, or let them come back."""
        self._must_be(name)
        title = f"{'Drain' if on else 'Undrain'} site {name}"
        patch = {"drain": True if on else None}
        return self._edit(name, lambda old: merged(old, patch), who, trace, title)

    def drain_node(self, name: str, node: str, on: bool, who: Identity, trace: str = "") -> Landed:
        """Take deployments off a node, or let them come back."""
        self._must_be(name)
        title = f"{'Drain' if on else 'Undrain'} node {node} of site {name}"

        def change(old: dict[str, Any]) -> dict[str, Any]:
            new: dict[str, Any] = merged(old, {"nodes": {node: {"drain": True if on else None}}})
            if not new["nodes"][node]:
                new["nodes"].pop(node)
            if not new["nodes"]:
                new.pop("nodes")
            return new

        return self._edit(name, change, who, trace, title)

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
        def apply(old: bytes | None) -> bytes | None:
            file = f"sites/{name}.yaml"
            raw = yaml_text.parse(old, file).value if old is not None else {}
            new = change(raw)
            return None if new is None else _checked(new)

        trailers = {commits.ACTOR: who.actor, commits.TRACE: trace}
        note = Note(title, who.actor, self._clock(), trailers=trailers)
        return self._publisher.edit(name, apply, note, remove=remove)

    def _must_be(self, name: str) -> None:
        with self._store.session() as session:
            if name not in rows.sites(session):
                raise NotFound(f'there is no site "{name}"', "list them with margrave site list")


def _checked(value: Mapping[str, Any]) -> bytes:
    """The document's text; findings point into the request, where no lines are."""
    data = render_site(value)
    try:
        read_site(data)
    except DocumentError as error:
        raise DocumentError(replace(one, line=0, column=0) for one in error.findings) from error
    return data


def _unknown(body: Mapping[str, Any]) -> list[Finding]:
    return [
        Finding(pointer([key]), "is not a key of a site", did_you_mean(key, KEYS), "unknown-key")
        for key in sorted(set(body) - set(KEYS))
    ]
