"""Values of `--set name=text`, in the types that the application declares, and of `--secret`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from margrave.terminal.asking import Misuse

# Pairs of `--set` and `--secret`, in the order of the command.
Values = tuple[tuple[str, str | Mapping[str, str]], ...]
Reader = Callable[[str], Any]


def typed(
    pairs: Iterable[tuple[str, str | Mapping[str, str]]], parameters: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Values by name. Text that does not read as the declared type stays text: the finding that
    the controller answers then names parameter, type and cure in its own words."""
    types = {str(one.get("name")): declared_type(one) for one in parameters}
    values: dict[str, Any] = {}
    for name, text in pairs:
        if name in values:
            raise Misuse(f"{name} is set twice", "give one --set or --secret for it")
        if isinstance(text, Mapping):
            values[name] = dict(text)
            continue
        _refuse_secret_text(name, text)
        values[name] = read(text, types.get(name, "string"))
    return values


def _refuse_secret_text(name: str, text: str) -> None:
    """Refuse the JSON form of a secret: the application would get that text as its value."""
    try:
        value = json.loads(text)
    except ValueError:
        return
    if isinstance(value, Mapping) and set(value) == {"secret"}:
        raise Misuse(
            f"--set {name}: the application would get the text {text}, not the secret",
            f"write --secret {name}={value['secret']}",
        )


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
