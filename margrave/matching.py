"""Does a node fit, and which sentence says why not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from margrave import quantities

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def unmet(
    constraints: Mapping[str, Any] | None,
    profile_type: str,
    capabilities: Mapping[str, Any],
    labels: Mapping[str, Any],
) -> list[str]:
    """Why a node cannot take a profile, as sentences; empty when it fits.

    Capabilities may be a node's own or the `properties` of Margo's DeviceCapabilities.
    """
    if not capabilities:
        return ["its capabilities are not known yet"]
    has = properties(capabilities)
    reasons = _deployment_type(profile_type, has)
    if constraints:
        reasons += _capacity(constraints.get("capacityRequirements") or {}, has)
        reasons += _eligibility(constraints.get("eligibilityRules") or [], has, labels)
    return reasons


def properties(capabilities: Mapping[str, Any]) -> Mapping[str, Any]:
    """The capabilities in Margo's words, which rules point into."""
    if "deployment_types" not in capabilities:
        return capabilities
    cpu = {"cores": capabilities.get("cpus") or 0, "architecture": capabilities.get("architecture")}
    return {
        **capabilities,
        "cpus": [cpu],
        "supportedDeploymentTypes": capabilities["deployment_types"],
    }


def selector_matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether labels satisfy a selector as Kubernetes reads it; an empty one takes everything."""
    if not selector:
        return True
    exact = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in exact.items()):
        return False
    expressions = selector.get("matchExpressions") or []
    return all(_LABEL_OPERATORS[one["operator"]](one, labels) for one in expressions)


_LABEL_OPERATORS: Final[Mapping[str, Callable[[Any, Mapping[str, str]], bool]]] = {
    "In": lambda one, labels: labels.get(one["key"]) in (one.get("values") or []),
    # Kubernetes: an absent label is not in any set.
    "NotIn": lambda one, labels: labels.get(one["key"]) not in (one.get("values") or []),
    "Exists": lambda one, labels: one["key"] in labels,
    "DoesNotExist": lambda one, labels: one["key"] not in labels,
}


def _deployment_type(profile_type: str, has: Mapping[str, Any]) -> list[str]:
    known = has.get("supportedDeploymentTypes") or []
    if profile_type in known:
        return []
    words = ", ".join(known) or "none"
    return [f"it cannot run {profile_type} deployments (it has {words})"]


def _capacity(wish: Mapping[str, Any], has: Mapping[str, Any]) -> list[str]:
    reasons = _cpu(wish.get("cpu") or {}, has.get("cpus") or [])
    for what in ("memory", "storage"):
        if what not in wish:
            continue
        present = quantities.in_bytes(has.get(what) or 0)
        if present < quantities.in_bytes(wish[what]):
            words = quantities.in_words(present)
            reasons.append(f"it has {words} of {what}, {wish[what]} is needed")
    return reasons


def _cpu(wish: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """One entry alone must supply all of it: cores of different kinds are never added up."""
    cores, wanted = wish.get("cores", 0), wish.get("architectures") or []
    able = [one for one in entries if not wanted or one.get("architecture") in wanted]
    if any(one.get("cores", 0) >= cores for one in able) or not (cores or wanted):
        return []
    if not able:
        kinds = ", ".join(str(one.get("architecture") or "unknown") for one in entries)
        return [f"it is {kinds or 'unknown'}, {' or '.join(wanted)} is needed"]
    most = max(one.get("cores", 0) for one in able)
    return [f"it has {most} cores of one kind, {cores} are needed"]


def _eligibility(
    rules: Sequence[Mapping[str, Any]], capabilities: Mapping[str, Any], labels: Mapping[str, Any]
) -> list[str]:
    """One rule that holds is enough."""
    if not rules or any(_rule_holds(rule, capabilities, labels) for rule in rules):
        return []
    return ["none of the profile's eligibility rules holds for it"]


def _rule_holds(
    rule: Mapping[str, Any], capabilities: Mapping[str, Any], labels: Mapping[str, Any]
) -> bool:
    properties = (rule.get("propertySelector") or {}).get("matchExpressions") or []
    label_rules = (rule.get("labelSelector") or {}).get("matchExpressions") or []
    return all(_holds(one, _at(capabilities, one["key"])) for one in properties) and all(
        _holds(one, labels.get(one["key"], _ABSENT)) for one in label_rules
    )


_ABSENT: Final = object()
_INDEX: Final = re.compile(r"[0-9]{1,9}")


def _at(value: Any, path: str) -> Any:
    """The part of a value at a JSON pointer, or _ABSENT."""
    for part in path.strip("/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            return _ABSENT
    return value


def _holds(expression: Mapping[str, Any], found: Any) -> bool:
    operator, values = expression["operator"], expression.get("values") or []
    if operator in ("Exists", "DoesNotExist"):
        return (found is not _ABSENT) is (operator == "Exists")
    if found is _ABSENT:
        return False
    if operator in ("ContainsAll", "ContainsAny"):
        return _contains(expression, found, all if operator == "ContainsAll" else any)
    if operator in ("Gt", "Lt"):
        return _compared(operator, found, values)
    shared = any(
        type(one) is type(value) and one == value
        for one in (found if isinstance(found, list) else [found])
        for value in values
    )
    return shared is (operator == "In")


def _compared(operator: str, found: Any, values: Sequence[Any]) -> bool:
    numbers = [found, *values]
    if len(values) != 1 or not all(
        isinstance(n, (int, float)) and not isinstance(n, bool) for n in numbers
    ):
        return False
    return bool(found > values[0] if operator == "Gt" else found < values[0])


def _contains(expression: Mapping[str, Any], found: Any, which: Callable[[Any], bool]) -> bool:
    items = (expression.get("itemSelector") or {}).get("matchExpressions") or []
    if not isinstance(found, list) or not items:
        return False
    return any(which(_holds(one, _at(element, one["key"])) for one in items) for element in found)
