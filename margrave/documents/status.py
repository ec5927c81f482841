"""A deployment's status as a client reports it (Margo rc.3): six states, components, errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from margrave import digest, json_text
from margrave.documents._checked import checked
from margrave.documents._fields import ReportedDeviceId, Uuid
from margrave.documents._reading import Part
from margrave.documents._walk import EACH, mapping, part, repeated, texts
from margrave.documents.generations import Kind
from margrave.documents.manifest import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

# Margo's property names are kept as they are written: fields are the document's words.
# ruff: noqa: N815


class MargoState(StrEnum):
    """Margo's six states, the most severe first.

    The standard's own order names `removing` twice and `removed` never; the second is read so.
    """

    FAILED = "failed"
    REMOVING = "removing"
    INSTALLING = "installing"
    PENDING = "pending"
    REMOVED = "removed"
    INSTALLED = "installed"


# What a gateway says of devices behind it.
UNKNOWN_CHILD: Final = "101"
CHILD_UNREACHABLE: Final = "102"
NO_AUTONOMOUS_PLACEMENT: Final = "103"

_SEVERITY: Final = {state.value: rank for rank, state in enumerate(reversed(MargoState))}
StateWord = Literal["failed", "removing", "installing", "pending", "removed", "installed"]


class StatusError(Part):
    """What went wrong, and whose fault it is: a device's id, a deployment's or component's name."""

    code: str
    source: str
    message: str


class OverallStatus(Part):
    """The deployment as a whole."""

    state: StateWord
    error: StatusError | None = None


class ComponentStatus(Part):
    """One component."""

    name: Annotated[str, Field(min_length=1)]
    state: StateWord
    error: StatusError | None = None


class StatusPart(Part):
    """The whole document."""

    deploymentId: Uuid
    adoptedManifestVersion: Version
    status: OverallStatus
    components: list[ComponentStatus]
    deviceId: ReportedDeviceId | None = None


@dataclass(frozen=True)
class Status:
    """A checked report."""

    document: StatusPart
    raw: Mapping[str, Any]

    @property
    def deployment(self) -> str:
        """The deployment's id."""
        return self.document.deploymentId

    @property
    def state(self) -> MargoState:
        """The state of the whole."""
        return MargoState(self.document.status.state)

    @property
    def error(self) -> StatusError | None:
        """What went wrong with the whole."""
        return self.document.status.error

    @property
    def components(self) -> tuple[ComponentStatus, ...]:
        """Each component, in the order told."""
        return tuple(self.document.components)


def most_severe(states: Iterable[str]) -> MargoState:
    """What a deployment whose components stand so is in; pending before it has any."""
    found = max(states, key=lambda one: _SEVERITY[one], default=MargoState.PENDING)
    return MargoState(found)


def read_status(data: bytes | str, file: str = "") -> Status:
    """The checked report, or DocumentError with every finding."""
    parsed = json_text.parse_any(data, file)
    return Status(checked(parsed, StatusPart, _rules, Kind.STATUS), parsed.value)


def render_status(value: Mapping[str, Any]) -> bytes:
    """The report's one text."""
    return digest.canonical_json(dict(value))


def _rules(parsed: Parsed) -> Iterator[Finding]:
    for path, name in repeated(texts(parsed.value, "components", EACH, "name")):
        yield parsed.finding(path, f'"{name}" stands twice', "tell each component once")
    told = mapping(mapping(parsed.value).get("status")).get("state")
    states = [one for _, one in texts(parsed.value, "components", EACH, "state")]
    if (
        isinstance(told, str)
        and told in _SEVERITY
        and states
        and all(one in _SEVERITY for one in states)
    ):
        worst = most_severe(states)
        if _SEVERITY[told] < _SEVERITY[worst]:
            message = f"is {told} though a component is {worst}"
            yield parsed.finding(("status", "state"), message, f"write {worst}")
    if told == MargoState.FAILED and not states and part(parsed.value, ("status", "error")) is None:
        message = "says neither which component failed nor why"
        yield parsed.finding(("status",), message, "add error: code, source and message")
