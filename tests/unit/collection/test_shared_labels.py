"""Deployments of one namespace do not reach each other's pods by labels."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _shared_labels

POD = {"kind": "Pod", "metadata": {"name": "spy", "labels": {"app": "web", "tier": "front"}}}


def _of_helm(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "theirs", "annotations": {_shared_labels.MADE_BY: "margrave-other-web"}}
    return {"kind": kind, "metadata": metadata, "spec": spec}


def _workload(kind: str, labels: dict[str, str]) -> dict[str, Any]:
    template = {"metadata": {"labels": labels}}
    return _of_helm(kind, {"selector": {"matchLabels": labels}, "template": template})


def _policy(peer: dict[str, Any]) -> dict[str, Any]:
    return _of_helm("NetworkPolicy", {"podSelector": {}, "ingress": [{"from": [peer]}]})


def _expression(operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "app", "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    "other",
    [
        _of_helm("Service", {"selector": {"app": "web"}}),
        _of_helm("ReplicationController", {"selector": {"app": "web"}}),
        _workload("Deployment", {"app": "web"}),
        _workload("StatefulSet", {"app": "web", "tier": "front"}),
        _policy({"podSelector": {"matchLabels": {"tier": "front"}}}),
        _policy({"podSelector": _expression("In", "web", "shop")}),
        _policy({"podSelector": _expression("Exists")}),
    ],
)
def test_pods_that_another_deployment_selects_are_found(other: dict[str, Any]) -> None:
    """Its Service would send to them, its workload count them, its policy let them in."""
    [found] = _shared_labels.findings([POD], [other])
    assert found == (
        f"Pod/spy: labels of its pods are selected by {other['kind']}/theirs, which is not of this"
        " deployment"
    )


@pytest.mark.parametrize(
    "other",
    [
        _of_helm("Service", {"selector": {"app": "shop"}}),
        _of_helm("Service", {"selector": {"app": "web", "tier": "back"}}),
        _of_helm("Service", {"ports": [{"port": 80}]}),
        _policy({"podSelector": {}}),
        _policy({"podSelector": _expression("NotIn", "shop")}),
        _policy({"podSelector": _expression("In", "shop")}),
        _policy({"podSelector": _expression("DoesNotExist")}),
        _policy({"namespaceSelector": {"matchLabels": {"app": "web"}}}),
    ],
)
def test_what_selects_others_or_everybody_is_left_alone(other: dict[str, Any]) -> None:
    """Other labels, and selectors that ask for none."""
    assert list(_shared_labels.findings([POD], [other])) == []


@pytest.mark.parametrize(
    "own",
    [
        {"kind": "Service", "metadata": {"name": "mine"}, "spec": {"selector": {"app": "web"}}},
        {
            "kind": "NetworkPolicy",
            "metadata": {"name": "mine"},
            "spec": {"podSelector": {"matchLabels": {"app": "web"}}},
        },
        {
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "mine"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}},
        },
    ],
)
def test_a_selector_that_reaches_others_pods_is_found(own: dict[str, Any]) -> None:
    """Also when the deployment has pods with the same labels itself."""
    other = _workload("CronJob", {})
    other["spec"] = {
        "jobTemplate": {"spec": {"template": {"metadata": {"labels": {"app": "web"}}}}}
    }
    [found] = _shared_labels.findings([own], [other])
    assert found == (
        f"{own['kind']}/mine: selects pods of CronJob/theirs, which is not of this deployment"
    )


def test_what_a_person_made_for_a_deployment_stays() -> None:
    """A Service by hand for these pods refuses no update of them; one for others' pods does."""
    by_hand = {
        "kind": "Service",
        "metadata": {"name": "exposed"},
        "spec": {"selector": {"app": "web"}},
    }
    assert list(_shared_labels.findings([POD], [by_hand])) == []
    theirs = {"kind": "Pod", "metadata": {"name": "x", "labels": {"app": "web"}}}
    assert len(list(_shared_labels.findings([POD], [by_hand, theirs]))) == 1


def test_pods_of_a_workload_count_once() -> None:
    """Its pods have its template's labels; and values of a wrong type are no labels."""
    made = {**POD, "metadata": {**POD["metadata"], "ownerReferences": [{"kind": "ReplicaSet"}]}}
    service = {"kind": "Service", "metadata": {"name": "m"}, "spec": {"selector": {"app": "web"}}}
    assert list(_shared_labels.findings([service], [made])) == []
    broken = {"kind": "Deployment", "metadata": [], "spec": {"selector": 7, "template": "x"}}
    assert list(_shared_labels.findings([broken], [broken])) == []
