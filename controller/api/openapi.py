"""The API's description, made from the table of routes and the models behind bodies and answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

import margrave
from controller.access.identity import Role
from controller.api import described
from controller.api.described import Described, Many, Text
from controller.api.routes import Object
from margrave.schemas import requests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.api.described import Answer, Schema
    from controller.api.routes import Route

PREFIX: Final = "/api/v1"
_PARAMETER = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")
_BRACES = re.compile(r"\{([a-z_]+)\}")
_WORD = re.compile(r"[^a-z0-9]+")
_REF: Final = "#/components/schemas/{model}"
_PLAIN: Final = Described(Text("application/json"))


@dataclass(frozen=True, slots=True)
class Door:
    """An address that takes no token of the API."""

    method: str
    path: str
    says: str
    body: type[BaseModel] | None = None
    status: int = 200


def document(routes: Sequence[Route], doors: Sequence[Door] = ()) -> dict[str, Any]:
    """OpenAPI 3.1."""
    paths: dict[str, Any] = {}
    models = _Models()
    problem = models.named(requests.Problem)
    for route in routes:
        path = PREFIX + _PARAMETER.sub(r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, models)
    for door in doors:
        paths.setdefault(door.path, {})[door.method.lower()] = _open(door, models)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Margrave controller", "version": margrave.__version__},
        "paths": paths,
        "components": {
            "schemas": models.schemas,
            "responses": {
                "Problem": {
                    "description": "a refusal, with its cure",
                    "content": {"application/problem+json": {"schema": problem}},
                }
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


class _Models:
    """Schemas of models by name, each once."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}

    def named(self, model: type[BaseModel], mode: str = "serialization") -> Schema:
        """A reference to the model's schema."""
        name = model.__name__
        if name not in self.schemas:
            kind: Any = mode
            schema = model.model_json_schema(ref_template=_REF, by_alias=True, mode=kind)
            for part, below in schema.pop("$defs", {}).items():
                self.schemas.setdefault(part, below)
            self.schemas[name] = schema
        return {"$ref": _REF.format(model=name)}

    def answer(self, answer: Answer) -> dict[str, Any] | None:
        """The content of an answer; None of an empty one."""
        if isinstance(answer, Text):
            return {answer.media: {}}
        if isinstance(answer, Many):
            items = {"type": "array", "items": self.named(answer.item)}
            schema: Schema = {
                "type": "object",
                "required": ["items", "next"],
                "properties": {"items": items, "next": {"type": ["string", "null"]}},
            }
            return {"application/json": {"schema": schema}}
        if isinstance(answer, described.Nothing):
            return None
        return {"application/json": {"schema": self.named(answer)}}


def _operation(route: Route, models: _Models) -> dict[str, Any]:
    needed = "the site's runner" if route.needs is Role.SITE else f"role {route.needs}"
    told = described.TABLE.get((route.method, route.path), _PLAIN)
    made: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.says,
        "description": f"Needs {needed}.",
        **_parameters(_PARAMETER.findall(route.path), told),
        "responses": _responses(route.status, told, models),
    }
    own = told.body if route.body is None or isinstance(route.body, Object) else (route.body,)
    if own:
        shapes = [models.named(one, "validation") for one in own]
        schema = shapes[0] if len(shapes) == 1 else {"anyOf": shapes}
        needed_body = route.body is Object.REQUIRED or _has_required(own)
        made["requestBody"] = {
            "required": needed_body,
            "content": {"application/json": {"schema": schema}},
        }
    return made


def _open(door: Door, models: _Models) -> dict[str, Any]:
    told = described.DOORS.get(door.path, _PLAIN)
    made: dict[str, Any] = {
        "operationId": f"open_{door.method.lower()}_{_WORD.sub('_', door.path).strip('_')}",
        "summary": door.says,
        "security": [],
        **_parameters(_BRACES.findall(door.path), told),
        "responses": _responses(door.status, told, models),
    }
    if door.body is not None:
        content = {"application/json": {"schema": models.named(door.body, "validation")}}
        made["requestBody"] = {"required": True, "content": content}
    return made


def _responses(status: int, told: Described, models: _Models) -> dict[str, Any]:
    empty = isinstance(told.answer, described.Nothing)
    found: dict[str, Any] = {}
    for code, answer in {204 if empty else status: told.answer, **told.also}.items():
        content = models.answer(answer)
        found[str(code)] = {"description": "as asked", **({"content": content} if content else {})}
    found["default"] = {"$ref": "#/components/responses/Problem"}
    return found


def _parameters(names: Sequence[str], told: Described) -> dict[str, Any]:
    """In the path, the query and the headers; nothing where there are none."""
    text: Schema = {"type": "string", "minLength": 1}
    made = [_parameter(name, "path", text, required=True) for name in names]
    made += [_parameter(name, "query", schema) for name, schema in told.asks.items()]
    made += [_parameter(name, "header", schema) for name, schema in told.headers.items()]
    return {"parameters": made} if made else {}


def _parameter(
    name: str, where: str, schema: Mapping[str, Any], *, required: bool = False
) -> dict[str, Any]:
    return {"name": name, "in": where, "required": required, "schema": dict(schema)}


def _has_required(models: Sequence[Any]) -> bool:
    return all(any(one.is_required() for one in each.model_fields.values()) for each in models)
