"""An application's description, `margo.yaml` (Margo rc.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from margrave import digest, durations, yaml_text
from margrave.documents._fields import (
    ApplicationId,
    ComponentName,
    MargoDuration,
    OciRepository,
    SemVer,
)
from margrave.documents._reading import OURS, Part, findings_of
from margrave.documents.constraints import DeviceConstraints
from margrave.errors import DocumentError, UnsafeArchive

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

# Margo's property names are kept as they are written: fields are the document's words.
# ruff: noqa: N815


class Named(Part):
    """An organisation or an author."""

    name: str
    site: str | None = None
    email: str | None = None


class ApplicationCatalog(Part):
    """What a marketplace shows."""

    descriptionFile: str | None = None
    icon: str | None = None
    licenseFile: str | None = None
    releaseNotes: str | None = None
    site: str | None = None
    tagline: str | None = None
    tags: list[str] = []


class Catalog(Part):
    """Who made it."""

    organization: Annotated[list[Named], Field(min_length=1)]
    author: list[Named] = []
    application: ApplicationCatalog | None = None


class Metadata(Part):
    """Name and version."""

    name: str
    version: SemVer
    catalog: Catalog
    description: str | None = None


class Path(Part):
    """Where in the package the component's folder lies."""

    path: str


class Properties(Part):
    """Which component, and how long it may take."""

    repository: OciRepository
    revision: SemVer
    wait: bool | None = None
    timeout: MargoDuration | None = None


class ComponentPart(Part):
    """One component."""

    name: ComponentName
    properties: Properties
    ours: Path | None = Field(default=None, alias=OURS)


class ProfilePart(Part):
    """One way to run the application."""

    type: Literal["helm", "compose", "custom"]
    id: str
    components: Annotated[list[ComponentPart], Field(min_length=1)]
    description: str | None = None
    deviceConstraints: DeviceConstraints | None = None


class Target(Part):
    """Where a parameter's value goes."""

    pointer: str
    components: Annotated[list[str], Field(min_length=1)]


class ParameterPart(Part):
    """A parameter with its default."""

    targets: Annotated[list[Target], Field(min_length=1)]
    value: Any = None


class Setting(Part):
    """A parameter as people are asked for it."""

    parameter: str
    name: str
    schema_name: str = Field(alias="schema")
    description: str | None = None
    immutable: bool = False


class Section(Part):
    """Settings that belong together."""

    name: str
    settings: list[Setting]


class Schema(Part):
    """The rule that a value must satisfy."""

    name: str
    dataType: Literal[
        "string",
        "integer",
        "double",
        "boolean",
        "select",
        "array[string]",
        "array[integer]",
        "array[double]",
        "array[boolean]",
    ]
    allowEmpty: bool = False
    minLength: int | None = None
    maxLength: int | None = None
    regexMatch: str | None = None
    minValue: int | float | None = None
    maxValue: int | float | None = None
    minPrecision: int | None = None
    maxPrecision: int | None = None
    multiselect: bool = False
    options: list[Any] = []


class Configuration(Part):
    """Sections and schemas."""

    sections: list[Section]
    schemas: list[Schema] = Field(alias="schema")


class DescriptionPart(Part):
    """The whole document."""

    apiVersion: Literal["v1"]
    id: ApplicationId
    metadata: Metadata
    deploymentProfiles: Annotated[list[ProfilePart], Field(min_length=1)]
    parameters: dict[str, ParameterPart] = {}
    configuration: Configuration | None = None


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
        return _inner(self.part.ours.path) if self.part.ours else None


def read_description(data: bytes | str, file: str = "margo.yaml") -> ApplicationDescription:
    """The checked description, or DocumentError with every finding."""
    # Imported here because the rules check defaults with the same code that checks requests.
    from margrave.parameters import check_value

    parsed = yaml_text.parse(data, file)
    part, findings = findings_of(parsed, DescriptionPart)
    if part is None:
        raise DocumentError(findings)
    description = ApplicationDescription(part, parsed.value)
    findings = [*_profile_rules(parsed, part), *_setting_rules(parsed, part)]
    for name, parameter in part.parameters.items():
        path = ("parameters", name, "value")
        if parameter.value is not None and name in description.settings:
            wrong = check_value(description.settings[name][1], parameter.value)
            findings += [parsed.finding(path, words, cure) for words, cure in wrong]
    if findings:
        raise DocumentError(findings)
    return description


def _inner(path: str) -> str:
    return path.removeprefix("./").rstrip("/")


def _profile_rules(parsed: Parsed, part: DescriptionPart) -> Iterable[Finding]:
    seen: set[str] = set()
    names: set[str] = set()
    for index, profile in enumerate(part.deploymentProfiles):
        path: tuple[str | int, ...] = ("deploymentProfiles", index)
        if profile.id in seen:
            yield parsed.finding((*path, "id"), f'"{profile.id}" stands twice', "rename one")
        seen.add(profile.id)
        here: set[str] = set()
        for place, component in enumerate(profile.components):
            at = (*path, "components", place)
            if component.name in here:
                yield parsed.finding((*at, "name"), f'"{component.name}" stands twice', "rename")
            here.add(component.name)
            yield from _path_rule(parsed, at, component)
        names |= here
    yield from _target_rules(parsed, part, names)


def _path_rule(
    parsed: Parsed, at: tuple[str | int, ...], component: ComponentPart
) -> Iterable[Finding]:
    if component.ours is None:
        return
    try:
        digest.check_path(_inner(component.ours.path))
    except UnsafeArchive:
        yield parsed.finding(
            (*at, OURS, "path"),
            f'"{component.ours.path}" leads out of the package',
            "name a folder below margo.yaml, such as ./compose",
        )


def _target_rules(parsed: Parsed, part: DescriptionPart, names: set[str]) -> Iterable[Finding]:
    cure = f"known are {', '.join(sorted(names))}"
    for name, parameter in part.parameters.items():
        for index, target in enumerate(parameter.targets):
            for place, one in enumerate(target.components):
                if one not in names:
                    path = ("parameters", name, "targets", index, "components", place)
                    yield parsed.finding(path, f'no component is called "{one}"', cure)


def _setting_rules(parsed: Parsed, part: DescriptionPart) -> Iterable[Finding]:
    if part.configuration is None:
        return
    schemas = [schema.name for schema in part.configuration.schemas]
    for index, name in enumerate(schemas):
        if name in schemas[:index]:
            path: tuple[str | int, ...] = ("configuration", "schema", index, "name")
            yield parsed.finding(path, f'"{name}" stands twice', "rename one")
    for index, section in enumerate(part.configuration.sections):
        for place, setting in enumerate(section.settings):
            path = ("configuration", "sections", index, "settings", place)
            if setting.parameter not in part.parameters:
                words = f'no parameter is called "{setting.parameter}"'
                yield parsed.finding((*path, "parameter"), words, _known(part.parameters))
            if setting.schema_name not in schemas:
                words = f'no schema is called "{setting.schema_name}"'
                yield parsed.finding((*path, "schema"), words, _known(schemas))


def _known(names: Iterable[str]) -> str:
    return f"known are {', '.join(sorted(names))}"
