"""Does a node fit a profile, and which sentence says why not."""

from __future__ import annotations

from typing import Any

import pytest

from margrave.matching import selector_matches, unmet

NODE = {
    "architecture": "arm64", "cpus": 4, "memory": 2 * 2**30, "storage": 16 * 2**30,
    "deployment_types": ["compose"],
}  # fmt: skip
DEVICE = {
    "id": "gw/a",
    "cpus": [{"cores": 4, "architecture": "amd64"}, {"cores": 8, "architecture": "arm64"}],
    "memory": "59 Gi",
    "storage": "1 Ti",
    "peripherals": [{"type": "gpu", "manufacturer": "acme"}, {"type": "camera"}],
    "interfaces": [{"type": "ethernet"}],
    "supportedDeploymentTypes": ["compose", "helm"],
}


def capacity(**wish: Any) -> dict[str, Any]:
    """Constraints that ask for capacity alone."""
    return {"capacityRequirements": wish}


def rule(*expressions: dict[str, Any], labels: bool = False) -> dict[str, Any]:
    """Constraints of one rule."""
    key = "labelSelector" if labels else "propertySelector"
    return {"eligibilityRules": [{key: {"matchExpressions": list(expressions)}}]}


@pytest.mark.parametrize(
    ("constraints", "reasons"),
    [
        (None, []),
        (capacity(cpu={"cores": 4, "architectures": ["arm64"]}, memory="2Gi"), []),
        (capacity(cpu={"cores": 6}), ["it has 4 cores of one kind, 6 are needed"]),
        (
            capacity(cpu={"cores": 1, "architectures": ["amd64", "arm"]}),
            ["it is arm64, amd64 or arm is needed"],
        ),
        (
            capacity(memory="3Gi", storage="1Ti"),
            ["it has 2Gi of memory, 3Gi is needed", "it has 16Gi of storage, 1Ti is needed"],
        ),
    ],
    ids=["none", "fits", "cores", "architecture", "amounts"],
)
def test_capacity_is_compared_in_its_units(
    constraints: dict[str, Any] | None, reasons: list[str]
) -> None:
    """Each thing that is too little is a sentence of its own."""
    assert unmet(constraints, "compose", NODE, {}) == reasons


def test_a_kind_of_deployment_that_a_node_lacks_is_told() -> None:
    """With what it can run instead; a node nobody knows takes nothing."""
    assert unmet(None, "helm", NODE, {}) == ["it cannot run helm deployments (it has compose)"]
    assert unmet(None, "compose", {}, {}) == ["its capabilities are not known yet"]


def test_cores_of_different_kinds_are_never_added_up() -> None:
    """One processor entry has to supply all of it."""
    many = capacity(cpu={"cores": 10})

    assert unmet(many, "compose", DEVICE, {}) == ["it has 8 cores of one kind, 10 are needed"]
    assert unmet(capacity(cpu={"cores": 8, "architectures": ["amd64"]}), "helm", DEVICE, {})


CAMERA = {"key": "/type", "operator": "In", "values": ["camera"]}
ACME = {"key": "/manufacturer", "operator": "In", "values": ["acme"]}


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ({"key": "/id", "operator": "In", "values": ["gw/a"]}, True),
        ({"key": "/id", "operator": "NotIn", "values": ["gw/a"]}, False),
        ({"key": "/vendor", "operator": "NotIn", "values": ["x"]}, False),
        ({"key": "/vendor", "operator": "DoesNotExist"}, True),
        ({"key": "/interfaces", "operator": "Exists"}, True),
        ({"key": "/cpus/1/cores", "operator": "Gt", "values": [7]}, True),
        ({"key": "/cpus/1/cores", "operator": "Lt", "values": [8]}, False),
        ({"key": "/cpus/1/cores", "operator": "In", "values": ["8"]}, False),
        ({"key": "/supportedDeploymentTypes", "operator": "In", "values": ["helm"]}, True),
        (
            {
                "key": "/peripherals",
                "operator": "ContainsAny",
                "itemSelector": {"matchExpressions": [CAMERA, ACME]},
            },
            True,
        ),
        (
            {
                "key": "/peripherals",
                "operator": "ContainsAll",
                "itemSelector": {"matchExpressions": [CAMERA, ACME]},
            },
            False,
        ),
    ],
)
def test_rules_over_properties_hold_as_the_standard_says(
    expression: dict[str, Any], fits: bool
) -> None:
    """A value is compared with its kind; what is not there is only matched by DoesNotExist."""
    assert (unmet(rule(expression), "compose", DEVICE, {}) == []) is fits


def test_one_rule_that_holds_is_enough() -> None:
    """Rules are alternatives; what stands in one rule must hold together."""
    wrong = {"key": "zone", "operator": "In", "values": ["yard"]}
    right = {"key": "zone", "operator": "In", "values": ["shop"]}
    either = {
        "eligibilityRules": [
            {"labelSelector": {"matchExpressions": [wrong]}},
            {"labelSelector": {"matchExpressions": [right]}},
        ]
    }

    assert unmet(either, "compose", DEVICE, {"zone": "shop"}) == []
    assert unmet(rule(wrong, right, labels=True), "compose", DEVICE, {"zone": "shop"}) == [
        "none of the profile's eligibility rules holds for it"
    ]


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        (None, True),
        ({}, True),
        ({"matchLabels": {"zone": "shop"}}, True),
        ({"matchLabels": {"zone": "shop", "tier": "gold"}}, False),
        ({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["shop"]}]}, True),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["gold"]}]}, True),
        ({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}, True),
    ],
)
def test_label_selectors_are_read_as_kubernetes_reads_them(
    selector: dict[str, Any] | None, matches: bool
) -> None:
    """All of it must hold; an absent label is in no set, and so not in any."""
    assert selector_matches(selector, {"zone": "shop"}) is matches
