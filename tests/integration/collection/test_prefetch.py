"""What is fetched ahead is there when its window opens; what is not ours is taken when asked."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.support.private_registry import PASSWORD, USER, PrivateRegistry
from tests.support.shop import ENGINES, Shop, Step, assert_alike, four

pytestmark = [pytest.mark.lab, pytest.mark.parametrize("shop", ENGINES, indirect=True)]

NAMED = """
services:
  web:
    image: {image}
    container_name: foreign
    command: [/bin/idle]
    healthcheck: {{test: [CMD, {check}], interval: 1s, retries: 2}}
"""


def test_what_was_fetched_ahead_needs_no_registry_any_more(shop: Shop) -> None:
    """Made ready while the old one serves; installed while the registry is away; told by info."""
    shop.ssh(f"{shop.engine} image prune --all --force")
    ready = Step("workload_prefetch", shop.content("1.1.0"))
    look = Step("workload_info", {"deployment": shop.deployment})

    _, *fetched, seen = shop.call(shop.install("1.0.0"), *four(ready), look)
    before = shop.page()
    shop.lab.fail(shop.node, registry=True)
    try:
        updated, after = shop.call(shop.update("1.1.0"), look)
    finally:
        shop.lab.heal(shop.node)

    assert [one["changed"] for one in fetched] == [True, True, False, False]
    assert_alike(fetched)
    (shown,) = fetched[0]["diff"]
    line = f"next_revision: {ready.arguments['revision']}\n"
    assert shown["after"].replace(line, "") == shown["before"]
    assert {one["state"] for one in fetched} == {"PREFETCHED"}
    assert len({tuple(one["images"]) for one in fetched}) == 1
    workload = seen["workloads"][0]
    assert (workload["version"], workload["state"]) == ("1.0.0", "INSTALLED")
    assert workload["next_revision"] == ready.arguments["revision"]
    assert before["version"] == "1.0.0"
    assert (updated["state"], updated["version"]) == ("INSTALLED", "1.1.0"), updated["error"]
    assert after["workloads"][0]["next_revision"] is None


@pytest.mark.full
def test_one_release_is_kept_ready_and_goes_with_the_deployment(shop: Shop) -> None:
    """Making another ready drops the one before; nothing is left of either in the end."""
    shop.ssh(f"{shop.engine} image prune --all --force")
    versions = [Step("workload_prefetch", shop.content(name)) for name in ("1.0.0", "1.1.0")]
    kept = f"ls /var/lib/margrave/deployments/{shop.deployment}/releases | wc -l"

    shop.call(*versions)
    releases = shop.ssh(kept)
    shop.one(shop.delete())

    assert releases.strip() == "1"
    assert "storefront" not in shop.ssh(f"{shop.engine} images --format '{{{{.Repository}}}}'")
    assert shop.ssh("find /var/lib/margrave /run/margrave -mindepth 1") == ""


def _named(shop: Shop, folder: Path, check: str) -> dict[str, Any]:
    """Parameters for a package that claims the name of a container that is not ours."""
    text = NAMED.format(image="registry.margrave.lab:5000/idle:1", check=check)
    package = folder / sha256(text.encode()).hexdigest()
    package.mkdir()
    (package / "compose.yaml").write_text(text)
    content = shop.content("1.0.0", greeting=text)
    content["components"][0].update(src=str(package), timeout=20)
    return content


@pytest.mark.full
def test_what_is_not_ours_is_taken_over_only_when_asked(shop: Shop, tmp_path: Path) -> None:
    """Refused without being asked; back again when the release fails; gone when it is healthy."""
    shop.ssh(f"{shop.engine} run -d --name foreign registry.margrave.lab:5000/idle:1")
    mine = shop.ssh(f"{shop.engine} ps -qf name=foreign --no-trunc")
    good, bad = _named(shop, tmp_path, "/bin/true"), _named(shop, tmp_path, "/bin/false")

    refused, failed = shop.call(
        Step("workload_install", good), Step("workload_install", {**bad, "adopt": True})
    )
    after_failure = shop.ssh(f"{shop.engine} ps -qf name=foreign --no-trunc")
    adopted, again = shop.call(
        *[Step("workload_install", {**good, "adopt": True})] * 2,
    )
    names = shop.ssh(f"{shop.engine} ps -a --format '{{{{.Names}}}}'")
    label = shop.ssh(
        f"{shop.engine} inspect -f '{{{{index .Config.Labels \"margrave.deployment\"}}}}' foreign"
    )

    assert refused["error"]["code"] == "name-taken", refused["error"]
    assert failed["error"]["class"] == "health", failed["error"]
    assert after_failure == mine
    assert (adopted["state"], adopted["changed"]) == ("INSTALLED", True), adopted["error"]
    assert again["changed"] is False
    assert names.split() == ["foreign"]
    assert label.strip() == shop.deployment


@pytest.mark.full
def test_a_login_leaves_no_trace(shop: Shop, private: PrivateRegistry, tmp_path: Path) -> None:
    """Without or with a wrong password it is class auth; with the right one nothing is kept."""
    where = private.open_to(shop)
    text = NAMED.format(image=f"{where}/idle:1", check="/bin/true").replace("foreign", "closed")
    (tmp_path / "p").mkdir()
    (tmp_path / "p/compose.yaml").write_text(text)
    content = shop.content("1.0.0", greeting=text)
    content["components"][0]["src"] = str(tmp_path / "p")
    login = {"host": where, "username": USER}
    asked = [
        [],
        [{**login, "password": "wrong"}],
        [{**login, "password": PASSWORD}],
    ]

    nobody, wrong, right = shop.call(
        *(Step("workload_install", {**content, "registries": one}) for one in asked)
    )
    traces = shop.ssh(
        f"grep -rlF {PASSWORD} /var/lib/margrave /run/margrave /run/containers /root /tmp /etc"
        f" 2>/dev/null || true; journalctl --no-pager -o cat | grep -F {PASSWORD} || true"
    )

    assert (nobody["error"]["class"], wrong["error"]["class"]) == ("auth", "auth"), nobody["error"]
    assert right["state"] == "INSTALLED", right["error"]
    assert traces == ""
    assert PASSWORD not in str(right)
