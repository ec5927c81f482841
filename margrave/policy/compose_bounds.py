"""Bounds on the size of a Compose model, which no policy opens. Pure.

An allow-list of keys does not bound how often they are used: a node has to start all of it, and
whoever reads a model has to read all of it.
"""

from __future__ import annotations

import re

from margrave.policy.compose_values import (
    Finding,
    text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

VALUES = 50_000  # keys and values of a model
CHARACTERS = 2 * 1024 * 1024  # of all its keys and values
PARTS = {"services": 100, "networks": 50, "volumes": 200, "configs": 200, "secrets": 200}
CONTAINERS = 200
PORTS = 1_000
MOUNTS = 500
_MOUNTING = ("volumes", "tmpfs", "configs", "secrets", "devices")


def is_too_large(model: Any) -> bool:
    """Return whether a model holds more than anybody should read."""
    values = characters = 0
    waiting = [model]
    while waiting:
        value = waiting.pop()
        values += 1
        if isinstance(value, dict):
            waiting.extend(value)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str):
            characters += len(value)
        if values + len(waiting) > VALUES * 2 or characters > CHARACTERS:
            return True
    return False


def too_many(model: Mapping[str, Any]) -> Iterator[Finding]:
    """Return findings of a model that asks for more parts than a node should run."""
    for kind, most in PARTS.items():
        count = len(_mapping(model.get(kind)))
        if count > most:
            yield _finding(kind, count, most, kind)
    services = [one for one in _mapping(model.get("services")).values() if isinstance(one, dict)]
    for count, most, what in (
        (sum(map(_containers, services)), CONTAINERS, "containers"),
        (sum(_length(one.get("ports")) for one in services), PORTS, "ports"),
        (sum(map(_mounts, services)), MOUNTS, "mounts"),
    ):
        if count > most:
            yield _finding("services", count, most, what)


def _finding(path: str, count: int, most: int, what: str) -> Finding:
    return Finding(path, f"has {count} {what}, and {most} are the most", None)


def _containers(service: Mapping[str, Any]) -> int:
    """Return how many containers a service has; the table bounds each number."""
    deploy = _mapping(service.get("deploy"))
    numbers = (service.get("scale"), deploy.get("replicas"))
    given = [int(text(number)) for number in numbers if re.fullmatch("[0-9]{1,3}", text(number))]
    return max(given, default=1)


def _mounts(service: Mapping[str, Any]) -> int:
    return sum(_length(service.get(key)) for key in _MOUNTING)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
