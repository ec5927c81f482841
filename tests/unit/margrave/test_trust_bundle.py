"""Whom to trust."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from margrave.documents.trust_bundle import read_discovery, read_trust_bundle
from margrave.errors import DocumentError
from tests.unit.margrave.margo_making import CERT, as_json, discovery, trust_bundle

if TYPE_CHECKING:
    from collections.abc import Callable


def test_anchors_are_the_keys_for_x509_alone() -> None:
    """What is for something else is passed over, unknown members too."""
    read = read_trust_bundle(as_json({**trust_bundle(), "acme": 1}))

    assert read.anchors == (base64.b64decode(CERT),)
    assert (read.sequence, read.refresh_hint) == (12, 86400)


BROKEN: dict[str, tuple[Callable[[Any], object], str]] = {
    "no anchor": (
        lambda v: v["keys"][0].update(use="jwt-svid"),
        "/keys: holds no key with use: x509-svid, so nobody could be trusted",
    ),
    "no key": (lambda v: v.update(keys=[]), "holds no key with use: x509-svid"),
    "no keys": (lambda v: v.pop("keys"), "/keys: is missing"),
    "no certificate": (lambda v: v["keys"][0].pop("x5c"), "is not a list of one certificate"),
    "a chain": (
        lambda v: v["keys"][0].update(x5c=[CERT, CERT]),
        "/keys/0/x5c: is not a list of one certificate",
    ),
    "not base64": (lambda v: v["keys"][0].update(x5c=["-_-_"]), "/keys/0/x5c/0: is no certificate"),
    "cut off": (lambda v: v["keys"][0].update(x5c=[CERT[:-8]]), "is no certificate"),
    "unknown kind": (lambda v: v["keys"][0].update(kty="oct"), "is no known kind of key"),
    "half a key": (lambda v: v["keys"][0].pop("y"), "/keys/0/y: is missing in a key of kind EC"),
    "hint of nothing": (
        lambda v: v.update(spiffe_refresh_hint=0),
        "/spiffe_refresh_hint: 0 is too low",
    ),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_bundle_is_refused_whole(name: str) -> None:
    """A client then keeps the one it has."""
    change, words = BROKEN[name]
    value = trust_bundle()
    change(value)

    with pytest.raises(DocumentError) as refused:
        read_trust_bundle(as_json(value))

    assert words in str(refused.value)


def test_a_bundle_is_looked_for_over_https_alone() -> None:
    """Whoever could change the address could choose whom to trust."""
    assert read_discovery(as_json(discovery())).trustDomain == "factory.example"
    for address in ("http://mis.factory.example/b", "/b", "https://user@host/b", "https://"):
        with pytest.raises(DocumentError, match="is no absolute https address"):
            read_discovery(as_json({**discovery(), "trustBundleUri": address}))
    with pytest.raises(DocumentError, match="is no trust domain"):
        read_discovery(as_json({**discovery(), "trustDomain": "spiffe://factory"}))
