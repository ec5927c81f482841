# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Paths of the node that a model names, checked on the disk right before they are used.

The policy compares texts; a symbolic link on the way would lead somewhere else. Containers can
plant such links wherever they may write.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils import _model
from ansible_collections.margrave.edge.plugins.module_utils._compose_values import (
    Policy,
    is_below_any,
)
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

DEV = "/dev/"


def check(model: dict, policy: dict, package_root: str, waived: bool = False) -> None:
    """Raise ConfigError where a path of the model leads through a symbolic link.

    `waived`: the release may run although the policy does not name its paths, so only those that
    the policy names are looked at.
    """
    site = Policy(policy)
    roots = _trusted(site, package_root)
    paths = [*_model.host_paths(model), *_mounted(model)]
    devices = _devices(model)
    if waived:
        paths = [path for path in paths if is_below_any(path, roots)]
        devices = [path for path in devices if site.matches("devices", path)]
    refuse_links(paths, roots)
    refuse_linked_devices(devices, site)


def refuse_links(paths: Iterable[str], roots: Iterable[str]) -> None:
    """Raise ConfigError if a component of a path below its root is a symbolic link.

    A root is as the operator wrote it, so links up to and including it are the operator's. Of
    several roots the outermost counts: whoever may write there could replace an inner one. Below
    the root `/` every path is allowed anyway.
    """
    folders = sorted({os.path.normpath(root) for root in roots}, key=len)
    for path in dict.fromkeys(paths):
        root = next((root for root in folders if _is_below(path, root)), None)
        link = None if root == "/" else _first_link(path, root or "/")
        if link:
            raise ConfigError(
                "link-in-path",
                f"{path}: {link} is a symbolic link",
                "mount the path that it leads to, or replace it by a folder",
            )


def refuse_linked_devices(paths: Iterable[str], policy: Policy) -> None:
    """Raise ConfigError for a device that is a link to something the policy does not name.

    A link is fine where it leads to a character device below /dev, as udev's names for serial ports
    do, or to whatever a pattern of the policy allows.
    """
    for path in dict.fromkeys(paths):
        target = os.path.realpath(path)
        if policy.opens("devices") or target == os.path.normpath(path):
            continue
        in_place = os.path.realpath(os.path.dirname(path)) == os.path.dirname(path)
        named = policy.matches("devices", target)
        if not named and not (in_place and path.startswith(DEV) and _is_character_device(target)):
            raise ConfigError(
                "link-to-device",
                f"{path}: leads to {target}, which is not in devices",
                f"allow {target} in devices of the policy, or use another device",
            )


def _trusted(policy: Policy, package_root: str) -> list[str]:
    return [*(path for path in policy.entries("host_paths") if path[:1] == "/"), package_root]


def _mounted(model: dict) -> list[str]:
    """Return the paths that volumes mount."""
    options = (
        (part or {}).get("driver_opts") or {} for part in (model.get("volumes") or {}).values()
    )
    paths = (_model.literal(str(one.get("device") or "")) for one in options)
    return [path for path in paths if path[:1] == "/"]


def _devices(model: dict) -> list[str]:
    """Return the paths of all devices; older versions of Compose write them as text."""
    sources = [
        device["source"] if isinstance(device, dict) else str(device).split(":", 1)[0]
        for service in _model.services(model).values()
        for device in service.get("devices") or []
    ]
    return [_model.literal(source) for source in sources if source[:1] == "/"]


def _is_below(path: str, root: str) -> bool:
    return root == "/" or path == root or path.startswith(root + "/")


def _first_link(path: str, root: str) -> str | None:
    """Return the first component below a root that is a symbolic link; what is missing is none."""
    at = root
    for name in os.path.relpath(path, root).split("/"):
        at = os.path.join(at, name)
        try:
            if stat.S_ISLNK(os.lstat(at).st_mode):
                return at
        except OSError:
            return None
    return None


def _is_character_device(path: str) -> bool:
    try:
        return path.startswith(DEV) and stat.S_ISCHR(os.stat(path).st_mode)
    except OSError:
        return False
