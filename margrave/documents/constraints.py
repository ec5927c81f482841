"""What a deployment profile asks of a device (Margo's deviceConstraints)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from margrave.documents._reading import Part

Architecture = Literal["amd64", "arm64", "arm", "riscv64", "other"]


class CpuRequirement(Part):
    """One processor entry of the device must supply all of it."""

    cores: Annotated[float | int, Field(gt=0)]
    architectures: list[Architecture] = []


class CapacityRequirements(Part):
    """Processor, memory and storage."""

    cpu: CpuRequirement | None = None
    memory: Annotated[str, Field(pattern=r"^[0-9]+(Mi|Gi|Ki)$")] | None = None
    storage: Annotated[str, Field(pattern=r"^[0-9]+(Mi|Gi|Ki|Ti|Pi|Ei)$")] | None = None


class Expression(Part):
    """One comparison of a key with values."""

    key: str
    operator: Literal[
        "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "ContainsAll", "ContainsAny"
    ]
    values: list[Any] | None = None
    itemSelector: dict[str, Any] | None = None  # noqa: N815 - the document's word


class Selector(Part):
    """All its expressions must hold."""

    matchExpressions: list[Expression]  # noqa: N815 - the document's word


class EligibilityRule(Part):
    """Both selectors must hold; of several rules one is enough."""

    propertySelector: Selector | None = None  # noqa: N815 - the document's word
    labelSelector: Selector | None = None  # noqa: N815 - the document's word


class DeviceConstraints(Part):
    """Capacity first, then rules."""

    capacityRequirements: CapacityRequirements | None = None  # noqa: N815 - the document's word
    eligibilityRules: list[EligibilityRule] = []  # noqa: N815 - the document's word
