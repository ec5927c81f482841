"""Plans, new deployments, and all that can be read of them."""

from __future__ import annotations

import uuid

from tests.functional.walk.world import World, has

STOREFRONT = {"app": "storefront", "version": "1.0.0", "targets": {"sites": ["harbor"]}}
TILL = {
    "app": "shop", "name": "till", "version": "1.0.0", "parameters": {"port": 9000},
    "targets": {"nodes": ["harbor/harbor-2"]},
}  # fmt: skip


def plan_and_create(w: World) -> None:
    """The plan writes nothing; its hash comes with the request, which ends healthy."""
    plan = has("plan", w.ask("POST", "/plans", token=w.ids["viewer"], json=STOREFRONT)["plan"])
    planned = has("planned site", plan["sites"][0])
    for node in planned["nodes"]:
        has("planned node", node)
    assert [one["node"] for one in planned["nodes"]] == ["harbor-1", "harbor-2"]
    assert w.items("/requests", "request") == [] and w.items("/deployments", "deployment") == []
    w.ask("POST", "/deployments", 409, json={**STOREFRONT, "plan_hash": "sha256:" + "0" * 64})
    asked = {**STOREFRONT, "plan_hash": plan["hash"], "parameters": {"greeting": "moin"}}
    asked["plan_hash"] = w.ask("POST", "/plans", json=asked | {"plan_hash": None})["plan"]["hash"]
    headers = {"Idempotency-Key": "walk"}
    made = w.ask("POST", "/deployments", 202, json=asked, headers=headers)
    assert set(made) >= {"id", "deployments", "position", "eta", "plan"}
    again = w.ask("POST", "/deployments", 202, json=asked, headers=headers)
    assert again["id"] == made["id"]
    other = {**asked, "parameters": {"greeting": "ahoy"}}
    w.ask("POST", "/deployments", 409, json=other, headers=headers)
    published = w.published(made["id"])
    assert len(published["commit"]) == 40 and published["actor"]
    ((one),) = made["deployments"]
    assert one["site"] == "harbor" and uuid.UUID(one["id"])
    w.ids |= {"request": made["id"], "shop": one["id"]}
    found = w.until(one["id"], "INSTALLED", "succeeded")
    assert (found["name"], found["version"]) == ("storefront", "1.0.0")
    assert found["parameters"]["greeting"] == "moin" and found["request"] == made["id"]


def who_else_wants_the_name(w: World) -> None:
    """Taken names, things nobody knows, and each way to say where."""
    w.ask("POST", "/deployments", 409, json=STOREFRONT)
    for key, value, where in (
        ("app", "nothing", "/app"),
        ("version", "9.9.9", "/version"),
        ("targets", {"sites": ["nowhere"]}, "/targets/sites/0"),
        ("targets", {"nodes": ["harbor/nothing"]}, "/targets/nodes/0"),
    ):
        told = w.ask("POST", "/deployments", 422, json={**STOREFRONT, "name": "x", key: value})
        assert (where, "unknown") in [(one["pointer"], one["code"]) for one in told["errors"]]
    w.ask("POST", "/deployments", 422, json={**STOREFRONT, "name": "No Label"})
    told = w.ask(
        "POST", "/deployments", 422,
        json={**STOREFRONT, "name": "x", "parameters": {"greeting": 17}},
    )  # fmt: skip
    assert told["errors"][0]["pointer"] == "/parameters/greeting"
    labels = {"selector": {"matchLabels": {"zone": "shop"}}}
    plan = w.ask("POST", "/plans", json={**STOREFRONT, "name": "x", "targets": labels})["plan"]
    assert [one["site"] for one in plan["sites"]] == ["depot", "harbor"]
    told = w.ask("POST", "/deployments", 422, json={**STOREFRONT, "name": "x"})
    assert "belongs to storefront" in told["errors"][0]["detail"], "a port is taken once"
    made = w.ask("POST", "/deployments", 202, json=TILL)
    w.ids["till"] = made["deployments"][0]["id"]
    w.until(w.ids["till"], "INSTALLED", "succeeded")
    placed = w.items(f"/deployments/{w.ids['till']}/placements", "placement")
    assert [one["node"] for one in placed] == ["harbor-2"]


def read(w: World) -> None:
    """Lists with their filters, and each view of one."""
    shop = w.ids["shop"]
    for query, names in (
        ("site=harbor", ["till", "storefront"]),
        ("site=depot", []),
        ("app=shop", ["till"]),
        ("name=till", ["till"]),
        ("state=INSTALLED&outcome=succeeded", ["till", "storefront"]),
        ("state=FAILED", []),
        ("outcome=held", []),
        ("state=DELETED", []),
        ("q=storef", ["storefront"]),
    ):
        found = w.items(f"/deployments?{query}", "deployment")
        assert [one["name"] for one in found] == names, query
    w.ask("GET", "/deployments?state=ZORK", 422)
    placed = w.items(f"/deployments/{shop}/placements", "placement")
    assert [one["node"] for one in placed] == ["harbor-1", "harbor-2"]
    assert {one["health"] for one in placed} == {"healthy"}
    past = w.items(f"/deployments/{shop}/history", "history")
    mine = [one["to"] for one in past if one["node"] == "harbor-1"]
    assert mine == ["PENDING", "INSTALLING", "INSTALLED"], "oldest first"
    told = w.ask("GET", f"/deployments/{shop}/explain")
    assert told["answer"] and told["steps"][0]["step"] == "request"
    text = w.ask("GET", f"/deployments/{shop}/manifest")
    assert f"id: {shop}" in text and "deviceId: harbor/*" in text
    for path in ("", "/placements", "/history", "/explain", "/manifest"):
        w.ask("GET", f"/deployments/{uuid.uuid4()}{path}", 404)
    listed = has("request", w.items("/requests?state=published", "request")[-1])
    assert listed["plan"] is None and listed["deployments_total"] == len(listed["deployments"])
    whole = w.ask("GET", f"/requests/{listed['id']}")
    assert has("request", whole)["plan"]["hash"]
    w.ask("DELETE", f"/requests/{w.ids['request']}", 409)  # no longer in the queue
    w.ask("GET", f"/requests/{uuid.uuid4()}", 404)


def operations(w: World) -> None:
    """What was done: its log, its end as a stream, its artifacts."""
    shop = w.ids["shop"]
    found = w.items(f"/operations?deployment={shop}&state=succeeded", "operation")
    assert {(one["node"], one["kind"]) for one in found} == {
        ("harbor-1", "install"), ("harbor-2", "install"),
    }  # fmt: skip
    assert w.items("/operations?site=harbor&node=harbor-1", "operation")
    assert w.items("/operations?site=depot", "operation") == []
    one = found[0]["id"]
    has("operation", w.ask("GET", f"/operations/{one}"))
    assert "healthy" in w.ask("GET", f"/operations/{one}/log")
    told = w.ask("GET", f"/operations/{one}/events")
    words = [line[7:] for line in told.splitlines() if line.startswith("event: ")]
    assert words == ["started", "log", "end"]
    artifact = w.ask("GET", f"/artifacts/{one}")
    assert set(artifact) >= {"plan", "manifest", "log", "result"}
    for path in ("", "/log", "/events"):
        w.ask("GET", f"/operations/{uuid.uuid4()}{path}", 404)
    w.ask("GET", f"/artifacts/{uuid.uuid4()}", 404)
