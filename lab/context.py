"""One node of one lab, with all that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab import cgroups, machine, network, seed, ssh
from lab.engines import KINDS
from lab.errors import LabError
from lab.node import Boot, Node, State

if TYPE_CHECKING:
    from lab.engines import Engine
    from lab.layout import Layout, NodeLayout
    from lab.record import Record
    from lab.subnet import Subnet


@dataclass(frozen=True, slots=True)
class Place:
    """A node's place in its lab: number, address, folders, and its switch."""

    layout: Layout
    record: Record
    node: str

    @property
    def subnet(self) -> Subnet:
        return self.record.subnet

    @property
    def number(self) -> int:
        return self.record.nodes[self.node]

    @property
    def address(self) -> str:
        return self.record.address(self.node)

    @property
    def namespace(self) -> str:
        return self.subnet.namespace(self.node)

    @property
    def machine(self) -> str:
        """Number instead of name: a machine's name may not be longer than 64 characters."""
        return self.subnet.interface(self.number)

    @property
    def engine(self) -> Engine:
        return self.record.engine(self.node)

    @property
    def files(self) -> NodeLayout:
        return self.layout.node(self.node)

    @property
    def pid(self) -> int | None:
        return machine.supervisor(self.machine)

    def state(self) -> State:
        return State.STOPPED if self.pid is None else State.RUNNING

    def describe(self) -> Node:
        return Node(self.node, self.address, self.state(), self.layout.name, self.engine)

    def prepare(self, authorized: str) -> None:
        """Make what the node keeps over restarts: its seed and its disk."""
        seed.write(self.files.seed, self.node, self.subnet.gateway, authorized)
        if not self.files.image.exists():
            machine.make_disk(self.files.image)

    def power_on(self) -> None:
        """Boot with the disk as it is; returns when an SSH server answers."""
        base = Path(self.record.bases[self.engine])
        if not base.is_dir():
            raise LabError(
                f"{base}: the base system this lab's disks are layered over is gone",
                f"make the lab anew: margrave lab down --name {self.layout.name}",
            )
        network.connect(self.subnet, self.node, self.number)
        boot = Boot(
            machine=self.machine,
            namespace=self.namespace,
            base=base,
            places=self.files,
            storage=KINDS[self.engine].storage,
            groups=cgroups.make(self.layout.name, self.node),
            old_cgroups=cgroups.is_v1(),
            own_scope=cgroups.host_has_systemd(),
        )
        machine.start(boot)
        self._wait_until_booted()

    def settle(self) -> None:
        """Wait for a node that is still booting; one whose cable is cut is left alone."""
        if network.is_connected(self.subnet, self.number) and not ssh.has_banner(self.address):
            self._wait_until_booted()

    def _wait_until_booted(self) -> None:
        try:
            ssh.wait_for_banner(self.address)
            # `degraded` is up as well; what matters is that nothing is still on its way.
            wait = "systemctl is-system-running --wait"
            ssh.run(self.layout, self.address, wait, stdin=None, timeout=120, check=False)
        except LabError as error:
            raise LabError(
                f"{self.node}: {error.message}; its console: {machine.last_words(self.files)}"
            ) from error

    def cut_power(self) -> None:
        """Everything inside ends at once; the disk stays as it is."""
        if self.pid is not None:
            machine.cut_power(self.pid)
        network.disconnect(self.subnet, self.node, self.number)
        cgroups.remove(self.layout.name, self.node)
