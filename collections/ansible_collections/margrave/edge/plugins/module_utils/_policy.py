# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far a package may reach into the node: the site's policy on its model. Pure."""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Iterable, Iterator

from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

HOST_NAMESPACES = ("network_mode", "pid", "ipc", "uts", "userns_mode", "cgroup")
UNCONFINED = ("unconfined", "label=disable", "label:disable", "unmask=")


def check(component: str, model: dict, folder: str, policy: dict) -> None:
    """Refuse a model that reaches further than the policy allows; all findings at once."""
    findings = list(_findings(model, folder, policy))
    if findings:
        raise ConfigError(
            "policy",
            "; ".join(f"components.{component}: {finding}" for finding in findings),
            "change the application, or widen the policy of sites/<site>.yaml",
        )


def _findings(model: dict, folder: str, policy: dict) -> Iterator[str]:
    project = str(model.get("name") or "")
    for name, service in sorted((model.get("services") or {}).items()):
        for finding in _service(service, folder, policy):
            yield f"services.{name}.{finding}"
    for name, volume in sorted((model.get("volumes") or {}).items()):
        for finding in _volume(volume or {}, project, policy):
            yield f"volumes.{name}{finding}"
    for kind in ("configs", "secrets"):
        for name, one in sorted((model.get(kind) or {}).items()):
            path = (one or {}).get("file")
            if path and not _allowed_path(path, folder, policy):
                yield f"{kind}.{name}.file: {path} is outside of the package and of host_paths"


def _service(service: dict, folder: str, policy: dict) -> Iterator[str]:
    yield from _image(service, policy)
    yield from _privileges(service, policy)
    yield from _namespaces(service, policy)
    yield from _devices(service, policy)
    for mount in service.get("volumes") or []:
        source = str(mount.get("source") or "")
        if mount.get("type") == "bind" and not _allowed_path(source, folder, policy):
            yield f"volumes: {source} is not in host_paths"
    for other in service.get("volumes_from") or []:
        if str(other).startswith("container:"):
            yield f"volumes_from: {other} is not of this application"


def _image(service: dict, policy: dict) -> Iterator[str]:
    if service.get("build"):
        yield "build: nodes do not build; push an image and name it"
    image = str(service.get("image") or "")
    if not image:
        yield "image: is missing"
        return
    allowed = policy.get("registries") or []
    if not any(fnmatch.fnmatchcase(registry_of(image), pattern) for pattern in allowed):
        yield f"image: registry {registry_of(image)} is not in registries"


def registry_of(image: str) -> str:
    """The registry that an image name means."""
    first, slash, _rest = image.partition("/")
    named = slash and ("." in first or ":" in first or first == "localhost")
    return first if named else "docker.io"


def _privileges(service: dict, policy: dict) -> Iterator[str]:
    allowed = policy.get("privileged") == "allow"
    if service.get("privileged") and not allowed:
        yield "privileged: is denied"
    for option in service.get("security_opt") or []:
        if not allowed and any(sign in str(option) for sign in UNCONFINED):
            yield f"security_opt: {option} is as good as privileged, which is denied"
    capabilities = {capability(one) for one in policy.get("capabilities") or []}
    for name in service.get("cap_add") or []:
        if not allowed and capability(name) not in capabilities:
            yield f"cap_add: {name} is not in capabilities"


def capability(name: str) -> str:
    """A capability's name without CAP_."""
    upper = str(name).upper()
    return upper[len("CAP_") :] if upper.startswith("CAP_") else upper


def _namespaces(service: dict, policy: dict) -> Iterator[str]:
    for key in HOST_NAMESPACES:
        mode = str(service.get(key) or "")
        if mode == "host" and policy.get("host_namespaces") != "allow":
            yield f"{key}: host is denied by host_namespaces"
        if mode.startswith(("container:", "ns:")):
            yield f"{key}: {mode} is not of this application"


def _devices(service: dict, policy: dict) -> Iterator[str]:
    allowed = policy.get("devices") or []
    for device in service.get("devices") or []:
        source = device.get("source") if isinstance(device, dict) else str(device).split(":", 1)[0]
        if not any(fnmatch.fnmatchcase(str(source), pattern) for pattern in allowed):
            yield f"devices: {source} is not in devices"
    if service.get("device_cgroup_rules") and "*" not in allowed:
        yield "device_cgroup_rules: needs * in devices"
    reserved = ((service.get("deploy") or {}).get("resources") or {}).get("reservations") or {}
    if (reserved.get("devices") or service.get("gpus")) and "*" not in allowed:
        yield "deploy.resources.reservations.devices: needs * in devices"


def _volume(volume: dict, project: str, policy: dict) -> Iterator[str]:
    options = volume.get("driver_opts") or {}
    device = str(options.get("device") or "")
    # A volume that is a mount in disguise reaches where a bind mount would.
    if device.startswith("/") and not _allowed_path(device, "", policy):
        yield f".driver_opts.device: {device} is not in host_paths"
    name = str(volume.get("name") or "")
    foreign = volume.get("external") or not name.startswith(project + "_")
    if foreign and not ({f"volume:{name}", "/"} & set(policy.get("host_paths") or [])):
        yield f": {name} is not of this application, and volume:{name} is not in host_paths"


def _allowed_path(path: str, folder: str, policy: dict) -> bool:
    return is_below_any(path, [*(policy.get("host_paths") or []), *([folder] if folder else [])])


def is_below_any(path: str, roots: Iterable[str]) -> bool:
    """Whether a path is one of these folders or lies below one."""
    path = posixpath.normpath(path)
    return any(_below(path, posixpath.normpath(root)) for root in roots if root.startswith("/"))


def _below(path: str, root: str) -> bool:
    return root == "/" or path == root or path.startswith(root + "/")
