"""Margo's older generations: recognised by name, mended where that needs no decision."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrave import json_text, yaml_text
from margrave.documents import generations
from margrave.documents.capabilities import read_capabilities
from margrave.documents.deployment import read_deployment
from margrave.documents.description import read_description
from margrave.documents.generations import Generation, Kind
from margrave.documents.manifest import read_manifest
from margrave.documents.status import read_status
from margrave.errors import DocumentError
from tests.unit.margrave import margo_making

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent / "margo"
READERS: dict[str, Callable[[bytes, str], object]] = {
    "description": read_description,
    "deployment": read_deployment,
    "manifest": read_manifest,
    "capabilities": read_capabilities,
    "status": read_status,
}
GENERATIONS = {"legacy": Generation.LEGACY, "prerc2": Generation.PRE_RC2}
PROPERTIES = "/deploymentProfiles/0/components/0/properties"
FILES = sorted(one.name for one in HERE.glob("*__*"))


def told(name: str) -> list[str]:
    """The findings of an older document."""
    kind = name.split("__")[1].split(".")[0]
    with pytest.raises(DocumentError) as refused:
        READERS[kind]((HERE / name).read_bytes(), name)
    return [str(one) for one in refused.value.findings]


def mended(name: str) -> tuple[Any, tuple[generations.Note, ...]]:
    """The document after what is mechanical."""
    return generations.mend(json_text.parse_any((HERE / name).read_bytes(), name).value)


def remaining(name: str) -> list[str]:
    """What the reader still finds after mending."""
    kind = name.split("__")[1].split(".")[0]
    value, _ = mended(name)
    try:
        READERS[kind](margo_making.as_json(value), "")
    except DocumentError as error:
        return [f"{one.pointer}: {one.message}" for one in error.findings]
    return []


@pytest.mark.parametrize("name", FILES)
def test_the_generation_is_told_by_name(name: str) -> None:
    """With what it is read as here, and how to get there."""
    era = GENERATIONS[name.split("__", maxsplit=1)[0]]
    value = json_text.parse_any((HERE / name).read_bytes(), name).value
    head = next(one for one in told(name) if "is read here" in one)

    assert generations.generation_of(value) is era
    assert f"of Margo's {era}; what is read here is 1.0.0-rc.3" in head
    assert "`margrave lint --fix`" in head


@pytest.mark.parametrize("name", FILES)
def test_each_change_is_told_at_the_place_of_what_is_old(name: str) -> None:
    """Whoever changes it by hand finds all of it there."""
    value, notes = mended(name)
    parsed = json_text.parse_any((HERE / name).read_bytes(), name)
    findings = told(name)

    for note in notes:
        line, column = parsed.place(note.path)
        assert any(one.startswith(f"{name}:{line}:{column}: /") for one in findings), note
    assert value != parsed.value


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("legacy__description.yaml", []),
        ("legacy__deployment.yaml", []),
        ("legacy__manifest.json", []),
        ("prerc2__deployment.yaml", ["/metadata/deviceId: is missing"]),
        (
            "prerc2__description.yaml",
            [
                f"{PROPERTIES}/packageLocation: components come from OCI registries since rc.2",
                f"{PROPERTIES}/repository: is missing",
                f"{PROPERTIES}/revision: is missing",
            ],
        ),
        ("legacy__status.json", ["/adoptedManifestVersion: is missing"]),
        (
            "legacy__capabilities.json",
            ["/properties/otelCollector: is missing on a device that hosts workloads"],
        ),
        (
            "prerc2__capabilities.json",
            ["/properties/otelCollector: is missing on a device that hosts workloads"],
        ),
    ],
)
def test_after_mending_it_is_right_or_the_rest_is_told(name: str, left: list[str]) -> None:
    """Nothing is invented: what needs a decision is left to somebody."""
    found = [one for one in remaining(name) if "is read here" not in one]

    assert sorted(found) == left


def test_required_resources_become_constraints() -> None:
    """The same wishes in the words of rc.3."""
    value, _ = mended("legacy__description.yaml")

    assert value["deploymentProfiles"][0]["deviceConstraints"] == {
        "capacityRequirements": {
            "cpu": {"cores": 1.5, "architectures": ["amd64", "arm64"]},
            "memory": "512Mi",
            "storage": "10Gi",
        },
        "eligibilityRules": [
            {
                "propertySelector": {
                    "matchExpressions": [
                        {
                            "key": "/peripherals",
                            "operator": "ContainsAll",
                            "itemSelector": {
                                "matchExpressions": [
                                    {"key": "/type", "operator": "In", "values": ["gpu"]},
                                    {
                                        "key": "/manufacturer",
                                        "operator": "In",
                                        "values": ["Example"],
                                    },
                                ]
                            },
                        },
                        {
                            "key": "/interfaces",
                            "operator": "ContainsAll",
                            "itemSelector": {
                                "matchExpressions": [
                                    {"key": "/type", "operator": "In", "values": ["ethernet"]}
                                ]
                            },
                        },
                    ]
                }
            }
        ],
    }


def test_a_role_tells_what_the_device_runs() -> None:
    """As the draft defined it."""
    value, _ = mended("legacy__capabilities.json")

    assert value["properties"]["supportedDeploymentTypes"] == ["compose"]
    assert value["properties"]["cpus"] == [{"cores": 4, "architecture": "amd64"}]
    assert "resources" not in value["properties"]


def test_a_wrong_kind_makes_all_the_rest_doubtful() -> None:
    """It stays, and is told; nobody guesses what the document was meant to be."""
    text = (HERE / "legacy__description.yaml").read_bytes()
    text = text.replace(b"kind: ApplicationDescription", b"kind: ApplicationSpecification")
    value, _ = generations.mend(yaml_text.parse(text).value)

    with pytest.raises(DocumentError, match='"ApplicationSpecification" is not'):
        read_description(text)
    assert value["kind"] == "ApplicationSpecification"
    with pytest.raises(DocumentError, match='"ApplicationSpecification" is not'):
        read_description(margo_making.as_json(value), "margo.yaml")


RC3 = {
    Kind.DESCRIPTION: margo_making.description,
    Kind.DEPLOYMENT: margo_making.deployment,
    Kind.MANIFEST: margo_making.manifest,
    Kind.CAPABILITIES: margo_making.capabilities,
    Kind.STATUS: margo_making.status,
    Kind.PROBLEM: margo_making.problem,
    Kind.TRUST_BUNDLE: margo_making.trust_bundle,
    Kind.DISCOVERY: margo_making.discovery,
}


@pytest.mark.parametrize("kind", sorted(RC3))
def test_an_rc3_document_is_left_as_it_is(kind: Kind) -> None:
    """It is recognised by its keys, and there is nothing to change."""
    value = RC3[kind]()

    assert generations.kind_of(value) is kind
    assert generations.mend(value) == (value, ())
    assert generations.generation_of(value) is Generation.RC3


def test_mending_leaves_the_value_that_was_given() -> None:
    """And mending twice changes nothing more."""
    for name in FILES:
        before = json_text.parse_any((HERE / name).read_bytes(), name).value
        value, notes = generations.mend(before)
        assert before == json_text.parse_any((HERE / name).read_bytes(), name).value
        assert notes
        assert generations.mend(value) == (value, ())


WORDS = (
    "apiVersion kind id metadata annotations applicationId spec deploymentProfile type"
    " deploymentProfiles components properties resources roles cpu architectures architecture"
    " requiredResources peripherals interfaces parameters targets pointer bundle url"
    " deployments deploymentId manifestVersion name memory"
)
KEYS = st.sampled_from(WORDS.split())
LEAVES = st.sampled_from([None, True, 1, "", "helm.v3", "compose", "x86_64", "ENV.A", [], {}])
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


@given(VALUES)
def test_no_shape_is_beyond_mending(value: Any) -> None:
    """Whatever stands where: no exception, and a note for whatever changed."""
    made, notes = generations.mend(value)

    assert (made == value) is (not notes)
    for kind in Kind:
        generations.generation_of(value, kind)
