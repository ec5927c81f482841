"""Data outlives the containers that wrote it, also where nobody gave its volume a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import Lab
from tests.support.shop import ENGINES, Shop, Step

pytestmark = pytest.mark.lab

LEDGER = """#!/bin/sh
set -eu
[ -e /data/born ] || cat /proc/sys/kernel/random/uuid >/data/born
exec tail -f /dev/null
"""
IMAGE = 'command = ["/bin/ledger"]\nvolumes = ["/data"]\n'
COMPOSE = """
services:
  ledger:
    image: registry.margrave.lab:5000/ledger:{version}
    stop_grace_period: 0s
    healthcheck: {{test: [CMD, /bin/health], interval: 1s, timeout: 5s, retries: 3}}
    restart: unless-stopped
"""
HEALTH = {"1": "exit 0", "2": "exit 0", "3": "exit 1"}


@pytest.fixture(scope="module")
def ledgers(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three versions of an image that declares a volume; the last is never healthy."""
    folder = tmp_path_factory.mktemp("ledgers")
    made = {}
    for version, ends in HEALTH.items():
        files = {
            "images/ledger/image.toml": IMAGE,
            "images/ledger/files/bin/ledger": LEDGER,
            f"images/ledger/tags/{version}/bin/health": f"#!/bin/sh\n{ends}\n",
            f"{version}/compose.yaml": COMPOSE.format(version=version),
        }
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        made[version] = folder / version
    lab.push_images(folder / "images")
    return made


@pytest.mark.full
@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_a_volume_without_a_name_stays_over_everything_but_its_removal(
    shop: Shop, ledgers: dict[str, Path]
) -> None:
    """Mended, updated, gone back within a call and by one: the data is there, until told to go."""
    shop.packages = ledgers
    container = f"$({shop.engine} ps -qf label=margrave.deployment)"
    written = f"{shop.engine} exec {container} cat /data/born"

    installed = shop.one(shop.install("1"))
    born = shop.ssh(written)
    shop.ssh(f"{shop.engine} update --cpu-shares 512 {container}")
    mended, after_mending = shop.one(shop.install("1")), shop.ssh(written)
    updated, after_update = shop.one(shop.update("2")), shop.ssh(written)
    failed = shop.one(Step("workload_update", shop.content("3", timeout=20)))
    after_failure = shop.ssh(written)
    back, after_rollback = shop.one(shop.rollback()), shop.ssh(written)
    volume = shop.ssh(
        f"{shop.engine} inspect -f '{{{{range .Mounts}}}}{{{{.Name}}}}{{{{end}}}}' {container}"
    ).strip()
    deleted = shop.one(shop.delete(volumes="remove"))

    assert installed["state"] == "INSTALLED", installed["error"]
    assert (mended["changed"], mended["state"]) == (True, "INSTALLED"), mended["error"]
    assert updated["version"] == "2", updated["error"]
    assert (failed["error"]["class"], failed["rolled_back"]) == ("health", True)
    assert (back["version"], back["error"]) == ("1", None)
    assert {after_mending, after_update, after_failure, after_rollback} == {born}
    assert (deleted["state"], deleted["volumes_kept"]) == ("DELETED", []), deleted["error"]
    assert volume not in shop.ssh(f"{shop.engine} volume ls -q")


@pytest.mark.full
@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_a_first_install_that_fails_leaves_no_volume_without_a_name(
    shop: Shop, ledgers: dict[str, Path]
) -> None:
    """No later container would get it, and each attempt would leave another one."""
    shop.packages = ledgers
    before = shop.ssh(f"{shop.engine} volume ls -q")

    failed = shop.one(Step("workload_install", shop.content("3", timeout=20)))

    assert failed["error"]["class"] == "health", failed["error"]
    assert shop.ssh(f"{shop.engine} volume ls -q") == before
