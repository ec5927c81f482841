"""From a model to the JSON Schema (2020-12) that an editor reads."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import GenerateJsonSchema

from margrave.documents._reading import OURS, Part
from margrave.schemas.words import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import BaseModel

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
# Other people's extensions may stand in any part of a document; ours only where it has a meaning.
FOREIGN: Final = rf"^x-(?!{OURS[2:]}$)[a-z][a-z0-9-]*-extensions$"

_REFERENCE: Final = "#/$defs/"


class _Generator(GenerateJsonSchema):
    """Without a title for each field: the key itself says it."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def schema_of(name: str, model: type[BaseModel]) -> dict[str, Any]:
    """The schema `<name>.json`; its `$id` is relative: it holds on a disk and on a server."""
    made = model.model_json_schema(by_alias=True, schema_generator=_Generator)
    below = made.pop("$defs", {})
    renamed = _names(below)
    body = _named(made, renamed)
    parts = {renamed[key]: _named(value, renamed) for key, value in below.items()}
    _tell(body, name, model.__name__)
    for key, value in below.items():
        _tell(parts[renamed[key]], name, str(value.get("title", key)))
        parts[renamed[key]]["title"] = renamed[key]
    if issubclass(model, Part):
        for part in [body, *parts.values()]:
            for one in _mappings(part):
                _open_to_foreign(one)
    title = "".join(word.capitalize() for word in name.split("-"))
    head = {"$schema": DIALECT, "$id": f"{name}.json", "title": title}
    body.pop("title", None)
    if name in WORDS:
        body["description"] = WORDS[name]
    return {**head, **body, **({"$defs": dict(sorted(parts.items()))} if parts else {})}


def text_of(schema: Mapping[str, Any]) -> str:
    """The schema's one text, as it is stored and served."""
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def _names(below: Mapping[str, Any]) -> dict[str, str]:
    """What each part is called: its class without the suffix that only our code needs."""
    plain = {key: re.sub(r"(Part|Data)$", "", key.rpartition("__")[2]) for key in below}
    taken = list(plain.values())
    return {key: name if taken.count(name) == 1 else key for key, name in plain.items()}


def _named(value: Any, names: Mapping[str, str]) -> Any:
    """The value with its references under the parts' names."""
    if isinstance(value, dict):
        return {
            key: _REFERENCE + names[below.removeprefix(_REFERENCE)]
            if key == "$ref"
            else _named(below, names)
            for key, below in value.items()
        }
    if isinstance(value, list):
        return [_named(one, names) for one in value]
    return value


def _tell(part: dict[str, Any], schema: str, model: str) -> None:
    """Adds the sentence that an editor shows beside each key; one for this schema goes first."""
    for key, about in part.get("properties", {}).items():
        words = WORDS.get(f"{schema} {model}.{key}") or WORDS.get(f"{model}.{key}")
        if words:
            about["description"] = words


def _mappings(value: Any) -> Iterator[dict[str, Any]]:
    """Every schema of a mapping with keys of its own or with free keys, at any depth."""
    if isinstance(value, list):
        for one in value:
            yield from _mappings(one)
    if isinstance(value, dict):
        if value.get("type") == "object":
            yield value
        for key, below in value.items():
            if key not in ("default", "enum", "const", "examples"):
                yield from _mappings(below)


def _open_to_foreign(mapping: dict[str, Any]) -> None:
    """As `without_foreign` reads: such a key is nobody's concern, whatever it holds."""
    free = mapping.get("additionalProperties")
    patterns = mapping.setdefault("patternProperties", {})
    if free is None and patterns:  # pydantic's way to write rules for keys: all others are refused
        mapping["additionalProperties"] = False
    patterns[FOREIGN] = True
    if "propertyNames" in mapping:
        mapping["propertyNames"] = {"anyOf": [mapping["propertyNames"], {"pattern": FOREIGN}]}
