# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of single fields of a chart's objects, by the names that the table gives them. Pure."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator

from ansible_collections.margrave.edge.plugins.module_utils import _chart_kinds
from ansible_collections.margrave.edge.plugins.module_utils._chart_own import Own, mapping
from ansible_collections.margrave.edge.plugins.module_utils._chart_table import (
    ANNOTATIONS,
    AS_PRIVILEGED,
    CONFINING_ANNOTATIONS,
    CONFINING_VALUES,
    LABELS,
    NODE_PORTS,
    READ_LABELS,
    Row,
)
from ansible_collections.margrave.edge.plugins.module_utils._policy import (
    capability,
    is_below_any,
    registry_of,
)
from ansible_collections.margrave.edge.plugins.module_utils._record import record
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

# Names of the Secrets in which Helm keeps its releases.
HELM_RECORDS = "sh.helm.release."
SWITCHES = ("privileged", "host_namespaces")


@record
class Context:
    """The site's policy, and the objects of the deployment."""

    policy: dict
    own: Own

    @property
    def is_privileged(self) -> bool:
        """Return whether the policy allows everything that a privileged container could do."""
        return self.allows("privileged")

    @property
    def opened(self) -> list[str]:
        """Paths of the node and names of others' objects that the policy opens."""
        return list(self.policy.get("host_paths") or [])

    def allows(self, switch: str) -> bool:
        """Return whether a key of the policy that is `allow` or `deny` is `allow`."""
        return switch in SWITCHES and self.policy.get(switch) == "allow"


def is_named(registry: str, policy: dict) -> bool:
    """Return whether the policy names a registry."""
    return matches(registry, policy.get("registries") or [])


def matches(text: str, patterns: Iterable[str]) -> bool:
    """Return whether a text matches one of the patterns."""
    return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)


def _anything(_row: Row, _value: Any, _context: Context) -> Iterator[str]:
    yield from ()


def _closed(row: Row, value: Any, context: Context) -> Iterator[str]:
    open_device = row.opens == "devices" and "*" in (context.policy.get("devices") or [])
    if value and not context.allows(row.opens) and not open_device:
        yield row.reason


def _one_of(row: Row, value: Any, context: Context) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        if each not in (None, "", *row.allows) and not context.allows(row.opens):
            yield f"{each} {row.reason}"


def _own(row: Row, value: Any, context: Context) -> Iterator[str]:
    kind = row.allows[0]
    if value in (None, ""):
        return
    if not context.own.has(kind, str(value)) and f"{kind}:{value}" not in context.opened:
        yield f"{value} {row.reason} (allowed by {kind}:{value} in host_paths)"


def _name(row: Row, value: Any, _context: Context) -> Iterator[str]:
    if str(value).startswith(HELM_RECORDS):
        yield f"{value} {row.reason}"


def _port(row: Row, value: Any, context: Context) -> Iterator[str]:
    if value in NODE_PORTS and not context.allows(row.opens):
        yield f"{value} {row.reason}"


def _subject(row: Row, value: Any, context: Context) -> Iterator[str]:
    """Refuse accounts that others use too: the rights would be theirs as well."""
    own = context.own.makes("ServiceAccount", str(value))
    if not own and f"serviceaccount:{value}" not in context.opened:
        yield f"{value} {row.reason} (allowed by serviceaccount:{value} in host_paths)"


def _namespace(row: Row, value: Any, context: Context) -> Iterator[str]:
    if value not in (None, "", context.own.namespace) and not context.is_privileged:
        yield f"{value} {row.reason}"


def _image(row: Row, value: Any, context: Context) -> Iterator[str]:
    registry = registry_of(str(value or ""))
    if not is_named(registry, context.policy):
        yield f"registry {registry} {row.reason}"


def _host_path(row: Row, value: Any, context: Context) -> Iterator[str]:
    if not is_below_any(str(value), context.opened):
        yield f"{value} {row.reason}"


def _foreign_volume(row: Row, value: Any, context: Context) -> Iterator[str]:
    if value is not None and "/" not in context.opened:
        yield row.reason


def _device(row: Row, value: Any, context: Context) -> Iterator[str]:
    if not matches(str(value), context.policy.get("devices") or []):
        yield f"{value} {row.reason}"


def _resources(row: Row, value: Any, context: Context) -> Iterator[str]:
    for name in value or {}:
        if "/" in name:
            yield from _device(row, name, context)


def _capability(row: Row, value: Any, context: Context) -> Iterator[str]:
    known = {capability(name) for name in context.policy.get("capabilities") or []}
    for name in value or []:
        if capability(name) not in known and not context.is_privileged:
            yield f"{name} {row.reason}"


def _priority(row: Row, value: Any, context: Context) -> Iterator[str]:
    if str(value or "").startswith("system-") and not context.is_privileged:
        yield f"{value} {row.reason}"


def _annotations(row: Row, value: Any, context: Context) -> Iterator[str]:
    if context.is_privileged:
        return
    opened = [each.partition(":")[2] for each in context.opened if each.startswith("annotation:")]
    for key, text in (value or {}).items():
        confining = matches(key, CONFINING_ANNOTATIONS)
        if confining and text not in CONFINING_VALUES:
            yield f"{key}: {text} {AS_PRIVILEGED} (allowed by privileged: allow)"
        elif not confining and _has_domain(key) and not matches(key, [*ANNOTATIONS, *opened]):
            yield f"{key} {row.reason} (allowed by annotation:{key} in host_paths)"


def _labels(row: Row, value: Any, context: Context) -> Iterator[str]:
    for key, text in (value or {}).items():
        # By these Helm and Margrave know what is whose, so no policy opens them.
        if key.startswith("margrave.") or (key, text) == ("owner", "helm"):
            yield f"{key}: {text} is how the node's own programs know what is theirs"
        domain = key.partition("/")[0] if "/" in key else ""
        read = domain.endswith(READ_LABELS) and not matches(key, LABELS)
        if read and not context.is_privileged:
            yield f"{key} {row.reason}"


def _selector(row: Row, value: Any, context: Context) -> Iterator[str]:
    labels = mapping(mapping(value).get("matchLabels"))
    if not context.own.selects(labels) and not context.is_privileged:
        yield row.reason


def _service_selector(row: Row, value: Any, context: Context) -> Iterator[str]:
    if value and not context.own.selects(value) and not context.is_privileged:
        yield row.reason


def _workload(row: Row, value: Any, context: Context) -> Iterator[str]:
    kind, name = str((value or {}).get("kind")), str((value or {}).get("name"))
    if not context.own.makes(kind, name) and not context.is_privileged:
        yield f"{kind} {name} {row.reason}"


def _role(row: Row, value: Any, context: Context) -> Iterator[str]:
    kind, name = str((value or {}).get("kind")), str((value or {}).get("name"))
    # The cluster's own `view` shows no secrets.
    own = context.own.makes(kind, name) if kind == "Role" else name == "view"
    if not own and not context.is_privileged:
        yield f"{kind} {name} {row.reason}"


def _rules(_row: Row, value: Any, context: Context) -> Iterator[str]:
    if not context.is_privileged:
        yield from _chart_kinds.excessive(value or [], context.own, context.opened)


def _has_domain(key: str) -> bool:
    return "." in key.partition("/")[0]


CHECKS = {
    "annotations": _annotations,
    "anything": _anything,
    "capability": _capability,
    "closed": _closed,
    "device": _device,
    "foreign_volume": _foreign_volume,
    "host_path": _host_path,
    "image": _image,
    "labels": _labels,
    "name": _name,
    "namespace": _namespace,
    "one_of": _one_of,
    "own": _own,
    "port": _port,
    "priority": _priority,
    "resources": _resources,
    "role": _role,
    "rules": _rules,
    "selector": _selector,
    "service_selector": _service_selector,
    "subject": _subject,
    "workload": _workload,
}
# The types of values that some checks need.
SHAPES: dict[str, type] = {
    "annotations": dict,
    "capability": list,
    "labels": dict,
    "resources": dict,
    "role": dict,
    "rules": list,
    "selector": dict,
    "service_selector": dict,
    "workload": dict,
}
