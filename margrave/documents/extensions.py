"""Our additions to a deployment, `spec.x-margrave-extensions`: how, when and where, never what."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from margrave.documents._fields import (
    UNBOUNDED,
    Cron,
    Duration,
    Label,
    Tag,
    TimeZone,
    WindowDuration,
)
from margrave.documents._reading import Part
from margrave.error_classes import ErrorClass

if TYPE_CHECKING:
    from collections.abc import Mapping

_BATCH = re.compile(r"all|canary|[1-9][0-9]{0,5}|([1-9][0-9]?|100)%")
_BATCH_SHOWN: Any = {
    "anyOf": [
        {
            "type": "string",
            "pattern": f"^({_BATCH.pattern})$",
            "patternErrorMessage": "write all, canary, a number or a percentage",
        },
        {"type": "integer", "minimum": 1, "maximum": 999_999},
    ]
}
# The deployment's reader says it with a sentence; in a schema it is a condition.
_URGENT_SHOWN: Any = {
    "if": {"properties": {"priority": {"const": "urgent"}}, "required": ["priority"]},
    "then": {"properties": {"reason": {"type": "string", "minLength": 1}}, "required": ["reason"]},
}
_CLASSES_SHOWN: Any = {"propertyNames": {"enum": [one.value for one in ErrorClass]}}


def _batch(text: str | int) -> str | int:
    if isinstance(text, bool) or not _BATCH.fullmatch(str(text)):
        raise ValueError("is not a batch | write all, canary, a number or a percentage")
    return text


def _class_retries(retries: dict[str, int]) -> dict[str, int]:
    classes = [one.value for one in ErrorClass]
    wrong = sorted(set(retries) - set(classes))
    if wrong:
        raise ValueError(f"names no error class: {wrong[0]} | known are {', '.join(classes)}")
    return retries


class LabelExpression(Part):
    """A comparison of one label, as Kubernetes writes it."""

    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[str] = []


class LabelSelector(Part):
    """All of it must hold; an empty selector selects everything."""

    matchLabels: dict[str, str] = {}  # noqa: N815 - Kubernetes' word
    matchExpressions: list[LabelExpression] = []  # noqa: N815 - Kubernetes' word


class Placement(Part):
    """On which nodes of the site."""

    nodes: Literal["all"] | Annotated[int, Field(ge=1)] | list[Label] = "all"
    selector: LabelSelector | None = None
    move: Literal["deny", "allow"] = "deny"


class Strategy(Part):
    """How an update goes over the nodes, and over a node."""

    update: Literal["auto", "stop-first", "start-first"] = "auto"
    batch: Annotated[str | int, AfterValidator(_batch), Field(json_schema_extra=_BATCH_SHOWN)] = (
        "canary"
    )


class Failure(Part):
    """What follows a failed attempt."""

    retries: Annotated[
        dict[str, Annotated[int, Field(ge=0)]],
        AfterValidator(_class_retries),
        Field(json_schema_extra=_CLASSES_SHOWN),
    ] = {}
    backoff: Duration = "5s"
    then: Literal["rollback", "hold"] = "rollback"


class Health(Part):
    """How long until healthy, how long without a check, and how long until proven."""

    timeout: Duration = "60s"
    grace: Duration = "5s"
    stable: Duration = "60s"


class Window(Part):
    """A repeating span of time in which work may start."""

    cron: Cron
    duration: WindowDuration
    timezone: TimeZone | None = None


# Frozen, so that all documents share them: pydantic would copy a plain default each time.
_PLACEMENT, _STRATEGY, _FAILURE, _HEALTH = Placement(), Strategy(), Failure(), Health()


class Extensions(Part):
    """All additions with their defaults."""

    model_config = ConfigDict(json_schema_extra=_URGENT_SHOWN)

    version: Tag | None = None
    placement: Placement = Field(default_factory=lambda: _PLACEMENT)
    strategy: Strategy = Field(default_factory=lambda: _STRATEGY)
    failure: Failure = Field(default_factory=lambda: _FAILURE)
    health: Health = Field(default_factory=lambda: _HEALTH)
    drift: Literal["heal", "report", "ignore"] = "heal"
    windows: list[Window] = []
    priority: Literal["urgent", "normal", "bulk"] = "normal"
    reason: str | None = None
    requires: list[Label] = []


class Defaults(Part):
    """A site's defaults: the same keys but what belongs to one release alone."""

    placement: Placement | None = None
    strategy: Strategy | None = None
    failure: Failure | None = None
    health: Health | None = None
    drift: Literal["heal", "report", "ignore"] | None = None
    windows: list[Window] | None = None
    priority: Literal["urgent", "normal", "bulk"] | None = None


class Policy(Part):
    """How far a package may reach into a node of the site."""

    privileged: Literal["deny", "allow"] = "deny"
    host_paths: list[str] = []
    devices: list[str] = []
    host_namespaces: Literal["deny", "allow"] = "deny"
    capabilities: list[str] = []
    registries: list[str] = ["*"]


def with_defaults(written: Mapping[str, Any], defaults: Mapping[str, Any]) -> Extensions:
    """What holds for a deployment: what it writes, then the site's defaults, then ours."""
    merged = dict(defaults)
    for key, value in written.items():
        below = merged.get(key)
        merged[key] = {**below, **value} if isinstance(below, dict) else value
    return stored(merged)


def stored(extensions: Mapping[str, Any]) -> Extensions:
    """Return the extensions of documents that were checked when they were read.

    One that is out of bounds has its finding already, and must not hinder plans for others.
    """
    return Extensions.model_validate(dict(extensions), context={UNBOUNDED: True})
