"""Whatever goes wrong, the old release serves or comes back, and the error has its class."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.shop import ENGINES, Shop, Step

pytestmark = [pytest.mark.lab, pytest.mark.parametrize("shop", ENGINES, indirect=True)]

PRIVILEGED = "services: {web: {image: registry.margrave.lab:5000/idle:1, privileged: true}}\n"
UNKNOWN = "services: {web: {image: registry.margrave.lab:5000/nothing:1}}\n"
BROKEN = "services: {web: {image: [}}\n"
CANNOT_START = (
    "services: {web: {image: registry.margrave.lab:5000/idle:1, command: [/bin/nowhere]}}\n"
)


def _with(shop: Shop, compose: str, folder: Path) -> Step:
    """An update to a package of one's own."""
    package = folder / sha256(compose.encode()).hexdigest()
    package.mkdir()
    (package / "compose.yaml").write_text(compose)
    content = shop.content("1.1.0", greeting=compose)
    content["components"][0]["src"] = str(package)
    return Step("workload_update", content)


def test_a_release_that_is_never_healthy_goes_back(shop: Shop) -> None:
    """The call fails, says so, and what ran before runs; proving it again changes nothing."""
    bad = Step("workload_update", shop.content("1.2.0", timeout=4))
    good = shop.content("1.1.0")["revision"]

    _, failed, proven = shop.call(
        shop.install("1.1.0"), bad, shop.rollback(revision=shop.content("1.2.0")["revision"])
    )

    assert failed["failed"] is True
    assert (failed["state"], failed["rolled_back"]) == ("FAILED", True)
    assert failed["error"]["class"] == "health"
    assert (failed["revision"], failed["version"]) == (good, "1.1.0")
    assert failed["components"][0]["state"] == "FAILED"
    assert shop.page()["version"] == "1.1.0"
    assert (proven["changed"], proven["state"], proven["revision"]) == (False, "INSTALLED", good)


@pytest.mark.full
def test_what_was_fetched_for_a_failed_release_goes_with_the_deployment(shop: Shop) -> None:
    """Also when it was tried twice, so that the second attempt found the image there."""
    shop.ssh(f"{shop.engine} image prune --all --force")  # what other tests left is not ours here
    bad = Step("workload_update", shop.content("1.2.0", timeout=4))

    shop.call(shop.install("1.1.0"), bad, bad, shop.delete())

    assert "storefront-web" not in shop.ssh(f"{shop.engine} images --format '{{{{.Repository}}}}'")


def test_an_install_that_fails_leaves_nothing_running(shop: Shop) -> None:
    """Where nothing ran before, nothing runs afterwards."""
    failed = shop.one(Step("workload_install", shop.content("1.2.0", timeout=4)))

    assert (failed["state"], failed["rolled_back"]) == ("FAILED", False)
    assert failed["revision"] is None
    assert shop.ssh(f"{shop.engine} ps -aq --filter label=margrave.deployment") == ""


def test_a_wrong_release_never_stays(shop: Shop, tmp_path: Path) -> None:
    """What can be known before the switch stops nothing; what shows later goes back."""
    web = f"{shop.engine} ps -q --filter name=web"
    shop.one(shop.install("1.0.0"))
    before = shop.ssh(web)

    early = shop.call(
        *(_with(shop, compose, tmp_path) for compose in (PRIVILEGED, UNKNOWN, BROKEN))
    )
    untouched = shop.ssh(web)
    late = shop.one(_with(shop, CANNOT_START, tmp_path))

    assert [one["error"]["class"] for one in early] == ["config", "image", "config"]
    # A file that cannot be read does not even travel: that answer is the action's.
    assert not any(one.get("rolled_back") for one in early)
    assert untouched == before
    assert (late["error"]["class"], late["rolled_back"]) == ("config", True), late["error"]
    assert all(one["error"]["cure"] for one in (*early, late))
    assert shop.page()["version"] == "1.0.0"


@pytest.mark.full
def test_a_registry_that_is_away_stops_nothing(shop: Shop) -> None:
    """While a registry is away the old release serves, and the error is the site's trouble."""
    shop.one(shop.install("1.0.0"))
    compose = (shop.packages["1.1.0"] / "compose.yaml").read_text()
    image = next(word for word in compose.split() if "storefront-web@" in word)
    shop.ssh(f"{shop.engine} rmi -f {image} || true")
    shop.lab.fail(shop.node, registry=True)
    try:
        failed = shop.one(shop.update("1.1.0"))
    finally:
        shop.lab.heal(shop.node)

    assert failed["error"]["class"] == "registry", failed["error"]
    assert failed["changed"] is False
    assert failed["version"] == "1.0.0"
    assert shop.page()["version"] == "1.0.0"
