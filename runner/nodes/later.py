"""Onboarding that is made when somebody first asks for it.

What it is made of holds eight megabytes for an SSH of its own, and most runners never add a node
again once their site is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from runner.ports import Check, NodeRequest, Onboarded, Onboarding


class Later:
    """Stands for an onboarding."""

    def __init__(self, make: Callable[[], Onboarding]) -> None:
        self._make = make

    @cached_property
    def _real(self) -> Onboarding:
        return self._make()

    def probe(self, address: str, port: int) -> str:
        """The fingerprint of the host key at an address."""
        return self._real.probe(address, port)

    def add(self, request: NodeRequest) -> Onboarded:
        """Prepare the node and register it."""
        return self._real.add(request)

    def look(self, name: str) -> tuple[Check, ...]:
        """What the node has now."""
        return self._real.look(name)

    def remove(self, name: str) -> None:
        """Take our key off the node, and forget it."""
        self._real.remove(name)
