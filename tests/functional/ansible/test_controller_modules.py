"""A fleet configured by tasks: check mode tells the truth, and a second run changes nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.functional.ansible.conftest import APPS, Modules
from tests.support.served import ROOT, PretendRunner, Served
from tests.support.waiting import eventually

ONCE = [True, True, False, False]
STOREFRONT = "storefront"


def test_a_source_of_applications(module: Modules, controller: Served) -> None:
    """It is added and read once; another place replaces it; a refused one leaves it."""
    added = module.four("app_source", name="examples", repository=str(APPS))
    moved = module.four("app_source", name="examples", repository=str(APPS), path="storefront")
    same = module(
        "app_source", name="examples", repository=str(APPS), path="storefront", sync="always"
    )
    refused = module("app_source", name="examples", repository="ftp://example/apps")
    after = controller.get("/app-sources/examples")
    gone = module.four("app_source", name="examples", state="absent")

    assert added.changed == moved.changed == gone.changed == ONCE
    assert added.would["diff"] == added.did["diff"] == {"before": {}, "after": {"url": str(APPS)}}
    assert "1.1.0" in {one["version"] for one in added.did["sync"]["apps"]}
    assert added.again["sync"] is None
    assert moved.did["source"]["path"] == "storefront"
    assert (same["changed"], same["sync"]["findings"]) == (False, [])
    assert refused["failed"], refused
    assert "422" in refused["msg"]
    assert after["path"] == "storefront"
    assert gone.did["source"] is None


def test_a_site(module: Modules, controller: Served) -> None:
    """What is said replaces what stood there, what is left out stays, and all of it is in Git."""
    night = [{"cron": "0 2 * * 1-5", "duration": "2h"}]
    made = module.four("site", name="quay", labels={"zone": 7, "old": "x"}, windows=night)
    changed = module.four("site", name="quay", labels={"zone": "8"}, timezone="Europe/Oslo")
    stopped = module.four("site", name="quay", drain=True, paused=True, pause_reason="stocktaking")
    document = controller.get("/sites/quay")["document"]
    freed = module.four("site", name="quay", drain=False, paused=False, windows=[])
    wrong = module("site", name="quay", timezone="Oslo/Europe")
    left = controller.get("/sites/quay")["document"]
    gone = module.four("site", name="quay", state="absent")

    every = (made, changed, stopped, freed, gone)
    assert [one.changed for one in every] == [ONCE] * 5
    assert [one.would["diff"] for one in every] == [one.did["diff"] for one in every]
    assert made.did["token"].startswith("mgs_")
    assert document["labels"] == {"zone": "8"}
    assert (document["windows"], document["timezone"]) == (night, "Europe/Oslo")
    assert (document["drain"], document["paused"]["reason"]) == (True, "stocktaking")
    assert left == {"labels": {"zone": "8"}, "timezone": "Europe/Oslo"}
    assert "/timezone" in wrong["msg"]
    assert wrong["error"]["status"] == 422


def test_a_node(module: Modules, controller: Served) -> None:
    """It is drained, used again and unregistered; one that never was is a mistake."""
    token = controller.post("/sites", {"name": "pier"})["token"]
    PretendRunner(controller, "pier", token).node("pier-1")

    drained = module.four("node", site="pier", name="pier-1", drain=True, wait=True)
    used = module.four("node", site="pier", name="pier-1", drain=False)
    unknown = module("node", site="pier", name="pier-9")
    nowhere = module("node", site="bier", name="pier-1")
    gone = module.four("node", site="pier", name="pier-1", state="absent")

    assert drained.changed == used.changed == gone.changed == ONCE
    assert drained.did["node"]["drain"] is True
    assert drained.did["diff"] == {"before": {"drain": False}, "after": {"drain": True}}
    assert (
        "pier has no node pier-9 (on the machine of its runner: margrave node add)"
        in unknown["msg"]
    )
    assert 'no site "bier"' in nowhere["msg"]
    assert controller.get("/sites/pier")["nodes"] == []


@pytest.fixture
def harbor(module: Modules, controller: Served) -> PretendRunner:
    """A site with a node and applications to put there."""
    module("app_source", name="examples", repository=str(APPS))
    name = f"harbor-{os.urandom(3).hex()}"
    token = controller.post("/sites", {"name": name, "labels": {"kind": name}})["token"]
    runner = PretendRunner(controller, name, token)
    runner.node("node-1")
    return runner


def test_a_deployment(module: Modules, controller: Served, harbor: PretendRunner) -> None:
    """Created, updated by a parameter, by a policy, by a version, deleted: each once."""
    wish: dict[str, Any] = {"app": STOREFRONT, "sites": [harbor.site]}
    made = module.four("deployment", **wish, version="1.0.0", parameters={"greeting": "ahoy"})
    greeted = module.four("deployment", **wish, parameters={"greeting": "god kveld"})
    policy = module.four("deployment", **wish, strategy={"batch": "canary"}, health={"grace": "9s"})
    default = module.four("deployment", **wish, reset_parameters=True)
    newer = module.four("deployment", **wish, version="1.1.0")
    wrong = module("deployment", **wish, parameters={"greeting": 5})
    shown = controller.get("/deployments", site=harbor.site)["items"]
    gone = module.four("deployment", app=STOREFRONT, sites=[harbor.site], state="absent")

    every = (made, greeted, policy, default, newer, gone)
    assert [one.changed for one in every] == [ONCE] * len(every)
    assert [one.would["diff"] for one in every] == [one.did["diff"] for one in every]
    assert made.did["deployments"][0]["version"] == "1.0.0"
    assert greeted.did["diff"]["before"][harbor.site]["parameters"]["greeting"] == "ahoy"
    assert policy.did["plan"][0]["why"] == "only policies change: nothing is done on nodes"
    assert shown[0]["version"] == "1.1.0"
    assert shown[0]["parameters"]["greeting"] != "god kveld"
    assert "greeting" in wrong["msg"]


def test_waiting_is_for_the_end(module: Modules, controller: Served, harbor: PretendRunner) -> None:
    """It ends with what became of every placement; what did not succeed is a failure."""
    wish = {"app": STOREFRONT, "site_labels": {"kind": harbor.site}}
    module("deployment", **wish, version="1.0.0")

    def report(**more: Any) -> None:
        found: list[dict[str, Any]] = []

        def there() -> bool:
            found[:] = controller.get("/deployments", site=harbor.site)["items"]
            return bool(found and found[0]["revision"])

        eventually(there)
        harbor.placement(found[0], "node-1", **more)

    threading.Timer(1, report).start()
    ended = module("deployment", **wish, wait=True, wait_timeout=60)
    error = {"class": "health", "code": "not-healthy", "message": "web is unhealthy", "cure": ""}
    report(state="FAILED", outcome="failed", error=error)
    failed = module("deployment", **wish, wait=True, wait_timeout=60)
    module("deployment", **wish, version="1.1.0")
    late = module("deployment", **wish, wait=True, wait_timeout=2)

    assert ended["changed"] is False
    assert ended["deployments"][0]["placements"][0]["state"] == "INSTALLED", ended
    assert f"{harbor.site}/node-1 failed: web is unhealthy" in failed["msg"]
    assert f"waiting for {STOREFRONT} at {harbor.site}" in late["msg"]


def test_a_wrong_address_and_a_wrong_token(module: Modules) -> None:
    """Each is called that, with its cure."""
    away = module("site", url="http://127.0.0.1:9", name="quay")
    refused = module("site", token="wrong-token", name="quay")
    nothing = module("deployment", app=STOREFRONT)

    assert "is the controller running, and url right?" in away["msg"]
    assert refused["error"]["status"] == 401
    assert "401 this token is not valid" in refused["msg"]
    assert "one of the following is required: sites, site_labels, nodes" in nothing["msg"]


@pytest.mark.full
def test_a_fleet_from_a_playbook(controller: Served, tmp_path: Path) -> None:
    """`module_defaults` of the group say once where the controller is; tokens are not shown."""
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "module_defaults": {
            "group/margrave.edge.controller": {"url": controller.url, "token": controller.token}
        },
        "tasks": [
            {"margrave.edge.site": {"name": "kai"}, "register": "made", "no_log": True},
            {
                "margrave.edge.app_source": {
                    "name": "more",
                    "repository": str(APPS),
                    "sync": "never",
                }
            },
            {"ansible.builtin.debug": {"msg": "{{ made.site.name }} {{ made.token | length }}"}},
        ],
    }
    book = tmp_path / "fleet.yml"
    book.write_text(json.dumps([play]))

    done = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            "-vvv",
            "-i",
            "localhost,",
            "-c",
            "local",
            book,
        ],
        cwd=ROOT,
        env={**os.environ, "ANSIBLE_PYTHON_INTERPRETER": sys.executable},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert re.search(r"kai [0-9]{2}", done.stdout)
    assert controller.token not in done.stdout
