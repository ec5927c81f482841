"""Which schemas there are: a name, as in `/schemas/<name>.json`, and the model it is made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from margrave.documents.capabilities import CapabilitiesPart
from margrave.documents.deployment import DeploymentPart
from margrave.documents.description import DescriptionPart
from margrave.documents.extensions import Extensions
from margrave.documents.manifest import ManifestPart
from margrave.documents.problem import ProblemPart
from margrave.documents.site import SitePart
from margrave.documents.status import StatusPart
from margrave.documents.trust_bundle import BundlePart
from margrave.schemas import requests, resources
from margrave.schemas.generating import schema_of

Models = Mapping[str, type[BaseModel]]

# What people write.
DOCUMENTS: Final[Models] = {
    "application-description": DescriptionPart,
    "application-deployment": DeploymentPart,
    "site": SitePart,
    "x-margrave-extensions": Extensions,
}
# What Margo's devices and fleet managers tell each other.
MARGO: Final[Models] = {
    "margo-capabilities": CapabilitiesPart,
    "margo-manifest": ManifestPart,
    "margo-problem": ProblemPart,
    "margo-status": StatusPart,
    "margo-trust-bundle": BundlePart,
}
# What the API answers.
RESOURCES: Final[Models] = {
    "app-resource": resources.App,
    "site-resource": resources.Site,
    "node-resource": resources.Node,
    "deployment-resource": resources.Deployment,
    "placement-resource": resources.Placement,
    "transition-resource": resources.Transition,
    "operation-resource": resources.Operation,
    "request-resource": requests.Request,
    "plan-resource": requests.Plan,
    "event-resource": requests.Event,
    "problem": requests.Problem,
}
SCHEMAS: Final[Models] = {**DOCUMENTS, **MARGO, **RESOURCES}


def all_schemas(more: Models | None = None) -> dict[str, dict[str, Any]]:
    """Every schema by its name, with those of the models that another room adds."""
    models = {**SCHEMAS, **(more or {})}
    return {name: schema_of(name, model) for name, model in sorted(models.items())}
