"""A clock of their own for the Python processes of a lab node, which can be set while they run.

The lab's nodes share the clock of the machine, so it is not the node's clock that is stepped but
the one that the modules' Python sees, through Debian's libfaketime. Monotonic time runs on, as it
does on a machine whose clock is set.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab import Lab

FOLDER = Path("/opt/margrave-clock")
LIBRARIES = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
PYTHON = """\
#!/bin/sh
export LD_PRELOAD=/opt/margrave-clock/libfaketime.so
export FAKETIME_TIMESTAMP_FILE=/opt/margrave-clock/offset
export FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1
exec /usr/bin/python3 "$@"
"""


@dataclass(frozen=True)
class NodeClock:
    """The clock of one node's modules."""

    lab: Lab
    node: str

    @property
    def python(self) -> str:
        """The interpreter that sees this clock."""
        return str(FOLDER / "python3")

    def install(self) -> None:
        """Put the library and the interpreter on the node; the clock is right at first."""
        self._inside().mkdir(parents=True, exist_ok=True)
        (library,) = LIBRARIES
        (self._inside() / "libfaketime.so").write_bytes(library.read_bytes())
        program = self._inside() / "python3"
        program.write_text(PYTHON)
        program.chmod(0o755)
        self.set("+0")

    def set(self, offset: str) -> None:
        """Step the clock to this distance from the right time, such as `-6h` or `+1d`."""
        draft = self._inside() / "offset.new"
        draft.write_text(f"{offset}\n")
        draft.replace(self._inside() / "offset")

    def set_at(self, phase: str, deployment: str, offset: str) -> str:
        """Return a command that waits on the node for a call's phase, and steps the clock then."""
        journal = f"/var/lib/margrave/deployments/{deployment}/journal.json"
        return (
            f'for _ in $(seq 24000); do grep -qs \'"phase": "{phase}"\' {journal} && '
            f"{{ echo {offset} > {FOLDER}/offset; exit 0; }}; sleep 0.01; done; exit 1"
        )

    def remove(self) -> None:
        """Leave the node as it was."""
        self.lab.ssh(self.node, f"rm -rf {FOLDER}")

    def _inside(self) -> Path:
        return self.lab.inside(self.node, FOLDER)
