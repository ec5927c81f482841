"""The controller and the node refuse the same of each test vector."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _compose_check

from margrave.policy import compose_findings
from tests.support import compose_vectors
from tests.support.compose_vectors import PACKAGE, PROJECT, Vector

VECTORS = compose_vectors.load()
RESOLVED = [
    pytest.param(vector, models[f"{vector.theme}: {vector.name}"], id=f"{version}-{vector.name}")
    for version, models in compose_vectors.versions().items()
    for vector in VECTORS
    if compose_vectors.known_by(vector, version)
]


def _by_author(vector: Vector, policy: dict[str, Any]) -> set[tuple[str, str | None]]:
    """Return what is refused of the files as they are written."""
    findings = compose_findings(vector.texts, vector.variables, policy)
    return {(finding.path, finding.opens) for finding in findings}


def _by_model(model: dict[str, Any], policy: dict[str, Any]) -> set[tuple[str, str | None]]:
    """Return what is refused of a resolved model; Compose writes few keys with a capital."""
    findings = _compose_check.findings(model, PROJECT, [PACKAGE], policy)
    return {(path.replace("].Path", "].path"), opens) for path, _reason, opens in findings}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
def test_the_controller_refuses_what_a_vector_names(vector: Vector) -> None:
    """Exactly the named places are refused, each with the key of the policy that opens it."""
    assert _by_author(vector, vector.policy_with()) == vector.expected


@pytest.mark.parametrize(("vector", "model"), RESOLVED)
def test_the_node_refuses_the_same(vector: Vector, model: dict[str, Any]) -> None:
    """A node refuses of the resolved model what the controller refuses of the files."""
    assert _by_model(model, vector.policy_with()) == vector.expected


@pytest.mark.parametrize(
    "vector", [one for one in VECTORS if one.opened_by], ids=lambda vector: vector.name
)
def test_the_named_key_opens_it(vector: Vector) -> None:
    """With the key that a finding names, the controller lets the application in."""
    assert _by_author(vector, vector.policy_with(vector.opened_by)) == set()


@pytest.mark.parametrize(("vector", "model"), [one for one in RESOLVED if one.values[0].opened_by])
def test_the_named_key_opens_it_on_the_node(vector: Vector, model: dict[str, Any]) -> None:
    """With the key that a finding names, the node runs the application."""
    assert _by_model(model, vector.policy_with(vector.opened_by)) == set()


@pytest.mark.parametrize(
    "vector", [one for one in VECTORS if one.still_refused_by], ids=lambda vector: vector.name
)
def test_some_places_are_opened_by_nothing(vector: Vector) -> None:
    """Where a finding names no key, none of the others opens it."""
    assert _by_author(vector, vector.policy_with(vector.still_refused_by)) == vector.expected


def test_each_theme_has_models_of_a_real_compose() -> None:
    """The node's check is held against models that a released Compose made."""
    resolved = [model for models in compose_vectors.versions().values() for model in models]
    assert {name.partition(":")[0] for name in resolved} == {one.theme for one in VECTORS}
    assert len(resolved) > 100
