"""The life cycle of a placement (a deployment on a node) as one table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class State(StrEnum):
    """Where a placement stands."""

    PENDING = "PENDING"  # wanted here, nothing done yet
    INSTALLING = "INSTALLING"  # a first install is at work on the node
    INSTALLED = "INSTALLED"  # a revision runs and was healthy
    UPDATING = "UPDATING"  # another revision, a secret or a heal is at work on the node
    FAILED = "FAILED"  # the last operation failed; what runs is told by the revision
    ROLLINGBACK = "ROLLINGBACK"  # the previous revision is being proved
    DELETING = "DELETING"  # being taken off the node
    DELETED = "DELETED"  # gone; final


class Outcome(StrEnum):
    """How the wanted revision fared, beside the state."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ROLLED_BACK = "rolled-back"
    ROLLBACK_FAILED = "rollback-failed"
    HELD = "held"


class Actor(StrEnum):
    """Who moves a placement."""

    RUNNER = "runner"
    NODE = "node"


class Kind(StrEnum):
    """The operations on a node."""

    INSTALL = "install"
    UPDATE = "update"
    ROLLBACK = "rollback"
    DELETE = "delete"


class Freshness(StrEnum):
    """Whether what is shown is known to hold now."""

    FRESH = "fresh"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Transition:
    """Who makes a transition, and what causes it."""

    trigger: str
    actor: Actor


def _runner(trigger: str) -> Transition:
    return Transition(trigger, Actor.RUNNER)


def _node(trigger: str) -> Transition:
    return Transition(trigger, Actor.NODE)


TRANSITIONS: Final[Mapping[tuple[State, State], Transition]] = {
    (State.PENDING, State.INSTALLING): _runner("runner schedules the install"),
    (State.INSTALLING, State.INSTALLED): _node("installed, running and healthy"),
    (State.INSTALLING, State.FAILED): _node("install error"),
    (State.INSTALLED, State.UPDATING): _runner(
        "wanted revision or a secret changed, drift to heal, or it was unstable"
    ),
    (State.UPDATING, State.INSTALLED): _node("update success"),
    (State.UPDATING, State.FAILED): _node("update error"),
    (State.FAILED, State.INSTALLING): _runner("retry of an install, or a newer revision"),
    (State.FAILED, State.UPDATING): _runner("retry of an update, or a newer revision"),
    (State.FAILED, State.ROLLINGBACK): _runner(
        "retries spent or cancelled, policy says rollback, a previous revision is there"
    ),
    (State.ROLLINGBACK, State.INSTALLED): _node("the previous revision runs and is healthy"),
    (State.ROLLINGBACK, State.FAILED): _node("rollback error"),
    **{
        (state, State.DELETING): _runner("removed from Git, or drained away")
        for state in State
        if state not in (State.DELETING, State.DELETED)
    },
    (State.DELETING, State.DELETED): _node("delete success"),
    (State.DELETING, State.FAILED): _node("delete error"),
}

WORKING: Final = {
    State.INSTALLING: Kind.INSTALL,
    State.UPDATING: Kind.UPDATE,
    State.ROLLINGBACK: Kind.ROLLBACK,
    State.DELETING: Kind.DELETE,
}
WORKING_STATE: Final = {kind: state for state, kind in WORKING.items()}

# The worst is told first: what needs somebody, then what moves, then what rests.
STATE_ORDER: Final = (
    State.FAILED,
    State.ROLLINGBACK,
    State.DELETING,
    State.UPDATING,
    State.INSTALLING,
    State.PENDING,
    State.INSTALLED,
    State.DELETED,
)
OUTCOME_ORDER: Final = (
    Outcome.ROLLBACK_FAILED,
    Outcome.FAILED,
    Outcome.ROLLED_BACK,
    Outcome.HELD,
    Outcome.PENDING,
    Outcome.SUCCEEDED,
)
_MARGO: Final = {
    State.UPDATING: "installing",
    State.ROLLINGBACK: "installing",
    State.DELETING: "removing",
    State.DELETED: "removed",
}


def allowed(frm: State | None, to: State) -> bool:
    """Whether a placement may move so; a new one begins at PENDING."""
    if frm is None:
        return to is State.PENDING
    return (frm, to) in TRANSITIONS


def overall_state(states: Iterable[State], *, in_git: bool = True) -> State:
    """A deployment's state over the newest incarnation on each node.

    While its document is in Git, DELETED placements do not count and none left means PENDING;
    once it is gone, a deployment without placements, or with all of them DELETED, is DELETED.
    """
    counted = {state for state in states if not (in_git and state is State.DELETED)}
    for state in STATE_ORDER:
        if state in counted:
            return state
    return State.PENDING if in_git else State.DELETED


def overall_outcome(outcomes: Iterable[Outcome]) -> Outcome:
    """A deployment's outcome over its placements; pending before it has any."""
    present = set(outcomes)
    return next((outcome for outcome in OUTCOME_ORDER if outcome in present), Outcome.PENDING)


def margo_word(state: State) -> str:
    """The word Margo's six-state status uses for a state."""
    return _MARGO.get(state, state.value.lower())
