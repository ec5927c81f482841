"""A lab's private subnet: which one is free, and the names and addresses that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, ip_network
from typing import TYPE_CHECKING

from lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterable

FIRST_NODE = 11
LAST_NODE = 250


@dataclass(frozen=True, slots=True)
class Subnet:
    """10.231.<index>.0/24; interface names come from numbers, to fit the kernel's 15 characters."""

    index: int

    @property
    def network(self) -> IPv4Network:
        return IPv4Network((0x0AE70000 | self.index << 8, 24))

    @property
    def bridge(self) -> str:
        return f"mgv{self.index}"

    @property
    def gateway(self) -> str:
        return str(self.network[1])

    def address(self, number: int) -> str:
        return str(self.network[number])

    def interface(self, number: int) -> str:
        return f"{self.bridge}n{number}"

    def mac(self, number: int) -> str:
        """Fixed per address: a node that starts again is at once where neighbours remember it."""
        return f"02:4d:47:{self.index:02x}:00:{number:02x}"

    def namespace(self, node: str) -> str:
        return f"{self.bridge}-{node}"


def choose(used: Iterable[str], reserved: Iterable[int]) -> Subnet:
    """The first subnet that overlaps no network in use here and belongs to no other lab."""
    networks = [ip_network(one, strict=False) for one in used]
    mine = [one for one in networks if isinstance(one, IPv4Network) and one.prefixlen]
    taken = set(reserved)
    for index in range(255):
        subnet = Subnet(index)
        if index not in taken and not any(subnet.network.overlaps(one) for one in mine):
            return subnet
    raise LabError("no free subnet in 10.231.0.0/16", "remove a lab: margrave lab down --name LAB")


def free_number(taken: Iterable[int]) -> int:
    """The lowest free host number for a node."""
    used = set(taken)
    for number in range(FIRST_NODE, LAST_NODE + 1):
        if number not in used:
            return number
    raise LabError(f"a lab holds {LAST_NODE - FIRST_NODE + 1} nodes at most", "use a second lab")
