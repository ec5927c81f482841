"""Services of Compose releases as values, and the tables that they are rendered from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

REGISTRY = "registry.margrave.lab:5000"
STILL = "idle:1"
MOVING = "equivalence-moving:latest"
SETTING = "setting"  # the only package file that is an env file
SHARED = "shared"  # the only folder of package files; the other files are mounted one by one


# Properties of a service that need nothing else in the release.
TRAITS: Mapping[str, Mapping[str, Any]] = {
    "always": {"restart": "always"},
    "capless": {"cap_drop": ["NET_RAW"]},
    "elsewhere": {"working_dir": "/tmp"},
    "hosts": {"extra_hosts": ["depot.example:10.9.9.9"]},
    "labelled": {"labels": {"shelf": "left"}},
    "limited": {"mem_limit": "64m"},
    "named": {"hostname": "till"},
    "pulled": {"pull_policy": "always"},
    "scratch": {"tmpfs": ["/scratch:size=1m"]},
    "sealed": {"read_only": True},
    "ulimits": {"ulimits": {"nofile": 512}},
    "unprivileged": {"security_opt": ["no-new-privileges:true"]},
    "user": {"user": "1000:1000"},
}
CHECK = {"test": ["CMD", "/bin/true"], "interval": "1s", "timeout": "5s", "retries": 3}
PORTS = {"alpha": 18001, "beta": 18002, "gamma": 18003, "delta": 18004}


class Shape(StrEnum):
    """Main process of a service."""

    IDLE = "idle"  # runs until it is stopped
    PROBED = "probed"  # serves HTTP, and the node asks for it
    ONCE = "once"  # ends well at once


SHAPES: Mapping[Shape, Mapping[str, Any]] = {
    Shape.IDLE: {},
    Shape.PROBED: {
        "command": ["/bin/httpd", "-f", "-p", "8000", "-h", "/tmp"],
        "labels": {"margrave.probe": "tcp://:8000"},
    },
    Shape.ONCE: {"command": ["/bin/true"], "restart": "no"},
}


@dataclass(frozen=True)
class Service:
    """One service; the tuples are sorted, so that equal services are equal values."""

    name: str
    shape: Shape = Shape.IDLE
    argument: int = 0
    twice: bool = False  # has two containers, unless a port is taken
    moving: bool = False  # runs the image whose tag moves
    environment: tuple[str, ...] = ()  # names; "greeting" takes its value from a variable
    setting: bool = False  # reads an env file of the package
    texts: tuple[str, ...] = ()
    owned: bool = False  # its texts have a name, an owner and a mode of their own
    files: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    port: bool = False
    check: bool = False
    waits: bool = False  # for the service before it
    traits: tuple[str, ...] = ()

    def brief(self) -> str:
        """Return the name and all that is not a default."""
        parts = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name != "name" and getattr(self, field.name) != field.default
        }
        described = [
            f"{key} {' '.join(value)}" if isinstance(value, tuple) else f"{key} {value}"
            for key, value in parts.items()
        ]
        return f"{self.name} ({', '.join(described)})" if described else self.name


def condition(before: Service) -> str:
    """Return the condition under which a dependent of the service starts."""
    if before.shape is Shape.ONCE:
        return "service_completed_successfully"
    return "service_healthy" if before.check else "service_started"


def path_of(name: str) -> str:
    """Return the path of a package file in the component."""
    return f"files/{name}" if name.startswith(SHARED) else f"files/{name}.txt"


def file_text(name: str, version: int) -> str:
    """Return the content of a package file."""
    return f"SETTING=v{version}\n" if name == SETTING else f"file {name} v{version}\n"
