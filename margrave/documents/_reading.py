"""From text to a checked model: the one door through which pydantic's errors become findings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from margrave.documents._fields import UNBOUNDED, OutOfBounds
from margrave.findings import Finding, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from margrave.yaml_text import Parsed

OURS: Final = "x-margrave-extensions"
BOUNDS: Final = "bounds"  # the code of findings about values that are too large
TOLD: Final = 50
_EXTENSION_CURE: Final = (
    "extensions are named x-<name>-extensions, and stand in a description, a specification,"
    " a profile or a component"
)
_EXTENSION = re.compile(r"x-[a-z][a-z0-9-]*-extensions")


class Part(BaseModel):
    """A part of a document: exactly the keys that are known, nothing is coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Extensible(Part):
    """A part to which anybody may add `x-<name>-extensions`; but ours they mean nothing here."""

    @model_validator(mode="before")
    @classmethod
    def _leave_foreign(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        foreign = [key for key in value if key.startswith("x-") and is_foreign(key)]
        if not foreign:
            return value
        for key in foreign:
            if not isinstance(value[key], dict):
                raise PydanticCustomError("extension", "is not a mapping", {"key": key})
        return {key: below for key, below in value.items() if key not in foreign}


Model = TypeVar("Model", bound=Part)

_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "missing": ("is missing", "add it"),
    "string_type": ("is not text", "put it in quotes"),
    "int_type": ("is not a whole number", "write it without quotes and point"),
    "bool_type": ("is not true or false", "write true or false"),
    "float_type": ("is not a number", "write it without quotes"),
    "dict_type": ("is not a mapping", "write keys and values"),
    "model_type": ("is not a mapping", "write keys and values"),
    "model_attributes_type": ("is not a mapping", "write keys and values"),
    "list_type": ("is not a list", "write items behind dashes"),
    "tuple_type": ("is not a list", "write items behind dashes"),
}

_LIMITS: Final[Mapping[str, tuple[str, str]]] = {
    "greater_than_equal": ("is too low", "write {ge} or more"),
    "greater_than": ("is too low", "write more than {gt}"),
    "less_than_equal": ("is too high", "write {le} or less"),
    "less_than": ("is too high", "write less than {lt}"),
    "too_short": ("has too few items", "write {min_length} at least"),
    "string_too_short": ("is empty", "write {min_length} character at least"),
}


def findings_of(
    parsed: Parsed, model: type[Model], *, bounded: bool = True
) -> tuple[Model | None, list[Finding]]:
    """Return the model when the document fits it, and otherwise every finding of its shape.

    Unless `bounded`, values that are out of bounds are no findings.
    """
    value = parsed.value
    if not isinstance(value, dict):
        return None, [parsed.finding((), "is not a mapping", "write keys and values")]
    try:
        return model.model_validate(value, context={UNBOUNDED: not bounded}), []
    except ValidationError as error:
        # Nobody reads more than these; suggestions for thousands of wrong keys would take seconds.
        told = error.errors(include_url=False)[:TOLD]
        return None, _told_once(_finding(parsed, model, one) for one in told)


def is_foreign(key: str) -> bool:
    """Whether the key is an extension of somebody else, which the standard allows us to ignore."""
    return key != OURS and _EXTENSION.fullmatch(key) is not None


def _told_once(findings: Any) -> list[Finding]:
    """Unions report each branch; one finding a place is enough."""
    seen: dict[str, Finding] = {}
    for finding in findings:
        seen.setdefault(finding.pointer, finding)
    return list(seen.values())


def _finding(parsed: Parsed, model: type[Part], error: Any) -> Finding:
    path = _path(parsed.value, error["loc"])
    kind = str(error["type"])
    if kind == "extra_forbidden":
        return _unknown(parsed, model, path)
    if kind == "extension":
        message, cure = _WORDS["dict_type"]
        return parsed.finding((*path, error["ctx"]["key"]), message, cure)
    if kind in _WORDS:
        message, cure = _WORDS[kind]
        return parsed.finding(path, message, cure)
    shown = f"{error['input']!r} " if isinstance(error.get("input"), (str, int, float)) else ""
    if kind in _LIMITS:
        message, cure = _LIMITS[kind]
        return parsed.finding(path, f"{shown}{message}", cure.format(**error["ctx"]))
    text = str(error["msg"]).removeprefix("Value error, ")
    if kind == "value_error":
        message, _, cure = text.partition(" | ")
        code = BOUNDS if isinstance(error["ctx"]["error"], OutOfBounds) else "invalid"
        return parsed.finding(path, f"{shown}{message}", cure, code)
    if kind == "literal_error":
        return parsed.finding(path, f"{shown}is not known", f"write {error['ctx']['expected']}")
    if kind == "string_pattern_mismatch":
        return parsed.finding(path, f"{shown}is not as required", "match " + _pattern(error))
    return parsed.finding(path, f"{shown}{text[0].lower()}{text[1:]}")


def _unknown(parsed: Parsed, model: type[Part], path: Sequence[str | int]) -> Finding:
    if str(path[-1]).startswith("x-"):
        message, cure = "is no extension that may stand here", _EXTENSION_CURE
    else:
        message = "is not a key that is known here"
        cure = did_you_mean(str(path[-1]), _known_keys(model, path[:-1]))
    return parsed.finding(path, message, cure, "unknown")


def _pattern(error: Any) -> str:
    return str(error["ctx"]["pattern"]).removeprefix("^").removesuffix("$")


def _path(value: Any, loc: Sequence[str | int]) -> list[str | int]:
    """The location without the names of union branches, which are no part of the document."""
    path: list[str | int] = []
    for index, part in enumerate(loc):
        last = index == len(loc) - 1
        if isinstance(value, dict) and (part in value or last):
            path.append(part)
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            path.append(part)
            value = value[part] if part < len(value) else None
    return path


def _known_keys(model: type[Part], path: Sequence[str | int]) -> list[str]:
    """The keys that the part at the path may have; none when that is not known."""
    current: Any = model
    for part in path:
        if isinstance(part, int):
            continue
        fields = current.model_fields if _is_part(current) else {}
        found = next(
            (f.annotation for name, f in fields.items() if (f.alias or name) == part), None
        )
        if found is not None:
            current = _part_within(found)
    fields = current.model_fields if _is_part(current) else {}
    return [field.alias or name for name, field in fields.items()]


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _part_within(annotation: Any) -> Any:
    if _is_part(annotation):
        return annotation
    below = (_part_within(one) for one in getattr(annotation, "__args__", ()))
    return next((one for one in below if one is not None), None)
