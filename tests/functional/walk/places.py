"""Applications, sites and nodes: added, read, changed, taken away."""

from __future__ import annotations

from tests.functional.walk.world import World, has
from tests.support.waiting import eventually


def catalogue(w: World) -> None:
    """Sources are added, read and removed; applications come with all their versions."""
    url = str(w.site.folder.parent / "apps")
    for name in ("examples", "second"):
        made = w.ask("POST", "/app-sources", 201, json={"name": name, "url": url})
        assert made["name"] == name
    w.ask("POST", "/app-sources", 409, json={"name": "second", "url": url})
    w.ask("POST", "/app-sources", 422, json={"name": "third", "url": "ext::id"})
    w.ask("POST", "/app-sources", 403, token=w.ids["operator"], json={"name": "x", "url": url})
    assert [one["name"] for one in w.items("/app-sources", "source")] == ["examples", "second"]
    w.ask("DELETE", "/app-sources/second", 204)
    w.ask("GET", "/app-sources/second", 404)
    assert w.ask("GET", "/app-sources/examples")["url"] == url
    synced = w.ask("POST", "/app-sources/examples/sync", json={})
    assert set(synced) >= {"commit", "apps", "findings"}
    (app,) = w.items("/apps?q=storefront", "app")
    assert app["version"] == app["versions"][0] == "1.2.0"
    for path in ("/apps/storefront", "/apps/storefront/versions/1.0.0"):
        whole = has("app", w.ask("GET", path))
        profile = has("profile", whole["profiles"][0])
        assert profile["components"][0]["name"]
        assert "greeting" in [has("parameter", one)["name"] for one in whole["parameters"]]
    assert whole["version"] == "1.0.0"
    w.ask("GET", "/apps/nothing", 404)
    near = {
        "/apps/storfront": "storefront",
        "/apps/storefront/versions/1.0": "storefront@1.0.0",
        "/app-sources/exampels": "examples",
        "/sites/habor": "harbor",
    }
    for path, name in near.items():
        assert w.ask("GET", path, 404)["cure"] == f'did you mean "{name}"?'
    w.ask("GET", "/apps/storefront/versions/9.9.9", 404)


def sites(w: World) -> None:
    """A second site, its runner's tokens, and every verb of a site."""
    body = {"name": "depot", "labels": {"zone": "yard"}, "timezone": "Europe/Oslo"}
    made = w.ask("POST", "/sites", 201, json=body)
    w.ids["depot"] = made["token"]
    assert has("site", made["site"])["labels"] == {"zone": "yard"}
    w.ask("POST", "/sites", 409, json=body)
    w.ask("POST", "/sites", 422, json={"name": "No Label"})
    assert [one["name"] for one in w.items("/sites", "site")] == ["depot", "harbor"]
    changed = w.ask("PATCH", "/sites/depot", json={"labels": {"zone": "shop"}})
    assert has("site", changed)["labels"] == {"zone": "shop"}
    second = w.ask("POST", "/sites/depot/tokens", 201)
    w.ask("POST", "/sites/depot/tokens", 409)  # two may be valid
    for token in (made["token"], second["token"]):
        assert w.ask("GET", "/sites/depot", token=token)["name"] == "depot"
        w.ask("GET", "/sites/harbor", 403, token=token)
    w.ask("DELETE", f"/sites/depot/tokens/{second['id']}", 204)
    w.ask("GET", "/sites/depot", 401, token=second["token"])
    until = "2999-01-01T00:00:00Z"
    paused = w.ask("POST", "/sites/depot/pause", json={"reason": "count", "until": until})
    assert has("site", paused)["paused"]["reason"] == "count"
    assert w.ask("POST", "/sites/depot/resume")["paused"] is None
    for verb in ("drain", "undrain"):
        has("site", w.ask("POST", f"/sites/depot/{verb}"))
    assert w.ask("POST", "/sites/depot/reload", 202)["kind"] == "reload"
    body = {"commit": w.ask("GET", "/repository")["head"]}
    assert w.ask("POST", "/sites/depot/accept", 202, json=body)["kind"] == "accept"
    w.ask("POST", "/sites/depot/accept", 403, token=w.ids["operator"], json=body)


def nodes(w: World) -> None:
    """Known from the site's reports, and every verb of a node."""
    eventually(lambda: len(w.items("/nodes", "node")) == 2, 60, "both nodes are known")
    (one, two) = w.items("/sites/harbor/nodes", "node")
    assert (one["name"], two["name"], one["status"]) == ("harbor-1", "harbor-2", "active")
    has("capabilities", one["capabilities"])
    assert w.items("/nodes?site=depot", "node") == []
    has("node", w.ask("GET", "/sites/harbor/nodes/harbor-1"))
    w.ask("GET", "/sites/harbor/nodes/nothing", 404)
    told = w.ask("GET", "/sites/harbor/nodes/habor-2", 404)
    assert told["cure"] == 'did you mean "harbor-2"?'
    assert w.ask("POST", "/sites/harbor/nodes/harbor-2/drain")["drain"] is True
    assert w.ask("POST", "/sites/harbor/nodes/harbor-2/undrain")["drain"] is False
    given = w.ask("POST", "/sites/harbor/nodes/harbor-2/reload", 202)
    assert given["kind"] == "reload"
    site = has("site", w.ask("GET", "/sites/harbor"))
    assert (site["freshness"], site["locked"], site["halted"]) == ("fresh", None, None)


def taken_away(w: World) -> None:
    """What is in use stays; a node that is lost is forgotten, an empty site is removed."""
    node = "/sites/harbor/nodes/harbor-2"
    w.ask("DELETE", node, 409)
    w.ask("DELETE", "/sites/harbor", 409)
    assert w.ask("DELETE", f"{node}?forget=true", 202)["kind"] == "forget"
    w.ask("DELETE", "/sites/depot", 204)
    w.ask("GET", "/sites/depot", 404)
