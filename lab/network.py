"""Bridge, namespaces and cables of a lab.

Everything is named mgv<subnet>…, so that leftovers are known by their names alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.commands import attempt, run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.subnet import Subnet

NAMESPACES = Path("/run/netns")


def networks_in_use() -> list[str]:
    """Networks this machine has an address in or a route to, the default route aside."""
    addresses = [
        f"{one['local']}/{one['prefixlen']}"
        for link in _json("-4", "addr", "show")
        for one in link.get("addr_info", [])
    ]
    routes = [str(one["dst"]) for one in _json("-4", "route", "show", "table", "all")]
    return addresses + [one for one in routes if one[:1].isdigit()]


def has_bridge(subnet: Subnet) -> bool:
    return Path("/sys/class/net", subnet.bridge).exists()


def make_bridge(subnet: Subnet) -> None:
    """Make the bridge and give this machine its address on it; what is there is kept."""
    if not has_bridge(subnet):
        run(["ip", "link", "add", subnet.bridge, "type", "bridge"])
    run(["ip", "addr", "replace", f"{subnet.gateway}/24", "dev", subnet.bridge])
    run(["ip", "link", "set", subnet.bridge, "up"])


def connect(subnet: Subnet, node: str, number: int) -> None:
    """A fresh namespace for the node, cabled to the bridge."""
    namespace, cable = subnet.namespace(node), subnet.interface(number)
    disconnect(subnet, node, number)
    run(["ip", "netns", "add", namespace])
    cabling = f"link add {cable} type veth peer name eth0 address {subnet.mac(number)}"
    run(["ip", *cabling.split(), "netns", namespace])
    run(["ip", "link", "set", cable, "master", subnet.bridge, "up"])
    inside = [
        f"addr add {subnet.address(number)}/24 dev eth0",
        "link set lo up",
        "link set eth0 up",
        # There is nothing behind it; container engines refuse networks on a host without a route.
        f"route add default via {subnet.gateway}",
    ]
    run(["ip", "-n", namespace, "-batch", "-"], stdin="\n".join(inside) + "\n")
    attempt(["ip", "neigh", "flush", "dev", subnet.bridge, "to", subnet.address(number)])


def disconnect(subnet: Subnet, node: str, number: int) -> None:
    """Remove cable and namespace, whichever are there."""
    _remove_link(subnet.interface(number))
    _remove_namespace(subnet.namespace(node))


def remove(subnet: Subnet) -> None:
    """Remove all that is named after the subnet, known to the lab or left by a killed run."""
    for name in namespaces(subnet):
        _remove_namespace(name)
    for name in cables(subnet):
        _remove_link(name)
    _remove_link(subnet.bridge)


def namespaces(subnet: Subnet) -> list[str]:
    return _starting(NAMESPACES, f"{subnet.bridge}-")


def cables(subnet: Subnet) -> list[str]:
    return _starting(Path("/sys/class/net"), f"{subnet.bridge}n")


def set_cable(subnet: Subnet, number: int, state: str) -> None:
    run(["ip", "link", "set", subnet.interface(number), state])


def is_connected(subnet: Subnet, number: int) -> bool:
    """Whether the node's cable is there and not cut."""
    state = Path("/sys/class/net", subnet.interface(number), "operstate")
    return state.exists() and state.read_text().strip() != "down"


def _starting(folder: Path, beginning: str) -> list[str]:
    names: Iterable[Path] = folder.iterdir() if folder.exists() else ()
    return sorted(one.name for one in names if one.name.startswith(beginning))


def _remove_link(name: str) -> None:
    if Path("/sys/class/net", name).exists():
        attempt(["ip", "link", "del", name])


def _remove_namespace(name: str) -> None:
    if (NAMESPACES / name).exists():
        run(["ip", "netns", "del", name])


def _json(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(["ip", "-json", *words]) or "[]")
    return found
