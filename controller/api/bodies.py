"""Reading request bodies: JSON, in limits, into models, with every finding at its pointer."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from flask import request
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, ValidationError

from controller.api.problems import Problem, invalid
from margrave.findings import Finding, did_you_mean, pointer
from margrave.times import in_utc

if TYPE_CHECKING:
    from collections.abc import Mapping

MIB: Final = 1024 * 1024
BODY_LIMIT: Final = MIB
REPORT_LIMIT: Final = 8 * MIB

ZonedTime = Annotated[AwareDatetime, AfterValidator(in_utc)]
AnyTime = Annotated[datetime, AfterValidator(in_utc)]  # a time without a zone is in UTC

M = TypeVar("M", bound=BaseModel)


class Body(BaseModel):
    """The base of every body: an unknown key is a finding."""

    model_config = ConfigDict(extra="forbid", strict=True)


def json_object(*, empty_ok: bool = False, limit: int = BODY_LIMIT) -> dict[str, Any]:
    """The body as a JSON object; 400 when it is not JSON, 413 when too big, 422 no object."""
    raw = _bytes(limit)
    if empty_ok and not raw.strip():
        return {}
    value = _parse(raw)
    if not isinstance(value, dict):
        raise invalid([Finding("", "the body is no JSON object", 'write {"key": value, …}')])
    return value


def read(model: type[M], value: Mapping[str, Any]) -> M:
    """The model of a value; 422 with all findings."""
    try:
        if not model.model_config.get("strict"):
            return model.model_validate(value)
        # Round by JSON: strict mode then takes JSON's own forms of dates and enumerations.
        return model.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise invalid(findings_of(error, model)) from None


def findings_of(error: ValidationError, model: type[BaseModel]) -> list[Finding]:
    """What pydantic found, in our words."""
    return [_finding(dict(one), model) for one in error.errors(include_url=False)]


def _finding(one: dict[str, Any], model: type[BaseModel]) -> Finding:
    place = tuple(part for part in one["loc"] if not str(part).startswith("function-"))
    where = pointer(place)
    if one["type"] == "extra_forbidden":
        known = model.model_fields if len(place) == 1 else ()
        return Finding(where, "unknown key", did_you_mean(str(place[-1]), known), "unknown-key")
    if one["type"] == "missing":
        return Finding(where, "is missing", "give it a value", "missing")
    rule = _RULES.get(one["type"], "").format_map(one.get("ctx") or {})
    return Finding(where, str(one["msg"]), rule, "invalid")


# What each kind of value has to be, as a cure.
_RULES: Final = {
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "string_pattern_mismatch": "text of the form {pattern}",
    "string_type": "text, in quotes",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "literal_error": "one of {expected}",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "datetime_from_date_parsing": "a time such as 2030-01-31T12:00:00Z",
    "timezone_aware": "a time with its zone, such as 2030-01-31T12:00:00Z",
}


def _bytes(limit: int) -> bytes:
    request.max_content_length = limit
    raw = request.get_data(cache=False)
    encoding = request.headers.get("Content-Encoding", "identity").lower()
    if encoding == "identity":
        return raw
    if encoding == "gzip":
        return _gunzip(raw, limit)
    raise Problem(415, f'content encoding "{encoding[:40]}" is not taken', cure="gzip or none")


def _gunzip(raw: bytes, limit: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=BytesIO(raw)) as stream:
            data = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error):
        raise Problem(400, "the body is not gzip", cure="leave Content-Encoding away") from None
    if len(data) > limit:
        raise Problem(413, f"the body unpacks to more than {limit} bytes")
    return data


def _parse(raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8")
        value = json.loads(
            text,
            parse_constant=_no_constant,
            parse_float=_finite,
            object_pairs_hook=_no_duplicates,
        )
        if "\\u" in text:  # an escape may name half a character or a null: no text that can be kept
            whole = json.dumps(value, ensure_ascii=False)
            whole.encode("utf-8")
            if "\\u0000" in whole:
                raise ValueError("a null character in a text")
    except (ValueError, RecursionError) as error:
        raise Problem(400, f"the body is not JSON: {_short(error)}") from None
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    """1e999 is JSON, but no number that anything here, Git or a database can keep."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'"{twice[:60]}" stands twice')
    return value


def _short(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return "it is not UTF-8"
    return str(error)[:200] or type(error).__name__
