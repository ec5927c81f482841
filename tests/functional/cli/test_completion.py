"""Names at the press of Tab, in a real bash."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.functional.cli.conftest import Answer, Call, FakeController

CLI = Path(sys.executable).with_name("margrave")


def completed(controller: FakeController, line: str) -> list[str]:
    """What a real bash with our completion offers for the line."""
    script = subprocess.run(
        [CLI, "completion", "bash"], capture_output=True, text=True, check=True
    ).stdout
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    drive = f"""
{script}
COMP_WORDS=({" ".join(shlex.quote(word) for word in words)})
COMP_CWORD={len(words) - 1}
_margrave_completion {shlex.quote(str(CLI))}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    environment = {**os.environ, "MARGRAVE_URL": controller.url, "MARGRAVE_TOKEN": "secret"}
    ran = subprocess.run(
        ["bash", "-c", drive], env=environment, capture_output=True, text=True, check=True
    )
    return ran.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("margrave depl", {"deploy", "deployment"}),
        ("margrave deploy sto", {"storefront"}),
        ("margrave deploy storefront@", {"storefront@1.0.0", "storefront@1.1.0"}),
        ("margrave deploy storefront --site ", {"harbor", "depot"}),
        ("margrave node show harbor/", {"harbor/harbor-1"}),
        ("margrave deployment show ", {"shopfloor"}),
    ],
)
def test_bash_completes_words_and_names(
    controller: FakeController, line: str, offered: set[str]
) -> None:
    """In a real bash, with the controller's own names."""
    controller.lists("/api/v1/apps", {"id": "storefront", "name": "Storefront"})
    versions = {"versions": ["1.0.0", "1.1.0"]}
    controller.on("GET", "/api/v1/apps/storefront", 200, versions)
    controller.lists("/api/v1/sites", {"name": "harbor"}, {"name": "depot"})
    controller.lists("/api/v1/sites/harbor/nodes", {"site": "harbor", "name": "harbor-1"})
    controller.lists("/api/v1/deployments", {"name": "shopfloor", "app": "storefront"})

    assert set(completed(controller, line)) == offered


def test_completion_is_silent_without_a_controller(controller: FakeController) -> None:
    """No controller, no names, and no error in the middle of a line."""
    controller.url = "http://127.0.0.1:9"

    assert completed(controller, "margrave site show ") == []


def paged(controller: FakeController, path: str, rows: list[dict[str, Any]]) -> None:
    """A list of many: never more at once than a controller gives, and no search."""

    def page(call: Call) -> Answer:
        begin, limit = int(call.query.get("cursor", 0)), min(int(call.query["limit"]), 200)
        end = begin + limit
        following = str(end) if end < len(rows) else None
        return 200, {"items": rows[begin:end], "next": following}

    controller.does("GET", path, page)


@pytest.mark.parametrize("count", [150, 1000])
def test_the_last_of_many_is_offered_too(controller: FakeController, count: int) -> None:
    """However many come before it in the alphabet; each name once, however often it stands."""
    names = [f"harbor-{number:04}" for number in range(count)]
    paged(controller, "/api/v1/sites", [{"name": name} for name in (*names, "zoo")])
    nodes = [{"site": name, "name": "till"} for name in names]
    paged(controller, "/api/v1/nodes", [*nodes, {"site": "zoo", "name": "zebra"}])
    many = [{"name": "storefront", "app": "storefront"} for _ in names]
    paged(controller, "/api/v1/deployments", [*many, {"name": "zebra", "app": "zebra"}])

    assert completed(controller, "margrave deploy storefront --site z") == ["zoo"]
    assert completed(controller, "margrave node show z") == ["zebra"]
    assert completed(controller, "margrave deployment show z") == ["zebra"]
    asked = [call.query.get("q") for call in controller.calls]
    assert set(asked) == {"z"}, "a list with a search is searched"


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("margrave app sync a", {"apps"}),
        ("margrave source remove ", {"apps", "more"}),
        ("margrave deployment update storefront --version 1.1", {"1.1.0"}),
        ("margrave deployment rollback storefront --to ", {"1.0.0", "1.1.0"}),
    ],
)
def test_sources_and_versions_are_offered(
    controller: FakeController, line: str, offered: set[str]
) -> None:
    """Versions are those of the application of the deployment that was named before."""
    controller.lists(
        "/api/v1/app-sources", *({"name": one, "url": "u"} for one in ("apps", "more"))
    )
    controller.lists("/api/v1/deployments", {"name": "storefront", "app": "shop"})
    controller.on("GET", "/api/v1/apps/shop", 200, {"versions": ["1.1.0", "1.0.0"]})

    assert set(completed(controller, line)) == offered
