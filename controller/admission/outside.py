"""Networks and volumes of a Compose file that are not, or reach beyond, the application's own.

Named, they are opened by `network:NAME` and `volume:NAME` in the policy's host_paths.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from margrave.documents.extensions import Policy

# Modes of a service's network that are no network of others.
OWN_NETWORKS: Final = ("", "host", "none", "bridge", "default", "private")
# What a bridge may be told without reaching beyond itself.
BRIDGE_OPTIONS: Final = (
    "com.docker.network.bridge.enable_icc",
    "com.docker.network.bridge.enable_ip_masquerade",
    "com.docker.network.driver.mtu",
    "isolate",
    "mtu",
)
_IPAM: Final = ("", "default", "host-local")
_OWN_NAME: Final = "${COMPOSE_PROJECT_NAME}_"
_BEYOND: Final = "reaches beyond the application, denied by host_namespaces"

Found = tuple[str, str]  # where in the file, and what


def mode(name: str, policy: Policy) -> Iterator[Found]:
    """What is wrong with a service's network_mode that names a network."""
    own = name in OWN_NETWORKS or name.startswith("service:")
    if not own and _closed("network", name, policy):
        yield "network_mode", _words("network", name)


def network(
    key: str, part: Mapping[str, Any], policy: Policy, fill: Callable[[object], str]
) -> Iterator[Found]:
    """What of a network reaches beyond the application, unless the node's own network is open."""
    if policy.host_namespaces == "allow":
        return
    name = _foreign(key, part, fill)
    if name == "host":
        yield "", "host is denied by host_namespaces"
    elif name and _closed("network", name, policy):
        yield "", _words("network", name)
    driver = fill(part.get("driver")) or "bridge"
    if driver != "bridge":
        yield ".driver", f"{driver} {_BEYOND}"
    elif texts(part, "ipam", fill).get("driver", "") not in _IPAM:
        yield ".ipam.driver", _BEYOND
    for option in texts(part, "driver_opts", fill):
        if option not in BRIDGE_OPTIONS:
            yield f".driver_opts.{option}", _BEYOND


def volume(
    key: str, part: Mapping[str, Any], policy: Policy, fill: Callable[[object], str]
) -> Iterator[Found]:
    """What of a volume reaches beyond the application, unless all of the node is open."""
    if "/" in policy.host_paths:
        return
    driver = fill(part.get("driver")) or "local"
    if driver != "local":
        yield ".driver", f"{driver} needs / in host_paths"
    yield from _mounted(texts(part, "driver_opts", fill), policy)
    name = _foreign(key, part, fill)
    if name and _closed("volume", name, policy):
        yield "", _words("volume", name)


def _mounted(options: Mapping[str, str], policy: Policy) -> Iterator[Found]:
    """A volume that is a mount in disguise reaches where a bind mount would, or further."""
    kind, device, more = (options.get(name, "") for name in ("type", "device", "o"))
    if kind == "tmpfs" or not (kind or device):
        return
    if not device.startswith("/"):
        yield ".driver_opts", f"{kind or device} needs / in host_paths"
    elif not below_any(device, policy.host_paths):
        yield ".driver_opts.device", f"{device} is not in host_paths"
    elif "/" in more:
        yield ".driver_opts.o", f"{more} needs / in host_paths"


def _foreign(key: str, part: Mapping[str, Any], fill: Callable[[object], str]) -> str:
    """The name of a network or volume that is not the application's own, or nothing."""
    external, name = part.get("external"), str(part.get("name") or "")
    if isinstance(external, dict):
        return fill(name or external.get("name") or key)
    if is_true(fill(external)):
        return fill(name or key)
    return "" if name.startswith(_OWN_NAME) else fill(name)


def _closed(kind: str, name: str, policy: Policy) -> bool:
    opened = kind == "network" and policy.host_namespaces == "allow"
    return not opened and f"{kind}:{name}" not in policy.host_paths


def _words(kind: str, name: str) -> str:
    return f"{name} is not of this application, and {kind}:{name} is not in host_paths"


def texts(part: object, key: str, fill: Callable[[object], str]) -> dict[str, str]:
    """The plain texts below a key, with values put in."""
    below = part.get(key) if isinstance(part, dict) else None
    found = below if isinstance(below, dict) else {}
    return {
        str(name): fill(value)
        for name, value in found.items()
        if not isinstance(value, dict | list)
    }


def is_true(text: str) -> bool:
    """Whether Compose takes a text for true."""
    return text.lower() in ("true", "yes", "on", "1")


def below_any(path: str, roots: Iterable[str]) -> bool:
    """Whether a path is one of these folders or lies below one."""
    normal = posixpath.normpath(path)
    return any(
        root == "/" or normal == root or normal.startswith(f"{root}/")
        for root in map(posixpath.normpath, roots)
    )
