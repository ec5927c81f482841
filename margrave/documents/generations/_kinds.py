"""The kinds of Margo's documents, their generations, and how a kind shows in a value."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final


class Generation(StrEnum):
    """Margo's generations as far as their documents differ."""

    LEGACY = "legacy 1.0.0 draft"
    PRE_RC2 = "drafts before rc.2"
    RC3 = "1.0.0-rc.3"


class Kind(StrEnum):
    """What a document is, by the name that Margo gives it."""

    DESCRIPTION = "ApplicationDescription"
    DEPLOYMENT = "ApplicationDeployment"
    MANIFEST = "DesiredStateManifest"
    CAPABILITIES = "DeviceCapabilitiesManifest"
    STATUS = "DeploymentStatusManifest"
    PROBLEM = "ProblemDetail"
    TRUST_BUNDLE = "SPIFFE bundle"
    DISCOVERY = "DiscoveryDocument"

    @property
    def with_article(self) -> str:
        """The name as a sentence needs it."""
        return f"{'an' if self.value[0] in 'AEIOU' else 'a'} {self.value}"


# The keys that only one kind has, in this order: a status names a deployment too.
_SIGNS: Final = (
    ("deploymentProfiles", Kind.DESCRIPTION),
    ("spec", Kind.DEPLOYMENT),
    ("manifestVersion", Kind.MANIFEST),
    ("deployments", Kind.MANIFEST),
    ("properties", Kind.CAPABILITIES),
    ("deploymentId", Kind.STATUS),
    ("adoptedManifestVersion", Kind.STATUS),
    ("keys", Kind.TRUST_BUNDLE),
    ("trustBundleUri", Kind.DISCOVERY),
    ("title", Kind.PROBLEM),
    ("components", Kind.STATUS),
)


def kind_of(value: Any) -> Kind | None:
    """Which document the value is by its keys (older ones name a kind, and may be wrong)."""
    if not isinstance(value, dict):
        return None
    return next((kind for key, kind in _SIGNS if key in value), None)
