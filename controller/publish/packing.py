"""Packing of the deployments repository, beside the publishing that fills it."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from controller.publish.repository import Repository

LOG = logging.getLogger(__name__)

EVERY: Final = 200  # commits


class Packing:
    """Packs after many commits, on a thread of its own: it takes seconds, on a large repository
    minutes, and no request waits for it. Git lets others read and write meanwhile."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._commits = 0
        self._thread: threading.Thread | None = None
        self.problem = ""  # why it failed the last time; empty when it did not

    def count(self) -> None:
        """Count a commit, and begin to pack when it is time and nothing is being packed."""
        self._commits += 1
        if self._commits % EVERY or (self._thread is not None and self._thread.is_alive()):
            return
        self._thread = threading.Thread(target=self._pack, name="git-packing", daemon=True)
        self._thread.start()

    def _pack(self) -> None:
        try:
            self._repository.tidy()
        except Exception as error:  # only room is lost, until the next time
            LOG.exception("the repository is not packed")
            self.problem = f"the repository is not packed: {error}"
        else:
            self.problem = ""
