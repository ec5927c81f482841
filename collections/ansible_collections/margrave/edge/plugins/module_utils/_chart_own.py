# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects of one deployment, to recognise references to another deployment's. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ansible_collections.margrave.edge.plugins.module_utils._record import record
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

# Objects that each namespace has for all its pods.
SHARED = {"configmap": ("kube-root-ca.crt",), "serviceaccount": ("default",)}
# By this label charts tell the pods of one release of theirs from those of another.
INSTANCE = "app.kubernetes.io/instance"
KINDS = {
    "configmap": ("ConfigMap",),
    "secret": ("Secret",),
    "service": ("Service",),
    "serviceaccount": ("ServiceAccount",),
    "volume": ("PersistentVolumeClaim", "PersistentVolume"),
}


@record
class Own:
    """The objects of all components of a deployment, their namespace, and its releases in Helm."""

    objects: tuple[dict, ...]
    namespace: str = ""
    releases: tuple[str, ...] = ()

    def has(self, kind: str, name: str) -> bool:
        """Return whether the deployment has such an object, or every namespace has it."""
        if name in SHARED.get(kind, ()) or any(
            each.get("kind") in KINDS[kind] and name_of(each) == name for each in self.objects
        ):
            return True
        return kind == "volume" and any(re.fullmatch(each, name) for each in self._made_claims())

    def makes(self, kind: str, name: str) -> bool:
        """Return whether the deployment renders an object of exactly this kind and name."""
        return any(each.get("kind") == kind and name_of(each) == name for each in self.objects)

    def selects(self, labels: dict) -> bool:
        """Return whether labels are among those of a pod of the deployment.

        A chart may also have something for pods that these values do not make.
        """
        if labels.get(INSTANCE) in self.releases:
            return True
        wanted = labels.items()
        return bool(labels) and any(wanted <= each.items() for each in self._pod_labels())

    def _pod_labels(self) -> Iterator[dict]:
        for each in self.objects:
            template = each if each.get("kind") == "Pod" else pod_template(each)
            yield mapping(mapping(template.get("metadata")).get("labels"))

    def _made_claims(self) -> Iterator[str]:
        """Patterns for claims that a stateful set makes per replica."""
        for each in self.objects:
            if each.get("kind") == "StatefulSet":
                for claim in mappings(mapping(each.get("spec")).get("volumeClaimTemplates")):
                    yield f"{re.escape(name_of(claim))}-{re.escape(name_of(each))}-[0-9]+"


def name_of(found: dict) -> str:
    """Return an object's name."""
    return str(mapping(found.get("metadata")).get("name") or "")


def pod_template(found: dict) -> dict:
    """Return the template of the pods that an object makes, or nothing."""
    spec = mapping(found.get("spec"))
    if found.get("kind") == "CronJob":
        spec = mapping(mapping(spec.get("jobTemplate")).get("spec"))
    return mapping(spec.get("template"))


def mapping(value: Any) -> dict:
    """Return a value, or an empty mapping where it is none: charts may hold anything."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> list[dict]:
    """Return those items of a list that are mappings."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
