"""A lab: its nodes and its registry, from nothing to nothing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lab import (
    base,
    claims,
    definitions,
    faults,
    machine,
    names,
    network,
    preflight,
    push,
    record,
    registry,
    seed,
    ssh,
)
from lab.context import Place
from lab.engines import Engine
from lab.faults import Fault
from lab.layout import Layout
from lab.locks import held
from lab.node import Node, State
from margrave.errors import NotFound, Refused

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from lab.record import Record

# Booting is waiting for processors: more at a time only makes the first one later.
AT_ONCE = 4


def _silent(_message: str) -> None:
    """No progress wanted."""


def all_labs() -> list[Lab]:
    """The labs of this machine by name; one that is being made or removed counts."""
    return [Lab(name) for name in claims.labs() if name != base.WORKSHOP.name]


class Lab:
    """A named set of real nodes and a registry on this machine. Making the object does nothing."""

    def __init__(self, name: str = "default") -> None:
        self.name = names.checked(name, "lab")
        self._places = Layout(name)

    # -- making and removing ------------------------------------------------------------------

    def up(
        self,
        nodes: Iterable[str] | Mapping[str, Engine] = (),
        *,
        count: int | None = None,
        engine: Engine | None = None,
        progress: Callable[[str], None] = _silent,
    ) -> list[Node]:
        """Make these nodes, or as many as counted, beside those there are; start what is off.

        What runs is left alone. Without nodes and count: those there are, or three new ones.
        New nodes get the engine, else podman; a mapping says of each node which it has.
        """
        preflight.check()
        with self._alone():
            new = self._wanted(claims.claim(self._places), nodes, count, engine, progress)
            if claims.settle(self._places, new):
                progress("raised fs.inotify.max_user_instances until the last lab is down")
            network.make_bridge(new.subnet)
            registry.start(self._places, new.subnet.gateway)
            with ThreadPoolExecutor(AT_ONCE) as pool:
                # The images are built while the first nodes boot.
                filling = pool.submit(self.push_images, definitions.OURS)
                self._prepare(new)
                list(pool.map(lambda place: _switch_on(place, progress), self._all(new)))
                progress(f"registry at {self.registry_address}: {len(filling.result())} images")
            return [place.describe() for place in self._all(new)]

    def down(self) -> bool:
        """Remove nodes, registry, network and disks; False when there was no such lab."""
        with self._alone():
            known = self._record_or_none()
            if known is not None:
                claims.dismantle(self._places, known.subnet)
            found = known is not None or self._places.kept.exists()
            shutil.rmtree(self._places.run, ignore_errors=True)
            # The record goes last: as long as anything is left, the lab can be found and removed.
            shutil.rmtree(self._places.kept / "nodes", ignore_errors=True)
            shutil.rmtree(self._places.registry, ignore_errors=True)
            shutil.rmtree(self._places.kept, ignore_errors=True)
        claims.release()
        return found

    # -- looking ------------------------------------------------------------------------------

    @property
    def exists(self) -> bool:
        return self._record_or_none() is not None

    def nodes(self) -> list[Node]:
        """All nodes with their state now; empty when there is no such lab."""
        known = self._record_or_none()
        return [place.describe() for place in self._all(known)] if known else []

    def node(self, name: str) -> Node:
        return self._place(name).describe()

    @property
    def key(self) -> Path:
        """root's private SSH key, for all nodes of the lab."""
        return self._places.key

    @property
    def known_hosts(self) -> Path:
        return self._places.known_hosts

    @property
    def gateway(self) -> str:
        """This machine's address as nodes see it."""
        return self._record().subnet.gateway

    @property
    def registry_address(self) -> str:
        """Where this machine pushes; in image names it is registry.margrave.lab:5000."""
        return registry.address(self.gateway)

    def host_key(self, node: str) -> str:
        """The fingerprint of the node's SSH host key, known without asking the node."""
        place = self._place(node)
        return ssh.fingerprint(seed.public_host_key(place.files.seed))

    # -- working ------------------------------------------------------------------------------

    def ssh(
        self,
        node: str,
        command: str,
        *,
        check: bool = True,
        timeout: float = 60,
        input: str | None = None,  # noqa: A002 - subprocess calls it so
    ) -> subprocess.CompletedProcess[str]:
        """Run shell text on the node as root; `check` raises when its status is not 0."""
        address = self._place(node).address
        return ssh.run(self._places, address, command, stdin=input, timeout=timeout, check=check)

    def ssh_command(self, node: str) -> list[str]:
        """ssh with all its options up to the destination, for whoever starts it himself."""
        return ssh.command(self._places, self._place(node).address, batch=False)

    def inside(self, node: str, path: Path) -> Path:
        """A running node's file as this machine reaches it, also while its cable is cut."""
        place = self._place(node)
        pid = place.pid
        if pid is None:
            raise Refused(f'node "{node}" is off', f"start it: margrave lab heal {node}")
        return machine.inside(machine.init_of(pid), path)

    def push_images(self, folder: Path = definitions.OURS) -> dict[str, str]:
        """Build the definitions below the folder and push them: name:tag to digest."""
        where = self.registry_address
        images = definitions.read(folder)
        return {f"{one.name}:{one.tag}": push.push(where, one) for one in images}

    def fail(
        self,
        node: str,
        *,
        kill: bool = False,
        partition: bool = False,
        slow: bool = False,
        disk_full: bool = False,
        registry: bool = False,
    ) -> None:
        """Bring these faults about; `heal` undoes them all."""
        chosen = {
            Fault.PARTITION: partition,
            Fault.SLOW: slow,
            Fault.DISK_FULL: disk_full,
            Fault.REGISTRY: registry,
            Fault.KILL: kill,
        }
        with self._alone():
            place = self._place(node)
            for fault in (one for one, wanted in chosen.items() if wanted):
                faults.inflict(place, fault)

    def heal(self, node: str) -> None:
        """Undo all faults; a node that is off is started with its disk and address."""
        with self._alone():
            faults.heal(self._place(node))

    # -- within -------------------------------------------------------------------------------

    @contextmanager
    def _alone(self) -> Iterator[None]:
        preflight.check()
        with held(self._places.lock):
            yield

    def _record_or_none(self) -> Record | None:
        return record.load(self._places.record)

    def _record(self) -> Record:
        known = self._record_or_none()
        if known is None:
            raise NotFound(
                f'no lab "{self.name}" here', f"make it: margrave lab up --name {self.name}"
            )
        return known

    def _wanted(
        self,
        old: Record,
        nodes: Iterable[str] | Mapping[str, Engine],
        count: int | None,
        engine: Engine | None,
        progress: Callable[[str], None],
    ) -> Record:
        """The record with the nodes that are asked for; bases that new nodes need are made."""
        asked = nodes if isinstance(nodes, Mapping) else dict.fromkeys(nodes, engine)
        for name, one in asked.items():
            if one and old.engines.get(name, one) is not one:
                raise Refused(
                    f'node "{name}" has {old.engines[name]}, not {one}',
                    "name the new node otherwise, or make the lab anew",
                )
        new = old
        for name in names.wanted(old.nodes, asked, count):
            new = new.with_nodes([name], asked.get(name) or engine or Engine.PODMAN)
        for one in sorted(set(new.engines.values()) - set(old.bases)):
            new = new.with_base(one, str(base.ready(one, progress)))
        return new

    def _place(self, node: str) -> Place:
        known = self._record()
        if node not in known.nodes:
            raise NotFound(
                f'lab "{self.name}" has no node "{node}"', f"it has: {', '.join(known.nodes)}"
            )
        return Place(self._places, known, node)

    def _all(self, known: Record) -> list[Place]:
        return [Place(self._places, known, name) for name in known.nodes]

    def _prepare(self, known: Record) -> None:
        """Keys, seeds and disks, before the first boot."""
        if not self.key.exists():
            seed.make_key(self.key, f"lab {self.name}")
        authorized = self.key.with_suffix(".pub").read_text()
        places = self._all(known)
        for place in places:
            place.prepare(authorized)
        keys = {place.address: seed.public_host_key(place.files.seed) for place in places}
        ssh.write_known_hosts(self.known_hosts, keys)


def _switch_on(place: Place, progress: Callable[[str], None]) -> None:
    if place.state() is State.RUNNING:
        place.settle()
        return
    started = time.monotonic()
    place.power_on()
    progress(f"node {place.node} answers at {place.address} ({time.monotonic() - started:.1f} s)")
