"""A package's network does not take the addresses of a network that the node reaches."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _subnets
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

IPV4 = """\
Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	010200C0	0003	0	0	0	00000000	0	0	0
eth0	0000420A	010200C0	0003	0	0	0	0000FFFF	0	0	0
br-1	0001A8C0	00000000	0001	0	0	0	00FFFFFF	0	0	0
"""
IPV6 = (
    "fd000001000000000000000000000000 30 00000000000000000000000000000000 00"
    " 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0\n"
)
ROUTES = [
    "0.0.0.0/0",
    "10.66.0.0/16",
    "192.168.1.0/24",
    "fd00:0001:0000:0000:0000:0000:0000:0000/48",
]


def _check(subnet: str, own: list[str] | None = None, **policy: Any) -> None:
    model = {"networks": {"mine": {"ipam": {"config": [{"subnet": subnet}]}}, "other": None}}
    networks = [{"IPAM": {"Config": [{"Subnet": one} for one in own or []]}}]
    _subnets.check("web", model, policy, lambda: networks, lambda: ROUTES)


def test_routes_are_read_as_the_kernel_writes_them() -> None:
    """Both tables of the kernel become networks in the usual form."""
    assert [*_subnets.ipv4_routes(IPV4), *_subnets.ipv6_routes(IPV6)] == ROUTES


def test_the_node_has_routes_that_can_be_read() -> None:
    """What this very kernel writes is readable, so that a check on a node does not fail."""
    assert _subnets.overlapping("192.0.2.0/24", _subnets.node_routes(), ["0.0.0.0/0"]) is None


@pytest.mark.parametrize("subnet", ["10.66.3.0/24", "10.0.0.0/8", "192.168.1.0/25", "fd00:1::/64"])
def test_a_subnet_of_a_network_that_the_node_reaches_is_refused(subnet: str) -> None:
    """Smaller, larger and equal: the node would lose its way to the other network."""
    with pytest.raises(
        ConfigError, match=r"networks\.mine\.ipam\.config\[0\]\.subnet: .* overlaps"
    ):
        _check(subnet)


@pytest.mark.parametrize("subnet", ["10.67.0.0/16", "fd00:2::/64"])
def test_a_free_subnet_is_allowed(subnet: str) -> None:
    """Default routes lead everywhere and do not count."""
    _check(subnet)


def test_the_deployments_own_networks_do_not_count() -> None:
    """An update keeps the subnet that the deployment has already."""
    _check("192.168.1.0/24", own=["192.168.1.0/24"])


def test_a_site_can_open_it() -> None:
    """The key that opens subnets of any kind opens those that are taken, too."""
    _check("10.66.3.0/24", host_namespaces="allow")
