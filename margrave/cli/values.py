"""`--set name=text` becomes a value of the type that the application declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from margrave.terminal.asking import Misuse

Reader = Callable[[str], Any]


def typed(
    pairs: Iterable[tuple[str, str]], parameters: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Values by name. Text that does not read as the declared type stays text: the finding that
    the controller answers then names parameter, type and cure in its own words."""
    types = {str(one.get("name")): declared_type(one) for one in parameters}
    values: dict[str, Any] = {}
    for name, text in pairs:
        if name in values:
            raise Misuse(f"--set {name} stands there twice", "give one value")
        values[name] = read(text, types.get(name, "string"))
    return values


def declared_type(parameter: Mapping[str, Any]) -> str:
    """The type's word: what the schema says, else that of the default, else string."""
    schema = parameter.get("schema")
    places = [parameter, schema if isinstance(schema, Mapping) else {}]
    for place in places:
        for key in ("type", "dataType", "data_type"):
            if isinstance(place.get(key), str):
                word = str(place[key])
                many = word == "select" and place.get("multiselect")
                return "array[string]" if many else word
    return _type_of(parameter.get("default"))


def _type_of(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "double"
    if isinstance(value, list):
        return f"array[{_type_of(value[0]) if value else 'string'}]"
    return "string"


def read(text: str, kind: str) -> Any:
    """The text as a value of this type, or the text itself."""
    if kind.startswith("array"):
        inner = kind.removeprefix("array").strip("[]") or "string"
        return [read(part.strip(), inner) for part in text.split(",")] if text else []
    try:
        return READERS.get(kind, str)(text)
    except (ValueError, KeyError):
        return text


def _boolean(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


READERS: Final[Mapping[str, Reader]] = {"integer": int, "double": float, "boolean": _boolean}
