"""The words that the tables keep, beside the life cycle's own (margrave.lifecycle)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """What a person or a token may do; each role includes the ones before it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


class RequestState(StrEnum):
    """Where a request stands."""

    QUEUED = "queued"  # accepted, waiting for its turn
    PUBLISHING = "publishing"  # the publisher works on it
    PUBLISHED = "published"  # in Git, or its commands are stored
    REFUSED = "refused"  # the world changed between asking and publishing
    CANCELLED = "cancelled"  # taken back before it was published
    FAILED = "failed"  # could not be published; the error says why


OPEN: Final = (RequestState.QUEUED, RequestState.PUBLISHING)


class Action(StrEnum):
    """What a request asks for."""

    CREATE = "create"
    UPDATE = "update"
    ROLLBACK = "rollback"
    DELETE = "delete"
    RETRY = "retry"
    CANCEL = "cancel"
    RELEASE = "release"


# They are commands for runners: they bring no document.
COMMANDS: Final = frozenset({Action.RETRY, Action.CANCEL, Action.RELEASE})


class Priority(StrEnum):
    """Who goes first in the queue."""

    URGENT = "urgent"
    NORMAL = "normal"
    BULK = "bulk"


RANK: Final = {Priority.URGENT: 0, Priority.NORMAL: 1, Priority.BULK: 2}


class OperationState(StrEnum):
    """Where an operation on a node stands."""

    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED: Final = (OperationState.SUCCEEDED, OperationState.FAILED, OperationState.CANCELLED)


class CommandKind(StrEnum):
    """What a runner is told by heartbeat."""

    RETRY = "retry"
    RELEASE = "release"
    CANCEL = "cancel"
    RELOAD = "reload"
    ACCEPT = "accept"
    FORGET = "forget"


class CommandState(StrEnum):
    """Where a command stands; pending ones are repeated with every heartbeat."""

    PENDING = "pending"
    DONE = "done"
    REFUSED = "refused"


class EventKind(StrEnum):
    """What an event tells of."""

    DEPLOYMENT = "deployment"
    PLACEMENT = "placement"
    OPERATION = "operation"
    NODE = "node"
    SITE = "site"
    REQUEST = "request"
    LOG = "log"
