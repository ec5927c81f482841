"""Fresh installs of releases on an empty node, each made once."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from tests.equivalence import views
from tests.equivalence.judging import failure_of
from tests.equivalence.nodes import EdgeNode
from tests.equivalence.releases import Release


class FreshInstalls:
    """Installs releases one after the other on a node that is emptied before each."""

    def __init__(self, node: EdgeNode) -> None:
        self.node = node
        self._installs: dict[Release, Future[Mapping[str, views.View]]] = {}
        self._pool = ThreadPoolExecutor(1)

    @property
    def count(self) -> int:
        """Installs that were made."""
        return len(self._installs)

    def begin(self, release: Release) -> None:
        """Install the release while another node is at work, unless that was done before."""
        if release not in self._installs:
            self._installs[release] = self._pool.submit(self._install, release)

    def settle(self) -> None:
        """Wait for installs under way: they pull what the tag names now."""
        for install in self._installs.values():
            install.exception()

    def containers(self, release: Release) -> Mapping[str, views.View]:
        """Return the containers of the fresh install."""
        return self._installs[release].result()

    def close(self) -> None:
        """End what is under way, and leave the node empty."""
        self._pool.shutdown()
        self.node.clean()
        self.node.close()

    def _install(self, release: Release) -> Mapping[str, views.View]:
        self.node.clean()
        answer = self.node.update(release)
        assert not answer.get("failed"), f"fresh install: {failure_of(answer)}"
        return views.views(self.node.snapshot(release))
