"""An application's parameters as fields of a form, and what a form says as parameters.

A text that is no number stays a text: the API's own rule then says what is wrong with it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from controller.pages.words import said

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from werkzeug.datastructures import MultiDict

VALUE: Final = "p."  # what is typed for a parameter
KIND: Final = "k."  # how it is meant: a value, the name of a secret, back to the default
FROM_SITE: Final = "secret"
DEFAULT: Final = "default"


@dataclass(frozen=True)
class Field:
    """One parameter as it is asked for."""

    name: str
    title: str
    help: str
    kind: str  # string, integer, double, boolean, select, list
    meant: str = ""
    text: str = ""
    chosen: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    multiple: bool = False
    stands: str = ""  # what holds when nothing is typed
    rules: str = ""
    findings: list[Mapping[str, Any]] = field(default_factory=list)


def fields(
    parameters: Iterable[Mapping[str, Any]],
    form: MultiDict[str, str],
    findings: Iterable[Mapping[str, Any]],
    now: Mapping[str, Any] | None = None,
) -> list[Field]:
    """The fields of a form; `now` are the values that stand already."""
    found = list(findings)
    made = []
    for one in parameters:
        name, schema = str(one["name"]), one.get("schema") or {}
        value = (now or {}).get(name, one["default"])
        kind = _kind(one)
        made.append(
            Field(
                name=name,
                title=one.get("title") or name,
                help=one.get("description") or "",
                kind=kind,
                meant=form.get(KIND + name, ""),
                text=form.get(VALUE + name, ""),
                chosen=tuple(form.getlist(VALUE + name)),
                options=tuple(_text(option) for option in schema.get("options") or ()),
                multiple=bool(schema.get("multiselect")),
                stands=_text(value),
                rules=_rules(schema, kind),
                findings=[each for each in found if _is_about(each["pointer"], name)],
            )
        )
    return made


def values(parameters: Iterable[Mapping[str, Any]], form: MultiDict[str, str]) -> dict[str, Any]:
    """What the form says; a field that was left empty says nothing."""
    found: dict[str, Any] = {}
    for one in parameters:
        name = str(one["name"])
        texts = [text for text in form.getlist(VALUE + name) if text.strip()]
        meant = form.get(KIND + name, "")
        if meant == DEFAULT:
            found[name] = None
        elif texts and meant == FROM_SITE:
            found[name] = {"secret": texts[0].strip()}
        elif texts:
            found[name] = _value(one, texts)
    return found


def _kind(one: Mapping[str, Any]) -> str:
    schema = one.get("schema") or {}
    kind = str(schema.get("dataType") or "")
    if kind.startswith("array["):
        return "list"
    if schema.get("options"):
        return "select"
    if kind:
        return kind
    by_default = {bool: "boolean", int: "integer", float: "double", list: "list"}
    return by_default.get(type(one["default"]), "string")


def _value(one: Mapping[str, Any], texts: list[str]) -> Any:
    schema = one.get("schema") or {}
    kind = _kind(one)
    if kind == "list":
        item = str(schema.get("dataType") or "array[string]").removeprefix("array[")
        lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
        return [_scalar(item.removesuffix("]"), line) for line in lines]
    if kind == "select":
        by_text = {_text(option): option for option in schema.get("options") or ()}
        chosen = [by_text.get(text, text) for text in texts]
        return chosen if schema.get("multiselect") else chosen[0]
    return _scalar(kind, texts[0])


def _scalar(kind: str, text: str) -> Any:
    """The text as JSON where the kind asks for it and the text is that kind; else as it is."""
    if kind == "string":
        return text
    try:
        value = json.loads(text.strip())
    except ValueError:
        return text
    return value if isinstance(value, _FITS.get(kind, ())) else text


_FITS: Final[Mapping[str, tuple[type, ...]]] = {
    "integer": (int,),
    "double": (int, float),
    "boolean": (bool,),
}


def _text(value: Any) -> str:
    return "" if value is None else said(value)


def _is_about(pointer: str, name: str) -> bool:
    own = f"/parameters/{name.replace('~', '~0').replace('/', '~1')}"
    return pointer == own or pointer.startswith(f"{own}/")


_BOUNDS: Final = (
    ("minLength", "{} characters at least"),
    ("maxLength", "{} characters at most"),
    ("minValue", "{} or more"),
    ("maxValue", "{} or less"),
    ("maxPrecision", "{} decimal places at most"),
    ("regexMatch", "matches {}"),
)
_KINDS: Final = {
    "integer": "a whole number",
    "double": "a number",
    "list": "one in a line",
}


def _rules(schema: Mapping[str, Any], kind: str) -> str:
    """What the schema asks for, in words."""
    words = [_KINDS[kind]] if kind in _KINDS else []
    for key, told in _BOUNDS:
        if schema.get(key) is not None and (key, schema[key]) != ("minLength", 1):
            words.append(told.format(schema[key]))
    return ", ".join(words)
