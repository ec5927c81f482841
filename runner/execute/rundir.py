"""The private folder of one run: inventory and play. Its arguments are kept in memory.

Nothing of either stands on a command line. Arguments hold registry passwords and resolved secrets,
which no file of the state folder may keep: not even of a runner that was killed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Final

from ansible_collections.margrave.edge.plugins.plugin_utils import arguments_file

from margrave.errors import Refused
from runner.execute.errand import Errand
from runner.ports import Target

# Values in inventory and play are templates to Ansible, so what could begin one does not get in.
# The module's arguments may hold anything: its action reads them from a file, as they stand there.
TEMPLATE: Final = re.compile(r"\{[{%#]")


class RunFolder:
    """Makes and removes the folder; hosts are numbered, so that one node may stand there twice."""

    def __init__(
        self,
        path: Path,
        proxy: Callable[[Target], str] = lambda _: "",
        control: Callable[[Errand], str] = lambda _: "",
    ) -> None:
        self.path = path
        self._proxy = proxy  # the command that leads to a node behind a jump host
        self._control = control  # the socket of the connection that an errand goes over
        self._memory: int | None = None  # the descriptor of the arguments

    @property
    def inventory(self) -> Path:
        return self.path / "inventory.yml"

    @property
    def play(self) -> Path:
        return self.path / "play.yml"

    @property
    def pids(self) -> Path:
        """Where the processes of the run note themselves: `<pid> <start tick>` a line."""
        return self.path / "pids"

    def write(self, module: str, errands: Sequence[Errand]) -> None:
        """Lay down what Ansible reads; JSON, which it parses several times faster than YAML."""
        self.path.mkdir(mode=0o700, parents=True)
        hosts = {}
        for number, errand in enumerate(errands):
            hosts[host(number)] = _variables(errand, self._way(errand))
        _write(self.inventory, {"all": {"hosts": hosts}})
        deadlines = {_deadline(errand) for errand in errands}
        _write(self.play, _play(module, self._arguments(module, errands), deadlines))

    def _arguments(self, module: str, errands: Sequence[Errand]) -> dict[str, str]:
        """Return the arguments of the task: where those of each host can be read."""
        if module.endswith("_info"):
            # Observations have no action of ours to read a file, and take an id at most.
            asked = errands[0].arguments.items()
            return {name: _plain(module, str(value)) for name, value in asked}
        given = {host(number): errand.arguments for number, errand in enumerate(errands)}
        # One descriptor for all hosts of the run: a process may have some thousand at most.
        self._memory = os.memfd_create("margrave-arguments")
        os.fchmod(self._memory, 0o600)
        with os.fdopen(os.dup(self._memory), "wb") as file:
            file.write(arguments_file.dump(given))
        # Ansible's workers are no children of ours, so they cannot inherit it: they open it here.
        return {"arguments_from": f"/proc/{os.getpid()}/fd/{self._memory}"}

    def _way(self, errand: Errand) -> dict[str, str]:
        """Options of ssh that are this errand's."""
        # Named, because Ansible adds none where any option has "ControlPath" in it, as the command
        # of a jump host has: each call to a node behind it would be a login there.
        way = {"ControlPath": self._control(errand), "ProxyCommand": self._proxy(errand.node)}
        return {name: value for name, value in way.items() if value}

    def remove(self) -> None:
        """Remove the folder and the arguments; a file that is gone already is no error."""
        shutil.rmtree(self.path, ignore_errors=True)
        memory, self._memory = self._memory, None
        if memory is not None:
            os.close(memory)


def _play(module: str, arguments: Mapping[str, str], deadlines: Set[int]) -> list[dict[str, Any]]:
    # Nearly always one for all: a template costs each node's call two milliseconds.
    [*_, deadline] = deadlines
    task = {
        "name": "Operation",
        "action": module,
        "args": dict(arguments),
        "timeout": deadline if len(deadlines) == 1 else "{{ margrave_deadline }}",
    }
    return [
        {
            "name": "Operations",
            "hosts": "all",
            "gather_facts": False,
            # With one task nobody waits for anybody, and unlike `free` it does not walk over all
            # hosts each time it looks for results: of twenty that took a twentieth of a core.
            "strategy": "ansible.builtin.linear",
            "tasks": [task],
        }
    ]


def host(number: int) -> str:
    """The inventory name of an errand by its place in the run."""
    return f"errand-{number}"


def _plain(what: str, value: str) -> str:
    if TEMPLATE.search(value):
        raise Refused(f'{what}: "{value}" reads like a template', "choose another name")
    return value


def _variables(errand: Errand, way: Mapping[str, str]) -> dict[str, Any]:
    node = errand.node
    for value in (node.address, node.user, node.key, *way.values()):
        _plain(node.name, value)
    words = [word for name, value in way.items() for word in ("-o", f"{name}={value}")]
    common = {"ansible_ssh_common_args": shlex.join(words)} if words else {}
    return common | {
        "ansible_host": node.address,
        "ansible_port": node.port,
        "ansible_user": node.user,
        "ansible_ssh_private_key_file": node.key,
        "ansible_become": node.user != "root",
        # Named, because discovering it costs a round trip; onboarding has checked that it is there.
        "ansible_python_interpreter": "/usr/bin/python3",
        "margrave_deadline": _deadline(errand),
    }


def _deadline(errand: Errand) -> int:
    return max(1, int(errand.deadline))


def _write(path: Path, value: object) -> None:
    # 0600 from the first byte: they name nodes, users and keys.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(value, file)
