"""What a deployment profile asks of a device (Margo's deviceConstraints)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from margrave.documents._reading import Part
from margrave.documents._walk import EACH, mapping, part, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.documents._walk import Path
    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

# Margo's property names are kept as they are written: fields are the document's words.
# ruff: noqa: N815

Architecture = Literal["amd64", "arm64", "arm", "riscv64", "other"]

_POINTER: Final = re.compile(r"(/([^~]|~[01])*)+")
_SCALARS: Final = (str, int, float, bool)


class CpuRequirement(Part):
    """One processor entry of the device must supply all of it."""

    cores: Annotated[float | int, Field(gt=0, json_schema_extra={"exclusiveMinimum": 0})]
    architectures: list[Architecture] = []


class CapacityRequirements(Part):
    """Processor, memory and storage."""

    cpu: CpuRequirement | None = None
    memory: Annotated[str, Field(pattern=r"^[0-9]+(Mi|Gi|Ki)$")] | None = None
    storage: Annotated[str, Field(pattern=r"^[0-9]+(Mi|Gi|Ki|Ti|Pi|Ei)$")] | None = None


class Expression(Part):
    """One comparison of a key with values."""

    key: Annotated[str, Field(min_length=1)]
    operator: Literal[
        "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "ContainsAll", "ContainsAny"
    ]
    values: list[Any] | None = None
    itemSelector: Selector | None = None


class Selector(Part):
    """All its expressions must hold."""

    matchExpressions: list[Expression]


class EligibilityRule(Part):
    """Both selectors must hold; of several rules one is enough."""

    propertySelector: Selector | None = None
    labelSelector: Selector | None = None


class DeviceConstraints(Part):
    """Capacity first, then rules."""

    capacityRequirements: CapacityRequirements | None = None
    eligibilityRules: list[EligibilityRule] = []


def rules(parsed: Parsed, profile: Path) -> Iterator[Finding]:
    """What the constraints of the profile at the path break beyond their shape."""
    whole = mapping(part(parsed.value, profile))
    if "deviceConstraints" not in whole and whole.get("type") != "custom":
        return
    for found in ("propertySelector", "labelSelector"):
        keys = (*profile, "deviceConstraints", "eligibilityRules", EACH, found)
        for path, selector in walk(parsed.value, *keys):
            yield from _selector(parsed, path, selector, pointers=found == "propertySelector")
    yield from _custom(parsed, profile)
    names = (*profile, "deviceConstraints", "capacityRequirements", "cpu", "architectures", EACH)
    for path, name in walk(parsed.value, *names):
        described = any(True for _ in walk(parsed.value, *profile, "description"))
        if name == "other" and not described:
            message = '"other" says nothing of the architecture'
            yield parsed.finding(path, message, "describe it in the profile's description")


def _custom(parsed: Parsed, profile: Path) -> Iterator[Finding]:
    """Nobody but the label of a supplier tells that a device runs its custom format."""
    kind = next((one for _, one in walk(parsed.value, *profile, "type")), None)
    if kind != "custom":
        return
    for path, rule in walk(parsed.value, *profile, "deviceConstraints", "eligibilityRules", EACH):
        if not mapping(rule).get("labelSelector"):
            message = "has no labelSelector, by which alone a custom profile finds its devices"
            yield parsed.finding(path, message, "add labelSelector")


def _selector(parsed: Parsed, at: Path, selector: Any, *, pointers: bool) -> Iterator[Finding]:
    for path, expression in walk(selector, "matchExpressions", EACH, base=at):
        key, operator = mapping(expression).get("key"), mapping(expression).get("operator")
        if pointers and isinstance(key, str) and not _POINTER.fullmatch(key):
            cure = f"write /{key.strip('/')}"
            yield parsed.finding((*path, "key"), f'"{key}" is not a JSON pointer', cure)
        if operator in ("ContainsAll", "ContainsAny"):
            yield from _item_selector(parsed, path, expression)
        elif "itemSelector" in mapping(expression):
            message, cure = f"is of no use to {operator}", "remove it, or write ContainsAll"
            yield parsed.finding((*path, "itemSelector"), message, cure)
        yield from _values(parsed, path, operator, mapping(expression).get("values"))


def _item_selector(parsed: Parsed, path: Path, expression: Any) -> Iterator[Finding]:
    if expression.get("itemSelector") is None:
        message = f"{expression['operator']} needs itemSelector"
        yield parsed.finding(path, message, "say in itemSelector what an element must have")
        return
    below: Path = (*path, "itemSelector")
    yield from _selector(parsed, below, expression["itemSelector"], pointers=True)


def _values(parsed: Parsed, path: Path, operator: Any, values: Any) -> Iterator[Finding]:
    at: Path = (*path, "values")
    if operator in ("Exists", "DoesNotExist", "ContainsAll", "ContainsAny"):
        if values is not None:
            yield parsed.finding(at, f"are of no use to {operator}", "remove them")
    elif operator in ("Gt", "Lt"):
        if not isinstance(values, list) or len(values) != 1 or not _is_number(values[0]):
            message, cure = f"{operator} compares with one number", "write values: [4]"
            yield parsed.finding(at if values is not None else path, message, cure)
    elif operator in ("In", "NotIn"):
        if not values:
            message = f"{operator} needs values"
            yield parsed.finding(at if values is not None else path, message, "name one at least")
        elif isinstance(values, list) and not _are_alike(values):
            message = "are not of one kind"
            yield parsed.finding(at, message, "write texts, or numbers, or true and false")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _are_alike(values: list[Any]) -> bool:
    """Scalars of one kind; whole numbers and others are one kind."""
    kinds = {float if _is_number(one) else type(one) for one in values}
    return len(kinds) == 1 and all(isinstance(one, _SCALARS) for one in values)
