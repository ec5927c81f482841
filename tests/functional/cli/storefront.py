"""The deployment `storefront` at harbor, as the fake controller tells of it and takes changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController

LIST = "/api/v1/deployments"
ACTIONS = "/api/v1/deployments/actions"
HARBOR = "11111111-1111-4111-8111-111111111111"
DEPOT = "22222222-2222-4222-8222-222222222222"


def deployment(site: str, name: str, **more: Any) -> dict[str, Any]:
    """A deployment as the API shows it."""
    base = {
        "id": name,
        "name": "storefront",
        "app": "storefront",
        "version": "1.0.0",
        "site": site,
        "state": "INSTALLED",
        "outcome": "succeeded",
        "revision": "sha256:new",
        "commit": "c1",
        "request": "r1",
    }
    return base | more


def placement(owner: str, **more: Any) -> dict[str, Any]:
    """A placement as the API shows it."""
    base = {
        "deployment": owner,
        "site": "harbor",
        "node": "harbor-1",
        "incarnation": 1,
        "state": "INSTALLED",
        "outcome": "succeeded",
        "revision": "sha256:old",
        "wanted_revision": "sha256:new",
        "attempt": 1,
        "since": "2030-01-01T00:00:00Z",
        "error": None,
    }
    return base | more


def told(controller: FakeController) -> None:
    """The application in two versions, deployed at harbor; whatever is asked is accepted."""
    version = {
        "id": "storefront",
        "version": "1.1.0",
        "parameters": [
            {"name": "greeting", "default": "hello", "type": "string"},
            {"name": "size", "default": 1, "type": "integer"},
        ],
    }
    controller.on("GET", "/api/v1/apps/storefront", 200, version)
    controller.on("GET", "/api/v1/apps/storefront/versions/1.1.0", 200, version)
    controller.on("GET", "/api/v1/apps/storefront/versions/1.0.0", 200, version)
    controller.lists(LIST, deployment("harbor", HARBOR))
    controller.on("GET", f"{LIST}/{HARBOR}", 200, deployment("harbor", HARBOR))
    accepted = {"id": "r1", "position": 1, "deployments": [{"id": HARBOR, "site": "harbor"}]}
    controller.on("POST", LIST, 202, accepted)
    controller.on("POST", ACTIONS, 202, accepted)
    controller.on("POST", "/api/v1/plans", 200, {"plan": {"sites": [], "findings": []}})
    controller.on("GET", "/api/v1/requests/r1", 200, {"state": "published", "commit": "c1"})
