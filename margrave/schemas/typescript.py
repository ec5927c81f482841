"""TypeScript types from the schemas, for pages and programs that speak with the controller."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from margrave.schemas.generating import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Mapping

    Names = Mapping[tuple[str, str], str]  # (schema, part; "" is the whole) to the type's name

HEAD: Final = """\
// Types of Margrave's documents, requests and answers.
// Written by docs/generate.py from the models; a test fails when they differ.
"""
_PLAIN: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
# It takes our own extensions in too, which need not be there.
_FOREIGN: Final = "[foreign: `x-${string}-extensions`]: object | null | undefined;"
_TELLING: Final = ("$schema", "$id", "$defs", "title", "description")


def types_of(schemas: Mapping[str, Mapping[str, Any]]) -> str:
    """One declaration for each shape, in the order of names."""
    names = _names(schemas)
    declared: dict[str, str] = {}
    for (schema, part), name in names.items():
        body = schemas[schema]["$defs"][part] if part else schemas[schema]
        if name not in declared:
            declared[name] = _declaration(name, body, _Scope(schema, names))
    return HEAD + "".join("\n" + declared[name] for name in sorted(declared))


def _names(schemas: Mapping[str, Mapping[str, Any]]) -> Names:
    """Equal shapes are one type; parts that share a name and differ carry their document's."""
    shapes = {
        (schema, part): _shape(body, whole.get("$defs", {}))
        for schema, whole in schemas.items()
        for part, body in [("", whole), *whole.get("$defs", {}).items()]
    }
    by_shape = {shapes[schema, ""]: str(whole["title"]) for schema, whole in schemas.items()}
    for (schema, part), shape in shapes.items():
        if shape not in by_shape:
            alike = {other for (_, name), other in shapes.items() if name == part}
            alone = len(alike) == 1 and part not in by_shape.values()
            by_shape[shape] = part if alone else f"{schemas[schema]['title']}{part}"
    return {place: by_shape[shape] for place, shape in shapes.items()}


def _shape(body: Any, parts: Mapping[str, Any]) -> str:
    """The part written out, without what only tells; where it contains itself, by name."""

    def whole(value: Any, above: tuple[str, ...]) -> Any:
        if isinstance(value, dict):
            if "$ref" in value and _part(value) not in above:
                return whole(parts[_part(value)], (*above, _part(value)))
            return {key: whole(below, above) for key, below in value.items()}
        return [whole(one, above) for one in value] if isinstance(value, list) else value

    told = {key: below for key, below in body.items() if key not in _TELLING}
    return json.dumps(whole(told, ()), sort_keys=True)


def _part(value: Mapping[str, Any]) -> str:
    return str(value["$ref"]).rpartition("/")[2]


def _declaration(name: str, body: Mapping[str, Any], scope: _Scope) -> str:
    about = _comment(str(body.get("description", "")), "")
    if "properties" in body:
        return f"{about}export interface {name} {_members(body, scope, '')}\n"
    return f"{about}export type {name} = {scope.type(body)};\n"


def _comment(text: str, indent: str) -> str:
    words = " ".join(text.split()).replace("*/", "* /")
    return f"{indent}/** {words} */\n" if words else ""


def _members(body: Mapping[str, Any], scope: _Scope, indent: str) -> str:
    lines = ["{\n"]
    for key, below in body["properties"].items():
        lines.append(_comment(str(below.get("description", "")), indent + "  "))
        shown = key if _IDENTIFIER.fullmatch(key) else json.dumps(key)
        optional = "" if key in body.get("required", ()) else "?"
        lines.append(f"{indent}  {shown}{optional}: {scope.type(below)};\n")
    if FOREIGN in body.get("patternProperties", {}):
        lines.append(f"{indent}  {_FOREIGN}\n")
    return "".join([*lines, indent, "}"])


class _Scope:
    """Turns the schemas below one document into types."""

    def __init__(self, schema: str, names: Names) -> None:
        self._schema = schema
        self._names = names

    def type(self, value: Any) -> str:
        """The type of what the schema admits; patterns and ranges are beyond it."""
        if not isinstance(value, dict):
            return "unknown"
        if "$ref" in value:
            return self._names[self._schema, _part(value)]
        if "const" in value:
            return json.dumps(value["const"])
        if "enum" in value:
            return " | ".join(json.dumps(one) for one in value["enum"])
        for word in ("anyOf", "oneOf"):
            if word in value:
                return " | ".join(dict.fromkeys(self.type(one) for one in value[word]))
        kind = value.get("type")
        if kind == "array":
            item = self.type(value.get("items"))
            return f"({item})[]" if " " in item else f"{item}[]"
        return self._mapping(value) if kind == "object" else _PLAIN.get(str(kind), "unknown")

    def _mapping(self, value: Mapping[str, Any]) -> str:
        below = value.get("additionalProperties")
        if not isinstance(below, dict):
            below = next(iter(value.get("patternProperties", {}).values()), None)
        keys = value.get("propertyNames", {})
        if "enum" in keys or "$ref" in keys:
            return f"Partial<Record<{self.type(keys)}, {self.type(below)}>>"
        return f"Record<string, {self.type(below)}>"
