"""What a device says of itself (Margo rc.3): identity, and what it has when it hosts workloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from margrave import digest, json_text, quantities
from margrave.documents._checked import checked
from margrave.documents._fields import ReportedDeviceId
from margrave.documents._reading import Extensible, Part
from margrave.documents._walk import mapping
from margrave.documents.generations import Kind
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

# Margo's property names are kept as they are written: fields are the document's words.
# ruff: noqa: N815

# What only a device that hosts workloads tells; one that does not leaves all of it out.
HOSTING: Final = (
    "cpus",
    "memory",
    "storage",
    "peripherals",
    "interfaces",
    "otelCollector",
    "supportedRuntimes",
    "supportedDeploymentTypes",
)
# A device without a camera or a socket has nothing to list.
_MAY_BE_ABSENT: Final = ("peripherals", "interfaces")


def _label(value: Any) -> Any:
    items = value if isinstance(value, list) else [value]
    texts = all(isinstance(one, str) for one in items)
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in items)
    if not (texts or numbers or isinstance(value, bool)):
        raise ValueError(
            "is no value of a label"
            " | write text, a number, true or false, or a list of texts or of numbers"
        )
    return value


LabelValue = Annotated[
    str | bool | int | float | list[str] | list[int | float], BeforeValidator(_label)
]


class Cpu(Part):
    """One processor; what asks for cores gets them from one entry."""

    cores: Annotated[int | float, Field(gt=0, json_schema_extra={"exclusiveMinimum": 0})]
    architecture: Literal["amd64", "arm64", "arm"] | None = None


class Peripheral(Part):
    """Something attached."""

    type: Literal["gpu", "display", "camera", "microphone", "speaker"]
    manufacturer: str | None = None
    model: str | None = None


class Interface(Part):
    """A way to communicate."""

    type: Literal["ethernet", "wifi", "cellular", "bluetooth", "usb", "canbus", "rs232"]


class DeviceProperties(Part):
    """The device."""

    id: ReportedDeviceId
    vendor: str
    modelNumber: str
    serialNumber: str
    cpus: list[Cpu] | None = None
    memory: str | None = None
    storage: str | None = None
    peripherals: list[Peripheral] | None = None
    interfaces: list[Interface] | None = None
    otelCollector: bool | None = None
    supportedRuntimes: Annotated[list[Literal["oci", "custom"]], Field(min_length=1)] | None = None
    supportedDeploymentTypes: (
        Annotated[list[Literal["helm", "compose", "custom"]], Field(min_length=1)] | None
    ) = None


class CapabilitiesPart(Extensible):
    """The whole document."""

    properties: DeviceProperties
    labels: dict[str, LabelValue] = {}


@dataclass(frozen=True)
class Capabilities:
    """A checked report."""

    document: CapabilitiesPart
    raw: Mapping[str, Any]

    @property
    def device(self) -> str:
        """The device's id, with all that it stands behind."""
        return self.document.properties.id

    @property
    def parent(self) -> str | None:
        """The gateway that must have reported itself before; None for a device that has none."""
        return self.device.rpartition("/")[0] or None

    @property
    def hosts(self) -> bool:
        """Whether workloads run on it; a see-thru gateway has none of its own."""
        return any(key in mapping(self.raw["properties"]) for key in HOSTING)

    @property
    def labels(self) -> Mapping[str, Any]:
        """What its supplier says of it."""
        return self.document.labels


def read_capabilities(data: bytes | str, file: str = "") -> Capabilities:
    """The checked report, or DocumentError with every finding."""
    parsed = json_text.parse_any(data, file)
    part = checked(parsed, CapabilitiesPart, _rules, Kind.CAPABILITIES)
    return Capabilities(part, parsed.value)


def render_capabilities(value: Mapping[str, Any]) -> bytes:
    """The report's one text."""
    return digest.canonical_json(dict(value))


def _rules(parsed: Parsed) -> Iterator[Finding]:
    properties = mapping(mapping(parsed.value).get("properties"))
    if any(key in properties for key in HOSTING):
        yield from _hosting_rules(parsed, properties)
    for key in ("memory", "storage"):
        if isinstance(properties.get(key), str):
            try:
                quantities.in_bytes(properties[key])
            except MargraveError as error:
                yield parsed.finding(("properties", key), error.message, error.cure)


def _hosting_rules(parsed: Parsed, properties: Mapping[str, Any]) -> Iterator[Finding]:
    for key in HOSTING:
        if key not in properties and key not in _MAY_BE_ABSENT:
            message = "is missing on a device that hosts workloads"
            yield parsed.finding(("properties", key), message, _CURES.get(key, "add it"))
    if properties.get("cpus") == []:
        yield parsed.finding(("properties", "cpus"), "names no processor", "name one at least")
    if properties.get("otelCollector") is False:
        message = "is false, but a device that hosts workloads runs a collector"
        yield parsed.finding(("properties", "otelCollector"), message, _CURES["otelCollector"])


_CURES: Final = {
    "otelCollector": "start an OpenTelemetry collector on it, then write true",
    "supportedRuntimes": "write oci or custom",
    "supportedDeploymentTypes": "write helm, compose or custom",
}
