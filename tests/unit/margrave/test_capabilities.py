"""What a device says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from margrave.documents.capabilities import (
    HOSTING,
    read_capabilities,
    render_capabilities,
)
from margrave.errors import DocumentError
from tests.unit.margrave.margo_making import as_json, capabilities

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_device_that_hosts_tells_all_that_it_has() -> None:
    """Its id says whose child it is; extensions survive writing and reading."""
    value = {**capabilities(), "x-acme-extensions": {"a": 1}}
    read = read_capabilities(as_json(value))

    assert (read.device, read.parent, read.hosts) == ("gateway-01/press", "gateway-01", True)
    assert read_capabilities(render_capabilities(read.raw)).raw == value


def test_a_gateway_that_hosts_nothing_tells_who_it_is_alone() -> None:
    """Identity is enough."""
    value = capabilities()
    value["properties"] = {
        key: below for key, below in value["properties"].items() if key not in HOSTING
    }
    value["properties"]["id"] = "gateway-01"
    read = read_capabilities(as_json(value))

    assert (read.parent, read.hosts) == (None, False)


BROKEN: dict[str, tuple[Callable[[Any], object], str]] = {
    "half a host": (
        lambda p: p.pop("supportedRuntimes"),
        "/properties/supportedRuntimes: is missing on a device that hosts workloads",
    ),
    "no collector": (
        lambda p: p.update(otelCollector=False),
        "/properties/otelCollector: is false",
    ),
    "no processor": (lambda p: p.update(cpus=[]), "/properties/cpus: names no processor"),
    "unknown runtime": (
        lambda p: p.update(supportedRuntimes=["wasm"]),
        "/properties/supportedRuntimes/0: 'wasm' is not known (write 'oci' or 'custom')",
    ),
    "unknown peripheral": (
        lambda p: p["peripherals"][0].update(type="printer"),
        "/properties/peripherals/0/type: 'printer' is not known",
    ),
    "architecture of old": (
        lambda p: p["cpus"][0].update(architecture="x86_64"),
        "/properties/cpus/0/architecture: 'x86_64' is not known",
    ),
    "memory no amount": (
        lambda p: p.update(memory="59 GB"),
        '/properties/memory: "59 GB" is not an amount',
    ),
    "a star in the id": (
        lambda p: p.update(id="gateway-01/*"),
        "'gateway-01/*' is not a device id",
    ),
    "an empty segment": (lambda p: p.update(id="a//b"), "'a//b' is not a device id"),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_broken_capabilities_are_refused(name: str) -> None:
    """With place and cure."""
    change, words = BROKEN[name]
    value = capabilities()
    change(value["properties"])

    with pytest.raises(DocumentError) as refused:
        read_capabilities(as_json(value))

    assert words in str(refused.value)


@pytest.mark.parametrize("label", [None, {"a": 1}, [True], [1, "a"], [None]], ids=str)
def test_a_label_is_a_scalar_or_a_list_of_one_kind(label: object) -> None:
    """One finding says so, not one for each kind that it is not."""
    with pytest.raises(DocumentError) as refused:
        read_capabilities(as_json({**capabilities(), "labels": {"zone": label}}), "c.json")

    [finding] = refused.value.findings
    assert finding.pointer.startswith("/labels/zone")
    assert "is no value of a label" in finding.message
