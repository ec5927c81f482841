"""Documents as a request would make them: checked, and what each takes on a node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from controller import chart
from controller.admission.chart_registries import refused_registries
from controller.publish.said import Needs
from margrave import digest
from margrave.chart_files import VALUES
from margrave.documents.deployment import Deployment, read_deployment, render
from margrave.documents.extensions import Policy
from margrave.errors import DocumentError
from margrave.policy import Finding, compose_findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.publish.materials import Materials
    from margrave.documents.description import Component

OURS = "/spec/x-margrave-extensions"
COMPOSE_FILE = "compose.yaml"


class Workshop:
    """Checks the documents of one request; those of a thousand sites differ in little.

    What is equal but for a deployment's id and site is checked once: reading a document back from
    its text takes a millisecond, and a request may have thousands.
    """

    def __init__(self, materials: Materials) -> None:
        self._materials = materials
        self._checked: dict[bytes, Deployment] = {}
        self._beyond: dict[bytes, tuple[str, ...]] = {}
        self._needs: dict[tuple[str, str | None, str], dict[str, Any]] = {}

    def checked(self, value: Mapping[str, Any]) -> Deployment:
        """A document of that content, node and name, or DocumentError in the request's pointers.

        Its id and its site may be those of an equal one.
        """
        metadata = value["metadata"]
        node = str(metadata.get("deviceId")).rpartition("/")[2]
        key = digest.canonical_json([value["spec"], metadata.get("name"), node])
        if key not in self._checked:
            self._checked[key] = _checked(value)
        return self._checked[key]

    def needs(self, document: Deployment) -> dict[str, Any]:
        """Images and ports of a version that is not in Git yet, as its author wrote them."""
        key = (document.application_id, document.version, document.revision)
        if key not in self._needs:
            self._needs[key] = self._needs_of(document).as_dict()
        return self._needs[key]

    def beyond(self, document: Deployment, site: Mapping[str, Any]) -> tuple[str, ...]:
        """What the site's policy does not allow; `site` is its document."""
        written = site.get("policy") or {}
        key = digest.canonical_json([document.application_id, document.revision, written])
        if key not in self._beyond:
            policy = Policy.model_validate(written)
            self._beyond[key] = tuple(
                f"components.{component.name}: {finding.path}: {finding.reason}"
                for component, files in self._components(document)
                for finding in component_findings(
                    document, component.name, _repository(component), files, policy
                )
            )
        return self._beyond[key]

    def _needs_of(self, document: Deployment) -> Needs:
        needs = Needs()
        for component, files in self._components(document):
            text = files.get(VALUES if document.profile_type == "helm" else COMPOSE_FILE)
            if text is not None:
                needs.of(document, component.name, text)
        return needs

    def _components(self, document: Deployment) -> Iterator[tuple[Component, dict[str, str]]]:
        """Each component that the catalogue knows, with its files."""
        app, version = document.application_id, document.version
        material = self._materials(app, version) if version else None
        if material is None:
            return
        folders = self._materials.files(app, version or "")
        for profile in material.description.profiles:
            if profile.type != document.profile_type:
                continue
            for component in profile.components:
                texts = {
                    path: file.data.decode("utf-8", "replace")
                    for path, file in folders.get(component.path or "", {}).items()
                }
                yield component, texts


def _repository(component: Component) -> str | None:
    return None if component.path else component.repository


def component_findings(
    document: Deployment,
    component: str,
    repository: str | None,
    files: Mapping[str, str],
    policy: Policy,
) -> Iterator[Finding]:
    """Yield what a policy does not allow of a component, as far as its files show it.

    `repository` is where a chart comes from, None where Git delivers it.
    """
    keys = policy.model_dump()
    if document.profile_type == "compose":
        yield from compose_findings(files, document.variables(component), keys)
        return
    images = chart.images(files.get(VALUES, ""), document.targeted(component))
    yield from refused_registries(repository, images, keys)


def _checked(value: Mapping[str, Any]) -> Deployment:
    try:
        return read_deployment(render(value))
    except DocumentError as error:
        raise DocumentError(
            replace(
                one,
                pointer=one.pointer.removeprefix(OURS).removeprefix("/spec"),
                line=0,
                column=0,
            )
            for one in error.findings
        ) from error
