# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that a compose.yaml makes Compose read: a package's own, or it does not travel.

They are read before there is a model that a policy could be held against. The same rules as the
controller's and the runner's, for those who have neither.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

import yaml
from ansible.module_utils.common.yaml import yaml_load  # safe, and by libyaml where it is

ROOT = "compose.yaml"
DEPTH = 8  # files that include files that include files: nobody's intent


def strays(files: dict[str, bytes]) -> list[str]:
    """Every path that leads out of the component, or to nothing in it.

    What is no readable YAML names none: Compose says so itself, on the node.
    """
    return list(_of_file(ROOT, files, 0))


def _of_file(name: str, files: dict[str, bytes], depth: int) -> Iterator[str]:
    if depth > DEPTH:
        yield f"{name}: is included too deeply"
        return
    try:
        value = yaml_load(files.get(name, b""))
    except yaml.YAMLError:
        return
    if not isinstance(value, dict):
        return
    base = posixpath.dirname(name)
    for where, path, followed, needed in _paths(value):
        finding = _wrong(path, base, files, needed)
        if finding:
            yield f'{name}: {where}: "{path}" {finding}'
        elif followed:
            yield from _of_file(_joined(base, str(path)), files, depth + 1)


def _paths(value: dict[str, Any]) -> Iterator[tuple[str, Any, bool, bool]]:
    """Where, path, whether it is a Compose file itself, whether it has to be there."""
    for one in _many(value.get("include")):
        part = one if isinstance(one, dict) else {"path": one}
        yield from (("include", path, True, True) for path in _many(part.get("path")))
        yield from (("include.env_file", path, False, True) for path in _many(part.get("env_file")))
        if "project_directory" in part:
            yield "include.project_directory", part["project_directory"], False, True
    services = value.get("services")
    for name, service in services.items() if isinstance(services, dict) else ():
        if isinstance(service, dict):
            yield from _of_service(f"services.{name}", service)


def _of_service(where: str, service: dict[str, Any]) -> Iterator[tuple[str, Any, bool, bool]]:
    for key in ("env_file", "label_file"):
        for one in _many(service.get(key)):
            part = one if isinstance(one, dict) else {"path": one}
            yield f"{where}.{key}", part.get("path"), False, part.get("required") is not False
    extends = service.get("extends")
    if isinstance(extends, dict) and "file" in extends:
        yield f"{where}.extends.file", extends["file"], True, True


def _wrong(path: Any, base: str, files: dict[str, bytes], needed: bool) -> str | None:
    """The finding, or None for a path of the component."""
    if not isinstance(path, str) or "$" in path:
        return "is not known before it runs"
    joined = _joined(base, path)
    if path.startswith(("/", "~")) or ":" in path or joined.split("/")[0] == "..":
        return "leads out of the component"
    return "is not in the component" if needed and joined not in files else None


def _joined(base: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(base, path))


def _many(value: Any) -> list[Any]:
    """One or many, as Compose lets authors write."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
