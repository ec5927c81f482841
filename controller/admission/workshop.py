"""Documents as a request would make them: checked, and what each takes on a node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from controller.publish.reader import Needs
from margrave import digest
from margrave.documents.deployment import Deployment, read_deployment, render
from margrave.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.publish.materials import Materials

OURS = "/spec/x-margrave-extensions"


class Workshop:
    """Checks the documents of one request; those of a thousand sites differ in little.

    What is equal but for a deployment's id and site is checked once: reading a document back from
    its text takes a millisecond, and a request may have thousands.
    """

    def __init__(self, materials: Materials) -> None:
        self._materials = materials
        self._checked: dict[bytes, Deployment] = {}
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

    def _needs_of(self, document: Deployment) -> Needs:
        needs = Needs()
        app, version = document.application_id, document.version
        material = self._materials(app, version) if version else None
        if material is None:
            return needs
        files = self._materials.files(app, version or "")
        for profile in material.description.profiles:
            if profile.type != document.profile_type:
                continue
            for component in profile.components:
                text = files.get(component.path or "", {}).get("compose.yaml")
                if text is not None:
                    variables = document.variables(component.name)
                    needs.add(text.data.decode("utf-8", "replace"), variables)
        return needs


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
