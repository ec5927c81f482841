"""What a request may say; every finding of its shape at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from controller.store.words import Action, Priority
from margrave.documents.extensions import LabelSelector
from margrave.errors import DocumentError, MargraveError
from margrave.findings import Finding, did_you_mean, pointer
from margrave.lifecycle import Outcome, State

if TYPE_CHECKING:
    from collections.abc import Mapping

POLICIES: Final = (
    "placement",
    "strategy",
    "failure",
    "health",
    "drift",
    "windows",
    "requires",
    "priority",
    "reason",
)
SEARCH_LIMIT: Final = 200  # characters, as in the query of a list


class QueueFull(MargraveError):
    """As much waits as may wait; `retry_after` is in seconds."""

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__(f"{limit} requests wait already", "try again in a while")
        self.retry_after = retry_after


class Body(BaseModel):
    """Exactly the keys that are known, nothing coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Targets(Body):
    """Where to: named sites, sites by label, or single nodes."""

    sites: list[str] | None = None
    selector: LabelSelector | None = None
    nodes: list[str] | None = None


class Policies(Body):
    """Additions to the document; their own rules are those of the document."""

    parameters: dict[str, Any] = {}
    placement: Any = None
    strategy: Any = None
    failure: Any = None
    health: Any = None
    drift: Any = None
    windows: Any = None
    requires: Any = None
    priority: Literal["urgent", "normal", "bulk"] | None = None
    reason: str | None = None
    plan_hash: str | None = None

    @property
    def extensions(self) -> dict[str, Any]:
        """The additions that the request names; null is one of the values."""
        return {key: getattr(self, key) for key in POLICIES if key in self.model_fields_set}

    @property
    def urgency(self) -> Priority:
        """Whose turn it is."""
        return Priority(self.priority or "normal")


class Create(Policies):
    """POST /deployments."""

    app: str
    targets: Targets
    name: str | None = None
    version: str | None = None
    profile: str | None = None


AnOutcome = Annotated[Outcome, Field(strict=False)]


class Selection(Body):
    """Which deployments, as the list is filtered; all that is given has to hold."""

    name: str | None = None
    ids: list[str] | None = None
    sites: list[str] | None = None
    selector: LabelSelector | None = None
    app: str | None = None
    state: Annotated[State, Field(strict=False)] | None = None
    outcome: AnOutcome | list[AnOutcome] | None = None  # of several, any of them
    q: Annotated[str, Field(max_length=SEARCH_LIMIT)] | None = None


class Act(Policies):
    """POST /deployments/actions, and PATCH, DELETE and the verbs of one deployment."""

    action: Literal["update", "rollback", "retry", "cancel", "release", "delete"]
    select: Selection
    version: str | None = None
    profile: str | None = None
    to: str | None = None

    @property
    def kind(self) -> Action:
        """The action as the store's word."""
        return Action(self.action)


class Drain(Body):
    """POST /plans alone: what a drain of a node, or of the whole site, would stop and move."""

    action: Literal["drain"]
    site: str
    node: str | None = None


BESIDE: Final[Mapping[str, frozenset[str]]] = {
    "update": frozenset({"version", "profile", "parameters", *POLICIES}),
    "rollback": frozenset({"to", "priority", "reason"}),
    "delete": frozenset({"priority", "reason"}),
    "retry": frozenset({"reason"}),
    "cancel": frozenset({"reason"}),
    "release": frozenset({"reason"}),
}
_ALWAYS: Final = frozenset({"action", "select", "plan_hash"})
_WORDS: Final = {
    "missing": ("is missing", "add it"),
    "string_type": ("is not text", "put it in quotes"),
    "dict_type": ("is not an object", "write keys and values"),
    "model_type": ("is not an object", "write keys and values"),
    "list_type": ("is not a list", "write items in brackets"),
}
Model = TypeVar("Model", bound=Body)


def read_create(body: Mapping[str, Any]) -> tuple[Create, list[Finding]]:
    """The request and what is wrong with its shape, so that what it means can be looked at too.

    DocumentError when too little of it can be read for that.
    """
    read, findings = _read(Create, body)
    given = [
        one for one in ("sites", "selector", "nodes") if getattr(read.targets, one) is not None
    ]
    if len(given) != 1:
        words = "names no target" if not given else f"names {' and '.join(given)}"
        cure = "name exactly one of sites, selector, nodes"
        raise DocumentError([*findings, Finding("/targets", words, cure)])
    _reasoned(read, findings)
    return read, findings


def read_act(body: Mapping[str, Any]) -> tuple[Act, list[Finding]]:
    """The same of an action; a key that its action has no use for is a finding."""
    read, findings = _read(Act, body)
    useless = read.model_fields_set - BESIDE[read.action] - _ALWAYS
    findings += [
        Finding(
            pointer([key]),
            f"{read.action} has no use for it",
            did_you_mean(key, BESIDE[read.action]),
            "unknown-key",
        )
        for key in sorted(useless)
    ]
    _reasoned(read, findings)
    return read, findings


def read_drain(body: Mapping[str, Any]) -> tuple[Drain, list[Finding]]:
    """The same of a drain that is looked at before it is asked for."""
    return _read(Drain, body)


def _reasoned(read: Policies, findings: list[Finding]) -> None:
    if read.priority == "urgent" and not read.reason:
        missing = Finding("/reason", "urgent needs a reason", "say why it is urgent")
        raise DocumentError([*findings, missing])


def _read(model: type[Model], body: Mapping[str, Any]) -> tuple[Model, list[Finding]]:
    try:
        return model.model_validate(dict(body)), []
    except ValidationError as error:
        findings = [_finding(model, one) for one in error.errors()]
        wrong = {one["loc"][0] for one in error.errors() if one["loc"]}
    rest = {key: value for key, value in body.items() if key not in wrong}
    try:
        return model.model_validate(rest), findings
    except ValidationError:  # what is wrong is needed: nothing more can be said
        raise DocumentError(findings) from None


def _finding(model: type[BaseModel], error: Any) -> Finding:
    where = pointer(error["loc"])
    kind = str(error["type"])
    if kind == "extra_forbidden":
        known = model.model_fields if len(error["loc"]) == 1 else ()
        cure = did_you_mean(str(error["loc"][-1]), known)
        return Finding(where, "is not a key that is known here", cure, "unknown-key")
    if kind == "literal_error":
        return Finding(where, f"{error['input']!r} is not known", str(error["ctx"]["expected"]))
    words, cure = _WORDS.get(kind, (str(error["msg"]), ""))
    return Finding(where, words, cure, "missing" if kind == "missing" else "invalid")
