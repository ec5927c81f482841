"""One module call as a run sees it, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from runner.ports import Call, Observation, Result, Status, Target

COLLECTION: Final = "margrave.edge"


@dataclass(frozen=True, slots=True)
class Errand:
    """A module, its arguments and the node; `key` is the operation, or the node's name.

    `hidden` are texts of the arguments that nothing may repeat.
    """

    key: str
    node: Target
    module: str
    arguments: Mapping[str, Any]
    deadline: int
    hidden: tuple[str, ...] = ()
    apart: bool = False  # over a connection of its own

    @classmethod
    def of(cls, call: Call) -> Errand:
        """The errand of an operation."""
        module = f"{COLLECTION}.workload_{'prefetch' if call.ahead else call.kind.value}"
        return cls(
            call.operation, call.node, module, call.arguments, call.deadline, call.hidden,
            call.apart,
        )  # fmt: skip

    @property
    def words(self) -> str:
        """What is begun, where, and by which id it can be followed."""
        trace = self.arguments.get("trace")
        return f"{self.module} on {self.node.name}" + (f", for {trace}" if trace else "")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an errand ended; `data` has an `error` unless the status is ok."""

    key: str
    status: Status
    data: Mapping[str, Any]
    started: datetime
    ended: datetime

    @property
    def message(self) -> str:
        """The error's message, or nothing."""
        error = self.data.get("error")
        return str(error.get("message", "")) if isinstance(error, dict) else ""

    def as_result(self) -> Result:
        """Return the outcome of an operation."""
        return Result(self.key, self.status, self.data, self.started, self.ended, self.message)

    def as_observation(self) -> Observation:
        """Return the outcome of a look at a node."""
        return Observation(self.key, self.status, self.data, self.ended, self.message)
