"""Each change as a function of the document as it stands: nobody's edit is undone by it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from controller.merging import merged
from controller.publish.rendering import (
    OURS,
    Material,
    content_of,
    new_document,
    plain,
)
from margrave import digest
from margrave.errors import Conflict, DocumentError, NotFound
from margrave.findings import Finding, did_you_mean, pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

POLICIES: Final = (
    "placement",
    "strategy",
    "failure",
    "health",
    "drift",
    "windows",
    "requires",
    "priority",
    "reason",
)


class Moved(Conflict):
    """What was asked for was decided on a document that stands no more."""


@dataclass(frozen=True)
class Change:
    """What a request wants of each of its documents.

    kind create: application, version, profile, parameters, extensions; `targets` tell id, name,
    place and profile of each document. update: version, parameters and extensions as merge patches.
    rollback: the content of each document, by id. delete: nothing more.
    """

    kind: str
    app: str = ""
    version: str | None = None
    profile: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    extensions: Mapping[str, Any] = field(default_factory=dict)
    targets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    contents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # By path: the document that somebody looked at who wants certainty; another one ends it.
    expected: Mapping[str, str | None] = field(default_factory=dict)

    def check(self, path: str, data: bytes | None) -> None:
        """Raise Moved where another document stands than the one that was looked at."""
        if path not in self.expected or (data is None and self.kind == "delete"):
            return
        stands = None if data is None else digest.of_bytes(data)
        if stands != self.expected[path]:
            raise Moved(
                f"{path} has changed since it was looked at",
                "look at it again, then send the request again",
            )

    def applied(
        self,
        deployment: str,
        document: Mapping[str, Any] | None,
        shelf: Callable[[str, str], Material | None],
    ) -> dict[str, Any] | None:
        """The document after the change, None when it is to be gone."""
        if self.kind == "delete":
            return None
        if self.kind == "create":
            return self._created(deployment, document, shelf)
        if document is None:
            raise NotFound(
                f"the document of {deployment} is gone from Git", "it was deleted meanwhile"
            )
        if self.kind == "rollback":
            return self._rolled_back(deployment, document)
        return self._updated(document, shelf)

    def _created(
        self,
        deployment: str,
        document: Mapping[str, Any] | None,
        shelf: Callable[[str, str], Material | None],
    ) -> dict[str, Any]:
        if document is not None:
            return dict(document)  # this very request made it before: the id is its own
        material = _needed(shelf, self.app, self.version or "")
        target = self.targets[deployment]
        profile = material.profile(target.get("profile") or self.profile)
        content = content_of(material, profile, _without_nulls(self.parameters))
        extensions = {**_without_nulls(self.extensions), "version": self.version}
        if "nodes" in target:
            placement = extensions.get("placement") or {}
            extensions["placement"] = {**placement, "nodes": target["nodes"]}
        return new_document(target, content, extensions)

    def _updated(
        self, document: Mapping[str, Any], shelf: Callable[[str, str], Material | None]
    ) -> dict[str, Any]:
        new: dict[str, Any] = copy.deepcopy(dict(document))
        spec = new["spec"]
        ours = _policies(spec.get(OURS) or {}, self.extensions)
        known = ours.get("version")
        app = spec["applicationId"]
        old = shelf(app, known) if known else None
        version = self.version or known
        if version and (version != known or self._chooses_another_profile(spec, old)):
            material = _needed(shelf, app, version)
            self._to_version(spec, material, old)
            ours["version"] = version
        elif self.parameters:
            spec["parameters"] = self._patched(spec, old)
        if ours:
            spec[OURS] = ours
        else:
            spec.pop(OURS, None)
        return new

    def _chooses_another_profile(self, spec: Mapping[str, Any], old: Material | None) -> bool:
        """Return whether a profile is asked for that is not the present one, as far as known."""
        if self.profile is None:
            return False
        if old is None:
            return True
        return old.profile(self.profile).id != old.profile(_same_profile(spec, old, old, None)).id

    def _to_version(self, spec: dict[str, Any], material: Material, old: Material | None) -> None:
        """Another version: values that somebody chose stay, values that were defaults follow."""
        profile = material.profile(_same_profile(spec, material, old, self.profile))
        names = {component.name for component in profile.components}
        before = spec.get("parameters") or {}
        defaults = old.defaults() if old else {}
        chosen = {
            name: one["value"]
            for name, one in before.items()
            if name not in defaults or one["value"] != defaults[name]
        }
        values = merged(chosen, {name: plain_or_none(one) for name, one in self.parameters.items()})
        # A parameter that a person added by hand, and that no version knows, is theirs to remove.
        own = {
            name: one
            for name, one in before.items()
            if name not in material.description.parameters
            and (old is None or name not in old.description.parameters)
            and all(set(target["components"]) <= names for target in one["targets"])
        }
        spec["deploymentProfile"] = {
            **_foreign(spec["deploymentProfile"]),
            **material.profile_part(profile),
        }
        spec["parameters"] = {**own, **material.parameters_part(profile, values)}

    def _patched(self, spec: Mapping[str, Any], material: Material | None) -> dict[str, Any]:
        """Parameters of the same version: null is the default again."""
        parameters = dict(spec.get("parameters") or {})
        fresh: dict[str, Any] = {}
        if material is not None:
            profile = material.profile(_same_profile(spec, material, material, None))
            given = {name: one for name, one in self.parameters.items() if one is not None}
            fresh = material.parameters_part(profile, given)
        for name, value in self.parameters.items():
            if value is None:
                parameters.pop(name, None)
                parameters.update({name: fresh[name]} if name in fresh else {})
            elif name in parameters:
                parameters[name] = {**parameters[name], "value": plain(value)}
            elif name in fresh:
                parameters[name] = fresh[name]
            else:
                cure = did_you_mean(name, parameters)
                words = "is no parameter of the document"
                raise DocumentError(
                    [Finding(pointer(["parameters", name]), words, cure, "unknown-key")]
                )
        return parameters

    def _rolled_back(self, deployment: str, document: Mapping[str, Any]) -> dict[str, Any]:
        new: dict[str, Any] = copy.deepcopy(dict(document))
        content = dict(self.contents[deployment])
        content.pop("commit", None)  # where its components are found
        version = content.pop("version", None)
        ours = _policies(new["spec"].get(OURS) or {}, self.extensions)
        if version:
            ours["version"] = version
        else:
            ours.pop("version", None)
        new["spec"].update(content)
        new["spec"][OURS] = ours
        return new


def content_in(document: Mapping[str, Any]) -> dict[str, Any]:
    """What runs by a document, as a rollback to it needs it."""
    spec = document["spec"]
    return {
        "applicationId": spec["applicationId"],
        "deploymentProfile": spec["deploymentProfile"],
        "parameters": spec.get("parameters") or {},
        "version": (spec.get(OURS) or {}).get("version"),
    }


def plain_or_none(value: Any) -> Any:
    """A patch's value as it stands in Git; null keeps its meaning."""
    return None if value is None else plain(value)


def _policies(ours: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Our extensions after a patch; urgency belongs to the one request that asked for it."""
    kept = dict(ours)
    if kept.get("priority") == "urgent" and "priority" not in patch:
        kept.pop("priority")
        kept.pop("reason", None)
    found: dict[str, Any] = merged(kept, patch)
    return found


def _needed(shelf: Callable[[str, str], Material | None], app: str, version: str) -> Material:
    material = shelf(app, version)
    if material is None:
        words = f"the catalogue has no {app} {version}"
        raise NotFound(words, "sync its source, or choose another version")
    return material


def _same_profile(
    spec: Mapping[str, Any], material: Material, old: Material | None, wanted: str | None
) -> str | None:
    """The profile that goes on: the one asked for, of the same id, or of the same type."""
    if wanted is not None:
        return wanted
    part = spec["deploymentProfile"]
    names = [component["name"] for component in part["components"]]
    ids = {profile.id for profile in material.description.profiles}
    for profile in old.description.profiles if old else ():
        same = [component.name for component in profile.components] == names
        if same and profile.type == part["type"] and profile.id in ids:
            return profile.id
    kind: str = part["type"]
    return kind


def _foreign(profile: Mapping[str, Any]) -> dict[str, Any]:
    """What others wrote into the profile under their own extension keys."""
    return {key: value for key, value in profile.items() if key.startswith("x-")}


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
