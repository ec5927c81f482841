"""Documents and views for tests, in the fewest words that make them valid."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from margrave.documents.deployment import Deployment, read_deployment, render
from margrave.placement import Node

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
ID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
CAPABLE = {"architecture": "amd64", "cpus": 4, "memory": 2**32, "deployment_types": ["compose"]}


def raw_deployment(**ours: Any) -> dict[str, Any]:
    """A valid deployment document as plain values, with these additions of ours."""
    version = ours.pop("release", "1.0.0")
    return {
        "id": ours.pop("id", ID),
        "metadata": {
            "name": ours.pop("name", "storefront"),
            "namespace": "default",
            "deviceId": ours.pop("device", "harbor/*"),
        },
        "spec": {
            "applicationId": "storefront",
            "deploymentProfile": {
                "type": "compose",
                "components": [
                    {
                        "name": "storefront",
                        "properties": {"repository": "oci://r.example/s", "revision": version},
                        "x-margrave-extensions": {"source": "components/" + "ab" * 32},
                    }
                ],
            },
            "parameters": {
                "greeting": {
                    "value": "hello",
                    "targets": [{"pointer": "GREETING", "components": ["storefront"]}],
                }
            },
            "x-margrave-extensions": ours,
        },
    }


def deployment(**ours: Any) -> Deployment:
    """The same, read."""
    return read_deployment(render(raw_deployment(**ours)), "deployments/harbor/x.yaml")


def nodes(*names: str, **changes: Any) -> tuple[Node, ...]:
    """Capable, active nodes of these names."""
    return tuple(Node(name, capabilities=CAPABLE, **changes) for name in names)
