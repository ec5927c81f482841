"""Git's head made known to the database: own commits and people's, good and bad."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from controller import compose
from controller.gate import checking
from controller.gate.checking import SOURCE
from controller.publish.repository import ROOTS, Touch
from controller.store import documents as rows
from controller.store.documents import Told
from margrave.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from controller.publish.repository import Repository
    from controller.store import Session, Store
    from margrave.documents.deployment import Deployment
    from margrave.documents.site import SiteDocument

LOG = logging.getLogger(__name__)

# A commit may touch thousands of documents, and reports have to come in between.
CHUNK: Final = 100


class Reader:
    """Follows the branch. The head is noted last: after a restart what was read is read again,
    which changes nothing."""

    def __init__(self, store: Store, repository: Repository, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._repository = repository
        self._clock = clock

    def follow(self, head: str | None) -> frozenset[str]:
        """Bring the rows up to the head; the sites that it touched."""
        with self._store.session() as session:
            known = rows.known_head(session)
        if head is None or head == known:
            return frozenset()
        if known is not None and not self._repository.has(known):
            known = None  # history was rewritten and the old commit collected: read it all
        paths = self._paths(known, head)
        touches = self._repository.touches(known, head)
        contents = self._repository.read_many(f"{head}:{path}" for path in sorted(paths))
        texts = self._compose_texts(head, contents.values())
        sites = {site for path in paths if (site := checking.site_of(path))}
        ordered = sorted(paths)
        for begin in range(0, len(ordered), CHUNK):
            with self._store.write() as session:
                for path in ordered[begin : begin + CHUNK]:
                    touch = touches.get(path) or Touch(head, "unknown", self._clock(), None)
                    told = Told(touch.commit, touch.author, self._clock(), touch.request)
                    self._take(session, path, contents.get(f"{head}:{path}"), told, texts)
        with self._store.write() as session:
            for site, commit in _newest(sites, touches, head).items():
                rows.wanted_commit(session, site, commit, self._clock())
            rows.note_head(session, head)
        return frozenset(sites)

    def _paths(self, known: str | None, head: str) -> set[str]:
        if known is not None:
            return self._repository.changed(known, head)
        here = set(self._repository.paths(head, ROOTS))
        with self._store.session() as session:
            had = {f"deployments/{site}/{one}.yaml" for site, one in rows.in_git(session)}
        return here | had

    def _compose_texts(self, head: str, documents: Iterable[bytes | None]) -> dict[str, str]:
        """The compose.yaml of each component that the documents name, all in one call."""
        found = {name.decode() for data in documents if data for name in SOURCE.findall(data)}
        names = {f"{head}:{source}/compose.yaml": source for source in sorted(found)}
        blobs = self._repository.read_many(names)
        return {
            names[name]: data.decode("utf-8", "replace")
            for name, data in blobs.items()
            if data is not None
        }

    def _take(
        self,
        session: Session,
        path: str,
        data: bytes | None,
        told: Told,
        texts: Mapping[str, str],
    ) -> None:
        place = checking.place_of(path)
        if place is None:
            return
        findings: list[dict[str, Any]] = []
        try:
            if not place.deployment:
                document = checking.site_at(path, data or b"{}\n")
                rows.put_site(session, place.site, site_values(document), told)
            elif data is None:
                rows.gone(session, place.deployment, place.site, told)
            else:
                values = _values(path, data, texts)
                rows.put(session, place.deployment, place.site, values, told)
        except DocumentError as error:
            findings = [finding.as_dict() for finding in error.findings]
            LOG.warning("%s at %s: %s", path, told.commit[:12], error)
            rows.ensure_site(session, place.site, told.at)
            if place.deployment:
                rows.broken(session, place.deployment, place.site, findings, told.at)
        rows.site_findings(session, place.site, path, findings)


def _values(path: str, data: bytes, texts: Mapping[str, str]) -> dict[str, Any]:
    """A deployment's columns; images and host ports as far as Git holds its components."""
    document = checking.deployment_at(path, data)
    needs = Needs()
    for component in document.components:
        text = texts.get(component.source or "")
        if text is not None:
            needs.add(text, document.variables(component.name))
    return {
        **deployment_values(document),
        "document": data.decode("utf-8"),
        "needs": needs.as_dict(),
    }


class Needs:
    """What a deployment takes on a node, over its components."""

    def __init__(self) -> None:
        self._ports: set[str] = set()
        self._images: list[str] = []

    def add(self, text: str, variables: dict[str, str]) -> None:
        """Count a compose.yaml in; one that cannot be read is the node's to refuse."""
        try:
            self._ports |= compose.host_ports(text, variables)
            images = [compose.filled(image, variables) for image in compose.images(text)]
        except DocumentError:
            return
        self._images += [image for image in images if image not in self._images]

    def as_dict(self) -> dict[str, Any]:
        """The shape that is stored."""
        return {"ports": sorted(self._ports), "images": self._images}


def deployment_values(document: Deployment) -> dict[str, Any]:
    """Columns of a deployment from its document."""
    node = document.device_id.split("/")[-1]
    return {
        "name": document.name,
        "app": document.application_id,
        "version": document.version,
        "profile": document.profile_type,
        "node": None if node == "*" else node,
        "revision": document.revision,
        "document_digest": document.document_digest,
        "parameters": document.values,
        "extensions": dict(document.raw["spec"].get("x-margrave-extensions") or {}),
        "findings": [],
    }


def site_values(document: SiteDocument) -> dict[str, Any]:
    """Columns of a site from its document."""
    paused = document.paused
    return {
        "document": dict(document.raw),
        "labels": dict(document.labels),
        "timezone": document.timezone,
        "paused": paused.model_dump() if paused else None,
        "drain": document.drain,
        "drained": [name for name, wish in document.part.nodes.items() if wish.drain],
    }


def _newest(sites: Iterable[str], touches: Mapping[str, Touch], head: str) -> dict[str, str]:
    """For each site the commit that last touched its subtree; touches come newest first."""
    found: dict[str, str] = {}
    for path, touch in touches.items():
        site = checking.site_of(path)
        if site is not None:
            found.setdefault(site, touch.commit)
    return {site: found.get(site, head) for site in sites}
