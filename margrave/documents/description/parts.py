"""The parts of `margo.yaml` as they are written (Margo rc.3)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from margrave.documents._fields import (
    ApplicationId,
    ComponentName,
    Email,
    MargoDuration,
    OciRepository,
    Revision,
    Tag,
)
from margrave.documents._reading import OURS, Extensible, Part
from margrave.documents.constraints import DeviceConstraints

# Margo's property names are kept as they are written: fields are the document's words.
# ruff: noqa: N815

Length = Annotated[int, Field(ge=0)]


class Organization(Part):
    """Who offers the application."""

    name: str
    site: str | None = None


class Author(Part):
    """Who made it."""

    name: str | None = None
    email: Email | None = None


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
    """Who made it, and what there is to say of it."""

    organization: Annotated[list[Organization], Field(min_length=1)]
    author: list[Author] = []
    application: ApplicationCatalog | None = None


class Metadata(Part):
    """Name and version."""

    name: str
    version: Tag
    catalog: Catalog
    description: str | None = None


class Path(Part):
    """Where in the package the component's folder lies."""

    path: str


class Properties(Part):
    """Which component, and how long it may take."""

    repository: OciRepository
    revision: Revision
    wait: bool | None = None
    timeout: MargoDuration | None = None


class ComponentPart(Extensible):
    """One component."""

    name: ComponentName
    properties: Properties
    ours: Path | None = Field(default=None, alias=OURS)


class ProfilePart(Extensible):
    """One way to run the application."""

    type: Literal["helm", "compose", "custom"]
    id: Annotated[str, Field(min_length=1)]
    components: Annotated[list[ComponentPart], Field(min_length=1)]
    description: str | None = None
    deviceConstraints: DeviceConstraints | None = None


class Target(Part):
    """Where a parameter's value goes."""

    pointer: Annotated[str, Field(min_length=1)]
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
    minLength: Length | None = None
    maxLength: Length | None = None
    regexMatch: str | None = None
    minValue: int | float | None = None
    maxValue: int | float | None = None
    minPrecision: Length | None = None
    maxPrecision: Length | None = None
    multiselect: bool = False
    options: list[Any] = []


class Configuration(Part):
    """Sections and schemas."""

    sections: list[Section]
    schemas: list[Schema] = Field(alias="schema")


class DescriptionPart(Extensible):
    """The whole document."""

    apiVersion: Literal["v1"]
    id: ApplicationId
    metadata: Metadata
    deploymentProfiles: Annotated[list[ProfilePart], Field(min_length=1)]
    parameters: dict[str, ParameterPart] = {}
    configuration: Configuration | None = None
