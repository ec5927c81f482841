"""One valid document of each of Margo's kinds, in few words, for tests that break them."""

from __future__ import annotations

import base64
import json
from typing import Any

from margrave import digest

ID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
DIGEST = "sha256:" + "a1" * 32


def as_json(value: Any) -> bytes:
    """As a server would send it."""
    return json.dumps(value, indent=2).encode()


def description() -> dict[str, Any]:
    """Two profiles, three parameters, constraints, settings: something of everything."""
    return {
        "apiVersion": "v1",
        "id": "com-example-pump",
        "metadata": {
            "name": "Pump",
            "description": "Pumps.",
            "version": "1.2.0",
            "catalog": {
                "application": {"icon": "./icon.png", "tags": ["water"], "tagline": "It pumps"},
                "author": [{"name": "A. Author", "email": "author@example.com"}],
                "organization": [{"name": "Example", "site": "https://example.com"}],
            },
        },
        "deploymentProfiles": [
            {
                "type": "helm",
                "id": "pump-helm",
                "description": "On a cluster.",
                "components": [_component("pump", timeout="8m30s", wait=True)],
                "deviceConstraints": constraints(),
            },
            {"type": "compose", "id": "pump-compose", "components": [_component("pump-compose")]},
        ],
        "parameters": {
            "rate": {
                "value": 30,
                "targets": [
                    {"pointer": "pump.rate", "components": ["pump"]},
                    {"pointer": "RATE", "components": ["pump-compose"]},
                ],
            },
            "colour": {"targets": [{"pointer": "COLOUR", "components": ["pump-compose"]}]},
            "mail": {"value": "a@b.c", "targets": [{"pointer": "m", "components": ["pump"]}]},
        },
        "configuration": {
            "sections": [
                {
                    "name": "General",
                    "settings": [
                        {"parameter": "rate", "name": "Rate", "schema": "rates"},
                        {
                            "parameter": "colour",
                            "name": "Colour",
                            "schema": "colours",
                            "immutable": True,
                        },
                        {"parameter": "mail", "name": "Mail", "schema": "mails"},
                    ],
                }
            ],
            "schema": [
                {"name": "rates", "dataType": "integer", "minValue": 5, "maxValue": 60},
                {"name": "colours", "dataType": "select", "options": ["red", "blue"]},
                {"name": "mails", "dataType": "string", "regexMatch": ".*@[a-z0-9.-]*"},
            ],
        },
    }


def constraints() -> dict[str, Any]:
    """Capacity, and both kinds of selector."""
    items = {"matchExpressions": [{"key": "/type", "operator": "In", "values": ["gpu"]}]}
    return {
        "capacityRequirements": {
            "cpu": {"cores": 1.5, "architectures": ["amd64"]},
            "memory": "512Mi",
            "storage": "2Gi",
        },
        "eligibilityRules": [
            {
                "propertySelector": {
                    "matchExpressions": [
                        {"key": "/peripherals", "operator": "ContainsAll", "itemSelector": items},
                        {"key": "/cpus/0/cores", "operator": "Gt", "values": [2]},
                    ]
                },
                "labelSelector": {
                    "matchExpressions": [{"key": "example.com/zone", "operator": "Exists"}]
                },
            }
        ],
    }


def _component(name: str, **properties: Any) -> dict[str, Any]:
    place = {"repository": f"oci://registry.example/{name}", "revision": "1.0.9"}
    return {"name": name, "properties": {**place, **properties}}


def deployment() -> dict[str, Any]:
    """For any child of a gateway."""
    return {
        "id": ID,
        "metadata": {"name": "pump", "namespace": "default", "deviceId": "gateway-01/*"},
        "spec": {
            "applicationId": "com-example-pump",
            "deploymentProfile": {
                "type": "compose",
                "components": [_component("pump-compose", timeout="1m0s", wait=True)],
                "deviceConstraints": constraints(),
            },
            "parameters": {
                "rate": {
                    "value": "30",
                    "targets": [{"pointer": "RATE", "components": ["pump-compose"]}],
                }
            },
        },
    }


def manifest() -> dict[str, Any]:
    """One deployment and its bundle."""
    return {
        "manifestVersion": 101,
        "bundle": {
            "mediaType": "application/vnd.margo.bundle.v1+tar+gzip",
            "digest": DIGEST,
            "sizeBytes": 1000,
            "url": f"/api/v1/bundles/{DIGEST}",
        },
        "deployments": [
            {
                "deploymentId": ID,
                "digest": DIGEST,
                "url": f"/api/v1/deployments/{ID}/{DIGEST}",
            }
        ],
    }


def capabilities() -> dict[str, Any]:
    """A device that hosts workloads."""
    return {
        "properties": {
            "id": "gateway-01/press",
            "vendor": "Example",
            "modelNumber": "P1",
            "serialNumber": "0001",
            "cpus": [{"cores": 4, "architecture": "amd64"}],
            "memory": "59 Gi",
            "storage": "1862 Gi",
            "peripherals": [{"type": "gpu", "manufacturer": "Example"}],
            "interfaces": [{"type": "ethernet"}],
            "otelCollector": True,
            "supportedRuntimes": ["oci"],
            "supportedDeploymentTypes": ["helm", "compose"],
        },
        "labels": {"example.com/zone": "hall", "example.com/lines": [1, 2]},
    }


def status() -> dict[str, Any]:
    """One component well, one not."""
    error = {"code": "IMAGE", "source": "pump", "message": "not found"}
    return {
        "deploymentId": ID,
        "adoptedManifestVersion": 101,
        "deviceId": "gateway-01/press",
        "status": {"state": "failed", "error": error},
        "components": [
            {"name": "pump", "state": "failed", "error": error},
            {"name": "cache", "state": "installed"},
        ],
    }


def problem() -> dict[str, Any]:
    """A body that breaks a rule."""
    return {
        "type": "https://docs.margo.org/specification/problem-types#semantic-error",
        "title": "Semantic error",
        "status": 422,
        "detail": "memory is no amount",
        "instance": "/api/v1/capabilities/press",
        "retryable": False,
        "backoffStrategy": "none",
        "errors": [{"field": "properties.memory", "message": "write 8Gi"}],
    }


def trust_bundle() -> dict[str, Any]:
    """One anchor, and a key for something else."""
    return {
        "spiffe_sequence": 12,
        "spiffe_refresh_hint": 86400,
        "keys": [
            {"kty": "EC", "crv": "P-256", "x": "eA", "y": "eQ", "use": "x509-svid", "x5c": [CERT]},
            {"kty": "EC", "use": "jwt-svid", "kid": "1"},
        ],
    }


def discovery() -> dict[str, Any]:
    """Where the bundle is."""
    return {"trustDomain": "factory.example", "trustBundleUri": "https://mis.factory.example/b"}


# The shape of a certificate: one DER sequence. Whether it is one, TLS libraries judge.
CERT = base64.b64encode(b"\x30\x81\x80" + bytes(0x80)).decode()


def documents(count: int) -> dict[str, bytes]:
    """So many deployment documents by id."""
    made = {}
    for number in range(count):
        identity = f"00000000-0000-4000-8000-{number:012d}"
        text = json.dumps({**deployment(), "id": identity}, indent=1)
        made[identity] = text.encode()
    return made


def digest_of(data: bytes) -> str:
    """As a manifest names it."""
    return digest.of_bytes(data)
