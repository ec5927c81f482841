"""JSON Schemas of the documents that people write, for their editors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from flask import Blueprint, Response

from controller.api.problems import not_found
from margrave.documents.deployment import DeploymentPart
from margrave.documents.description import DescriptionPart
from margrave.documents.site import SitePart

if TYPE_CHECKING:
    from pydantic import BaseModel

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


MODELS: Final[dict[str, type[BaseModel]]] = {
    "application-description": DescriptionPart,
    "application-deployment": DeploymentPart,
    "site": SitePart,
}


def blueprint() -> Blueprint:
    """GET /schemas/<name>.json."""
    made = Blueprint("schemas", __name__)

    @made.get("/schemas/<name>.json")
    def schema(name: str) -> Response:
        if name not in MODELS:
            raise not_found("schema", name)
        body = {"$schema": DIALECT, **MODELS[name].model_json_schema(by_alias=True)}
        return Response(json.dumps(body), content_type="application/schema+json")

    return made
