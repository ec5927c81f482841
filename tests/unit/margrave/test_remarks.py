"""What is allowed, and yet worth a look."""

from __future__ import annotations

from typing import Any

from margrave import json_text
from margrave.documents.generations import Kind
from margrave.documents.remarks import remarks
from margrave.findings import Severity
from tests.unit.margrave import margo_making
from tests.unit.margrave.margo_making import as_json


def told(kind: Kind, value: Any) -> list[str]:
    """Pointer and message of each remark; all of them are warnings."""
    found = remarks(kind, json_text.parse(as_json(value)))
    assert all(one.severity is Severity.WARNING and one.line for one in found)
    return [f"{one.pointer}: {one.message}" for one in found]


def test_what_is_whole_needs_no_remark() -> None:
    """Nobody reads warnings that are always there."""
    assert told(Kind.DESCRIPTION, margo_making.description()) == []
    assert told(Kind.DEPLOYMENT, margo_making.deployment()) == []
    assert told(Kind.MANIFEST, margo_making.manifest()) == []
    assert told(Kind.CAPABILITIES, margo_making.capabilities()) == []
    assert told(Kind.PROBLEM, margo_making.problem()) == []


def test_extensions_of_others_are_pointed_out() -> None:
    """Whoever wrote one may expect something of it."""
    value = margo_making.deployment()
    value["spec"]["x-margrave-extensions"] = {}
    value["spec"]["deploymentProfile"]["components"][0]["x-acme-extensions"] = {}

    [words] = told(Kind.DEPLOYMENT, value)
    assert words.startswith("/spec/deploymentProfile/components/0/x-acme-extensions: ")
    assert words.endswith("is kept as it is, and means nothing to Margrave")


def test_what_the_standard_only_advises_is_a_remark() -> None:
    """Kinds of files, names of labels, fields of an error."""
    description = margo_making.description()
    description["metadata"]["catalog"]["application"]["licenseFile"] = "./license.doc"
    capabilities = {**margo_making.capabilities(), "labels": {"zone": "hall"}}
    problem = {**margo_making.problem(), "errors": []}

    assert told(Kind.DESCRIPTION, description) == [
        '/metadata/catalog/application/licenseFile: "./license.doc" should be another kind of file'
    ]
    assert told(Kind.CAPABILITIES, capabilities) == [
        "/labels/zone: is a name that others may use for something else"
    ]
    assert told(Kind.PROBLEM, problem) == [": does not say which fields are wrong"]


def test_compose_cannot_start_first() -> None:
    """A chart can; what is written is kept, and has no effect on Compose."""
    value = margo_making.deployment()
    value["spec"]["x-margrave-extensions"] = {"strategy": {"update": "start-first"}}

    value["spec"]["deploymentProfile"]["type"] = "compose"
    [words] = told(Kind.DEPLOYMENT, value)
    assert words.startswith("/spec/x-margrave-extensions/strategy/update: is more than Compose can")
    value["spec"]["deploymentProfile"]["type"] = "helm"
    assert told(Kind.DEPLOYMENT, value) == []
