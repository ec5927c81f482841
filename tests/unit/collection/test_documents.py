"""A playbook by hand means by a document what the site runner means by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible_collections.margrave.edge.plugins.filter import edge

from margrave.documents.deployment import read_deployment

SOURCE = "components/" + "a" * 64

DOCUMENT = f"""
id: 3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f
metadata:
  name: storefront
  namespace: default
  deviceId: harbor/*
spec:
  applicationId: com-example-storefront
  deploymentProfile:
    type: compose
    components:
      - name: storefront
        properties:
          repository: oci://registry.margrave.lab/storefront
          revision: 1.1.0
          wait: true
          timeout: 0m15s
        x-margrave-extensions:
          source: {SOURCE}
  parameters:
    greeting:
      value: grüße
      targets:
        - {{pointer: GREETING, components: [storefront]}}
    quiet:
      value: true
      targets:
        - {{pointer: QUIET, components: [storefront]}}
  x-margrave-extensions:
    version: 1.1.0
    reason: none
"""


def _parsed(**ours: Any) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(DOCUMENT)
    document["spec"]["x-margrave-extensions"].update(ours)
    return document


def test_revision_is_the_runners() -> None:
    """The filter and the shared library give the same revision."""
    theirs = read_deployment(DOCUMENT, "document.yaml")

    assert edge.revision(_parsed()) == theirs.revision
    assert edge.revision(_parsed(priority="bulk")) == theirs.revision


def test_a_chart_becomes_parameters() -> None:
    """Values keep their types and go by their paths; a chart may come from its registry."""
    document = _parsed()
    profile = document["spec"]["deploymentProfile"]
    profile["type"] = "helm"
    del profile["components"][0]["x-margrave-extensions"]

    found = edge.workload(document, "/repository/components")

    assert (found["profile"], found["namespace"]) == ("helm", "default")
    assert found["components"] == [
        {
            "name": "storefront",
            "repository": "oci://registry.margrave.lab/storefront",
            "revision": "1.1.0",
            "values": {"GREETING": "grüße", "QUIET": True},
            "timeout": 15,
        }
    ]


def test_document_becomes_parameters() -> None:
    """Everything that workload_install needs stands in the document and its repository."""
    theirs = read_deployment(DOCUMENT, "document.yaml")

    found = edge.workload(_parsed(), "/repository/components")

    assert (found["deployment"], found["version"]) == (theirs.id, "1.1.0")
    assert found["components"] == [
        {
            "name": "storefront",
            "src": "/repository/" + SOURCE,
            "digest": "sha256:" + "a" * 64,
            "variables": theirs.variables("storefront"),
            "timeout": 15,
        }
    ]


def test_the_documents_own_timeout_holds_for_all() -> None:
    """A health time-out that the document writes overrules the components'."""
    found = edge.workload(_parsed(health={"timeout": "2m"}), "/x")

    assert found["health"] == {"timeout": 120}
    assert found["components"][0]["timeout"] is None


@pytest.mark.parametrize(
    ("key", "words"),
    [("metadata", "the document has no metadata"), ("spec", "the document has no spec")],
)
def test_what_is_missing_is_named(key: str, words: str) -> None:
    """A document that is none is told by what it lacks."""
    document = _parsed()
    del document[key]

    with pytest.raises(AnsibleFilterError, match=words):
        edge.workload(document, "/x")


def test_digest_of_a_folder(tmp_path: Path) -> None:
    """A component's digest can be told on the command line of a playbook."""
    (tmp_path / "compose.yaml").write_text("services: {}\n")

    assert edge.digest(str(tmp_path)).startswith("sha256:")
