# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Subnets that a model fixes for its networks, held against the node's routes.

A bridge with the addresses of a network that the node reaches would take that network's place, for
the node and for all that it runs. Routes of policy routing tables are not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ansible_collections.margrave.edge.plugins.module_utils._compose_values import Policy
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

IPV4_ROUTES = "/proc/net/route"
IPV6_ROUTES = "/proc/net/ipv6_route"


def check(
    component: str,
    model: dict,
    policy: dict,
    networks: Callable[[], list[dict]],
    routes: Callable[[], list[str]],
) -> None:
    """Raise ConfigError where a subnet of the model overlaps a route that is not the deployment's.

    `networks` returns the deployment's own networks as the engine describes them.
    """
    wanted = dict(_wanted(model))
    if not wanted or Policy(policy).opens("host_namespaces"):
        return
    own = [subnet for network in networks() for subnet in _of_engine(network)]
    for path, subnet in wanted.items():
        route = overlapping(subnet, routes(), own)
        if route:
            raise ConfigError(
                "subnet-taken",
                f"components.{component}: {path}: {subnet} overlaps {route}, which the node reaches"
                " elsewhere",
                "leave the subnet to the engine, or use one that is free at the site",
            )


def overlapping(subnet: str, routes: Iterable[str], own: Iterable[str]) -> str | None:
    """Return the first route that overlaps a subnet, the default routes and own subnets aside."""
    from ipaddress import ip_network  # few models fix a subnet, and its import takes time

    wanted = ip_network(subnet, strict=False)
    ours = [ip_network(one, strict=False) for one in own]
    for text in routes:
        route = ip_network(text, strict=False)
        if not route.prefixlen or not route.overlaps(wanted):  # False between IPv4 and IPv6
            continue
        if not any(one.overlaps(route) and one.prefixlen <= route.prefixlen for one in ours):
            return text
    return None


def node_routes() -> list[str]:
    """Return the destinations of the node's routes."""
    return [*ipv4_routes(_text(IPV4_ROUTES)), *ipv6_routes(_text(IPV6_ROUTES))]


def ipv4_routes(text: str) -> Iterator[str]:
    """Return the destinations in the text of /proc/net/route, whose bytes are reversed."""
    for line in text.splitlines()[1:]:
        fields = line.split()
        address, mask = (bytes.fromhex(fields[at])[::-1] for at in (1, 7))
        length = bin(int.from_bytes(mask, "big")).count("1")
        yield f"{'.'.join(map(str, address))}/{length}"


def ipv6_routes(text: str) -> Iterator[str]:
    """Return the destinations in the text of /proc/net/ipv6_route."""
    for line in text.splitlines():
        address, length = line.split()[:2]
        parts = ":".join(address[at : at + 4] for at in range(0, 32, 4))
        yield f"{parts}/{int(length, 16)}"


def _wanted(model: dict) -> Iterator[tuple[str, str]]:
    for name, network in (model.get("networks") or {}).items():
        if network and not network.get("external"):
            entries = (network.get("ipam") or {}).get("config") or []
            for number, entry in enumerate(entries):
                if entry.get("subnet"):
                    yield f"networks.{name}.ipam.config[{number}].subnet", entry["subnet"]


def _of_engine(network: dict) -> Iterator[str]:
    for entry in (network.get("IPAM") or {}).get("Config") or []:
        if entry.get("Subnet"):
            yield entry["Subnet"]


def _text(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except FileNotFoundError:
        return ""  # a kernel without IPv6
