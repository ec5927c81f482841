"""The small parts behind the door."""

from __future__ import annotations

from pathlib import Path

import pytest

from webhook.deliveries import Deliveries
from webhook.forges import FORGES
from webhook.push import Push
from webhook.repositories import names_one_of
from webhook.signature import standard_fits, token_fits


@pytest.mark.parametrize(
    ("given", "ours", "same"),
    [
        (
            "https://forge.example/ops/deployments",
            "https://forge.example/ops/deployments.git",
            True,
        ),
        (
            "https://me:token@FORGE.example:8443/ops/deployments.git",
            "git@forge.example:ops/deployments",
            True,
        ),
        (
            "ssh://git@forge.example:2222/ops/deployments.git",
            "https://forge.example/ops/deployments/",
            True,
        ),
        (
            "http://localhost:8800/git/deployments.git",
            "http://127.0.0.1:8800/git/deployments.git",
            True,
        ),
        (
            "https://forge.example/ops/deployments-2.git",
            "https://forge.example/ops/deployments.git",
            False,
        ),
        (
            "https://other.example/ops/deployments.git",
            "https://forge.example/ops/deployments.git",
            False,
        ),
        ("https://forge.example/ops/deployments.git", "/srv/git/deployments.git", True),
        ("https://forge.example/ops/other.git", "file:///srv/git/deployments.git", False),
        ("", "https://forge.example/ops/deployments.git", False),
        ("https://[broken", "https://forge.example/ops/deployments.git", False),
    ],
)
def test_a_repository_is_known_by_host_and_path(given, ours, same) -> None:
    """Scheme, user, port and .git don't count; host and path do; of a path the last name."""
    assert names_one_of([given], [ours]) == (given if same else None)


def test_the_memory_of_repeats_is_bounded() -> None:
    """The oldest id is forgotten when the memory is full."""
    deliveries = Deliveries(limit=2)
    pushes = [Push("github", "", "refs/heads/main", "1" * 40, one) for one in "abca"]
    assert [deliveries.take(one, 0.0, f"body {one.delivery}") for one in pushes] == [None] * 4
    assert deliveries.find("b") is None
    assert deliveries.take(pushes[2], 1.0) == "c"
    # The body is forgotten with its id: what is no longer remembered may come again.
    assert deliveries.take(pushes[1], 1.0, "body a") == "a"
    assert deliveries.take(pushes[1], 1.0, "body b") is None


def test_a_branch_is_a_ref_below_heads() -> None:
    """A tag of the branch's name is no branch."""
    assert Push("github", "", "refs/heads/a/b", "1" * 40, "d").branch == "a/b"
    assert Push("github", "", "refs/tags/main", "1" * 40, "d").branch is None
    assert Push("github", "", "refs/heads/main", "0" * 64, "d").deletes


def test_odd_signatures_fit_nothing() -> None:
    """Text that is no signature, or not ASCII, is simply wrong."""
    assert not standard_fits([b"k"], b"x", "v2,abc v1, \u00e9")
    assert not token_fits([b"k"], "\u20ac".encode())
    assert not token_fits([], b"k")


def test_every_forge_stands_in_the_docs_in_its_order() -> None:
    """The table of docs/webhooks.md begins its rows with the forges as they are looked for."""
    text = Path("docs/webhooks.md").read_text(encoding="utf-8").lower()
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    named = {"standard": "anything else"}
    places = [
        next(
            at
            for at, row in enumerate(rows)
            if row.startswith(f"| {named.get(name, name.replace('-', ' '))}")
        )
        for name in (forge.name for forge in FORGES)
    ]
    assert places == sorted(places)
