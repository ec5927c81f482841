"""What the reading verbs print."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.functional.cli.conftest import Answer, Call, FakeController, Run

LIST = "/api/v1/deployments"
ONE = {
    "id": "11111111-1111-4111-8111-111111111111",
    "name": "storefront",
    "app": "storefront",
    "version": "1.0.0",
    "site": "harbor",
    "state": "INSTALLED",
    "outcome": "rolled-back",
    "freshness": "unknown",
    "updated_at": "2030-01-01T10:00:00Z",
}


def test_tables_are_not_cut_in_pipes(run: Run, controller: FakeController) -> None:
    """However long, a value stands there whole, and no colour with it."""
    name = "n" * 300
    controller.lists(LIST, {**ONE, "name": name})

    ran = run("deployment", "list")

    assert name in ran.out
    assert "INSTALLED?" in ran.out  # the last known state of a silent site
    assert "\x1b" not in ran.out


def test_lists_follow_the_cursor(run: Run, controller: FakeController) -> None:
    """All pages are one answer; --limit ends earlier."""

    def page(call: Call) -> Answer:
        if call.query.get("cursor"):
            return 200, {"items": [{**ONE, "name": "second"}], "next": None}
        return 200, {"items": [ONE], "next": "more"}

    controller.does("GET", LIST, page)

    assert [one["name"] for one in run("deployment", "list", "-o", "json").json["items"]] == [
        "storefront",
        "second",
    ]
    assert len(run("deployment", "list", "--limit", "1", "-o", "json").json["items"]) == 1


def test_show_says_what_holds_a_deployment_up(run: Run, controller: FakeController) -> None:
    """A pending one any hold; one that has ended only a newer request that is not published."""
    path = f"{LIST}/{ONE['id']}"
    steps = [
        {"step": "push", "ok": True, "detail": "pushed"},
        {"step": "paused", "ok": False, "detail": "the site is paused: stocktaking"},
    ]
    controller.lists(LIST, ONE)
    controller.lists(f"{path}/placements")
    controller.on("GET", f"{path}/explain", 200, {"steps": steps})
    for outcome, shown in (("pending", True), ("succeeded", False)):
        controller.on("GET", path, 200, {**ONE, "outcome": outcome})
        ran = run("deployment", "show", ONE["id"])
        assert ("held up     the site is paused" in ran.out) is shown, ran.out
    waits = {"step": "push", "ok": False, "detail": "registry plant.lan does not answer"}
    controller.on("GET", f"{path}/explain", 200, {"steps": [waits]})
    assert "registry plant.lan does not answer" in run("deployment", "show", ONE["id"]).out


def test_yaml_is_the_same_answer(run: Run, controller: FakeController) -> None:
    """-o yaml writes what -o json writes."""
    controller.lists("/api/v1/sites", {"name": "harbor", "nodes": 2})

    assert run("site", "list", "-o", "yaml").out == (
        "items:\n- name: harbor\n  nodes: 2\nnext: null\n"
    )


def test_the_token_travels_as_a_bearer(run: Run, controller: FakeController) -> None:
    """MARGRAVE_TOKEN is sent, and shown nowhere."""
    controller.lists("/api/v1/sites")

    ran = run("site", "list", "-o", "json")

    assert controller.calls[0].headers["Authorization"] == "Bearer secret"
    assert "secret" not in ran.out + ran.err


def test_show_has_the_placements(run: Run, controller: FakeController) -> None:
    """One deployment is one object; the placements stand in it."""
    placement = {"deployment": ONE["id"], "site": "harbor", "node": "harbor-1", "state": "FAILED"}
    controller.lists(LIST, ONE)
    controller.on("GET", f"{LIST}/{ONE['id']}", 200, ONE)
    controller.lists(f"{LIST}/{ONE['id']}/placements", placement)

    assert run("deployment", "show", "storefront", "-o", "json").json["placements"] == [placement]
    assert "harbor/harbor-1" in run("deployment", "show", "storefront").out


def test_history_finds_what_is_deleted(run: Run, controller: FakeController) -> None:
    """A name whose deployment is gone still has its history."""
    gone = {**ONE, "state": "DELETED"}
    row = {"at": "2030-01-01T10:00:00Z", "node": "harbor-1", "from": "DELETING", "to": "DELETED"}
    controller.lists(LIST, gone)
    controller.on("GET", f"{LIST}/{ONE['id']}/history", 200, {"items": [row], "next": None})

    assert "DELETING > DELETED" in run("deployment", "history", "storefront").out
    assert run("deployment", "retry", "storefront").code == 3


def test_sync_tells_findings(run: Run, controller: FakeController) -> None:
    """A broken package is told with its place, and the exit code is 1."""
    finding = {"file": "a/margo.yaml", "line": 3, "pointer": "/id", "message": "is missing"}
    controller.lists("/api/v1/app-sources", {"name": "examples"})
    answer = {"commit": "c", "apps": ["storefront"], "findings": [finding]}
    controller.on("POST", "/api/v1/app-sources/examples/sync", 200, answer)

    ran = run("app", "sync")

    assert (ran.code, "a/margo.yaml" in ran.out) == (1, True)


def test_explain_says_where_it_stands(run: Run, controller: FakeController) -> None:
    """The answer first, then the way of the change step by step."""
    steps = [{"step": "request", "ok": True, "detail": "the request is published", "at": None}]
    answer = {"state": "PENDING", "outcome": "pending", "answer": "no node yet", "steps": steps}
    controller.lists(LIST, ONE)
    controller.on("GET", f"{LIST}/{ONE['id']}/explain", 200, answer)

    ran = run("deployment", "explain", "storefront")

    assert "storefront at harbor: PENDING, pending: no node yet" in ran.out
    assert "the request is published" in ran.out


def test_settings_show_what_differs_from_the_defaults(run: Run, controller: FakeController) -> None:
    """--all shows the rest."""
    controller.lists(
        "/api/v1/meta/settings",
        {"key": "http.bind", "value": "0.0.0.0:8800", "default": False, "about": "where"},
        {"key": "queue.limit", "value": 1000, "default": True, "about": "how many"},
    )

    assert "queue.limit" not in run("settings").out
    assert "queue.limit" in run("settings", "--all").out


def test_what_waits_to_be_merged_is_listed(run: Run, controller: FakeController) -> None:
    """Each branch with the request or the site that it is for."""
    waiting = {"branch": "margrave/1", "commit": "c" * 40, "request": "r1", "site": None}
    told = {"own": False, "mode": "branch", "head": "h", "problem": None, "halted": None}
    controller.on("GET", "/api/v1/repository", 200, {**told, "waiting": [waiting]})

    out = run("repository", "show").out
    assert "margrave/1" in out
    assert "branch" in out.splitlines()[0]
