"""The configuration files of the demo's controller and runners."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING

from demo.places import CONTROLLER_PORT, HOST, RUNNER_PORTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

URL = f"http://{HOST}:{CONTROLLER_PORT}"
REGISTRY = "registry.margrave.lab:5000"

Section = dict[str, object]


def controller(apps: Path, registry: str, signing_key: str = "") -> str:
    """The controller: its own repository, the examples, and the lab's registry."""
    sections: dict[str, Section | list[Section]] = {
        "http": {"bind": f"{HOST}:{CONTROLLER_PORT}", "external_url": URL},
        "catalog": {"local_roots": [str(apps)]},
        "registries": [{"host": REGISTRY, "address": registry, "insecure": True}],
    }
    if signing_key:
        sections["git"] = {"signing_key": signing_key}
    return toml(sections)


def runner(site: str, token: str, webhook_secret: str) -> str:
    """A site's runner: the controller's repository, read with the site's token."""
    return toml(
        {
            "site": {"name": site},
            "controller": {"url": URL, "token": token},
            "git": {
                "remote": f"{URL}/git/deployments.git",
                "username": site,
                "password": token,
            },
            "http": {"bind": f"{HOST}:{RUNNER_PORTS[site]}"},
            "hooks": {"secrets": [webhook_secret]},
        }
    )


def toml(value: Mapping[str, Section | list[Section]]) -> str:
    """Tables, and arrays of tables, of strings, numbers, booleans and lists of strings."""
    lines: list[str] = []
    for name, content in value.items():
        tables = content if isinstance(content, list) else [content]
        head = f"[[{name}]]" if isinstance(content, list) else f"[{name}]"
        for table in tables:
            lines += [head, *(f"{key} = {_scalar(one)}" for key, one in table.items()), ""]
    return "\n".join(lines)


def _scalar(value: object) -> str:
    """JSON's strings, booleans and lists of strings are TOML's too; DEL alone has to be escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def environment(values: Mapping[str, str]) -> str:
    """Lines `NAME=value`, quoted where a shell would read them twice: a path may hold a space."""
    return "".join(f"{name}={quote(value)}\n" for name, value in values.items())
