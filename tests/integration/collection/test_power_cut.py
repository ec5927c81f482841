"""After a power cut a release is whole: what runs and what is ready is on the disk by then."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.rescue import rescued
from tests.support.shop import ENGINES, Shop, Step

pytestmark = [pytest.mark.lab, pytest.mark.parametrize("shop", ENGINES, indirect=True)]

DEPLOYMENTS = "/var/lib/margrave/deployments"


def _digests(folder: Path) -> dict[str, str]:
    """All files below, each with a digest of its content."""
    files = (one for one in folder.rglob("*") if one.is_file() and not one.is_symlink())
    return {str(one.relative_to(folder)): sha256(one.read_bytes()).hexdigest() for one in files}


def test_what_runs_and_what_is_ready_is_on_the_disk(shop: Shop, tmp_path: Path) -> None:
    """Each file of both releases, those that came in the package too, and which of them runs.

    The second is only made ready: a container that stops makes the engine flush the whole disk.
    """
    later = Step("workload_prefetch", {**shop.content("1.1.0", "later"), **shop.fence(2)})
    shop.call(shop.install("1.1.0", **shop.fence(1)), later)
    place = f"{DEPLOYMENTS}/{shop.deployment}"
    found = rescued(shop.lab, shop.node, place, tmp_path)
    listed = shop.ssh(f"cd {place}/releases && find . -type f -exec sha256sum {{}} +")
    lines = (line.split(maxsplit=1) for line in listed.splitlines())
    written = {name.removeprefix("./"): digest for digest, name in lines}

    assert len([name for name in written if name.endswith("/compose.yaml")]) == 2
    assert _digests(found / "releases") == written
    links = {name: str((found / name).readlink()) for name in ("current", "next")}
    assert links == {name: shop.ssh(f"readlink {place}/{name}").strip() for name in links}
