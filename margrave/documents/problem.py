"""Margo's error answers (RFC 9457 problem details), and when a client may try again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from margrave import digest, json_text
from margrave.documents._checked import checked
from margrave.documents._reading import Part
from margrave.documents._walk import mapping
from margrave.documents.generations import Kind
from margrave.findings import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

# Margo's property names are kept as they are written: fields are the document's words.
# ruff: noqa: N815

MEDIA_TYPE: Final = "application/problem+json"
BASE: Final = "https://docs.margo.org/specification/problem-types#"
NAMESPACE: Final = "https://docs.margo.org/specification/problem-types"
BLANK: Final = "about:blank"


@dataclass(frozen=True, slots=True)
class ProblemType:
    """What a registered type means."""

    status: int
    title: str


TYPES: Final[Mapping[str, ProblemType]] = {
    "invalid-request": ProblemType(400, "Invalid request"),
    "not-authorized": ProblemType(403, "Not authorized"),
    "gateway-not-found": ProblemType(404, "Gateway not found"),
    "device-not-found": ProblemType(404, "Device not found"),
    "deployment-not-found": ProblemType(404, "Deployment not found"),
    "invalid-bundle": ProblemType(404, "Bundle not found"),
    "spiffe-bundle-not-found": ProblemType(404, "Trust bundle not found"),
    "server-cannot-generate-response": ProblemType(406, "Nothing acceptable to answer with"),
    "semantic-error": ProblemType(422, "Semantic error"),
}

# A client that is told to back off without a time begins here, and never waits longer than that.
_FIRST_DELAY: Final = 5
_LONGEST_DELAY: Final = 600


class FieldError(Part):
    """What is wrong with one field of the request."""

    model_config = ConfigDict(extra="allow")

    field: str | None = None
    message: str | None = None


class ProblemPart(Part):
    """The whole answer; a vendor adds members of its own."""

    model_config = ConfigDict(extra="allow")

    type: Annotated[str, Field(min_length=1, pattern=r"^[!-~]+$")]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str | None = None
    instance: Annotated[str, Field(pattern=r"^[!-~]+$")] | None = None
    retryable: bool | None = None
    retryAfterSeconds: Annotated[int, Field(ge=0)] | None = None
    backoffStrategy: Literal["none", "fixed", "exponential"] | None = None
    errors: list[FieldError] = []


@dataclass(frozen=True)
class Problem:
    """A checked answer."""

    document: ProblemPart
    raw: Mapping[str, Any]

    @property
    def known_type(self) -> str:
        """The fragment of a registered type, by which a client decides; empty for any other."""
        fragment = self.document.type.removeprefix(BASE)
        return fragment if fragment in TYPES and fragment != self.document.type else ""

    def delay(self, attempt: int, retry_after: int | None = None) -> int | None:
        """Seconds until attempt + 1 may be made (attempts count from 1), or None for never.

        `retry_after` is the header, which goes before the body's advice.
        """
        if not self.document.retryable or self.document.backoffStrategy == "none":
            return None
        advised = retry_after if retry_after is not None else self.document.retryAfterSeconds
        first = _FIRST_DELAY if advised is None else advised
        if self.document.backoffStrategy == "fixed":
            return first
        doubled = max(first, 1) << min(attempt - 1, 20)
        return max(first, min(doubled, _LONGEST_DELAY))


def read_problem(data: bytes | str, file: str = "") -> Problem:
    """The checked answer, or DocumentError with every finding."""
    parsed = json_text.parse_any(data, file)
    return Problem(checked(parsed, ProblemPart, _rules, Kind.PROBLEM), parsed.value)


def make_problem(
    fragment: str, detail: str, instance: str = "", errors: Sequence[Mapping[str, str]] = ()
) -> bytes:
    """The answer of a registered type, as its one text."""
    known = TYPES[fragment]
    value: dict[str, Any] = {
        "type": BASE + fragment,
        "title": known.title,
        "status": known.status,
        "detail": detail,
        "retryable": False,
        "backoffStrategy": "none",
    }
    if instance:
        value["instance"] = instance
    if errors:
        value["errors"] = [dict(one) for one in errors]
    return digest.canonical_json(value)


def _rules(parsed: Parsed) -> Iterator[Finding]:
    value = mapping(parsed.value)
    kind, status = value.get("type"), value.get("status")
    if isinstance(kind, str) and kind.startswith(NAMESPACE):
        fragment = kind.removeprefix(BASE)
        known = TYPES.get(fragment)
        if known is None:
            cure = did_you_mean(fragment, TYPES)
            message = f'"{fragment[:80]}" is no type that Margo registers'
            yield parsed.finding(("type",), message, cure)
        elif isinstance(status, int) and status != known.status:
            message = f"{status} does not go with {fragment}"
            yield parsed.finding(("status",), message, f"write {known.status}")
    retryable, backoff = value.get("retryable"), value.get("backoffStrategy")
    if retryable is True and backoff == "none":
        message = "forbids what retryable allows"
        yield parsed.finding(("backoffStrategy",), message, "write fixed or exponential")
    if retryable is False and backoff in ("fixed", "exponential"):
        message = "tells how to do what retryable forbids"
        yield parsed.finding(("backoffStrategy",), message, "write none")
