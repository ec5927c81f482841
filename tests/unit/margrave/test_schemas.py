"""The JSON Schemas say what the readers say, as far as a schema can."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from margrave.documents.capabilities import read_capabilities
from margrave.documents.deployment import read_deployment
from margrave.documents.description import read_description
from margrave.documents.manifest import read_manifest
from margrave.documents.site import read_site
from margrave.documents.status import read_status
from margrave.errors import DocumentError
from margrave.schemas import DOCUMENTS, SCHEMAS, all_schemas, text_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "apps" / "storefront" / "1.0.0" / "margo.yaml"
FOREIGN = {"x-acme-extensions": {"any": ["thing"]}}

DEPLOYMENT: dict[str, Any] = {
    "id": "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "metadata": {
        "name": "web",
        "namespace": "default",
        "deviceId": "harbor/*",
        "labels": {"a": "b"},
    },
    "spec": {
        "applicationId": "web",
        "deploymentProfile": {
            "type": "compose",
            "components": [
                {
                    "name": "web",
                    "properties": {
                        "repository": "oci://r.example/web",
                        "revision": "1.0.0",
                        "wait": True,
                        "timeout": "1m0s",
                    },
                    "x-margrave-extensions": {"source": "components/" + "ab" * 32},
                }
            ],
            "deviceConstraints": {
                "capacityRequirements": {
                    "cpu": {"cores": 1.5, "architectures": ["amd64"]},
                    "memory": "512Mi",
                    "storage": "1Gi",
                }
            },
        },
        "parameters": {
            "greeting": {
                "value": "hello",
                "targets": [{"pointer": "GREETING", "components": ["web"]}],
            }
        },
        "x-margrave-extensions": {
            "version": "1.0.0",
            "placement": {"nodes": 2, "selector": {"matchLabels": {"zone": "shop"}}},
            "strategy": {"update": "auto", "batch": "20%"},
            "failure": {"retries": {"health": 3}, "backoff": "5s", "then": "hold"},
            "health": {"timeout": "60s", "grace": "5s"},
            "drift": "heal",
            "windows": [{"cron": "0 2 * * 1-5", "duration": "2h", "timezone": "Europe/Oslo"}],
            "priority": "urgent",
            "reason": "line stands still",
            "requires": ["database"],
        },
    },
}
SITE: dict[str, Any] = {
    "labels": {"zone": "shop"},
    "timezone": "Europe/Oslo",
    "windows": [{"cron": "0 2 * * *", "duration": "2h"}],
    "policy": {"privileged": "deny", "host_paths": ["/srv"], "registries": ["*"]},
    "paused": {"reason": "fair", "by": "ada", "until": "2026-03-01T12:00:00Z"},
    "drain": False,
    "nodes": {"harbor-1": {"drain": True}},
    "defaults": {"drift": "report", "placement": {"nodes": ["harbor-1"], "move": "allow"}},
}
UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
DIGEST = "sha256:" + "ab" * 32
MANIFEST: dict[str, Any] = {
    "manifestVersion": 1,
    "bundle": {
        "mediaType": "application/vnd.margo.bundle.v1+tar+gzip",
        "digest": DIGEST,
        "url": f"/api/v1/bundles/{DIGEST}",
        "sizeBytes": 100,
    },
    "deployments": [
        {
            "deploymentId": UUID,
            "digest": DIGEST,
            "url": f"/api/v1/deployments/{UUID}/{DIGEST}",
            "sizeBytes": 10,
        }
    ],
}
CAPABILITIES: dict[str, Any] = {
    "properties": {
        "id": "harbor/harbor-1",
        "vendor": "Example",
        "modelNumber": "1",
        "serialNumber": "2",
        "cpus": [{"cores": 4, "architecture": "amd64"}],
        "memory": "8 Gi",
        "storage": "59Gi",
        "peripherals": [{"type": "gpu", "manufacturer": "Example"}],
        "interfaces": [{"type": "ethernet"}],
        "otelCollector": True,
        "supportedRuntimes": ["oci"],
        "supportedDeploymentTypes": ["compose"],
    },
    "labels": {"example.com/zone": "shop", "example.com/floor": 2},
}
STATUS: dict[str, Any] = {
    "deploymentId": UUID,
    "adoptedManifestVersion": 1,
    "status": {"state": "failed", "error": {"code": "1", "source": "web", "message": "no"}},
    "components": [
        {
            "name": "web",
            "state": "failed",
            "error": {"code": "1", "source": "web", "message": "no"},
        }
    ],
    "deviceId": "harbor/harbor-1",
}
MADE = all_schemas()
Reader = Callable[[bytes], object]
CASES: dict[str, tuple[dict[str, Any], Reader]] = {
    "application-deployment": (DEPLOYMENT, read_deployment),
    "application-description": (yaml.safe_load(EXAMPLE.read_text()), read_description),
    "margo-capabilities": (CAPABILITIES, read_capabilities),
    "margo-manifest": (MANIFEST, read_manifest),
    "margo-status": (STATUS, read_status),
    "site": (SITE, read_site),
}
# What a schema cannot say: one value has to fit another, or a table outside of the document.
BEYOND = (
    "is called",
    "stands twice",
    "is no time zone",
    "is no schedule",
    "leads out of",
    "is no option",
    "environment variable",
    "that a parameter can have",
    "is not text",
    "is empty",
    "characters",
    "on a device that hosts",
    "names no processor",
    "is not an amount",
    "packs no deployments",
    "is null though",
    "is not its address",
)


def _refusals(read: Reader, value: Any) -> list[str]:
    try:
        read(json.dumps(value).encode())  # JSON is YAML, and quick
    except DocumentError as error:
        return [one.message for one in error.findings]
    return []


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in below if isinstance(value, (dict, list)) else ():
        yield (*path, key)
        if isinstance(one, (dict, list)):
            yield from _paths(one, (*path, key))


def _changed(value: Any, path: tuple[Any, ...], change: Any) -> Any:
    made = copy.deepcopy(value)
    holder = made
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return made


def _put(what: Any) -> Any:
    return lambda holder, key: holder.__setitem__(key, what)


def _add(what: dict[str, Any]) -> Any:
    def change(holder: Any, key: Any) -> None:
        if isinstance(holder[key], dict):
            holder[key] |= what

    return change


CHANGES = {
    "gone": lambda holder, key: holder.pop(key),
    "null": _put(None),
    "number": _put(7),
    "below zero": _put(-1),
    "words": _put("two words"),
    "truth": _put(True),
    "no items": _put([]),
    "no keys": _put({}),
    "an unknown key": _add({"unknown": 1}),
    "a foreign key": _add(FOREIGN),
    "ours": _add({"x-margrave-extensions": {"wrong": 1}}),
}


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_a_schema_is_one(name: str) -> None:
    """Each satisfies the metaschema of 2020-12, has its own name, and refers only inside itself."""
    schema = MADE[name]

    Draft202012Validator.check_schema(schema)

    assert schema["$id"] == f"{name}.json"
    assert text_of(schema).count('"$ref": "') == text_of(schema).count('"$ref": "#/$defs/')


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_samples_are_good(name: str) -> None:
    """What the other tests break is whole before."""
    value, read = CASES[name]

    assert _refusals(read, value) == []
    assert list(Draft202012Validator(MADE[name]).iter_errors(value)) == []


@pytest.mark.parametrize("change", sorted(CHANGES))
@pytest.mark.parametrize("name", sorted(CASES))
def test_schema_and_reader_agree(name: str, change: str) -> None:
    """Whatever place of a document is broken in whatever way: both take it, or both refuse it."""
    value, read = CASES[name]
    schema = Draft202012Validator(MADE[name])
    apart = []
    for path in _paths(value):
        made = _changed(value, path, CHANGES[change])
        told = _refusals(read, made)
        plain = [one for one in told if not any(words in one for words in BEYOND)]
        if schema.is_valid(made) is bool(plain) and not (told and not plain):
            apart.append((path, told))

    assert not apart, "\n".join(map(str, apart))


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_an_editor_has_a_sentence_for_each_key(name: str) -> None:
    """A key without one leaves whoever writes the document alone."""
    schema = MADE[name]
    silent = [
        f"{place}.{key}"
        for place, part in [(name, schema), *schema["$defs"].items()]
        for key, about in part.get("properties", {}).items()
        if "description" not in about and "$ref" not in str(about)
    ]

    assert silent == []
    assert schema["description"]


def test_urgent_needs_a_reason() -> None:
    """The one rule between two keys that a schema can say."""
    schema = Draft202012Validator(MADE["x-margrave-extensions"])

    assert not schema.is_valid({"priority": "urgent"})
    assert schema.is_valid({"priority": "urgent", "reason": "line stands still"})
