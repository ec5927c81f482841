"""A deployment at a site: Margo's ApplicationDeployment (rc.3) with our additions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from margrave import digest, durations, yaml_text
from margrave.documents._checked import checked
from margrave.documents._reading import BOUNDS, OURS
from margrave.documents.deployment._rules import rules
from margrave.documents.deployment.parts import ComponentPart, DeploymentPart, ParameterPart
from margrave.documents.extensions import Extensions
from margrave.documents.generations import Kind
from margrave.errors import DocumentError
from margrave.findings import Finding

__all__ = [
    "Component",
    "ComponentPart",
    "Deployment",
    "DeploymentPart",
    "ParameterPart",
    "as_text",
    "read_deployment",
    "read_out_of_bounds",
    "render",
    "revision_of",
]


@dataclass(frozen=True)
class Deployment:
    """A checked deployment document, with what identifies its content."""

    document: DeploymentPart
    raw: Mapping[str, Any]
    revision: str
    document_digest: str
    out_of_bounds: tuple[Finding, ...] = ()  # why nothing may be started from it

    @property
    def id(self) -> str:
        """The deployment's UUID, the same over all its versions."""
        return self.document.id

    @property
    def name(self) -> str:
        """The deployment's name at its site."""
        return self.document.metadata.name

    @property
    def namespace(self) -> str:
        """Helm's namespace; Compose ignores it."""
        return self.document.metadata.namespace

    @property
    def device_id(self) -> str:
        """`<site>/*` or `<site>/<node>`."""
        return self.document.metadata.deviceId

    @property
    def application_id(self) -> str:
        """The application's id."""
        return self.document.spec.applicationId

    @property
    def profile_type(self) -> str:
        """helm, compose or custom."""
        return self.document.spec.deploymentProfile.type

    @property
    def device_constraints(self) -> dict[str, Any] | None:
        """What the profile asks of a node, as written."""
        found = self.raw["spec"]["deploymentProfile"].get("deviceConstraints")
        return dict(found) if found else None

    @property
    def extensions(self) -> Extensions:
        """Our additions, with defaults where the document is silent."""
        return self.document.spec.ours

    @property
    def version(self) -> str | None:
        """The application's version, where the author wrote it."""
        return self.extensions.version

    @property
    def components(self) -> tuple[Component, ...]:
        """The components in their order."""
        return tuple(Component(part) for part in self.document.spec.deploymentProfile.components)

    @property
    def parameters(self) -> Mapping[str, ParameterPart]:
        """Values and targets by name."""
        return self.document.spec.parameters

    @property
    def values(self) -> dict[str, Any]:
        """Values alone, by name: the shape that requests use."""
        return {name: one.value for name, one in self.parameters.items()}

    @property
    def writes_health_timeout(self) -> bool:
        """Whether the document itself sets health.timeout, which then holds for all components."""
        ours = self.raw["spec"].get(OURS) or {}
        return "timeout" in (ours.get("health") or {})

    def variables(self, component: str) -> dict[str, str]:
        """What Compose interpolation sees of the parameters in this component."""
        return {name: as_text(value) for name, value in self.targeted(component).items()}

    def targeted(self, component: str) -> dict[str, Any]:
        """What of the parameters goes to a component, by pointer, each value of its own type."""
        return {
            target.pointer: parameter.value
            for _, parameter in sorted(self.parameters.items())
            for target in parameter.targets
            if component in target.components
        }


@dataclass(frozen=True)
class Component:
    """One component of a checked deployment."""

    part: ComponentPart

    @property
    def name(self) -> str:
        """The component's name, unique in its deployment."""
        return self.part.name

    @property
    def repository(self) -> str:
        """Where it comes from, or its identity when Git delivers it."""
        return self.part.properties.repository

    @property
    def revision(self) -> str:
        """The component's own version."""
        return self.part.properties.revision

    @property
    def wait(self) -> bool:
        """Whether the next component waits for this one."""
        return self.part.properties.wait

    @property
    def timeout_seconds(self) -> int | None:
        """From start to healthy, or None when the document is silent."""
        written = self.part.properties.timeout
        return durations.margo_seconds(written) if written else None

    @property
    def source(self) -> str | None:
        """`components/<hex>` when Git delivers the content."""
        return self.part.ours.source


def read_deployment(data: bytes | str, file: str = "", *, bounded: bool = True) -> Deployment:
    """Return the checked document, or raise DocumentError with every finding.

    Unless `bounded`, values that are out of bounds are no findings.
    """
    parsed = yaml_text.parse(data, file)
    part = checked(parsed, DeploymentPart, rules, Kind.DEPLOYMENT, bounded=bounded)
    exact = data.encode() if isinstance(data, str) else data
    return Deployment(part, parsed.value, revision_of(parsed.value), digest.of_bytes(exact))


def read_out_of_bounds(data: bytes | str, file: str = "") -> Deployment:
    """Return the document also when a value in it is out of bounds, with those findings.

    A site reads its documents so: such a document is the trouble of its own deployment, and
    everything else that is wrong is the trouble of the whole commit.
    """
    try:
        return read_deployment(data, file)
    except DocumentError as error:
        if any(finding.code != BOUNDS for finding in error.findings):
            raise
        found = read_deployment(data, file, bounded=False)
        return replace(found, out_of_bounds=tuple(error.findings))


def render(value: Mapping[str, Any]) -> bytes:
    """The document's one text."""
    return yaml_text.dump(dict(value)).encode()


def revision_of(raw: Mapping[str, Any]) -> str:
    """What runs, as a digest: the same at every site, whatever the policies around it."""
    spec = raw["spec"]
    content = {
        "applicationId": spec["applicationId"],
        "deploymentProfile": _content(spec["deploymentProfile"]),
        "parameters": spec.get("parameters") or {},
    }
    return digest.of_bytes(digest.canonical_json(content))


def as_text(value: object) -> str:
    """A parameter's value as an environment variable holds it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return digest.canonical_json(value).decode()
    return "" if value is None else str(value)


def _content(profile: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in profile.items() if key != OURS}
    kept["components"] = [_component_content(one) for one in profile["components"]]
    return kept


def _component_content(component: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in component.items() if key != OURS}
    source = (component.get(OURS) or {}).get("source")
    return {**kept, OURS: {"source": source}} if source else kept
