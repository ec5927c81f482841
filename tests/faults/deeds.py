"""What can break: each fault is brought about while a module stands at a step, and is undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.execute import processes
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from tests.faults.ground import Ground


@dataclass(frozen=True)
class Fault:
    """`act` is what the module does at the step; `strike` comes after it stands, or is dead."""

    meaning: str
    act: str
    strike: Callable[[Ground], None]
    # Error classes that may be told on the way; the operation then ended and was tried again.
    # Where one has to be, `strike` waits for it.
    told: tuple[str, ...] = ()


def _nothing(_ground: Ground) -> None:
    """The module has ended itself."""


def _kill_ansible(ground: Ground) -> None:
    for pid, ticks in ground.runner.ansible():
        processes.kill_tree(pid, ticks)
    ground.stops.go()


def _kill_runner(ground: Ground) -> None:
    ground.runner.kill()
    ground.stops.go()
    ground.runner.start()


def _kill_runner_with_module(ground: Ground) -> None:
    """Nobody finishes the work but the next call: as when runner and node share a power line."""
    ground.runner.kill()
    ground.kill_module()
    ground.runner.start()


def _cut_connection(ground: Ground) -> None:
    for pid in ground.runner.masters():
        processes.kill_tree(pid)
    ground.stops.go()


def _cut_link(ground: Ground) -> None:
    """The module ends its work while nobody can hear of it."""
    ground.lab.fail(ground.node, partition=True)
    ground.stops.go()
    eventually(ground.is_waiting_for_node, 180, "the runner notices that the node is away")
    ground.lab.heal(ground.node)


def _cut_power(ground: Ground) -> None:
    ground.lab.fail(ground.node, kill=True)
    ground.lab.heal(ground.node)


def _fill_disk(ground: Ground) -> None:
    ground.lab.fail(ground.node, disk_full=True)
    ground.stops.go()
    # Docker takes containers down without a free block; podman notes that it does.
    met = lambda: ground.has_told("disk") or ground.standing()[0] == "DELETED"  # noqa: E731
    eventually(met, 180, "a full disk is told")
    ground.lab.heal(ground.node)


def _cut_registry(ground: Ground) -> None:
    ground.lab.fail(ground.node, registry=True)
    ground.stops.go()
    eventually(lambda: ground.has_told("registry"), 240, "the registry's silence is told")
    ground.lab.heal(ground.node)


def _slow_link(ground: Ground) -> None:
    ground.lab.fail(ground.node, slow=True)
    ground.stops.go()
    ground.undo_later = lambda: ground.lab.heal(ground.node)


def _set_clock(seconds: int) -> Callable[[Ground], None]:
    """The module works on while the clock is off; it is set right again after the end."""

    def strike(ground: Ground) -> None:
        ground.set_clock(seconds)
        ground.undo_later = lambda: ground.set_clock(0)
        ground.stops.go()

    return strike


HOUR = 3600
CLOCK: Mapping[str, Fault] = {
    "6 h back": Fault("the runner's clock is set back", "halt", _set_clock(-6 * HOUR)),
    "6 h ahead": Fault("the runner's clock is set ahead", "halt", _set_clock(6 * HOUR)),
    "a day ahead": Fault("the same, by a day", "halt", _set_clock(24 * HOUR)),
}
FAULTS: Mapping[str, Fault] = {
    "module": Fault("kill -9 of the module on the node", "kill", _nothing),
    "ansible": Fault("kill -9 of ansible-playbook", "halt", _kill_ansible),
    "runner": Fault("kill -9 of the runner", "halt", _kill_runner),
    "both": Fault("kill -9 of runner and module at once", "halt", _kill_runner_with_module),
    "ssh": Fault("the connection breaks, the node works on", "halt", _cut_connection),
    "link": Fault("the cable is cut until it is noticed", "halt", _cut_link),
    # Whether the download meets it first, and is told of, is a matter of seconds.
    "download": Fault("the same while images come", "halt", _cut_link, told=("registry",)),
    "power": Fault("power cut of the node", "halt", _cut_power),
    "disk": Fault("the disk is full", "halt", _fill_disk, told=("disk",)),
    "registry": Fault("the registry falls silent", "halt", _cut_registry, told=("registry",)),
    "slow": Fault("a megabit with losses", "halt", _slow_link),
    **CLOCK,
}
