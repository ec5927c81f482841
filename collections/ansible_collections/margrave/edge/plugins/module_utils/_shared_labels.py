# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Labels by which deployments of one namespace would reach each other's pods. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ansible_collections.margrave.edge.plugins.module_utils._chart_own import (
    mapping,
    mappings,
    name_of,
    pod_template,
)
from ansible_collections.margrave.edge.plugins.module_utils._record import record
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

# Kinds that select pods or make them, as kubectl lists them.
KINDS = (
    "services,networkpolicies,poddisruptionbudgets,pods,replicationcontrollers,replicasets,"
    "deployments,statefulsets,daemonsets,jobs,cronjobs"
)
MADE_BY = "meta.helm.sh/release-name"
# Kinds whose selector takes pods in: traffic is sent to them, or they are counted as replicas.
TAKING = (
    "Service",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
)


@record
class Selector:
    """Labels and expressions that pods have to match."""

    labels: dict
    expressions: tuple[dict, ...] = ()

    @property
    def names_labels(self) -> bool:
        """Return whether it asks for a label, and is not meant for all pods or all but some."""
        asks = any(each.get("operator") in ("In", "Exists") for each in self.expressions)
        return bool(self.labels) or asks

    def matches(self, labels: dict) -> bool:
        """Return whether a pod with these labels is selected."""
        return self.labels.items() <= labels.items() and all(
            _holds(each, labels) for each in self.expressions
        )


def findings(objects: Iterable[dict], others: Iterable[dict]) -> Iterator[str]:
    """Yield each of a chart's objects whose labels or selector reach into other deployments.

    `others` are the objects of all other deployments in the namespace.
    """
    foreign = list(others)
    foreign_pods = [(each, labels) for each in foreign for labels in _pods_of(each)]
    selecting = [
        (each, selector)
        for each in foreign
        for selector in (*_taking(each), *_admitting(each))
        # What a person made by hand may be meant for this deployment.
        if _is_of_helm(each) or any(selector.matches(labels) for _other, labels in foreign_pods)
    ]
    for found in objects:
        for labels in _pods_of(found):
            for other, selector in selecting:
                if selector.matches(labels):
                    yield (
                        f"{_named(found)}: labels of its pods are selected by {_named(other)},"
                        " which is not of this deployment"
                    )
        for selector in (*_taking(found), *_limiting(found)):
            for other, labels in foreign_pods:
                if selector.matches(labels):
                    yield (
                        f"{_named(found)}: selects pods of {_named(other)}, which is not of this"
                        " deployment"
                    )


def _taking(found: dict) -> Iterator[Selector]:
    """Yield the selector by which an object takes pods in."""
    if found.get("kind") in TAKING:
        selector = mapping(found.get("spec")).get("selector")
        plain = found["kind"] in ("Service", "ReplicationController")
        yield from _selector({"matchLabels": selector} if plain else selector)


def _limiting(found: dict) -> Iterator[Selector]:
    """Yield the selector of the pods that an object limits."""
    spec = mapping(found.get("spec"))
    if found.get("kind") == "NetworkPolicy":
        yield from _selector(spec.get("podSelector"))
    if found.get("kind") == "PodDisruptionBudget":
        yield from _selector(spec.get("selector"))


def _admitting(found: dict) -> Iterator[Selector]:
    """Yield the selectors of pods that a network policy gives access to others."""
    if found.get("kind") != "NetworkPolicy":
        return
    spec = mapping(found.get("spec"))
    for rule in mappings(spec.get("ingress")):
        for peer in mappings(rule.get("from")):
            yield from _selector(peer.get("podSelector"))


def _selector(value: Any) -> Iterator[Selector]:
    given = mapping(value)
    expressions = tuple(mappings(given.get("matchExpressions")))
    selector = Selector(mapping(given.get("matchLabels")), expressions)
    if selector.names_labels:
        yield selector


def _pods_of(found: dict) -> Iterator[dict]:
    """Yield the labels of the pods that an object is or makes."""
    if found.get("kind") == "Pod":
        # The pods that another object makes have the labels of its template.
        if not mapping(found.get("metadata")).get("ownerReferences"):
            yield mapping(mapping(found.get("metadata")).get("labels"))
        return
    template = pod_template(found)
    if template:
        yield mapping(mapping(template.get("metadata")).get("labels"))


def _holds(expression: dict, labels: dict) -> bool:
    key, values = expression.get("key"), expression.get("values") or []
    return {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }.get(str(expression.get("operator")), False)


def _is_of_helm(found: dict) -> bool:
    return MADE_BY in mapping(mapping(found.get("metadata")).get("annotations"))


def _named(found: dict) -> str:
    return f"{found.get('kind')}/{name_of(found)}"
