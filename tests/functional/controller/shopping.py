"""A shop at a site, over HTTP: a controller with a registry, the catalogue, and a deployment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from controller.parts import Parts
from controller.settings import ControllerSettings
from tests.functional.controller.kit import Api
from tests.support.registry import FakeRegistry
from tests.support.works import APPS

DEPLOY = {"app": "storefront", "version": "1.0.0", "targets": {"sites": ["harbor"]}}


@contextmanager
def settings(
    folder: Path, database: str | None, **more: dict[str, Any]
) -> Iterator[ControllerSettings]:
    """Of a controller with a registry, and more sections."""
    registry = FakeRegistry().start()
    host = {"host": "registry.margrave.lab:5000", "address": registry.address, "insecure": True}
    yield ControllerSettings.model_validate(
        {
            "state": {"dir": folder / "state"},
            "database": {"url": database},
            "catalog": {"local_roots": [APPS]},
            "registries": [host],
            **more,
        }
    )
    registry.stop()


def opened(admin: Api) -> str:
    """Storefront in the catalogue and the site harbor; the token of harbor's runner."""
    assert admin.post("/app-sources", json={"name": "apps", "url": str(APPS)}).status_code == 201
    synced = admin.post("/app-sources/apps/sync")
    found = [one["version"] for one in synced.json["apps"] if one["id"] == "storefront"]
    assert found == ["1.0.0", "1.1.0", "1.2.0"]
    made = admin.post("/sites", json={"name": "harbor", "labels": {"zone": "shop"}})
    assert made.status_code == 201
    assert made.json["site"]["labels"] == {"zone": "shop"}
    return str(made.json["token"])


def deploy(operator: Api, parts: Parts, **more: Any) -> str:
    """Ask for it and publish; its id."""
    answer = operator.post("/deployments", json={**DEPLOY, **more})
    assert answer.status_code == 202, answer.text
    parts.publisher.publish_all()
    return str(answer.json["deployments"][0]["id"])
