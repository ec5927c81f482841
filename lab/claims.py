"""Which lab has which subnet on this machine."""

from __future__ import annotations

import re
import signal
from contextlib import suppress
from pathlib import Path

from lab import cgroups, limits, machine, network, processes, record
from lab.layout import DISKS, RUN, SUBNET_LOCK, Layout
from lab.locks import held
from lab.record import Record
from lab.subnet import Subnet, choose

_OURS = re.compile(r"mgv(\d{1,3})")


def labs() -> list[str]:
    """The names of all labs of this machine, the one that is building a base among them."""
    return sorted(file.parent.name for file in DISKS.glob("*/lab.json"))


def claim(layout: Layout) -> Record:
    """The lab's record; a new lab gets a free subnet."""
    with held(SUBNET_LOCK):
        mine = record.load(layout.record)
        if mine is not None:
            return mine
        reserved = {one.subnet.index for one in _records()}
        sweep(reserved)
        mine = Record(choose(network.networks_in_use(), reserved))
        record.save(layout.record, mine)
        return mine


def settle(layout: Layout, mine: Record) -> bool:
    """Write the lab's record; says whether a limit of this machine had to be raised for all."""
    with held(SUBNET_LOCK):
        record.save(layout.record, mine)
        return limits.make_room(sum(len(one.nodes) for one in _records()))


def release() -> None:
    """To be called when a lab is gone: the last one leaves the machine as it was."""
    with held(SUBNET_LOCK):
        if not labs():
            limits.put_back()
    for folder in (SUBNET_LOCK.parent, RUN, DISKS):
        with suppress(OSError):  # not empty: another lab is there, or on its way
            folder.rmdir()


def bases_in_use() -> set[str]:
    """Folders of base systems that some lab's disks are layered over."""
    return {base for one in _records() for base in one.bases.values()}


def sweep(reserved: set[int]) -> None:
    """Remove what carries our names and belongs to no lab: somebody deleted its record by hand."""
    links = [one.name for one in Path("/sys/class/net").iterdir()]
    found = {int(match[1]) for name in links if (match := _OURS.fullmatch(name))}
    for index in found - reserved:
        clear(Subnet(index))


def clear(subnet: Subnet) -> None:
    """End all nodes of the subnet at once and remove its network."""
    machine.cut_power(*processes.with_beginning(f"--machine={subnet.bridge}n"))
    network.remove(subnet)


def _records() -> list[Record]:
    found = (record.load(Layout(name).record) for name in labs())
    return [one for one in found if one is not None]


def dismantle(layout: Layout, subnet: Subnet) -> None:
    """End and remove all of a lab but its record and its disks."""
    servers = processes.with_word(str(layout.run / "registry.yml"))
    nodes = processes.with_beginning(f"--machine={subnet.bridge}n")
    processes.end(servers, signal.SIGKILL)
    clear(subnet)
    cgroups.remove(layout.name)
    processes.wait_until_reaped([*servers, *nodes])
