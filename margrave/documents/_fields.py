"""Kinds of values that several documents share, each with its rule as a sentence."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, ValidationInfo

from margrave import digest, durations, windows
from margrave.errors import MargraveError
from margrave.names import LABEL, LABEL_CURE, UUID, is_label, is_uuid
from margrave.times import in_utc

# A key of the validation context: read what is out of bounds all the same.
UNBOUNDED: Final = "unbounded"
APPLICATION_ID: Final = re.compile(r"[-a-z0-9]{1,200}")
# SemVer 2.0 without a leading v; Margo writes `_` for `+`, which no registry tag may hold.
SEMVER: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?([_+][0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
)
# Margo's own rule for a component's revision: as above, but `+` is always written `_`.
REVISION: Final = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
    r"(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(_[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)
# An application's version is the tag of its package: OCI's rule, SemVer or not.
TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
U64: Final = 2**64 - 1
_REPORTED = re.compile(r"[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*")
_DEVICE = re.compile(r"[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*(/\*)?")
_COMPONENT = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def _rule(fits: bool, message: str, cure: str, value: Any) -> Any:
    """The value, or an error whose text carries the cure behind a bar."""
    if not fits:
        raise ValueError(f"{message} | {cure}")
    return value


def _matches(pattern: re.Pattern[str], message: str, cure: str) -> AfterValidator:
    return AfterValidator(
        lambda text: _rule(pattern.fullmatch(text) is not None, message, cure, text)
    )


def _shown(pattern: str, cure: str = "") -> Any:
    """The same rule for JSON Schema; editors that know the word show the cure for the pattern."""
    told = {"patternErrorMessage": cure} if cure else {}
    return Field(json_schema_extra={"pattern": f"^({pattern})$", **told})


class OutOfBounds(ValueError):
    """A value of the right form that is too large; such a document can still be read."""


def _duration(read: Any) -> AfterValidator:
    def check(text: str) -> str:
        try:
            read(text)
        except MargraveError as error:
            raise ValueError(f"is no duration | {error.cure}") from error
        return text

    return AfterValidator(check)


def _at_most_a_day(read: Any, cure: str) -> AfterValidator:
    def check(text: str, info: ValidationInfo) -> str:
        unbounded = (info.context or {}).get(UNBOUNDED)
        if read(text) > durations.LONGEST_WAIT and not unbounded:
            raise OutOfBounds(f"is longer than a day | {cure}")
        return text

    return AfterValidator(check)


def _cron(text: str) -> str:
    try:
        windows.check_cron(text)
    except MargraveError as error:
        raise ValueError(f"is no schedule | {error.cure}") from error
    return text


def is_zone(name: str) -> bool:
    """Whether the machine's table of time zones knows the name."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # not found; not a path inside; a folder's name
        return False
    return True


ApplicationId = Annotated[
    str,
    _matches(APPLICATION_ID, "is not an application id", "small letters, digits, dashes"),
    _shown(APPLICATION_ID.pattern, "small letters, digits, dashes"),
]
ComponentName = Annotated[
    str,
    _matches(_COMPONENT, "is not a component name", "small letters, digits, inner dashes"),
    _shown(_COMPONENT.pattern, "small letters, digits, inner dashes"),
]
Label = Annotated[
    str,
    AfterValidator(lambda text: _rule(is_label(text), "is not a name", LABEL_CURE, text)),
    _shown(LABEL, LABEL_CURE),
]
Uuid = Annotated[
    str,
    AfterValidator(
        lambda text: _rule(is_uuid(text), "is not a UUID", "write hex groups 8-4-4-4-12", text)
    ),
    _shown(UUID, "write hex groups 8-4-4-4-12"),
]
SemVer = Annotated[
    str,
    _matches(SEMVER, "is not a semantic version", "write such as 1.2.3, without a v"),
    _shown(SEMVER.pattern, "write such as 1.2.3, without a v"),
]
Email = Annotated[
    str,
    AfterValidator(
        lambda text: _rule("@" in text, "is not an e-mail address", "write name@host", text)
    ),
    _shown(r"[^@]*@[\s\S]*"),
]
Revision = Annotated[
    str,
    _matches(
        REVISION, "is not a revision", "write such as 1.2.3 or 1.2.3-rc1_build.5, without a v"
    ),
    _shown(REVISION.pattern, "write such as 1.2.3, without a v"),
]
Tag = Annotated[
    str,
    _matches(TAG, "is not a version that a registry can tag", "write such as 1.2.3"),
    _shown(TAG.pattern, "write such as 1.2.3"),
]
Digest = Annotated[
    str,
    AfterValidator(
        lambda text: _rule(
            digest.is_digest(text),
            "is not a digest"
            if ":" not in text or text.startswith("sha256:")
            else "is of an algorithm that is not supported",
            "write sha256: and 64 small hex digits",
            text,
        )
    ),
    _shown(digest.PATTERN),
]
ReportedDeviceId = Annotated[
    str,
    _matches(_REPORTED, "is not a device id", "write letters, digits and . _ ~ - between slashes"),
    _shown(_REPORTED.pattern),
]
DeviceId = Annotated[
    str,
    _matches(_DEVICE, "is not a device id", "write <site>/<node>, or <site>/* for any node"),
    _shown(_DEVICE.pattern, "write <site>/<node>, or <site>/* for any node"),
]
OciRepository = Annotated[
    str,
    AfterValidator(
        lambda text: _rule(
            text.startswith("oci://") and len(text) > len("oci://"),
            "is not an OCI repository",
            "begin it with oci://",
            text,
        )
    ),
    _shown(r"oci://[\s\S]+", "begin it with oci://"),
]
_DURATION_CURE: Final = "write such as 90s, 5m or 2h, at most 24h"
Duration = Annotated[
    str,
    _duration(durations.parse),
    _at_most_a_day(durations.parse, _DURATION_CURE),
    _shown(durations.pattern_up_to(durations.LONGEST_WAIT, zero=True), _DURATION_CURE),
]
# A window is a pause in the ban on changes: one that lasts longer than a month is none.
_LONGEST_WINDOW: Final = 744 * 3600
_WINDOW_CURE: Final = "write such as 90m or 8h, at most 744h (31 days)"
WindowDuration = Annotated[
    str,
    _duration(durations.parse),
    AfterValidator(
        lambda text: _rule(
            0 < durations.parse(text) <= _LONGEST_WINDOW,
            "is no duration of a window",
            _WINDOW_CURE,
            text,
        )
    ),
    _shown(durations.pattern_up_to(_LONGEST_WINDOW), _WINDOW_CURE),
]
Cron = Annotated[
    str,
    AfterValidator(_cron),
    _shown(r"\s*\S+(\s+\S+){4}\s*", "write minute hour day month weekday"),
]
TimeZone = Annotated[
    str,
    AfterValidator(lambda text: _rule(is_zone(text), "is no time zone", "Europe/Oslo", text)),
]
# RFC 3339 with its offset: a time without one would mean another moment on each machine.
_MOMENT: Final = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})"
_MOMENT_CURE: Final = "write such as 2026-03-02T12:00:00Z"
Moment = Annotated[
    str,
    AfterValidator(lambda text: _rule(_is_moment(text), "is no time", _MOMENT_CURE, text)),
    _shown(_MOMENT, _MOMENT_CURE),
]
_MARGO_CURE: Final = "write minutes and seconds, such as 5m0s, at most 1440m0s"
MargoDuration = Annotated[
    str,
    _duration(durations.margo_seconds),
    _at_most_a_day(durations.margo_seconds, _MARGO_CURE),
    _shown(durations.margo_pattern_up_to(durations.LONGEST_WAIT), _MARGO_CURE),
]


def _is_moment(text: str) -> bool:
    if re.fullmatch(_MOMENT, text) is None:
        return False
    try:
        in_utc(datetime.fromisoformat(text))
    except ValueError:  # the 30th of February, or a day before or after all days of UTC
        return False
    return True


def sorted_version(text: str) -> tuple[Any, ...]:
    """A key that orders versions as SemVer does; what is no version comes first."""
    match = SEMVER.fullmatch(text)
    if match is None:
        return (-1, -1, -1, (0,), text)
    core = tuple(int(match[number]) for number in (1, 2, 3))
    pre = (match[4] or "")[1:]
    if not pre:
        return (*core, (1,), "")
    parts = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in pre.split("."))
    return (*core, (0, parts), "")
