"""Halts or ends a module at one step of its work; runs on the node, inside the module's process.

Python tells every opened file, rename, link, socket and program before it happens (audit events).
A plan names one of them by the event, by text in its arguments and by functions of ours on the
stack; there the process ends as by kill -9, or stands still until it is told to go on. The product
knows nothing of it: a .pth file imports this module into every Python that starts on the node,
which is why it imports next to nothing itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from typing import Any

FOLDER = "/run/margrave-stop"
PLAN = FOLDER + "/plan.json"
REACHED = FOLDER + "/reached"
GO = FOLDER + "/go"
TRACE = FOLDER + "/trace"
OURS = "module_utils"
# What changes something outside of the process, or asks the engine for something.
STEPS = {
    "open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "shutil.rmtree",
    "subprocess.Popen", "socket.connect",
}  # fmt: skip
# Nobody comes: the node is not left with a standing process.
PATIENCE = 600


class Watch:
    """Looks at each event of this process."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan: dict[str, Any] | None = plan
        self.left = plan.get("nth", 1)
        self.busy = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Asked by Python before every audited event."""
        if self.busy or event not in STEPS or self.plan is None:
            return
        if event == "open" and not _writes(arguments):
            return
        self.busy = True  # what this does itself is audited too
        try:
            self._look(self.plan, event, repr(arguments))
        finally:
            self.busy = False

    def _look(self, plan: dict[str, Any], event: str, told: str) -> None:
        stack = _stack()
        if not stack:
            return
        if plan["act"] == "trace":
            with open(TRACE, "a", encoding="utf-8") as file:
                file.write(json.dumps([event, told[:300], stack]) + "\n")
            return
        if event != plan["event"] or plan["text"] not in told:
            return
        if not set(plan["within"]) <= set(stack) or not _has(plan["part"]):
            return
        self.left -= 1
        if self.left == 0:
            self.plan = None
            _stop(plan["act"])


def _stop(act: str) -> None:
    os.unlink(PLAN)  # once: the call that is made again is not stopped
    with open(REACHED + ".new", "w", encoding="utf-8") as file:
        file.write(str(os.getpid()))
    os.rename(REACHED + ".new", REACHED)
    if act == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    end = time.monotonic() + PATIENCE
    while not os.path.exists(GO) and time.monotonic() < end:
        time.sleep(0.01)


def _stack() -> list[str]:
    """Functions of the collection that led here, innermost first."""
    frame: types.FrameType | None = sys._getframe(2)
    found = []
    while frame is not None:
        if OURS in frame.f_code.co_filename:
            found.append(frame.f_code.co_name)
        frame = frame.f_back
    return found


def _has(part: str) -> bool:
    """Whether the module at work brought this one of the collection's parts along."""
    return not part or any(name.endswith(f"{OURS}.{part}") for name in sys.modules)


def _writes(arguments: tuple[Any, ...]) -> bool:
    mode = arguments[1] if len(arguments) > 1 else None
    flags = arguments[2] if len(arguments) > 2 and isinstance(arguments[2], int) else 0
    if isinstance(mode, str):
        return any(one in mode for one in "wax+")
    return bool(flags & (os.O_WRONLY | os.O_RDWR))


def begin() -> None:
    """Watch this process if there is a plan."""
    try:
        with open(PLAN, encoding="utf-8") as file:
            plan = json.load(file)
    except OSError:
        return
    sys.addaudithook(Watch(plan))


# Only where it was laid down; on the machine of the tests it is read for its names alone.
if __name__ == "margrave_stop":
    begin()
