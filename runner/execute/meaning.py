"""What Ansible's events mean for an errand: a table from texts to error classes, and no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from margrave.error_classes import ErrorClass
from runner.ports import Status

# Ansible's own additions to a module's return value; invocation repeats the arguments.
NOT_THE_MODULES: Final = ("invocation", "exception", "failed", "unreachable", "timedout")
LONGEST: Final = 500


@dataclass(frozen=True, slots=True)
class Trouble:
    """One way in which a call can fail before or beside the module's own errors."""

    pattern: str
    cls: ErrorClass
    code: str
    message: str
    cure: str

    shown: bool = False  # whether what Ansible said is told too; the operation's log always has it

    def as_error(self, found: str) -> dict[str, str]:
        """The error object of the contracts; what Ansible said stands behind our words."""
        told = f"{self.message}: {found}" if found and self.shown else self.message
        return {"class": self.cls.value, "code": self.code, "message": told, "cure": self.cure}


ADD_AGAIN: Final = "if this is right, run `margrave node add` for the node once more"

# Looked through from the top; the first that fits is it.
TROUBLES: Final = (
    Trouble(
        r"REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed",
        ErrorClass.AUTH,
        "host-key-changed",
        "the host key is not the pinned one",
        ADD_AGAIN,
    ),
    Trouble(
        r"Permission denied \(|Too many authentication failures",
        ErrorClass.AUTH,
        "login-refused",
        "the node refuses the runner's key",
        ADD_AGAIN,
    ),
    Trouble(
        r"[Mm]issing sudo password|a password is required|not (?:in the sudoers|allowed to)",
        ErrorClass.AUTH,
        "no-sudo",
        "the remote user has no passwordless sudo",
        ADD_AGAIN,
    ),
    Trouble(
        r"No space left on device",
        ErrorClass.DISK,
        "disk-full",
        "no space left on the node",
        "make room on the node; the next try follows by itself",
    ),
    Trouble(
        r"python3?: (?:command )?not found|interpreter.*was not found|/usr/bin/python3: No such",
        ErrorClass.INTERNAL,
        "no-python",
        "the node has no /usr/bin/python3",
        "install Python 3.9 or newer on the node",
    ),
)
# ssh's own words for why a node does not answer, and ours.
SILENCE: Final = (
    # What ssh says of a line that a command gave it: ours leads through a jump host, and what that
    # one said itself is lost where connections are kept open.
    ("UNKNOWN port 65535", "the jump host in front is away, or refuses us, or is another"),
    (r"No route to host|Network is unreachable", "no route leads to it"),
    (r"Connection refused", "nothing listens at its SSH port"),
    (r"Could not resolve|Name or service not known", "its address is no name that is known here"),
    (r"timed out|Timeout", "nothing came back in time"),
    (r"Connection (?:closed|reset)|closed by|Broken pipe|kex_exchange", "the connection was cut"),
)
UNREACHABLE: Final = Trouble(
    "", ErrorClass.LINK, "unreachable", "the node does not answer", "check its power and network"
)
CRASHED: Final = Trouble(
    "",
    ErrorClass.INTERNAL,
    "module-crashed",
    "the module ended without a result",
    "report it, with the operation's log",
    shown=True,
)
KILLED: Final = Trouble(
    "",
    ErrorClass.LINK,
    "module-killed",
    "the module was killed on the node",
    "the same operation is taken up again; its fence tells how far it came",
    shown=True,
)
DEADLINE: Final = Trouble(
    "",
    ErrorClass.LINK,
    "deadline",
    "no result within the operation's deadline",
    "the same operation is taken up again; its fence tells how far it came",
)
RUN_ENDED: Final = Trouble(
    "",
    ErrorClass.INTERNAL,
    "run-ended",
    "Ansible ended without a result for this node",
    "the same operation is taken up again; its fence tells how far it came",
    shown=True,
)
STOPPED: Final = Trouble(
    "",
    ErrorClass.INTERNAL,
    "stopped",
    "the runner stopped waiting for it",
    "the same operation is taken up again; its fence tells how far it came",
)


def read(event: str, res: Mapping[str, Any]) -> tuple[Status, dict[str, Any]]:
    """Status and data of an errand from the event that ended it."""
    data = {
        key: value
        for key, value in res.items()
        if key not in NOT_THE_MODULES and not key.startswith("_ansible")
    }
    if event == "runner_on_ok":
        return Status.OK, data
    if event == "runner_on_unreachable":
        return Status.UNREACHABLE, {**data, "error": _error(res, UNREACHABLE)}
    if res.get("timedout"):
        return Status.LOST, {**data, "error": DEADLINE.as_error("")}
    if _was_killed(res) and not _is_error(data.get("error")):
        return Status.LOST, {
            **data,
            "error": KILLED.as_error(_shown(str(res.get("module_stderr")))),
        }
    if not _is_error(data.get("error")):
        data["error"] = _error(res, CRASHED)
    return Status.FAILED, data


def told(status: Status, data: Mapping[str, Any]) -> str:
    """The end of an errand as a line of its log."""
    error = data.get("error")
    if status is not Status.OK and isinstance(error, dict):
        return f"{status.value}: {error.get('class')}/{error.get('code')}: {error.get('message')}"
    durations = data.get("durations")
    spent = durations.items() if isinstance(durations, dict) else ()
    words = [str(data.get("state") or status.value), "" if data.get("changed") else "unchanged"]
    words += [f"{name} {seconds} s" for name, seconds in spent if seconds is not None]
    return ", ".join(word for word in words if word)


def lost(trouble: Trouble, found: str = "") -> dict[str, Any]:
    """The data of an errand that nobody knows the end of."""
    return {"error": trouble.as_error(_shown(found))}


def _error(res: Mapping[str, Any], otherwise: Trouble) -> dict[str, str]:
    said = "\n".join(
        str(res[key]) for key in ("msg", "module_stderr", "module_stdout") if res.get(key)
    )
    trouble = next((one for one in TROUBLES if re.search(one.pattern, said)), otherwise)
    if trouble is UNREACHABLE:
        why = next((words for pattern, words in SILENCE if re.search(pattern, said)), "")
        trouble = replace(trouble, shown=True)
        return trouble.as_error(why)
    return trouble.as_error(_shown(said))


def raw(res: Mapping[str, Any]) -> str:
    """What Ansible itself said of an errand that did not end well, for the log; often nothing."""
    return "" if _is_error(res.get("error")) else _shown(str(res.get("msg") or ""))


def _was_killed(res: Mapping[str, Any]) -> bool:
    """Whether a signal ended it, as the kernel's out-of-memory killer sends: no defect of its own.

    A shell tells of signal N as status 128 + N.
    """
    status = res.get("rc")
    return isinstance(status, int) and 128 < status < 160


def _is_error(value: object) -> bool:
    return isinstance(value, dict) and "class" in value and "message" in value


def _shown(said: str) -> str:
    """One line that fits a table; SSH writes banners and blank lines around what matters."""
    line = " ".join(said.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
