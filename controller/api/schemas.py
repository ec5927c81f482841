"""JSON Schemas of documents, requests and answers, for editors and programs."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from flask import Blueprint, Response

from controller.admission.bodies import Act, Create
from controller.api import told
from controller.api.problems import not_found
from controller.reports import messages
from controller.reports.runs import Run
from margrave.schemas import Models, all_schemas, text_of

_DATA: Final[Models] = {
    "command": messages.CommandData,
    "log": messages.LogData,
    "node": messages.NodeData,
    "operation": messages.OperationData,
    "placement": messages.PlacementData,
    "site": messages.SiteData,
    "snapshot": messages.SnapshotData,
}

# What this room reads, beside what everybody knows.
BODIES: Final[Models] = {
    "action-request": Act,
    "create-request": Create,
    "heartbeat": messages.Heartbeat,
    "hand-run": Run,
    "report-batch": told.Batch,
    **{f"report-{kind}": data for kind, data in _DATA.items()},
}


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Every schema that is served, by name."""
    return all_schemas(BODIES)


def blueprint() -> Blueprint:
    """GET /schemas/<name>.json."""
    made = Blueprint("schemas", __name__)

    @made.get("/schemas/<name>.json")
    def schema(name: str) -> Response:
        if name not in schemas():
            raise not_found("schema", name)
        return Response(text_of(schemas()[name]), content_type="application/schema+json")

    return made
