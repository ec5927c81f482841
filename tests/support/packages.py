"""Application packages written by a test: the smallest that says what the test is about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from margrave import yaml_text

COMPOSE = """\
services:
  web:
    image: registry.margrave.lab:5000/shop:VERSION
    environment: {GREETING: "${GREETING}", SHELF: "${SHELF}"}
    ports: ["${PORT}:8000"]
"""
TYPES = {"greeting": "string", "port": "integer", "shelf": "string"}


def write(
    folder: Path,
    app: str = "shop",
    version: str = "1.0.0",
    compose: str = COMPOSE,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """A package with the parameters greeting, port and shelf; the shelf is immutable."""
    place = folder / app / version
    (place / "compose").mkdir(parents=True)
    (place / "margo.yaml").write_text(
        yaml_text.dump({**_description(app, version), **(more or {})})
    )
    (place / "compose" / "compose.yaml").write_text(compose.replace("VERSION", version))
    return place


def _description(app: str, version: str) -> dict[str, Any]:
    component = {
        "name": app,
        "properties": {
            "repository": f"oci://registry.margrave.lab:5000/{app}",
            "revision": version,
        },
        "x-margrave-extensions": {"path": "./compose"},
    }
    return {
        "apiVersion": "v1",
        "id": app,
        "metadata": {
            "name": app.title(),
            "version": version,
            "catalog": {"organization": [{"name": "Margrave tests"}]},
        },
        "deploymentProfiles": [
            {"type": "compose", "id": f"{app}-compose", "components": [component]}
        ],
        "parameters": {
            "greeting": _parameter("hello", "GREETING", app),
            "port": _parameter(8000, "PORT", app),
            "shelf": _parameter("left", "SHELF", app),
        },
        "configuration": {
            "sections": [{"name": "All", "settings": [_setting(name) for name in TYPES]}],
            "schema": [{"name": name, "dataType": kind} for name, kind in TYPES.items()],
        },
    }


def _parameter(value: object, variable: str, app: str) -> dict[str, Any]:
    return {"value": value, "targets": [{"pointer": variable, "components": [app]}]}


def _setting(name: str) -> dict[str, Any]:
    fixed = {"immutable": True} if name == "shelf" else {}
    return {"parameter": name, "name": name.title(), "schema": name, **fixed}
