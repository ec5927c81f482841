"""What the verbs beside deployments send."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run


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
            ("site", "pause", "harbor", "--reason", "count", "--until", "2030-01-31T19:00+01:00"),
            "POST",
            "/api/v1/sites/harbor/pause",
            {"reason": "count", "until": "2030-01-31T18:00:00Z"},
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
        (
            ("user", "change", "ann", "--site", "harbor", "--disable"),
            "PATCH",
            "/api/v1/users/ann",
            {"sites": ["harbor"], "disabled": True},
        ),
        (
            ("user", "change", "ann", "--where", "zone=north"),
            "PATCH",
            "/api/v1/users/ann",
            {"sites": {"matchLabels": {"zone": "north"}}},
        ),
        (
            ("user", "change", "ann", "--all-sites", "--enable"),
            "PATCH",
            "/api/v1/users/ann",
            {"sites": None, "disabled": False},
        ),
        (
            ("source", "add", "ours", "ssh://git@git.example/a.git", "--credentials", "forge"),
            "POST",
            "/api/v1/app-sources",
            {"name": "ours", "url": "ssh://git@git.example/a.git", "credentials": "forge"},
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


@pytest.mark.parametrize("words", ["", "--all-sites --site harbor", "--site harbor --where a=b"])
def test_a_change_of_a_user_says_one_thing(
    run: Run, controller: FakeController, words: str
) -> None:
    """Nothing at all, or two answers to where they may act, is wrong usage."""
    assert run("user", "change", "ann", *words.split()).code == 2
    assert controller.calls == []


@pytest.mark.parametrize("until", ["tomorrow", "2030-01-31T18:00:00", "18:00"])
def test_a_time_has_a_day_and_a_zone(run: Run, controller: FakeController, until: str) -> None:
    """Else it is wrong usage, with how one is written."""
    ran = run("site", "pause", "harbor", "--reason", "count", "--until", until)

    assert (ran.code, "2030-01-31T18:00:00Z, or 2h" in ran.err) == (2, True)
    assert controller.calls == []


def test_a_time_may_be_told_from_now(run: Run, controller: FakeController) -> None:
    """As a lock at the site is: two hours on."""
    controller.on("POST", "/api/v1/sites/harbor/pause", 200, {})
    run("site", "pause", "harbor", "--reason", "count", "--until", "2h")

    (sent,) = controller.sent("POST", "/api/v1/sites/harbor/pause")
    away = datetime.fromisoformat(sent["until"]) - datetime.now(UTC)
    assert timedelta(hours=1, minutes=55) < away <= timedelta(hours=2)


@pytest.mark.parametrize(
    ("words", "method", "path"),
    [
        ("site pause harbor --reason count", "POST", "sites/harbor/pause"),
        ("site resume harbor", "POST", "sites/harbor/resume"),
        ("site drain harbor --yes", "POST", "sites/harbor/drain"),
        ("site undrain harbor", "POST", "sites/harbor/undrain"),
        ("site remove harbor --yes", "DELETE", "sites/harbor"),
        ("node undrain harbor/till-1", "POST", "sites/harbor/nodes/till-1/undrain"),
    ],
)
def test_what_waits_to_be_merged_is_not_called_done(
    run: Run, controller: FakeController, words: str, method: str, path: str
) -> None:
    """Where people review, a change of a site counts once its branch is merged."""
    controller.lists("/api/v1/nodes", {"site": "harbor", "name": "till-1"})
    controller.on(method, f"/api/v1/{path}", 200, {"commit": None, "branch": "margrave/7"})

    assert "once the branch margrave/7 is merged" in run(*words.split()).out
