"""A wall clock of their own for the Python processes of a lab node, set while they run.

The lab's nodes share the clock of the machine, so it is not the node's clock that is stepped but
the one that the modules' Python sees. Monotonic time runs on, as it does on a machine whose clock
is set. Debian's faketime serves the runner (`faked_clock`) but not the nodes: with a monotonic
clock that is left alone, its clock_nanosleep refuses what Python 3.13 calls for `time.sleep`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab import Lab

FOLDER = Path("/run/margrave-clock")
HOOK = '''\
"""Steps the wall clock of this process by the seconds in a file, which may change any time."""

import time

_time = time.time


def stepped():
    try:
        with open("/run/margrave-clock/offset") as file:
            return _time() + float(file.read())
    except (OSError, ValueError):
        return _time()


def _of_now(function):
    return lambda seconds=None: function(stepped() if seconds is None else seconds)


time.time = stepped
time.gmtime, time.localtime = _of_now(time.gmtime), _of_now(time.localtime)
'''
SITE = "$(/usr/bin/python3 -c 'import site; print(site.getsitepackages()[0])')"
INSTALL = f"""
mkdir -p {SITE} {FOLDER}
cat > {SITE}/margrave_clock.py
echo 'import margrave_clock' > {SITE}/margrave_clock.pth
"""


@dataclass(frozen=True)
class NodeClock:
    """The clock of one node's modules."""

    lab: Lab
    node: str

    def install(self) -> None:
        """Let every Python of the node see this clock, which is right at first."""
        self.lab.ssh(self.node, INSTALL, input=HOOK, check=True)
        self.set(0)

    def set(self, seconds: int) -> None:
        """Step the clock to this distance from the right time."""
        folder = self.lab.inside(self.node, FOLDER)
        (folder / "offset.new").write_text(f"{seconds}\n")
        (folder / "offset.new").replace(folder / "offset")

    def set_at(self, phase: str, deployment: str, seconds: int) -> None:
        """Wait on the node for a call's phase and step the clock then, or after 20 seconds."""
        journal = f"/var/lib/margrave/deployments/{deployment}/journal.json"
        command = (
            f'for _ in $(seq 2000); do grep -qs \'"phase": "{phase}"\' {journal} && break;'
            f" sleep 0.01; done; echo {seconds} > {FOLDER}/offset"
        )
        self.lab.ssh(self.node, command, check=True)

    def remove(self) -> None:
        """Leave the node as it was."""
        self.lab.ssh(self.node, f"rm -rf {FOLDER} {SITE}/margrave_clock.*", check=True)
