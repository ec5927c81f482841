"""An application's description, `margo.yaml` (Margo rc.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from margrave import durations, yaml_text
from margrave.documents._checked import checked
from margrave.documents.description._rules import inner, rules
from margrave.documents.description.parts import (
    ComponentPart,
    DescriptionPart,
    Metadata,
    ParameterPart,
    ProfilePart,
    Schema,
    Setting,
)
from margrave.documents.generations import Kind

__all__ = [
    "ApplicationDescription",
    "Component",
    "ComponentPart",
    "DescriptionPart",
    "Metadata",
    "ParameterPart",
    "Profile",
    "ProfilePart",
    "Schema",
    "Setting",
    "read_description",
    "render_description",
]


@dataclass(frozen=True)
class ApplicationDescription:
    """A checked description."""

    document: DescriptionPart
    raw: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The application's id."""
        return self.document.id

    @property
    def metadata(self) -> Metadata:
        """Name, version and who made it."""
        return self.document.metadata

    @property
    def version(self) -> str:
        """The version this package is of."""
        return self.document.metadata.version

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The profiles, in the order of the document."""
        raw = self.raw["deploymentProfiles"]
        parts = self.document.deploymentProfiles
        return tuple(Profile(part, raw[index]) for index, part in enumerate(parts))

    @property
    def parameters(self) -> Mapping[str, ParameterPart]:
        """Parameters by name."""
        return self.document.parameters

    def defaults(self, component: str) -> dict[str, Any]:
        """Return the default of each parameter that goes to a component, by pointer."""
        return {
            target.pointer: parameter.value
            for parameter in self.parameters.values()
            for target in parameter.targets
            if component in target.components
        }

    def pointers(self, component: str) -> list[str]:
        """Where parameters put their values in a component."""
        return [
            target.pointer
            for parameter in self.parameters.values()
            for target in parameter.targets
            if component in target.components
        ]

    @property
    def settings(self) -> dict[str, tuple[Setting, Schema]]:
        """The setting and schema of each parameter that has them."""
        configuration = self.document.configuration
        if configuration is None:
            return {}
        schemas = {schema.name: schema for schema in configuration.schemas}
        return {
            setting.parameter: (setting, schemas[setting.schema_name])
            for section in configuration.sections
            for setting in section.settings
            if setting.schema_name in schemas
        }


@dataclass(frozen=True)
class Profile:
    """One way to run the application, with what it is in the document."""

    part: ProfilePart
    raw: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The profile's id, unique in its description."""
        return self.part.id

    @property
    def type(self) -> str:
        """helm, compose or custom."""
        return self.part.type

    @property
    def description(self) -> str | None:
        """What the author says of it."""
        return self.part.description

    @property
    def device_constraints(self) -> dict[str, Any] | None:
        """What it asks of a node, as written: it is copied unchanged."""
        found = self.raw.get("deviceConstraints")
        return dict(found) if found else None

    @property
    def components(self) -> tuple[Component, ...]:
        """The components in their order."""
        return tuple(Component(part) for part in self.part.components)


@dataclass(frozen=True)
class Component:
    """One component of a profile."""

    part: ComponentPart

    @property
    def name(self) -> str:
        """The component's name."""
        return self.part.name

    @property
    def repository(self) -> str:
        """Where it comes from, or its identity when the package holds it."""
        return self.part.properties.repository

    @property
    def revision(self) -> str:
        """The component's version."""
        return self.part.properties.revision

    @property
    def wait(self) -> bool | None:
        """Whether the next waits for it; None when the author is silent."""
        return self.part.properties.wait

    @property
    def timeout(self) -> str | None:
        """Its limit in Margo's words, or None."""
        return self.part.properties.timeout

    @property
    def timeout_seconds(self) -> int | None:
        """Its limit in seconds, or None."""
        return durations.margo_seconds(self.timeout) if self.timeout else None

    @property
    def path(self) -> str | None:
        """The folder inside the package, without a leading `./`; None when a registry has it."""
        return inner(self.part.ours.path) if self.part.ours else None


def read_description(data: bytes | str, file: str = "margo.yaml") -> ApplicationDescription:
    """The checked description, or DocumentError with every finding."""
    parsed = yaml_text.parse(data, file)
    return ApplicationDescription(
        checked(parsed, DescriptionPart, rules, Kind.DESCRIPTION), parsed.value
    )


def render_description(value: Mapping[str, Any]) -> bytes:
    """The document's one text."""
    return yaml_text.dump(dict(value)).encode()
