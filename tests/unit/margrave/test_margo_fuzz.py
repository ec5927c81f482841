"""Whatever is sent: findings with places, or a document; never another exception."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margrave import bundle, yaml_text
from margrave.documents.capabilities import read_capabilities
from margrave.documents.deployment import read_deployment
from margrave.documents.description import read_description
from margrave.documents.manifest import read_manifest
from margrave.documents.problem import read_problem
from margrave.documents.status import read_status
from margrave.documents.trust_bundle import read_discovery, read_trust_bundle
from margrave.errors import DocumentError, MargraveError
from tests.unit.margrave import margo_making

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

READERS: dict[str, Callable[[bytes, str], object]] = {
    "capabilities": read_capabilities,
    "deployment": read_deployment,
    "description": read_description,
    "discovery": read_discovery,
    "manifest": read_manifest,
    "problem": read_problem,
    "status": read_status,
    "trust_bundle": read_trust_bundle,
}
ODD = st.recursive(
    st.sampled_from(
        [None, True, -1, 0, 1.5, 2**70, "", "two words", "ENV.A", "helm.v3", "[", "\u0000", "é"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "x-a-extensions", "id", "key"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a value but the whole."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, below in value.items():
            yield from places(below, (*path, key))
    if isinstance(value, list):
        for index, below in enumerate(value):
            yield from places(below, (*path, index))


def assert_told(read: Callable[[bytes, str], object], data: bytes, file: str) -> None:
    """Read, or refused with findings that have a place and no more than a screen of words."""
    try:
        read(data, file)
    except DocumentError as error:
        assert error.findings
        for one in error.findings:
            assert one.file == file
            assert one.line >= 1, one
            assert 0 < len(one.message) < 600, one


@pytest.mark.parametrize("kind", sorted(READERS))
@settings(max_examples=60)
@given(data=st.data())
def test_odd_values_at_any_place_are_findings(kind: str, data: st.DataObject) -> None:
    """One, two or three of them; as JSON and as YAML."""
    value = copy.deepcopy(getattr(margo_making, kind)())
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places(value)) or [("a",)]))
        holder = value
        for step in path[:-1]:
            holder = holder[step]
        if isinstance(holder, dict) or path[-1] != "a":
            holder[path[-1]] = data.draw(ODD)

    assert_told(READERS[kind], json.dumps(value).encode(), "a.json")
    assert_told(READERS[kind], yaml_text.dump(value).encode(), "a.yaml")


@pytest.mark.parametrize("kind", sorted(READERS))
@settings(max_examples=40)
@given(data=st.data())
def test_broken_bytes_are_findings(kind: str, data: st.DataObject) -> None:
    """A document with a piece cut out, doubled or overwritten."""
    whole = margo_making.as_json(getattr(margo_making, kind)())
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 30)))
    noise = data.draw(st.binary(max_size=8) | st.just(whole[start:end] * 2))

    assert_told(READERS[kind], whole[:start] + noise + whole[end:], "a.json")


@settings(max_examples=60)
@given(data=st.data())
def test_broken_bundles_are_refused(data: st.DataObject) -> None:
    """Also where the archive inside is broken and gzip whole."""
    import gzip

    packed = gzip.decompress(bundle.write(margo_making.documents(2)))
    at = data.draw(st.integers(0, 1600))
    noise = data.draw(st.binary(min_size=1, max_size=8))
    made = gzip.compress(packed[:at] + noise + packed[at + len(noise) :])

    try:
        bundle.read(made)
    except MargraveError as error:
        assert error.message
