"""Faults of a node: how each is brought about, and how it is undone."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from lab import machine, network, registry
from lab.commands import attempt, run
from lab.errors import LabError
from margrave.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lab.context import Place


class Fault(StrEnum):
    KILL = "kill"
    PARTITION = "partition"
    SLOW = "slow"
    DISK_FULL = "disk-full"
    REGISTRY = "registry"


@dataclass(frozen=True, slots=True)
class Deed:
    """`undo` may be called on a node that never had the fault."""

    meaning: str
    do: Callable[[Place], None]
    undo: Callable[[Place], None]
    needs_power: bool = True


# A bad mobile link. Not every kernel has netem: a narrow queue and lost packets come near it.
DELAYED = ["netem", "delay", "150ms", "20ms", "loss", "5%", "rate", "1mbit"]
NARROW = ["tbf", "rate", "1mbit", "burst", "32kbit", "latency", "400ms"]
LOSSY = ["-m", "statistic", "--mode", "random", "--probability", "0.05", "-j", "DROP"]


def _kill(place: Place) -> None:
    place.cut_power()


def _revive(place: Place) -> None:
    if place.pid is None:
        place.power_on()


def _partition(place: Place) -> None:
    network.set_cable(place.subnet, place.number, "down")


def _reunite(place: Place) -> None:
    network.set_cable(place.subnet, place.number, "up")
    attempt(["ip", "neigh", "flush", "dev", place.subnet.bridge, "to", place.address])


def _slow(place: Place) -> None:
    _fast(place)
    if all(attempt(one).returncode == 0 for one in _shaping(place, "add", DELAYED)):
        return
    _fast(place)
    for one in _shaping(place, "add", NARROW):
        run(one)
    for chain in ("INPUT", "OUTPUT"):
        _put_rule(place, chain, LOSSY)


def _fast(place: Place) -> None:
    for one in _shaping(place, "del", ()):
        attempt(one)
    for chain in ("INPUT", "OUTPUT"):
        _take_rule(place, chain, LOSSY)


def _shaping(place: Place, verb: str, discipline: Sequence[str]) -> list[list[str]]:
    """Commands for both ends of the cable: what the node sends, and what it is sent."""
    return [
        ["tc", "-n", place.namespace, "qdisc", verb, "dev", "eth0", "root", *discipline],
        ["tc", "qdisc", verb, "dev", place.machine, "root", *discipline],
    ]


def _part_from_registry(place: Place) -> None:
    _put_rule(place, "OUTPUT", _to_registry(place))


def _show_registry(place: Place) -> None:
    _take_rule(place, "OUTPUT", _to_registry(place))


def _to_registry(place: Place) -> list[str]:
    where = ["-d", place.subnet.gateway, "--dport", str(registry.PORT)]
    return ["-p", "tcp", *where, "-j", "DROP"]


def _put_rule(place: Place, chain: str, rule: Sequence[str]) -> None:
    if attempt([*_iptables(place), "-C", chain, *rule]).returncode:
        run([*_iptables(place), "-I", chain, *rule])


def _take_rule(place: Place, chain: str, rule: Sequence[str]) -> None:
    """Remove it as often as it is there."""
    while not attempt([*_iptables(place), "-D", chain, *rule]).returncode:
        continue


def _iptables(place: Place) -> list[str]:
    return ["ip", "netns", "exec", place.namespace, "iptables", "-w"]


def _fill(place: Place) -> None:
    """Take the rest of the node's disk with a file outside its sight, down to the last block."""
    with _ballast(place).open("ab") as file:
        size, step = file.tell(), 2**30
        while step >= 4096:
            try:
                os.posix_fallocate(file.fileno(), size, step)
                size += step
            except OSError as error:
                if error.errno not in {errno.ENOSPC, errno.EFBIG}:
                    raise
                step //= 2


def _empty(place: Place) -> None:
    _ballast(place).unlink(missing_ok=True)


def _ballast(place: Place) -> Path:
    pid = place.pid
    if pid is None:
        raise LabError(f"{place.node} went off meanwhile")
    return machine.inside(pid, place.files.mount) / "ballast"


FAULTS: Mapping[Fault, Deed] = {
    Fault.KILL: Deed("cut the power; the disk stays", _kill, _revive, needs_power=False),
    Fault.PARTITION: Deed("cut the network cable", _partition, _reunite),
    Fault.SLOW: Deed("1 Mbit/s, and one packet in twenty lost", _slow, _fast),
    Fault.DISK_FULL: Deed("leave no free block on the disk", _fill, _empty),
    Fault.REGISTRY: Deed(
        "drop what the node sends to the registry", _part_from_registry, _show_registry
    ),
}


def inflict(place: Place, fault: Fault) -> None:
    deed = FAULTS[fault]
    if deed.needs_power and place.pid is None:
        raise Refused(f'node "{place.node}" is off', f"start it: margrave lab heal {place.node}")
    deed.do(place)


def heal(place: Place) -> None:
    """Undo everything that `inflict` knows; a healthy node stays as it is."""
    for deed in FAULTS.values():  # power comes first: the rest needs a running node
        deed.undo(place)
