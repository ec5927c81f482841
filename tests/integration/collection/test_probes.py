"""A service without a health check of its own, probed from the node over HTTP and TCP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.shop import Shop, Step

pytestmark = [pytest.mark.lab, pytest.mark.full]

COMPOSE = """
services:
  web:
    image: registry.margrave.lab:5000/storefront-web:1.0.0
    environment: {{GREETING: "${{GREETING}}"}}
    labels: {{margrave.probe: "{probe}"}}
    restart: unless-stopped
"""


@pytest.mark.parametrize("engine", ["podman", "docker"])
def test_a_declared_probe_decides(
    shop: Shop, tmp_path: Path, request: pytest.FixtureRequest, engine: str
) -> None:
    """Healthy when it answers; a release that does not goes back; no probe at all is refused."""
    if engine == "docker":
        shop.node = request.getfixturevalue("docker_node")
    probes = {"1.0.0": "http://:8000/", "1.1.0": "tcp://:8000", "1.2.0": "http://:8001/", "2": "no"}
    for version, probe in probes.items():
        shop.packages = {**shop.packages, version: tmp_path / version}
        (tmp_path / version).mkdir()
        (tmp_path / version / "compose.yaml").write_text(COMPOSE.format(probe=probe))
    bad = Step("workload_update", shop.content("1.2.0", timeout=6))

    http, tcp, failed, refused, again, deleted = shop.call(
        shop.install("1.0.0"),
        shop.update("1.1.0"),
        bad,
        shop.update("2"),
        shop.update("1.1.0"),
        shop.delete(),
    )

    assert (http["state"], http["health"]) == ("INSTALLED", "healthy"), http["error"]
    # Asked at once, and not after a grace: that it answers is known.
    assert http["durations"]["health"] < 5
    assert (tcp["state"], tcp["version"]) == ("INSTALLED", "1.1.0"), tcp["error"]
    assert (failed["error"]["class"], failed["rolled_back"]) == ("health", True)
    assert "web is starting" in failed["error"]["message"]
    assert (refused["error"]["code"], refused["changed"]) == ("probe", False)
    assert again["changed"] is False
    assert deleted["state"] == "DELETED"
