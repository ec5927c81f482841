"""Values for an application's parameters, checked against their schemas."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from margrave import patterns
from margrave.findings import Finding, did_you_mean, pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from margrave.documents.description import ApplicationDescription, Schema

Wrong = tuple[str, str]  # what was found, and what to write instead


def check(description: ApplicationDescription, values: Mapping[str, object]) -> list[Finding]:
    """Findings of a request's `parameters`; empty when all of them may be used."""
    findings = []
    settings = description.settings
    for name, value in values.items():
        path = pointer(("parameters", name))
        if name not in description.parameters:
            cure = did_you_mean(name, description.parameters)
            findings.append(
                Finding(path, "is no parameter of the application", cure, "unknown-key")
            )
        elif name in settings and not is_secret(value):
            findings += [
                Finding(path, words, cure) for words, cure in check_value(settings[name][1], value)
            ]
    return findings


def check_change(
    description: ApplicationDescription,
    before: Mapping[str, object],
    after: Mapping[str, object],
) -> list[Finding]:
    """Findings of an update's values: what is immutable stays as it was installed."""
    return [
        Finding(
            pointer(("parameters", name)),
            "cannot be changed once it is installed",
            f"leave it at {before[name]!r}, or make a new deployment",
            "immutable",
        )
        for name, (setting, _) in description.settings.items()
        if setting.immutable and name in before and name in after and before[name] != after[name]
    ]


def is_secret(value: object) -> bool:
    """Whether a request names a secret of the site instead of giving a value."""
    return isinstance(value, dict) and set(value) == {"secret"}


def check_value(schema: Schema, value: object) -> list[Wrong]:
    """What is wrong with a value; empty when it satisfies the schema."""
    if value is None or value == "":
        return [] if schema.allowEmpty else [("is empty", "give a value")]
    kind = schema.dataType
    if kind.startswith("array["):
        if not isinstance(value, list):
            return [(f"{value!r} is not a list", "write a list")]
        item = kind.removeprefix("array[").removesuffix("]")
        return [wrong for one in value for wrong in _RULES[item](schema, one)]
    if schema.options and kind != "select":
        items = value if schema.multiselect and isinstance(value, list) else [value]
        wrong = [one for item in items for one in _RULES[kind](schema, item)]
        return wrong or list(_select(schema, value))
    return list(_RULES[kind](schema, value))


def _string(schema: Schema, value: Any) -> Iterator[Wrong]:
    if not isinstance(value, str):
        yield f"{value!r} is not text", "write text"
        return
    low, high = schema.minLength, schema.maxLength
    if low is not None and len(value) < low:
        yield f"has {len(value)} characters", f"write {low} at least"
    if high is not None and len(value) > high:
        yield f"has {len(value)} characters", f"write {high} at most"
    if schema.regexMatch and not patterns.matches(schema.regexMatch, value):
        yield f"{value!r} is not as required", f"match {schema.regexMatch}"


def _integer(schema: Schema, value: Any) -> Iterator[Wrong]:
    if isinstance(value, bool) or not isinstance(value, int):
        yield f"{value!r} is not a whole number", "write a whole number"
        return
    yield from _range(schema, value)


def _double(schema: Schema, value: Any) -> Iterator[Wrong]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        yield f"{value!r} is not a number", "write a number"
        return
    yield from _range(schema, value)
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    digits = max(0, -exponent) if isinstance(exponent, int) else 0
    low, high = schema.minPrecision, schema.maxPrecision
    if low is not None and digits < low:
        yield f"{value} has {digits} decimal places", f"write {low} at least"
    if high is not None and digits > high:
        yield f"{value} has {digits} decimal places", f"write {high} at most"


def _range(schema: Schema, value: float) -> Iterator[Wrong]:
    if schema.minValue is not None and value < schema.minValue:
        yield f"{value} is too low", f"write {schema.minValue} or more"
    if schema.maxValue is not None and value > schema.maxValue:
        yield f"{value} is too high", f"write {schema.maxValue} or less"


def _boolean(_: Schema, value: Any) -> Iterator[Wrong]:
    if not isinstance(value, bool):
        yield f"{value!r} is not true or false", "write true or false"


def _select(schema: Schema, value: Any) -> Iterator[Wrong]:
    if schema.multiselect and not isinstance(value, list):
        yield f"{value!r} is not a list", "write a list"
        return
    for one in value if schema.multiselect else [value]:
        if one not in schema.options:
            options = ", ".join(str(option) for option in schema.options)
            yield f"{one!r} is no option", f"choose from {options}"


_RULES: Final[Mapping[str, Callable[[Schema, Any], Iterator[Wrong]]]] = {
    "string": _string,
    "integer": _integer,
    "double": _double,
    "boolean": _boolean,
    "select": _select,
}
