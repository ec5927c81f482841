"""From a model to the JSON Schema (2020-12) that an editor reads."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import GenerateJsonSchema

from margrave.documents._reading import OURS, Extensible
from margrave.schemas.words import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
# Other people's extensions; ours stand only where they have a meaning.
FOREIGN: Final = rf"^x-(?!{OURS[2:]}$)[a-z][a-z0-9-]*-extensions$"

_REFERENCE: Final = "#/$defs/"


class _Generator(GenerateJsonSchema):
    """As pydantic does it, with what our readers refuse and take beyond it."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        """No title for each field: the key itself says it."""
        return False

    def model_schema(self, schema: Any) -> dict[str, Any]:
        """Where anybody's extensions may stand, they may hold anything."""
        made = super().model_schema(schema)
        if issubclass(schema["cls"], Extensible):
            made["patternProperties"] = {FOREIGN: {"type": "object"}}
        return made

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        """A key that breaks the rule for keys is refused, which a pattern alone does not say."""
        made = super().dict_schema(schema)
        if "patternProperties" in made:
            made["additionalProperties"] = False
        return made


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
