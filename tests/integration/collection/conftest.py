"""The modules on a real node, called by ansible-playbook over SSH."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab
from tests.support import charts
from tests.support.engined import Charted, Engined
from tests.support.private_registry import PrivateRegistry
from tests.support.shop import Shop

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"

COMPOSE = """
services:
  web:
    image: {web}
    environment:
      GREETING: ${{GREETING}}
    ports: ["8000:8000"]
    healthcheck: &often
      test: [CMD, /bin/health]
      interval: 1s
      timeout: 5s
      retries: 3
      start_period: 10s
    depends_on:
      cache: {{condition: service_healthy}}
    restart: unless-stopped
  cache:
    image: {cache}
    volumes: ["data:/data"]
    healthcheck: *often
    restart: unless-stopped
volumes:
  data: {{}}
"""


def _resolved(lab: Lab, name: str, tag: str) -> str:
    """An image of the lab's registry by its digest."""
    request = urllib.request.Request(
        f"http://{lab.registry_address}/v2/{name}/manifests/{tag}",
        method="HEAD",
        headers={"Accept": f"{INDEX}, {MANIFEST}"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return f"registry.margrave.lab:5000/{name}@{answer.headers['Docker-Content-Digest']}"


@pytest.fixture(scope="session")
def packages(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Component folders of three versions, images by digest."""
    folder = tmp_path_factory.mktemp("packages")
    cache = _resolved(lab, "storefront-cache", "1.0.0")
    found = {}
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        found[version] = folder / version
        found[version].mkdir()
        text = COMPOSE.format(web=_resolved(lab, "storefront-web", version), cache=cache)
        (found[version] / "compose.yaml").write_text(text)
    return found


@pytest.fixture
def shop(
    request: pytest.FixtureRequest, lab: Lab, packages: dict[str, Path], tmp_path: Path
) -> Iterator[Shop]:
    """A deployment that is not there yet, on a node that no runner has claimed.

    The node has podman, or the engine that a test asks for as this fixture's parameter.
    """
    shop = Shop(lab, tmp_path, packages, engine=getattr(request, "param", "podman"))
    if shop.engine == "docker":
        shop.node = request.getfixturevalue("docker_node")
    shop.clean()
    yield shop
    shop.clean()


@pytest.fixture(scope="session")
def chart_folders(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Charts of three versions of the storefront; the last is never healthy."""
    folder = tmp_path_factory.mktemp("charts")
    return {
        version: charts.write_chart(
            folder / version, version, _resolved(lab, "storefront-web", version)
        )
        for version in ("1.0.0", "1.1.0", "1.2.0")
    }


@pytest.fixture
def private(lab: Lab, shop: Shop, tmp_path: Path) -> Iterator[PrivateRegistry]:
    """A registry that asks for a password."""
    registry = PrivateRegistry(lab, tmp_path)
    registry.start()
    yield registry
    registry.stop(shop)


@pytest.fixture
def subject(
    request: pytest.FixtureRequest, lab: Lab, packages: dict[str, Path], tmp_path: Path
) -> Iterator[Engined | Charted]:
    """The storefront, not there yet, on a node with the engine."""
    made: Engined | Charted
    if request.param == "helm":
        node = request.getfixturevalue("kubernetes_node")
        made = Charted(lab, tmp_path, request.getfixturevalue("chart_folders"), node)
    elif request.param == "docker":
        node = request.getfixturevalue("docker_node")
        made = Engined(lab, tmp_path, packages, node, engine="docker")
    else:
        made = Engined(lab, tmp_path, packages)
    made.clean()
    yield made
    made.clean()
