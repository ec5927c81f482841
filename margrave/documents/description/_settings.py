"""Rules of a description's configuration: settings, the schemas that they name, and defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from margrave import patterns
from margrave.documents._walk import EACH, mapping, part, repeated, texts, walk
from margrave.documents.description.parts import Schema
from margrave.errors import MargraveError
from margrave.findings import did_you_mean
from margrave.parameters import check_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from margrave.documents._walk import Path
    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

_SCHEMAS: Final[Path] = ("configuration", "schema")
_SETTINGS: Final = ("configuration", "sections", EACH, "settings", EACH)

_CHOICE: Final = frozenset({"options", "multiselect"})
_LENGTH: Final = frozenset({"minLength", "maxLength", "regexMatch"})
_RANGE: Final = frozenset({"minValue", "maxValue"})
_PRECISION: Final = frozenset({"minPrecision", "maxPrecision"})
# Which rules a data type has besides allowEmpty; a list's rules hold for its items.
_RULES: Final[Mapping[str, frozenset[str]]] = {
    "string": _LENGTH | _CHOICE,
    "integer": _RANGE | _CHOICE,
    "double": _RANGE | _PRECISION | _CHOICE,
    "boolean": frozenset(),
    "select": _CHOICE,
}
_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "double": (int, float),
    "boolean": (bool,),
    "select": (str, int, float, bool),
}
_PAIRS: Final = (
    ("minLength", "maxLength"),
    ("minValue", "maxValue"),
    ("minPrecision", "maxPrecision"),
)


def setting_rules(parsed: Parsed) -> Iterator[Finding]:
    """Settings name what exists, schemas make sense, defaults satisfy them."""
    value = parsed.value
    for path, name in repeated(texts(value, *_SCHEMAS, EACH, "name")):
        yield parsed.finding(path, f'"{name}" stands twice', "rename one")
    for path, name in repeated(texts(value, *_SETTINGS, "parameter")):
        yield parsed.finding(path, f'"{name}" has two settings', "keep one of them")
    parameters = mapping(part(value, ("parameters",)))
    for path, name in texts(value, *_SETTINGS, "parameter"):
        if name not in parameters:
            message = f'no parameter is called "{name}"'
            yield parsed.finding(path, message, did_you_mean(name, parameters))
    names = {name for _, name in texts(value, *_SCHEMAS, EACH, "name")}
    for path, name in texts(value, *_SETTINGS, "schema"):
        if name not in names:
            yield parsed.finding(path, f'no schema is called "{name}"', did_you_mean(name, names))
    for path, schema in walk(value, *_SCHEMAS, EACH):
        yield from _schema_rules(parsed, path, mapping(schema))
    yield from _default_rules(parsed)


def _schema_rules(parsed: Parsed, at: Path, schema: Mapping[str, Any]) -> Iterator[Finding]:
    kind = str(schema.get("dataType")).removeprefix("array[").removesuffix("]")
    if kind not in _RULES:
        return
    for key in sorted(frozenset().union(*_RULES.values()) & set(schema)):
        if key not in _RULES[kind]:
            cure = f"remove it; {kind} has {', '.join(sorted(_RULES[kind])) or 'no rules'}"
            yield parsed.finding((*at, key), f"is no rule for {kind}", cure)
    for low, high in _PAIRS:
        first, second = _number(schema.get(low)), _number(schema.get(high))
        if first is not None and second is not None and first > second:
            message = f"{first} is more than {high}, which is {second}"
            yield parsed.finding((*at, low), message, "swap them, or remove one")
    for key in _RANGE & set(schema):
        if kind == "integer" and isinstance(schema[key], float):
            message = f"{schema[key]} bounds whole numbers"
            yield parsed.finding((*at, key), message, "write a whole number, or dataType: double")
    yield from _pattern_rule(parsed, (*at, "regexMatch"), schema.get("regexMatch"))
    yield from _choice_rules(parsed, at, schema, kind)


def _pattern_rule(parsed: Parsed, path: Path, pattern: Any) -> Iterator[Finding]:
    if not isinstance(pattern, str):
        return
    try:
        patterns.check(pattern)
    except MargraveError as error:
        yield parsed.finding(path, error.message, error.cure)


def _choice_rules(
    parsed: Parsed, at: Path, schema: Mapping[str, Any], kind: str
) -> Iterator[Finding]:
    options = schema.get("options")
    if not options:
        if kind == "select" or schema.get("multiselect"):
            message = "has nothing to select from"
            yield parsed.finding(
                (*at, "options") if "options" in schema else at, message, "list the options"
            )
        return
    if not isinstance(options, list):
        return
    for index, option in enumerate(options):
        if not _is_of(option, kind):
            message = f"is no option for {kind}"
            yield parsed.finding((*at, "options", index), message, "write one of that kind")
        elif option in options[:index]:
            message = f'"{option}" stands twice'
            yield parsed.finding((*at, "options", index), message, "keep one of them")


def _default_rules(parsed: Parsed) -> Iterator[Finding]:
    """A parameter's default satisfies the schema of its setting."""
    schemas = {}
    for _, schema in walk(parsed.value, *_SCHEMAS, EACH):
        try:
            read = Schema.model_validate(schema)
            patterns.check(read.regexMatch or "")
        except (ValidationError, MargraveError):
            continue  # told already, at its own place
        schemas[read.name] = read
    for _, setting in walk(parsed.value, *_SETTINGS):
        name, schema = mapping(setting).get("parameter"), mapping(setting).get("schema")
        path = ("parameters", name, "value")
        default = part(parsed.value, path)
        if isinstance(schema, str) and schema in schemas and default is not None:
            for words, cure in check_value(schemas[schema], default):
                yield parsed.finding(("parameters", str(name), "value"), words, cure)


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _is_of(option: Any, kind: str) -> bool:
    if isinstance(option, bool) and kind not in ("boolean", "select"):
        return False
    return isinstance(option, _KINDS[kind])
