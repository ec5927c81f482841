"""What a version of an application is as a deployment's content."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from controller.gate.values import REFERENCE
from margrave.errors import Refused
from margrave.findings import did_you_mean
from margrave.parameters import is_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from margrave.documents.description import ApplicationDescription, Profile

OURS: Final = "x-margrave-extensions"


@dataclass(frozen=True)
class Material:
    """A version with its component contents, by path, as they stand (or will stand) in Git."""

    description: ApplicationDescription
    sources: Mapping[str, str] = field(default_factory=dict)  # path to components/<hex>

    def profile(self, wanted: str | None) -> Profile:
        """The profile of an id, or of a type; the first when none is named; Refused if unknown."""
        profiles = self.description.profiles
        if wanted is None:
            return profiles[0]
        for profile in profiles:
            if profile.id == wanted:
                return profile
        for profile in profiles:
            if profile.type == wanted:
                return profile
        raise Refused(
            f'{self.description.id} {self.description.version} has no profile "{wanted}"',
            did_you_mean(wanted, [one.id for one in profiles]),
        )

    def profile_part(self, profile: Profile) -> dict[str, Any]:
        """`deploymentProfile` of a deployment; constraints are copied unchanged."""
        part: dict[str, Any] = {
            "type": profile.type,
            "components": [self._component(raw) for raw in profile.raw["components"]],
        }
        if "deviceConstraints" in profile.raw:
            part["deviceConstraints"] = profile.raw["deviceConstraints"]
        return part

    def parameters_part(self, profile: Profile, values: Mapping[str, Any]) -> dict[str, Any]:
        """`parameters` of a deployment: given values, defaults for the rest, none without either.

        Targets are kept where they name components of the profile.
        """
        names = {component.name for component in profile.components}
        part = {}
        for name, parameter in self.description.raw.get("parameters", {}).items():
            value = values.get(name, parameter.get("value"))
            targets = [
                {**target, "components": [one for one in target["components"] if one in names]}
                for target in parameter["targets"]
                if names.intersection(target["components"])
            ]
            if value is not None and targets:
                part[name] = {"value": plain(value), "targets": targets}
        return part

    def defaults(self) -> dict[str, Any]:
        """The defaults of all parameters that have one."""
        parameters = self.description.parameters.items()
        return {name: one.value for name, one in parameters if one.value is not None}

    def _component(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in raw.items() if key != OURS}
        path = (raw.get(OURS) or {}).get("path")
        if path is None:
            return kept
        return {**kept, OURS: {"source": self.sources[clean(path)]}}


def clean(path: str) -> str:
    """A component's path as the catalogue keys it."""
    return path.removeprefix("./").rstrip("/")


def plain(value: Any) -> Any:
    """A value as it stands in Git: of a secret only its name."""
    return f"{REFERENCE}{value['secret']}" if is_secret(value) else value


def new_document(
    identity: Mapping[str, str], content: Mapping[str, Any], extensions: Mapping[str, Any]
) -> dict[str, Any]:
    """A deployment document; `identity` is {id, name, device_id}, `content` what runs."""
    return {
        "id": identity["id"],
        "metadata": {
            "name": identity["name"],
            "namespace": "default",
            "deviceId": identity["device_id"],
        },
        "spec": {**content, OURS: dict(extensions)},
    }


def content_of(material: Material, profile: Profile, values: Mapping[str, Any]) -> dict[str, Any]:
    """What runs: application, profile with components, parameters."""
    return {
        "applicationId": material.description.id,
        "deploymentProfile": material.profile_part(profile),
        "parameters": material.parameters_part(profile, values),
    }
