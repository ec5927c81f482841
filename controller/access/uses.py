"""Uses of tokens that are still to be recorded: no read waits until the database can write."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class TokenUse:
    """The newest use of a token; `of_site` is set for a runner's."""

    token: str
    of_site: bool
    at: datetime


class TokenUses:
    """The newest use of each valid token since they were last recorded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: dict[str, TokenUse] = {}

    def note(self, use: TokenUse) -> None:
        """Remember a use."""
        with self._lock:
            self._newest[use.token] = use

    def take(self) -> list[TokenUse]:
        """Return what is to be recorded, and forget it."""
        with self._lock:
            taken, self._newest = self._newest, {}
        return list(taken.values())

    def put_back(self, uses: list[TokenUse]) -> None:
        """Remember uses that could not be recorded; newer ones win."""
        with self._lock:
            self._newest = {**{use.token: use for use in uses}, **self._newest}
