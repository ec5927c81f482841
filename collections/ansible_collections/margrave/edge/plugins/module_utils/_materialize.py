# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn a resolved Compose model into one whose mounts outlive the release.

Compose's hash of a service covers neither the content behind a mount nor configs and secrets. Here
each of them becomes a read-only bind mount of a path that is made of its content: the service
changes exactly when the content does. Reads the package, writes nothing.
"""

from __future__ import annotations

import copy
import os
import posixpath
from collections.abc import Callable, Iterator, Mapping

from ansible_collections.margrave.edge.plugins.module_utils import _model
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._record import record

# Base folders of relative and default targets, as Compose has them.
BASES = {"configs": "/", "secrets": "/run/secrets/"}
DEFAULT_MODE = 0o444
# A mode that runs a file as its owner has no place on the node: the file could be a package's
# program, and its owner root. The last id means "leave it" to the kernel.
HIGHEST = {"mode": 0o777, "uid": 2**32 - 2, "gid": 2**32 - 2}


@record
class Rights:
    """Mode and owner of a config or secret; the mode is None if the author gave none."""

    mode: int | None = None
    uid: int = 0
    gid: int = 0


@record
class Content:
    """Content of a mount: a file or folder of the package, or a text."""

    name: str
    path: str = ""
    text: str = ""
    # Only for configs and secrets; other content keeps the modes of the package.
    rights: Rights = Rights()
    # Mount points of other mounts inside a folder, with whether each is a folder: nothing can be
    # created there later, because the folder is mounted read-only.
    points: tuple = ()


Place = Callable[[Content], str]


def variables(model: dict) -> set[str]:
    """Return the variables behind the configs and secrets that services use."""
    return {
        str(definition["environment"])
        for _service, kind, grant in _grants(model)
        for definition in [_definition(model, kind, grant)]
        if definition.get("environment")
    }


def materialized(
    component: str, model: dict, folder: str, environment: Mapping[str, str], place: Place
) -> dict:
    """Return the model with all content of the package where `place` keeps it.

    `folder` is the package as the model names it, `environment` holds what `variables` asks for.
    """
    result = copy.deepcopy(model)
    findings: list[str] = []
    for name, service in sorted(_model.services(result).items()):
        found = list(_wrong_sources(service, folder))
        found += _add_grants(model, service, folder, environment)
        findings += [f"services.{name}.{finding}" for finding in found]
    if findings:
        raise ConfigError(
            "mount-source",
            "; ".join(f"components.{component}: {finding}" for finding in findings),
            "put the file into the package, or give the variable a value",
        )
    for service in _model.services(result).values():
        _place_all(service, folder, place)
    for kind in BASES:
        result.pop(kind, None)
    return result


def _grants(model: dict) -> Iterator[tuple[dict, str, dict]]:
    """Yield each use of a config or secret: the service, the kind, and the use itself."""
    for service in _model.services(model).values():
        for kind in BASES:
            for grant in service.get(kind) or []:
                yield service, kind, grant if isinstance(grant, dict) else {"source": grant}


def _definition(model: dict, kind: str, grant: dict) -> dict:
    return (model.get(kind) or {}).get(grant.get("source")) or {}


def _wrong_sources(service: dict, folder: str) -> Iterator[str]:
    for mount in service.get("volumes") or []:
        source = _model.literal(str(mount.get("source") or ""))
        if _is_of_package(mount, folder) and not os.path.exists(source):
            yield f"volumes: {posixpath.relpath(source, folder)} is not in the package"


def _is_of_package(mount: dict, folder: str) -> bool:
    source = _model.literal(str(mount.get("source") or ""))
    return mount.get("type") == "bind" and (source == folder or source.startswith(folder + "/"))


def _add_grants(
    model: dict, service: dict, folder: str, environment: Mapping[str, str]
) -> list[str]:
    """Turn a service's configs and secrets into mounts; return a finding for each that fails."""
    findings = []
    for _service, kind, grant in list(_grants({"services": {"": service}})):
        definition = _definition(model, kind, grant)
        try:
            mount = {
                "type": "bind",
                "source": "",
                "target": _target(kind, grant),
                "read_only": True,
                "bind": {"create_host_path": False},
                "content": _content(definition, grant, folder, environment),
            }
            service.setdefault("volumes", []).append(mount)
        except ValueError as error:
            findings.append(f"{kind}: {grant.get('source')} {error}")
    for kind in BASES:
        service.pop(kind, None)
    return findings


def _target(kind: str, grant: dict) -> str:
    target = str(grant.get("target") or grant.get("source"))
    return target if target.startswith("/") else BASES[kind] + target


def _content(definition: dict, grant: dict, folder: str, environment: Mapping[str, str]) -> Content:
    """Return the content of a config or secret; raise ValueError with the reason if it has none."""
    name = str(grant.get("source"))
    if name in (".", ".."):
        raise ValueError("is not a file name")
    rights = _rights(grant)
    if definition.get("external") or definition.get("driver"):
        raise ValueError("is not part of the package: external ones need Swarm")
    if definition.get("environment"):
        variable = str(definition["environment"])
        if variable not in environment:
            raise ValueError(f"needs the variable {variable}, which no parameter sets")
        return Content(name, text=environment[variable], rights=rights)
    if "content" in definition:
        text = _model.literal(str(definition["content"]))
        return Content(name, text=text, rights=rights)
    path = _model.literal(str(definition.get("file") or ""))
    if not path:
        raise ValueError("is not defined")
    if path.startswith(folder + "/") and not os.path.exists(path):
        raise ValueError(f"is {posixpath.relpath(path, folder)}, which is not in the package")
    return Content(posixpath.basename(path), path=path, rights=rights)


def _rights(grant: dict) -> Rights:
    """Return mode and owner where they are given; Compose writes modes in two ways."""
    mode, uid, gid = (
        _number(grant, key, base) for key, base in (("mode", 8), ("uid", 10), ("gid", 10))
    )
    return Rights(mode, uid or 0, gid or 0)


def _number(grant: dict, key: str, base: int) -> int | None:
    value = grant.get(key)
    if value in (None, ""):
        return None
    try:
        number = value if isinstance(value, int) else int(str(value), base)
    except ValueError:
        raise ValueError(f"has {key} {value}, which is not a number") from None
    if not 0 <= number <= HIGHEST[key]:
        shown, highest = (f"{each:o}" if base == 8 else each for each in (number, HIGHEST[key]))
        raise ValueError(f"has {key} {shown}, which is not between 0 and {highest}")
    return number or None


def _place_all(service: dict, folder: str, place: Place) -> None:
    """Put each source of the package where it is kept, and mount it from there."""
    mounts = service.get("volumes") or []
    targets = _targets(service)
    for mount in mounts:
        content = mount.pop("content", None)
        if content is not None and content.path and not content.path.startswith(folder + "/"):
            mount["source"] = _model.written(
                content.path
            )  # a file of the node, which policy allows
            continue
        if content is None and _is_of_package(mount, folder):
            path = _model.literal(str(mount["source"]))
            points = _points(path, str(mount["target"]), targets)
            content = Content(posixpath.basename(path), path=path, points=points)
        if content is not None:
            mount["source"] = _model.written(place(content))
            mount["read_only"] = True
            # An engine would make an empty folder where the source is missing.
            mount["bind"] = {**(mount.get("bind") or {}), "create_host_path": False}


def _targets(service: dict) -> dict[str, bool]:
    """Return the mount targets of a service; the value is True for a folder."""
    found = {str(one).partition(":")[0]: True for one in service.get("tmpfs") or []}
    for mount in service.get("volumes") or []:
        content = mount.get("content")
        if content is not None and not content.path:
            is_folder = False
        else:
            source = content.path if content else _model.literal(str(mount.get("source") or ""))
            is_folder = mount.get("type") != "bind" or not os.path.isfile(source)
        found[str(mount.get("target") or "")] = is_folder
    return {posixpath.normpath(target): is_folder for target, is_folder in found.items()}


def _points(path: str, target: str, targets: Mapping[str, bool]) -> tuple:
    """Return the mount points below a folder that the package does not contain itself."""
    above = posixpath.normpath(target).rstrip("/") + "/"
    below = {
        inner[len(above) :]: is_folder
        for inner, is_folder in targets.items()
        if inner.startswith(above)
    }
    return tuple(
        (name, is_folder)
        for name, is_folder in sorted(below.items())
        if os.path.isdir(path) and not os.path.lexists(os.path.join(path, name))
    )
