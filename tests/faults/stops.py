"""Stops on a node: laid down there once, armed for one step at a time, reached, and let go."""

from __future__ import annotations

import json
from pathlib import Path

from lab import Lab
from tests.faults import on_node
from tests.faults.steps import Step
from tests.support.waiting import eventually

HOOK = Path(on_node.__file__)
LAY_DOWN = """
folder=$(/usr/bin/python3 -c 'import site; print(site.getsitepackages()[0])')
mkdir -p $folder
cat > $folder/margrave_stop.py
echo 'import margrave_stop' > $folder/margrave_stop.pth
"""
TAKE_AWAY = """
folder=$(/usr/bin/python3 -c 'import site; print(site.getsitepackages()[0])')
rm -f $folder/margrave_stop.py $folder/margrave_stop.pth
rm -rf /run/margrave-stop
"""


class Stops:
    """The stops of one node. Files are written from outside, so they work while a cable is cut."""

    def __init__(self, lab: Lab, node: str) -> None:
        self._lab = lab
        self._node = node

    def lay_down(self) -> None:
        """Teach every Python of the node to look for a plan when it starts."""
        self._lab.ssh(self._node, LAY_DOWN, input=HOOK.read_text())

    def take_away(self) -> None:
        """Leave the node as it was."""
        self._lab.ssh(self._node, TAKE_AWAY)

    def arm(self, step: Step, act: str) -> None:
        """The next module that comes to the step ends there (`kill`) or waits (`halt`)."""
        folder = self._path(on_node.FOLDER)
        folder.mkdir(exist_ok=True)
        for name in (on_node.REACHED, on_node.GO):
            self._path(name).unlink(missing_ok=True)
        draft = folder / "plan.new"
        draft.write_text(json.dumps(step.plan(act)))
        draft.rename(folder / "plan.json")

    def wait(self, limit: float = 240) -> None:
        """Return when a module has come there."""
        eventually(self._path(on_node.REACHED).exists, limit, "the module reaches the step", 0.01)

    def reached(self) -> bool:
        """Return whether a module has come to the step."""
        return self._path(on_node.REACHED).exists()

    def go(self) -> None:
        """Let a module that waits go on."""
        self._path(on_node.GO).touch()

    def disarm(self) -> None:
        """Nobody is stopped any more."""
        for name in (on_node.PLAN, on_node.REACHED):
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._lab.inside(self._node, Path(name))
