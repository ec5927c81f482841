"""The desired-state manifest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from margrave.documents.manifest import make_manifest, read_manifest
from margrave.errors import DocumentError
from margrave.yaml_text import dump
from tests.unit.margrave.margo_making import DIGEST, ID, as_json, documents, manifest

if TYPE_CHECKING:
    from collections.abc import Callable


def told(value: Any) -> str:
    """The findings of a manifest that is refused."""
    with pytest.raises(DocumentError) as refused:
        read_manifest(as_json(value), "m.json")
    return str(refused.value)


def test_a_manifest_names_deployments_by_their_bytes() -> None:
    """Version, bundle and references are as written."""
    read = read_manifest(as_json(manifest()))

    assert (read.version, read.raw) == (101, manifest())
    assert read.deployments[ID].digest == DIGEST
    assert read.bundle is not None


@pytest.mark.parametrize("version", [1, 2**53 + 1, 2**64 - 1])
def test_a_version_keeps_all_its_digits(version: int) -> None:
    """Also those that a floating-point number would lose."""
    assert read_manifest(as_json({**manifest(), "manifestVersion": version})).version == version


@pytest.mark.parametrize("version", [0, -1, 2**64, 1.5, 1.0, "7", True, None])
def test_what_is_no_version_is_refused(version: object) -> None:
    """Only whole numbers from 1 to 2^64-1 are."""
    assert "m.json:2:22: /manifestVersion" in told({**manifest(), "manifestVersion": version})


def test_only_a_greater_version_is_adopted() -> None:
    """Whoever replays an old manifest changes nothing."""
    read = read_manifest(as_json(manifest()))

    assert read.not_after(None) is None
    assert read.not_after(100) is None
    for adopted in (101, 102):
        finding = read.not_after(adopted)
        assert finding is not None
        assert finding.code == "rollback"


@pytest.mark.parametrize("as_text", ["json", "yaml"])
def test_a_large_client_has_a_large_manifest(as_text: str) -> None:
    """Ten thousand deployments are read; a document of that size would be refused."""
    value = manifest()
    one = value["deployments"][0]
    ids = [str(UUID(int=number + 2**120)) for number in range(10_000)]
    value["deployments"] = [
        {**one, "deploymentId": ident, "url": one["url"].replace(ID, ident)} for ident in ids
    ]
    text = json.dumps(value) if as_text == "json" else dump(value)

    assert len(read_manifest(text, f"m.{as_text}").deployments) == 10_000


BROKEN: dict[str, tuple[Callable[[Any], object], str]] = {
    "no bundle key": (lambda v: v.pop("bundle"), "/bundle: is missing"),
    "bundle null with deployments": (
        lambda v: v.update(bundle=None),
        "/bundle: is null though there are deployments",
    ),
    "bundle without deployments": (
        lambda v: v.update(deployments=[]),
        "/bundle: packs no deployments (write null when there are none)",
    ),
    "other media type": (
        lambda v: v["bundle"].update(mediaType="application/gzip"),
        "/bundle/mediaType: 'application/gzip' is not known",
    ),
    "short digest": (
        lambda v: v["deployments"][0].update(digest="sha256:abc"),
        "'sha256:abc' is not a digest",
    ),
    "big letters": (
        lambda v: v["deployments"][0].update(digest="sha256:" + "A1" * 32),
        "is not a digest (write sha256: and 64 small hex digits)",
    ),
    "other algorithm": (
        lambda v: v["deployments"][0].update(digest="sha512:" + "a" * 128),
        "is of an algorithm that is not supported",
    ),
    "other address": (
        lambda v: v["bundle"].update(url="/api/v1/bundles/latest"),
        '/bundle/url: "/api/v1/bundles/latest" is not its address',
    ),
    "address of another site": (
        lambda v: v["deployments"][0].update(
            url="http://elsewhere.example" + v["deployments"][0]["url"]
        ),
        "/deployments/0/url",
    ),
    "the same twice": (
        lambda v: v["deployments"].append({**v["deployments"][0], "deploymentId": ID.upper()}),
        "/deployments/1/deploymentId",
    ),
    "no UUID": (
        lambda v: v["deployments"][0].update(deploymentId="pump"),
        "'pump' is not a UUID",
    ),
    "unknown key": (lambda v: v.update(digest=DIGEST), "/digest: is not a key that is known"),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_manifest_is_refused_whole(name: str) -> None:
    """With place and cure; a client then keeps what runs."""
    change, words = BROKEN[name]
    value = manifest()
    change(value)

    assert words in told(value)


def test_a_servers_own_prefix_is_part_of_an_address() -> None:
    """Some serve the interface below a path."""
    value = manifest()
    value["bundle"]["url"] = "/v1alpha2/margo" + value["bundle"]["url"]

    assert read_manifest(as_json(value)).bundle is not None


def test_what_is_made_is_read_and_one_text() -> None:
    """The same documents are the same manifest; none are a manifest without bundle."""
    made = make_manifest(2, documents(2), b"bundle")

    assert made == make_manifest(2, dict(reversed(documents(2).items())), b"bundle")
    assert list(read_manifest(made).deployments) == list(documents(2))
    assert json.loads(make_manifest(3, {}, None)) == {
        "manifestVersion": 3,
        "bundle": None,
        "deployments": [],
    }
    assert read_manifest(make_manifest(3, {}, None)).deployments == {}
