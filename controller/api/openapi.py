"""The API's description, made from the table of routes and the models that read its bodies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

import margrave
from controller.access.identity import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.api.routes import Route

PREFIX: Final = "/api/v1"
_PARAMETER = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")
_BRACES = re.compile(r"\{([a-z_]+)\}")
_WORD = re.compile(r"[^a-z0-9]+")
_REF: Final = "#/components/schemas/{model}"


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
    schemas: dict[str, Any] = {"Problem": _PROBLEM}
    for route in routes:
        path = PREFIX + _PARAMETER.sub(r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, schemas)
    for door in doors:
        paths.setdefault(door.path, {})[door.method.lower()] = _open(door, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Margrave controller", "version": margrave.__version__},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    needed = "the site's runner" if route.needs is Role.SITE else f"role {route.needs}"
    made: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.says,
        "description": f"Needs {needed}.",
        "responses": _responses(route.status),
    }
    names = _PARAMETER.findall(route.path)
    if names:
        made["parameters"] = _in_path(names)
    if route.body is not None:
        made["requestBody"] = _json(_body(route.body, schemas))
    return made


def _open(door: Door, schemas: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": f"open_{door.method.lower()}_{_WORD.sub('_', door.path).strip('_')}",
        "summary": door.says,
        "security": [],
        "responses": _responses(door.status),
    }
    if names := _BRACES.findall(door.path):
        made["parameters"] = _in_path(names)
    if door.body is not None:
        made["requestBody"] = _json(_body(door.body, schemas))
    return made


def _responses(status: int) -> dict[str, Any]:
    problem = {"application/problem+json": {"schema": {"$ref": _ref("Problem")}}}
    return {
        str(status): {"description": "as asked"},
        "default": {"description": "a problem", "content": problem},
    }


def _in_path(names: Sequence[str]) -> list[dict[str, Any]]:
    text = {"type": "string"}
    return [{"name": name, "in": "path", "required": True, "schema": text} for name in names]


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _body(body: object, schemas: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(body, type) or not issubclass(body, BaseModel):
        return {"type": "object"}
    name = body.__name__
    if name not in schemas:
        schema = body.model_json_schema(ref_template=_REF)
        schemas.update(schema.pop("$defs", {}))
        schemas[name] = schema
    return {"$ref": _ref(name)}


def _ref(name: str) -> str:
    return _REF.format(model=name)


_PROBLEM: Final = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "errors"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "cure": {"type": "string"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "detail"],
                "properties": {
                    "pointer": {"type": "string"},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                    "cure": {"type": "string"},
                },
            },
        },
    },
}
