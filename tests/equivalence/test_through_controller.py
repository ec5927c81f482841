"""Secrets and configs by name, changed one at a time, through the controller and the runner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from lab import Engine, Lab
from tests.equivalence import views
from tests.equivalence.holding import OWNERS, first_release, found_texts, written_texts
from tests.equivalence.known import rotated
from tests.equivalence.nodes import EdgeNode
from tests.equivalence.oracle import NODES
from tests.equivalence.releases import Release
from tests.equivalence.shop_site import ShopSite
from tests.equivalence.stories import TEXTS
from tests.equivalence.texts import Kind, Text

pytestmark = pytest.mark.lab


@dataclass
class Running:
    """The site, the release that runs there, and the starts of its containers."""

    site: ShopSite
    release: Release
    starts: dict[str, set[views.Identity]] = field(default_factory=dict)

    def wait(self, release: Release) -> None:
        """Wait until the containers hold the texts of the release."""
        wanted = written_texts(release)
        snapshot = self.site.wait(release, lambda seen: found_texts(seen) == wanted)
        self.release, self.starts = release, views.identities(snapshot)


@pytest.fixture(scope="module")
def running(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A site where six services with a text each are installed."""
    node = EdgeNode(lab, NODES[Engine.PODMAN][0], Engine.PODMAN)
    node.clean()
    site = ShopSite(tmp_path_factory.mktemp("site"), node)
    made = Running(site, first_release())
    try:
        site.open()
        site.keep_secret(made.release)
        site.request(made.release, site.publish(made.release))
        made.wait(made.release)
        yield made
    finally:
        site.close()


@pytest.mark.full
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_a_new_value_reaches_the_service_that_has_it(running: Running, text: Text) -> None:
    """A new version, parameter or secret of the site replaces one text and restarts one service."""
    before, release = running.starts, rotated(running.release, text.name)
    if text.kind in (Kind.FILE, Kind.LITERAL):
        running.site.request(release, running.site.publish(release))
    elif text.name == "secret_environment":
        running.site.keep_secret(release)
    else:
        running.site.request(release)
    running.wait(release)
    restarted = {name for name in before if running.starts[name] != before[name]}
    assert restarted == {OWNERS[text.name]}
