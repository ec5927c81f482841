"""The table of what a Compose application may ask of a node says what it means."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrave.documents.extensions import Policy
from margrave.policy import compose_findings
from margrave.policy.compose_check import findings
from margrave.policy.compose_judges import Judges
from margrave.policy.compose_table import TABLE

DENY = {"registries": ["*"]}
SERVICE_KEYS = {place.split(".")[2].partition("[")[0] for place in TABLE if place.count(".") > 1}
EVERYTHING: dict[str, Any] = {
    "privileged": "allow",
    "host_namespaces": "allow",
    "host_paths": ["/"],
    "devices": ["*"],
    "capabilities": ["ALL"],
    "registries": ["*"],
}


@pytest.mark.parametrize("place", sorted(TABLE))
def test_each_row_can_be_applied(place: str) -> None:
    """A row has a readable pattern or a judge, a key of the policy, and words for its page."""
    row = TABLE[place]

    assert row.kind in ("any", "match", "closed", "namespace", "check")
    assert row.about
    assert row.opens is None or row.opens in Policy.model_fields
    if row.kind == "check":
        assert callable(getattr(Judges, row.allows))
    else:
        re.compile(row.allows)


def _refused(model: dict[str, Any], policy: dict[str, Any]) -> list[str]:
    return [finding.path for finding in findings(model, "p", ["/package"], policy)]


@given(
    key=st.text(st.characters(codec="utf-8"), min_size=1).filter(
        lambda key: key not in SERVICE_KEYS and not key.startswith("x-")
    ),
    value=st.one_of(st.booleans(), st.integers(), st.text(), st.lists(st.text())),
)
def test_a_key_without_a_row_is_refused_under_every_policy(key: str, value: Any) -> None:
    """Keys that nobody knows yet, of a newer Compose or made up, never pass."""
    model = {"name": "p", "services": {"web": {"image": "web", key: value}}}

    assert f"services.web.{key}" in _refused(model, EVERYTHING)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda parts: st.one_of(st.lists(parts), st.dictionaries(st.text(), parts)),
    max_leaves=8,
)


@given(key=st.sampled_from(sorted(SERVICE_KEYS)), value=JSON)
def test_any_value_gets_an_answer(key: str, value: Any) -> None:
    """A value of another shape than Compose allows is judged, on the node and as it is written."""
    model = {"name": "p", "services": {"web": {"image": "web", key: value}}}

    _refused(model, DENY)
    _refused(model, EVERYTHING)


@given(kind=st.sampled_from(("services", "networks", "volumes", "configs", "secrets")), value=JSON)
def test_any_section_gets_an_answer(kind: str, value: Any) -> None:
    """So is a section of another shape."""
    _refused({"name": "p", "services": {"web": {"image": "web"}}, kind: value}, DENY)


@given(value=JSON)
def test_any_file_gets_an_answer(value: Any) -> None:
    """The controller answers whatever stands in a compose.yaml."""
    compose_findings({"compose.yaml": json.dumps(value)}, {}, DENY)
    service = {"image": "web", "volumes": value, "extends": value, "label_file": value}
    compose_findings({"compose.yaml": json.dumps({"services": {"web": service}})}, {}, DENY)
    compose_findings({"compose.yaml": json.dumps({"include": value, "volumes": value})}, {}, DENY)


def test_the_projects_name_is_the_deployments() -> None:
    """A model of another project is refused: its volumes would be those of somebody else."""
    model = {"name": "other", "services": {"web": {"image": "web"}}}

    assert _refused(model, EVERYTHING) == ["name"]


def test_what_no_policy_names_is_never_allowed() -> None:
    """A policy without keys denies everything that a key could open."""
    assert _refused({"name": "p", "services": {"web": {"image": "web"}}}, {}) == [
        "services.web.image"
    ]
