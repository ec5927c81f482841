"""Every page by its name, of a fleet where all sorts of things have happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.integration.browser.fleet import Fleet


def lived_in(fleet: Fleet) -> dict[str, str]:
    """Make things happen, and give the path of every page by a name for it."""
    shop = fleet.deploy("door", "harbor", "depot")
    fleet.deploy("window", "harbor")
    broken = fleet.deploy("till", "harbor")
    with fleet.controller.api as api:
        for one, version in ((shop, "1.1.0"), (broken, "1.2.0")):
            api.patch(f"/deployments/{one}", json={"version": version}).raise_for_status()
            fleet.settled(one, version)
        operation = api.get("/operations", params={"deployment": broken}).json()["items"][0]["id"]
        asked = api.get("/requests").json()["items"][0]["id"]
    where = "?site=harbor"
    return {
        "overview": "/",
        "deployments": "/deployments",
        "deployment": f"/deployments/{shop}{where}",
        "rolled-back": f"/deployments/{broken}{where}",
        "history": f"/deployments/{shop}/history{where}",
        "placements": f"/deployments/{shop}/placements{where}",
        "compare": f"/deployments/{shop}/compare{where}",
        "update": f"/deployments/{shop}/act/update{where}",
        "rollback": f"/deployments/{shop}/act/rollback{where}",
        "delete": f"/deployments/{shop}/act/delete{where}",
        "many": "/deployments/act/update?all=yes&app=kiosk&version=1.1.0",
        "deploy-choose": "/deploy",
        "deploy": "/deploy?app=kiosk",
        "apps": "/apps",
        "app": "/apps/kiosk",
        "sources": "/sources",
        "sites": "/sites",
        "nodes": "/nodes",
        "site": "/sites/harbor",
        "node": "/sites/harbor/nodes/harbor-1",
        "activity": "/activity",
        "audit": "/activity?show=audit",
        "requests": "/requests",
        "request": f"/requests/{asked}",
        "operation": f"/operations/{operation}",
        "log": f"/operations/{operation}/log",
        "repository": "/repository",
        "settings": "/settings",
        "tokens": "/settings?show=tokens",
        "controller": "/settings?show=controller",
        "nowhere": "/apps/nothing",
    }
