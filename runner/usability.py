"""Usability of a node that answers: its status, and the reason where nothing can run there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from runner.ports import NodeStatus

LACKS: Final = "lacks"  # among the capabilities: what a node needs before it can run anything


def status(capabilities: Mapping[str, Any]) -> NodeStatus:
    """Return the status of a node that answers; one that was never inspected counts as active."""
    return NodeStatus.UNUSABLE if reason(capabilities) else NodeStatus.ACTIVE


def reason(capabilities: Mapping[str, Any]) -> str:
    """Return why no application can run on the node, or an empty string."""
    if capabilities.get("deployment_types", True):
        return ""
    return str(capabilities.get(LACKS) or "it has no container engine that Margrave can use")


def with_reason(capabilities: Any, checks: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the capabilities of a node; of an unusable one with the failed checks."""
    known = dict(capabilities) if isinstance(capabilities, Mapping) else {}
    if known.get("deployment_types", True):
        return known
    lacking = [_sentence(check) for check in checks if not check.get("ok")]
    return {**known, LACKS: "; ".join(lacking)} if lacking else known


def _sentence(check: Mapping[str, Any]) -> str:
    cure = f" ({check['cure']})" if check.get("cure") else ""
    return f"{check.get('name')}: {check.get('detail')}{cure}"
