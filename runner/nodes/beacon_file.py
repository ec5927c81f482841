"""What a node's beacon is told: /etc/margrave/beacon.json. docs/beacon.md is the wire."""

from __future__ import annotations

import json
from typing import Any

from margrave.errors import Conflict


def content(node: str, url: str | None, key: str, interval: int) -> dict[str, Any]:
    """The file's value; Conflict while the runner does not know where nodes reach it."""
    if not url:
        raise Conflict(
            "nodes do not know where to send heartbeats",
            'set http.external_url, such as "https://runner.oslo.example:8801", and http.bind',
        )
    return {"node": node, "url": url.rstrip("/"), "key": key, "interval": interval}


def text(value: dict[str, Any]) -> str:
    """As it lies on the node."""
    return json.dumps(value, indent=2) + "\n"
