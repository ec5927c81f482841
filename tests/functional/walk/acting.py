"""What is done with deployments, one by one and many at once."""

from __future__ import annotations

from typing import Any

from tests.functional.walk.deploying import TILL
from tests.functional.walk.world import World
from tests.support.waiting import eventually


def _accepted(w: World, method: str, path: str, **body: Any) -> Any:
    """The request, once it is published."""
    return w.published(w.ask(method, path, 202, json=body)["id"])


def update(w: World) -> None:
    """PATCH is the update, If-Match the certainty; a rollback names a version or a revision."""
    shop = f"/deployments/{w.ids['shop']}"
    before = w.deployment(w.ids["shop"])
    tag = w.send("GET", shop).headers["ETag"]
    w.ask("PATCH", shop, 412, json={"version": "1.1.0"}, headers={"If-Match": '"other"'})
    w.ask("PATCH", shop, 422, json={"version": "9.9.9"})
    w.ask("PATCH", shop, 202, json={"version": "1.1.0"}, headers={"If-Match": tag})
    eventually(lambda: w.deployment(w.ids["shop"])["version"] == "1.1.0", 60, "it is in Git")
    now = w.until(w.ids["shop"], "INSTALLED", "succeeded")
    assert now["revision"] != before["revision"] and now["id"] == before["id"]
    assert now["parameters"] == before["parameters"], "a version leaves values as they were"
    _accepted(w, "PATCH", shop, parameters={"greeting": None})
    now = w.until(w.ids["shop"], "INSTALLED", "succeeded")
    assert now["parameters"]["greeting"] != "moin", "null takes the value back"
    done = _accepted(w, "POST", f"{shop}/rollback", to=before["revision"])
    assert done["action"] == "rollback" and done["commit"]
    eventually(lambda: w.deployment(w.ids["shop"])["version"] == "1.0.0", 60, "back in Git")
    assert w.until(w.ids["shop"], "INSTALLED", "succeeded")["revision"] == before["revision"]
    w.ask("POST", f"{shop}/rollback", 422, json={"to": "9.9.9"})


def a_bad_release(w: World) -> None:
    """Rolled back is never success; release and retry are commands, without a commit."""
    shop = f"/deployments/{w.ids['shop']}"
    _accepted(w, "PATCH", shop, version="1.2.0")
    w.until(w.ids["shop"], "INSTALLED", "rolled-back")
    placed = w.items(f"{shop}/placements", "placement")
    (failed,) = [one for one in placed if one["error"]]
    assert set(failed["error"]) >= {"class", "code", "message", "cure"}
    assert (failed["version"], failed["wanted_version"]) == ("1.0.0", "1.2.0")
    for verb in ("release", "retry"):
        done = _accepted(w, "POST", f"{shop}/{verb}")
        assert (done["action"], done["commit"]) == (verb, None)
    _accepted(w, "PATCH", shop, version="1.1.0")
    eventually(lambda: w.deployment(w.ids["shop"])["version"] == "1.1.0", 60, "it is in Git")
    w.until(w.ids["shop"], "INSTALLED", "succeeded")


def cancel(w: World) -> None:
    """What is under way goes back at the next safe point."""
    till = w.ids["till"]
    w.site.may_go_on.clear()
    _accepted(w, "PATCH", f"/deployments/{till}", version="1.1.0")
    eventually(lambda: w.deployment(till)["state"] == "UPDATING", 60, "it is under way")
    running = lambda: w.items("/operations?state=running", "operation")  # noqa: E731
    eventually(lambda: [one["deployment"] for one in running()] == [till], 60, "its operation")
    done = _accepted(w, "POST", f"/deployments/{till}/cancel")
    assert done["commit"] is None
    w.until(till, "INSTALLED", "held")
    w.site.may_go_on.set()


def many(w: World) -> None:
    """Each action on a selection; update, rollback and delete are one commit."""

    def act(action: str, select: dict[str, Any], status: int = 202, **more: Any) -> Any:
        body = {"action": action, "select": select, **more}
        return w.ask("POST", "/deployments/actions", status, json=body)

    both = {"ids": [w.ids["shop"], w.ids["till"]]}
    told = act("update", {"name": "nothing"}, 422, version="1.1.0")
    assert told["errors"]
    act("zork", both, 422)
    plan = {"action": "update", "select": both, "version": "1.0.0"}
    assert w.ask("POST", "/plans", json=plan)["plan"]["sites"][0]["site"] == "harbor"
    done = w.published(act("update", both, version="1.0.0")["id"])
    assert len(done["deployments"]) == 2 and done["commit"]
    for one in both["ids"]:
        eventually(lambda one=one: w.deployment(one)["version"] == "1.0.0", 60, "in Git")
        w.until(one, "INSTALLED", "succeeded")
    for action in ("retry", "cancel", "release"):
        select = {"app": "storefront", "selector": {"matchLabels": {"zone": "shop"}}}
        assert w.published(act(action, select)["id"])["commit"] is None
    back = w.published(act("rollback", {"name": "storefront", "sites": ["harbor"]})["id"])
    assert back["commit"] and [one["id"] for one in back["deployments"]] == [w.ids["shop"]]
    w.until(w.ids["shop"], "INSTALLED", "succeeded")


def gone(w: World) -> None:
    """Removed from Git, then from the nodes; still answered for, its name free at once."""
    till = w.ids["till"]
    assert _accepted(w, "DELETE", f"/deployments/{till}")["action"] == "delete"
    w.until(till, "DELETED", "succeeded")
    assert w.ask("DELETE", f"/deployments/{till}")["state"] == "DELETED"
    listed = [one["id"] for one in w.items("/deployments", "deployment")]
    deleted = [one["id"] for one in w.items("/deployments?state=DELETED", "deployment")]
    assert till not in listed and deleted == [till]
    again = w.ask("POST", "/deployments", 202, json=TILL)
    assert again["deployments"][0]["id"] != till
    w.until(again["deployments"][0]["id"], "INSTALLED", "succeeded")
