"""A call on a node ends in time, whether anybody waits for it or not."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.shop import ENGINES, Running, Shop, Step
from tests.support.waiting import eventually

pytestmark = [pytest.mark.lab, pytest.mark.parametrize("shop", ENGINES, indirect=True)]

# It is started, and neither healthy nor ill for as long as anybody waits.
SLOW = """
services:
  web:
    image: registry.margrave.lab:5000/idle:1
    healthcheck: {test: [CMD, /bin/nowhere], interval: 1s, start_period: 300s}
"""


def _slow(shop: Shop, folder: Path, deadline: int, seq: int) -> Step:
    """An update that does not end by itself."""
    package = folder / "slow"
    package.mkdir(exist_ok=True)
    (package / "compose.yaml").write_text(SLOW)
    content = shop.content("1.1.0", timeout=240)
    content["components"][0]["src"] = str(package)
    revision = f"sha256:{sha256(SLOW.encode()).hexdigest()}"
    more = {"revision": revision, "deadline": deadline, **shop.fence(seq)}
    return Step("workload_update", {**content, **more})


def _switching(shop: Shop, step: Step) -> Running:
    """The call, once its switch has begun."""
    journal = f"/var/lib/margrave/deployments/{shop.deployment}/journal.json"
    running = shop.begin(step)
    eventually(
        lambda: '"phase": "switch"' in shop.ssh(f"cat {journal}"), 60, "the switch has begun"
    )
    return running


@pytest.mark.full
def test_a_module_whose_caller_is_gone_ends_at_its_deadline(shop: Shop, tmp_path: Path) -> None:
    """Nothing works on behalf of nobody, and the next call ends as if nothing had happened."""
    shop.one(shop.install("1.0.0", **shop.fence(1)))

    caller = _switching(shop, _slow(shop, tmp_path, 30, 2))
    caller.process.kill()
    caller.process.communicate()
    eventually(lambda: shop.ssh("ls /run/margrave") == "", 60, "the module has ended")
    cut = shop.one(Step("workload_info", {"deployment": shop.deployment}))["workloads"][0]
    ended = shop.one(shop.update("1.1.0", **shop.fence(3)))

    assert (cut["state"], cut["version"]) == ("UPDATING", "1.0.0")
    assert (ended["state"], ended["version"]) == ("INSTALLED", "1.1.0")
    assert shop.page()["version"] == "1.1.0"


@pytest.mark.full
def test_a_call_made_again_while_it_works_is_no_conflict(shop: Shop, tmp_path: Path) -> None:
    """It waits, is told that the line is busy, and gets the first one's answer when that ended."""
    shop.one(shop.install("1.0.0", **shop.fence(1)))

    first = _switching(shop, _slow(shop, tmp_path, 30, 2))
    again = shop.one(_slow(shop, tmp_path, 2, 2))
    answer = first.results()[0]
    recorded = shop.one(_slow(shop, tmp_path, 30, 2))

    assert (again["error"]["class"], again["error"]["code"]) == ("link", "busy")
    assert (answer["error"]["class"], answer["error"]["code"]) == ("link", "deadline")
    assert recorded["error"] == answer["error"]
