"""The container engine, as far as a beacon asks it: what runs, and what has just ended."""

from __future__ import annotations

import http.client
import json
import os
import socket
from collections.abc import Iterator
from urllib.parse import quote

ENGINES = ("/run/podman/podman.sock", "/run/docker.sock")
LOUD = {"die", "died", "oom", "stop", "kill", "health_status: unhealthy"}
LABEL = "margrave.deployment"
TROUBLE = (OSError, ValueError, http.client.HTTPException)


class Engine:
    """The container engine's API socket; nothing is asked of it but what happens and what runs."""

    def __init__(self, places: tuple[str, ...] = ENGINES) -> None:
        self._places = places

    @property
    def place(self) -> str:
        """Its socket; empty without an engine."""
        return next((place for place in self._places if os.path.exists(place)), "")

    def connect(self, timeout: float | None) -> http.client.HTTPConnection:
        """An open connection."""
        connection = http.client.HTTPConnection("engine", timeout=timeout)
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.sock.settimeout(timeout)
        connection.sock.connect(self.place)
        return connection

    def containers(self) -> list:
        """All containers of deployments."""
        filters = quote(json.dumps({"label": [LABEL]}))
        connection = self.connect(5.0)
        try:
            connection.request("GET", f"/v1.40/containers/json?all=true&filters={filters}")
            answer = connection.getresponse()
            if answer.status != 200:
                raise OSError(f"the engine answered {answer.status}")
            return list(json.loads(answer.read()))
        finally:
            connection.close()

    def events(self) -> Iterator[str]:
        """Ids of deployments as their containers end or fall ill; ends with the connection."""
        filters = quote(json.dumps({"type": ["container"]}))
        connection = self.connect(None)
        try:
            connection.request("GET", f"/v1.40/events?filters={filters}")
            answer = connection.getresponse()
            for line in answer:
                found = changed(line)
                if found:
                    yield found
        finally:
            connection.close()


def changed(line: bytes) -> str:
    """The deployment that an event of the engine concerns; empty when it is none of ours."""
    try:
        event = json.loads(line)
        loud = str(event.get("Action") or event.get("status")) in LOUD
        return str(event["Actor"]["Attributes"].get(LABEL, "")) if loud else ""
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
