# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far a package may reach into the node: the site's policy on its model. Pure."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator

from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

HOST_NAMESPACES = ("network_mode", "pid", "ipc", "uts", "userns_mode", "cgroup")
# What takes confinement away has many names, engine by engine; what adds to it has these.
CONFINING = re.compile(r"(no-new-privileges|mask)([:=].*)?|seccomp[:=](builtin|default)")
# Keys that choose what runs a container, what it is charged to, or hand it the engine itself.
OF_THE_ENGINE = ("runtime", "cgroup_parent", "annotations", "use_api_socket")
HOOKS = ("pre_start", "post_start", "pre_stop")
# Modes of a service's network that are no network of others.
OWN_NETWORKS = ("", "host", "none", "bridge", "default", "private")
# What a bridge may be told without reaching beyond itself.
BRIDGE_OPTIONS = (
    "com.docker.network.bridge.enable_icc",
    "com.docker.network.bridge.enable_ip_masquerade",
    "com.docker.network.driver.mtu",
    "isolate",
    "mtu",
)


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
    for name, network in sorted((model.get("networks") or {}).items()):
        for finding in _network(network or {}, project, policy):
            yield f"networks.{name}{finding}"
    for name in sorted(model.get("models") or {}):
        yield f"models.{name}: a program of the node is not an application's to start"
    yield from _files(model, folder, policy)


def _files(model: dict, folder: str, policy: dict) -> Iterator[str]:
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
    for other in service.get("external_links") or []:
        yield f"external_links: {other} is not of this application"
    for name, value in sorted(((service.get("logging") or {}).get("options") or {}).items()):
        # podman writes a container's log wherever it is told to.
        if str(value).startswith("/") and not _allowed_path(str(value), "", policy):
            yield f"logging.options.{name}: {value} is not in host_paths"


def _image(service: dict, policy: dict) -> Iterator[str]:
    if service.get("build"):
        yield "build: nodes do not build; push an image and name it"
    for key in ("provider", "models"):
        if service.get(key):
            yield f"{key}: a program of the node is not an application's to start"
    if not service.get("image"):
        yield "image: is missing"
    allowed = policy.get("registries") or []
    for where, one in (("", service), *_hooks(service)):
        image = str(one.get("image") or "")
        registry = registry_of(image)
        if image and not any(fnmatch.fnmatchcase(registry, pattern) for pattern in allowed):
            yield f"{where}image: registry {registry} is not in registries"


def _hooks(service: dict) -> list[tuple[str, dict]]:
    """What runs around a service's start and end, with rights and images of its own."""
    return [(f"{kind}.", one) for kind in HOOKS for one in service.get(kind) or []]


def registry_of(image: str) -> str:
    """The registry that an image name means."""
    first, slash, _rest = image.partition("/")
    named = slash and ("." in first or ":" in first or first == "localhost")
    return first if named else "docker.io"


def _privileges(service: dict, policy: dict) -> Iterator[str]:
    if policy.get("privileged") == "allow":
        return
    for where, one in (("", service), *_hooks(service)):
        if one.get("privileged"):
            yield f"{where}privileged: is denied"
    for option in service.get("security_opt") or []:
        if not CONFINING.fullmatch(str(option)):
            yield f"security_opt: {option} is as good as privileged, which is denied"
    for key in OF_THE_ENGINE:
        if service.get(key):
            yield f"{key}: is as good as privileged, which is denied"
    capabilities = {capability(one) for one in policy.get("capabilities") or []}
    for name in service.get("cap_add") or []:
        if capability(name) not in capabilities:
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
        elif key == "network_mode" and not _own_network(mode) and _closed(mode, policy):
            yield f"{key}: {mode} is not of this application{_opened_by('network', mode)}"


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


def _own_network(mode: str) -> bool:
    return mode in OWN_NETWORKS or mode.startswith("service:")


def _closed(network: str, policy: dict) -> bool:
    """Whether a network of others is out of reach; who may have the node's may have any."""
    named = f"network:{network}" in (policy.get("host_paths") or [])
    return policy.get("host_namespaces") != "allow" and not named


def _opened_by(kind: str, name: str) -> str:
    return f", and {kind}:{name} is not in host_paths"


def _network(network: dict, project: str, policy: dict) -> Iterator[str]:
    name, allowed = str(network.get("name") or ""), policy.get("host_namespaces") == "allow"
    if network.get("external") or not name.startswith(project + "_"):
        if name == "host" and not allowed:
            yield ": host is denied by host_namespaces"
        elif _closed(name, policy):
            yield f": {name} is not of this application{_opened_by('network', name)}"
    if allowed:
        return
    driver = str(network.get("driver") or "bridge")
    if driver != "bridge":
        yield f".driver: {driver} reaches beyond the application, denied by host_namespaces"
    elif (network.get("ipam") or {}).get("driver") not in (None, "", "default", "host-local"):
        yield ".ipam.driver: reaches beyond the application, denied by host_namespaces"
    for option in sorted(set(network.get("driver_opts") or {}) - set(BRIDGE_OPTIONS)):
        yield f".driver_opts.{option}: reaches beyond the application, denied by host_namespaces"


def _volume(volume: dict, project: str, policy: dict) -> Iterator[str]:
    if "/" in (policy.get("host_paths") or []):
        return
    driver = str(volume.get("driver") or "local")
    if driver != "local":
        yield f".driver: {driver} needs / in host_paths"
    yield from _mounted(volume.get("driver_opts") or {}, policy)
    name = str(volume.get("name") or "")
    foreign = volume.get("external") or not name.startswith(project + "_")
    if foreign and f"volume:{name}" not in (policy.get("host_paths") or []):
        yield f": {name} is not of this application{_opened_by('volume', name)}"


def _mounted(options: dict, policy: dict) -> Iterator[str]:
    """A volume that is a mount in disguise reaches where a bind mount would, or further."""
    kind, device, more = (str(options.get(name) or "") for name in ("type", "device", "o"))
    if kind == "tmpfs" or not (kind or device):
        return
    if not device.startswith("/"):
        yield f".driver_opts: {kind or device} needs / in host_paths"
    elif not _allowed_path(device, "", policy):
        yield f".driver_opts.device: {device} is not in host_paths"
    elif "/" in more:
        yield f".driver_opts.o: {more} needs / in host_paths"


def _allowed_path(path: str, folder: str, policy: dict) -> bool:
    return is_below_any(path, [*(policy.get("host_paths") or []), *([folder] if folder else [])])


def is_below_any(path: str, roots: Iterable[str]) -> bool:
    """Whether a path is one of these folders or lies below one."""
    path = posixpath.normpath(path)
    return any(_below(path, posixpath.normpath(root)) for root in roots if root.startswith("/"))


def _below(path: str, root: str) -> bool:
    return root == "/" or path == root or path.startswith(root + "/")
