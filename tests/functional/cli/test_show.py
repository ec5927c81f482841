"""What the reading verbs print."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

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


def test_watch_prints_a_line_for_each_event(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events of the deployment as they come, resumed after the last one; Ctrl-C ends it."""
    mine = {"deployment": ONE["id"], "node": "harbor-1", "site": "harbor", "state": "UPDATING"}
    other = {**mine, "deployment": "other", "state": "FAILED"}
    stream = "".join(
        f"id: {number}\nevent: placement\ndata: {json.dumps(data)}\n\n"
        for number, data in ((7, mine), (8, other))
    )
    controller.lists(LIST, ONE)
    controller.lists(f"{LIST}/{ONE['id']}/placements")
    controller.on("GET", "/api/v1/events", 200, ": hello\n\n" + stream)
    monkeypatch.setattr("time.sleep", _second_time(controller))

    ran = run("deployment", "watch", "storefront")

    assert ran.code == 130
    assert ran.out.count("UPDATING") == 2
    assert "FAILED" not in ran.out
    resumed = [one for one in controller.calls if one.path == "/api/v1/events"][1]
    assert resumed.headers["Last-Event-ID"] == "8"


def _second_time(controller: FakeController) -> Any:
    def pause(_: float) -> None:
        if sum(one.path == "/api/v1/events" for one in controller.calls) >= 2:
            raise KeyboardInterrupt

    return pause


def test_sync_tells_findings(run: Run, controller: FakeController) -> None:
    """A broken package is told with its place, and the exit code is 1."""
    finding = {"file": "a/margo.yaml", "line": 3, "pointer": "/id", "message": "is missing"}
    controller.lists("/api/v1/app-sources", {"name": "examples"})
    answer = {"commit": "c", "apps": ["storefront"], "findings": [finding]}
    controller.on("POST", "/api/v1/app-sources/examples/sync", 200, answer)

    ran = run("app", "sync")

    assert (ran.code, "a/margo.yaml" in ran.out) == (1, True)


def test_login_keeps_the_token_for_its_owner_alone(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """After login no variable is needed; the file has mode 0600."""
    import io
    import sys

    controller.on("POST", "/api/v1/login", 201, {"id": "t", "token": "kept"})
    controller.on("GET", "/api/v1/meta/capabilities", 200, {})
    controller.lists("/api/v1/sites")
    monkeypatch.setattr(sys, "stdin", io.StringIO("password\n"))
    assert run("login", controller.url, "--user", "ann").code == 0
    monkeypatch.delenv("MARGRAVE_URL")
    monkeypatch.delenv("MARGRAVE_TOKEN")

    assert run("site", "list").code == 0
    assert controller.calls[-1].headers["Authorization"] == "Bearer kept"
    assert (tmp_path / "config/margrave/contexts.json").stat().st_mode & 0o777 == 0o600


def test_watch_shows_a_list_again_when_it_changed(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event that changed nothing shown is silent; with JSON each answer is one line."""
    answers = [{**ONE, "state": state} for state in ("UPDATING", "UPDATING", "INSTALLED")]
    controller.does(
        "GET",
        LIST,
        lambda _: (
            200,
            {"items": [answers.pop(0) if len(answers) > 1 else answers[0]], "next": None},
        ),
    )
    event = "event: deployment\ndata: {}\n\n"
    controller.on("GET", "/api/v1/events", 200, event + event)
    monkeypatch.setattr("time.sleep", _second_time(controller))

    ran = run("deployment", "list", "--watch", "-o", "json")

    shown = [json.loads(line) for line in ran.out.splitlines() if line]
    assert [one["items"][0]["state"] for one in shown] == ["UPDATING", "INSTALLED"]
    assert ran.code == 130


def test_explain_says_where_it_stands(run: Run, controller: FakeController) -> None:
    """The answer first, then the way of the change step by step."""
    steps = [{"step": "request", "ok": True, "detail": "the request is published", "at": None}]
    answer = {"state": "PENDING", "outcome": "pending", "answer": "no node yet", "steps": steps}
    controller.lists(LIST, ONE)
    controller.on("GET", f"{LIST}/{ONE['id']}/explain", 200, answer)

    ran = run("deployment", "explain", "storefront")

    assert "storefront at harbor: PENDING, pending: no node yet" in ran.out
    assert "the request is published" in ran.out


def test_logs_show_the_newest_operation_of_each_node(run: Run, controller: FakeController) -> None:
    """Older operations are left out."""
    rows = [
        {"id": f"o{at}", "site": "harbor", "node": "harbor-1", "kind": "update", "state": "failed"}
        | {"started_at": f"2030-01-0{at}T00:00:00Z"}
        for at in (2, 1)
    ]
    controller.lists(LIST, ONE)
    controller.on("GET", "/api/v1/operations", 200, {"items": rows, "next": None})
    controller.on("GET", "/api/v1/operations/o2/log", 200, "never healthy\n")

    assert "  never healthy\n" in run("deployment", "logs", "storefront").out


@pytest.mark.parametrize(
    ("words", "method", "path", "body"),
    [
        (
            ("token", "create", "ci", "--role", "operator", "--site", "harbor"),
            "POST",
            "/api/v1/tokens",
            {"name": "ci", "role": "operator", "sites": ["harbor"]},
        ),
        (
            ("site", "add", "harbor", "--label", "zone=shop", "--timezone", "Europe/Oslo"),
            "POST",
            "/api/v1/sites",
            {"name": "harbor", "labels": {"zone": "shop"}, "timezone": "Europe/Oslo"},
        ),
        (
            ("site", "pause", "harbor", "--reason", "stocktaking"),
            "POST",
            "/api/v1/sites/harbor/pause",
            {"reason": "stocktaking"},
        ),
        (
            ("site", "accept", "harbor", "--commit", "abc", "--yes"),
            "POST",
            "/api/v1/sites/harbor/accept",
            {"commit": "abc"},
        ),
        (
            ("source", "add", "mine", "https://git.example/apps.git", "--ref", "v1"),
            "POST",
            "/api/v1/app-sources",
            {"name": "mine", "url": "https://git.example/apps.git", "ref": "v1"},
        ),
        (
            ("user", "change", "ann", "--role", "admin"),
            "PATCH",
            "/api/v1/users/ann",
            {"role": "admin"},
        ),
        (("token", "revoke", "a/b", "--yes"), "DELETE", "/api/v1/tokens/a%2Fb", None),
    ],
)
def test_a_verb_sends_what_the_api_takes(
    run: Run,
    controller: FakeController,
    words: tuple[str, ...],
    method: str,
    path: str,
    body: object,
) -> None:
    """Method, path and body of the verbs that change something beside deployments."""
    controller.on(method, path, 200, {"token": "t"})

    assert run(*words).code == 0
    assert controller.sent(method, path) == [body]


@pytest.mark.parametrize(
    ("words", "method", "path", "body"),
    [
        (
            ("token", "create", "north", "--where", "zone=north"),
            "POST",
            "/api/v1/tokens",
            {"name": "north", "role": "viewer", "sites": {"matchLabels": {"zone": "north"}}},
        ),
        (("site", "token", "create", "harbor"), "POST", "/api/v1/sites/harbor/tokens", None),
        (
            ("site", "token", "revoke", "harbor", "t1", "--yes"),
            "DELETE",
            "/api/v1/sites/harbor/tokens/t1",
            None,
        ),
        (
            ("repository", "accept", "--commit", "abcdef1", "--yes"),
            "POST",
            "/api/v1/repository/accept",
            {"commit": "abcdef1"},
        ),
    ],
)
def test_what_guards_the_fleet_is_kept_from_here_too(
    run: Run,
    controller: FakeController,
    words: tuple[str, ...],
    method: str,
    path: str,
    body: object,
) -> None:
    """Tokens by label, a runner's tokens, and a main that was rewritten."""
    controller.on(method, path, 200, {"token": "t"})

    assert run(*words).code == 0
    assert controller.sent(method, path) == [body]


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
