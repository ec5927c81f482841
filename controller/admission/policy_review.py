"""Review of a site's policy: what applications need from it, and which key would allow each need.

An application is reviewed before it is deployed; the deployments of a site are reviewed as they
stand in Git, so that one which the present rules would refuse is known before its next change.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from controller.admission import resolving
from controller.admission.workshop import component_findings
from controller.publish.rendering import content_of, new_document
from controller.store import world
from margrave.documents.deployment import read_deployment, render
from margrave.documents.extensions import Policy
from margrave.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.publish.materials import Materials
    from controller.publish.repository import Repository
    from controller.store import Session
    from controller.store.world import Standing
    from margrave.digest import File
    from margrave.documents.deployment import Deployment

# Opens nothing, not even the registries that are open by default.
_NOTHING_OPEN: Final = Policy(registries=[])
# An application is reviewed as if it were a deployment; who it would be matters to no rule.
_IDENTITY: Final = {"id": str(uuid.UUID(int=0)), "name": "review", "device_id": "review/*"}


@dataclass(frozen=True)
class Need:
    """Something that an application asks of a node beyond its own objects."""

    app: str
    version: str | None
    profile: str
    component: str
    path: str
    reason: str
    opens: str | None  # the key of the policy that allows it; None where nothing does
    allowed: bool  # by the policy of the site
    deployment: str | None = None
    name: str | None = None


class PolicyReview:
    """Compares applications and deployments with the policy of one site."""

    def __init__(self, session: Session, materials: Materials, site: Mapping[str, Any]) -> None:
        self._session = session
        self._materials = materials
        self._policy = Policy.model_validate(site.get("policy") or {})

    def of_application(self, app: str, version: str | None) -> list[Need]:
        """Return what each profile of an application needs; DocumentError when it is unknown."""
        chosen = resolving.version_of(self._session, app, version)
        material = self._materials(app, chosen)
        assert material is not None, "version_of names versions of the catalogue"
        folders = self._materials.files(app, chosen)
        needs: list[Need] = []
        for profile in material.description.profiles:
            content = content_of(material, profile, material.defaults())
            document = read_deployment(
                render(new_document(_IDENTITY, content, {"version": chosen}))
            )
            for component in profile.components:
                files = _texts(folders.get(component.path or "", {}))
                repository = None if component.path else component.repository
                needs += self._needs(document, component.name, repository, files)
        return needs

    def of_deployments(self, site: str, repository: Repository) -> list[Need]:
        """Return what the site's deployments need in Git and the policy does not allow."""
        head = repository.head()
        standing = world.selected(self._session, {"sites": [site]}) if head else []
        needs: list[Need] = []
        for deployment in standing:
            if deployment.in_git and head:
                needs += self._of_deployment(deployment, head, repository)
        return [need for need in needs if not need.allowed]

    def _of_deployment(
        self, deployment: Standing, head: str, repository: Repository
    ) -> Iterator[Need]:
        try:
            document = read_deployment(deployment.document or "")
        except DocumentError:
            return  # a document that cannot be read has findings of its own
        for component in document.components:
            source = component.source
            files = _texts(repository.folder_at(head, source)) if source else {}
            origin = None if source else component.repository
            for need in self._needs(document, component.name, origin, files):
                yield replace(need, deployment=deployment.id, name=deployment.name)

    def _needs(
        self, document: Deployment, component: str, repository: str | None, files: Mapping[str, str]
    ) -> list[Need]:
        part = (document, component, repository, files)
        refused = set(component_findings(*part, self._policy))
        return [
            Need(
                app=document.application_id,
                version=document.version,
                profile=document.profile_type,
                component=component,
                path=finding.path,
                reason=finding.reason if finding in refused else "the site's policy opens it",
                opens=finding.opens,
                allowed=finding not in refused,
            )
            for finding in component_findings(*part, _NOTHING_OPEN)
        ]


def _texts(files: Mapping[str, File]) -> dict[str, str]:
    return {path: file.data.decode("utf-8", "replace") for path, file in files.items()}
