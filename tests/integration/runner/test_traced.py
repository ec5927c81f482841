"""One id leads from a request at the controller to the node's journal, and back.

All of it is real: a controller and a runner in processes of their own, a node with podman, a push.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.support.place import LIMIT, NODE, SITE, Place
from tests.support.repository import STOREFRONT
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab

TRACE = "support-4711:greet"


def operations(place: Place) -> list[dict[str, Any]]:
    """What the controller knows of the calls, newest first."""
    with place.controller.api as api:
        found = api.get("/operations", params={"deployment": STOREFRONT}).json()["items"]
    return [one for one in found if one["state"] == "succeeded"]


def test_the_id_of_a_request_stands_in_its_commit_on_the_node_and_in_what_is_told_of_it(
    place: Place,
) -> None:
    """Whoever sends X-Request-Id finds all that came of it; of a push its commit is the id."""
    pushed = place.repository.head()[:12]
    (installed,) = operations(place)
    assert installed["trace"] == pushed

    with place.controller.api as api:
        asked = api.patch(
            f"/deployments/{STOREFRONT}",
            params={"site": SITE},
            json={"parameters": {"greeting": "good morning"}},
            headers={"X-Request-Id": TRACE},
        )
    assert (asked.status_code, asked.headers["X-Request-Id"]) == (202, TRACE), asked.text
    eventually(lambda: len(operations(place)) == 2, LIMIT, "it is updated", 0.2)

    with place.controller.api as api:
        request = api.get(f"/requests/{asked.json()['id']}").json()
        steps = api.get(f"/deployments/{STOREFRONT}/explain").json()["steps"]
        log = api.get(f"/operations/{operations(place)[0]['id']}/log").text
    assert request["trace"] == TRACE
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%B", request["commit"]],
        cwd=place.repository.bare, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert f"Margrave-Trace: {TRACE}\n" in commit
    journal = place.lab.ssh(NODE, f"cat /var/lib/margrave/deployments/{STOREFRONT}/journal.json")
    assert (json.loads(journal.stdout)["phase"], json.loads(journal.stdout)["trace"]) == (
        "done",
        TRACE,
    )
    system = place.lab.ssh(NODE, f"journalctl -o cat | grep '^deployment {STOREFRONT}'").stdout
    assert f"for {TRACE}" in system.splitlines()[-1]
    assert operations(place)[0]["trace"] == TRACE
    assert f"margrave.edge.workload_update on {NODE}, for {TRACE}" in log
    told = {one["step"]: one.get("trace") for one in steps}
    assert (told["request"], told["operation"]) == (TRACE, TRACE)
    assert [one["trace"] for one in place.history()][-2:] == [TRACE, TRACE]
