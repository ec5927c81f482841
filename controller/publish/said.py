"""What documents say, as columns of their rows: read once for all that differ in id and site."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from controller import chart, compose
from controller.gate import checking
from controller.gate import values as checked
from controller.gate.moulds import PATH, Known, mould_of
from controller.publish.file_findings import component_finding, findings_of
from margrave import digest
from margrave.errors import DocumentError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.publish.shelving import Descriptions
    from margrave.documents.deployment import Deployment
    from margrave.documents.site import SiteDocument
    from margrave.findings import Finding

LOG = logging.getLogger(__name__)

_NO_FINDINGS: Final[list[dict[str, Any]]] = []  # the same one for all: it is written once


class Values:
    """A deployment's columns; images and host ports as far as Git holds its components."""

    def __init__(self, texts: Mapping[str, str], descriptions: Descriptions) -> None:
        self._texts = texts
        self._descriptions = descriptions
        self._known: Known[dict[str, Any]] = Known()
        self._ready: dict[str, dict[str, Any]] = {}

    def read(self, documents: Mapping[str, bytes]) -> None:
        """Find out what these say, each to be taken once; what is wrong is told when it is."""
        for path, data in documents.items():
            place = checking.place_of(path)
            if place is not None and place.deployment:
                # Reading it again, when its row is written, reports the error of this document.
                with suppress(Exception):
                    self._ready[path] = self.of(path, data)

    def of(self, path: str, data: bytes) -> dict[str, Any]:
        """Return the columns of the document; raises DocumentError, or whatever a defect raises."""
        ready = self._ready.pop(path, None)
        if ready is not None:
            return ready
        mould = mould_of(path, data)
        found = None
        if mould is not None:
            with suppress(Exception):  # reported below, of the document itself
                found = self._known.get(mould, lambda: self._read(PATH, mould))
        if found is None:
            found = self._read(path, data)
        return {
            **found,
            "findings": [{**one, "file": path} for one in found["findings"]] or _NO_FINDINGS,
            "document": data.decode("utf-8"),
            "document_digest": digest.of_bytes(data),
        }

    def _read(self, path: str, data: bytes) -> dict[str, Any]:
        document = checking.deployment_at(path, data)
        needs = Needs()
        findings: list[Finding] = []
        for component in document.components:
            text = self._texts.get(component.source or "")
            if text is not None:
                findings += _count(needs, document, component.name, text, path)
        findings += self._wrong_values(document, data, path)
        return {
            **deployment_values(document),
            "needs": needs.as_dict(),
            "findings": [finding.as_dict() for finding in findings],
        }

    def _wrong_values(self, document: Deployment, data: bytes, path: str) -> list[Finding]:
        """Return findings of the values; runners apply the document whatever these say."""
        try:
            known = self._descriptions.of(document)
            return checked.findings(known, document, data, path) if known else []
        except Unreachable:
            raise
        except Exception as error:  # only what is shown beside the document is missing
            LOG.exception("%s: its values cannot be checked", path)
            return findings_of(path, error)


class Needs:
    """What a deployment takes on a node, over its components."""

    def __init__(self) -> None:
        self._ports: set[str] = set()
        self._images: list[str] = []

    def of(self, document: Deployment, component: str, text: str) -> None:
        """Count a component in, by its compose.yaml or by its chart's values."""
        if document.profile_type == "helm":
            self._take(chart.images(text, document.targeted(component)))
        else:
            self._add(text, document.variables(component))

    def _add(self, text: str, variables: dict[str, str]) -> None:
        """A compose.yaml; one that cannot be read is the node's to refuse."""
        try:
            self._ports |= compose.host_ports(text, variables)
            images = [compose.filled(image, variables) for image in compose.images(text)]
        except DocumentError:
            return
        self._take(images)

    def _take(self, images: Iterable[str]) -> None:
        self._images += [image for image in images if image not in self._images]

    def as_dict(self) -> dict[str, Any]:
        """The shape that is stored."""
        return {"ports": sorted(self._ports), "images": self._images}


def _count(
    needs: Needs, document: Deployment, component: str, text: str, path: str
) -> list[Finding]:
    """Add a component's images and ports; return a finding where they cannot be found out."""
    try:
        needs.of(document, component, text)
    except Exception as error:  # the document itself is fine, and runners apply it
        LOG.exception("%s: component %s", path, component)
        return [component_finding(path, component, error)]
    return []


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
        "parameters": document.values,
        "extensions": dict(document.raw["spec"].get("x-margrave-extensions") or {}),
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
