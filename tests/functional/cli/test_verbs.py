"""What the verbs beside deployments send."""

from __future__ import annotations

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
