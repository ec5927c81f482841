"""The parts of a deployment document as they are written (Margo rc.3, with our additions)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from margrave.documents._fields import (
    ApplicationId,
    ComponentName,
    DeviceId,
    Label,
    MargoDuration,
    OciRepository,
    Revision,
    Uuid,
)
from margrave.documents._reading import OURS, Extensible, Part
from margrave.documents.constraints import DeviceConstraints
from margrave.documents.extensions import Extensions

# Margo's property names are kept as they are written: fields are the document's words.
# ruff: noqa: N815


class Source(Part):
    """Where Git holds a component's content."""

    source: Annotated[str, Field(pattern=r"^components/[0-9a-f]{64}$")] | None = None


# Frozen, so that all documents share them: pydantic would copy a plain default each time.
_NO_SOURCE = Source()
_NO_EXTENSIONS = Extensions()


class ComponentProperties(Part):
    """Which component, and how long it may take."""

    repository: OciRepository
    revision: Revision
    wait: bool = True
    timeout: MargoDuration | None = None


class ComponentPart(Extensible):
    """One component as the document writes it."""

    name: ComponentName
    properties: ComponentProperties
    ours: Source = Field(default_factory=lambda: _NO_SOURCE, alias=OURS)


class ProfilePart(Extensible):
    """The chosen profile with its components in their order."""

    type: Literal["helm", "compose", "custom"]
    components: Annotated[list[ComponentPart], Field(min_length=1)]
    deviceConstraints: DeviceConstraints | None = None
    ours: dict[str, Any] = Field(default={}, alias=OURS)


class Target(Part):
    """Where a parameter's value goes."""

    pointer: Annotated[str, Field(min_length=1)]
    components: Annotated[list[str], Field(min_length=1)]


class ParameterPart(Part):
    """A value and its targets."""

    value: Any
    targets: list[Target]


class Metadata(Part):
    """Name and place."""

    name: Label
    namespace: str
    deviceId: DeviceId
    labels: dict[str, str] = {}


class Spec(Extensible):
    """What runs."""

    applicationId: ApplicationId
    deploymentProfile: ProfilePart
    parameters: dict[str, ParameterPart] = {}
    ours: Extensions = Field(default_factory=lambda: _NO_EXTENSIONS, alias=OURS)


class DeploymentPart(Part):
    """The whole document."""

    id: Uuid
    metadata: Metadata
    spec: Spec
