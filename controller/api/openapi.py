"""The API's description, made from the table of routes and the models that read its bodies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

import margrave
from controller.access.identity import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.api.routes import Route

PREFIX: Final = "/api/v1"
_PARAMETER = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")
_REF: Final = "#/components/schemas/{model}"


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """OpenAPI 3.1."""
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {"Problem": _PROBLEM}
    for route in routes:
        path = PREFIX + _PARAMETER.sub(r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, schemas)
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
        "responses": {
            str(route.status): {"description": "as asked"},
            "default": {
                "description": "a problem",
                "content": {"application/problem+json": {"schema": {"$ref": _ref("Problem")}}},
            },
        },
    }
    names = _PARAMETER.findall(route.path)
    if names:
        made["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in names
        ]
    if route.body is not None:
        made["requestBody"] = {"content": {"application/json": {"schema": _body(route, schemas)}}}
    return made


def _body(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(route.body, type) or not issubclass(route.body, BaseModel):
        return {"type": "object"}
    name = route.body.__name__
    if name not in schemas:
        schema = route.body.model_json_schema(ref_template=_REF)
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
