"""Whom to trust (Margo rc.3): the SPIFFE bundle of a trust domain, a JWK Set, and where it is.

What is not meant for X.509 SVIDs is passed over; a bundle without one anchor is refused whole.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import ConfigDict, Field

from margrave import json_text
from margrave.documents._checked import checked
from margrave.documents._fields import U64
from margrave.documents._reading import Part
from margrave.documents._walk import EACH, mapping, walk
from margrave.documents.generations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.documents._walk import Path
    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

# Margo's property names are kept as they are written: fields are the document's words.
# ruff: noqa: N815

USE: Final = "x509-svid"

_DOMAIN: Final = re.compile(r"[a-z0-9._-]{1,255}")
_HTTPS: Final = re.compile(r"https://[^/?#\s@]+(/[!-~]*)?")
# What JWK (RFC 7518) wants of each kind of key.
_KEY_MEMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "EC": ("crv", "x", "y"),
    "RSA": ("n", "e"),
    "OKP": ("crv", "x"),
}


class BundlePart(Part):
    """The whole document; members that are not known mean nothing here."""

    model_config = ConfigDict(extra="ignore")

    keys: list[dict[str, Any]]
    spiffe_sequence: Annotated[int, Field(ge=0, le=U64)] | None = None
    spiffe_refresh_hint: Annotated[int, Field(ge=1)] | None = None


class DiscoveryPart(Part):
    """Where a trust domain's bundle is; members that are not known mean nothing here."""

    model_config = ConfigDict(extra="ignore")

    trustDomain: str
    trustBundleUri: str


@dataclass(frozen=True)
class TrustBundle:
    """A checked bundle."""

    document: BundlePart
    raw: Mapping[str, Any]

    @property
    def anchors(self) -> tuple[bytes, ...]:
        """The trust anchors, as DER; they replace all that were trusted before."""
        return tuple(
            base64.b64decode(key["x5c"][0]) for key in self.document.keys if key.get("use") == USE
        )

    @property
    def sequence(self) -> int | None:
        """The bundle's number."""
        return self.document.spiffe_sequence

    @property
    def refresh_hint(self) -> int | None:
        """After how many seconds to ask again."""
        return self.document.spiffe_refresh_hint


def read_trust_bundle(data: bytes | str, file: str = "") -> TrustBundle:
    """The checked bundle, or DocumentError with every finding."""
    parsed = json_text.parse_any(data, file)
    return TrustBundle(checked(parsed, BundlePart, _rules, Kind.TRUST_BUNDLE), parsed.value)


def read_discovery(data: bytes | str, file: str = "") -> DiscoveryPart:
    """The checked discovery document, or DocumentError with every finding."""
    parsed = json_text.parse_any(data, file)
    return checked(parsed, DiscoveryPart, _discovery_rules, Kind.DISCOVERY)


def _rules(parsed: Parsed) -> Iterator[Finding]:
    keys = mapping(parsed.value).get("keys")
    anchors = 0
    for path, key in walk(parsed.value, "keys", EACH):
        if mapping(key).get("use") == USE:
            anchors += 1
            yield from _anchor(parsed, path, mapping(key))
    if isinstance(keys, list) and not anchors:
        message = f"holds no key with use: {USE}, so nobody could be trusted"
        yield parsed.finding(("keys",), message, "keep the bundle that is there, ask its publisher")


def _anchor(parsed: Parsed, path: Path, key: Mapping[str, Any]) -> Iterator[Finding]:
    kind = key.get("kty")
    members = _KEY_MEMBERS.get(kind) if isinstance(kind, str) else None
    if members is None:
        cure = f"write {', '.join(_KEY_MEMBERS)}"
        yield parsed.finding((*path, "kty"), "is no known kind of key", cure)
    for member in members or ():
        if not isinstance(key.get(member), str):
            message = f"is missing in a key of kind {kind}"
            yield parsed.finding((*path, member), message, "add it as base64url text")
    chain = key.get("x5c")
    if not isinstance(chain, list) or len(chain) != 1:
        message = "is not a list of one certificate"
        yield parsed.finding((*path, "x5c"), message, "write the authority's certificate alone")
    elif not _is_certificate(chain[0]):
        message = "is no certificate"
        yield parsed.finding((*path, "x5c", 0), message, "write its DER as base64, not base64url")


def _is_certificate(text: Any) -> bool:
    """Whether this is one whole DER sequence; who checks signatures looks closer."""
    if not isinstance(text, str):
        return False
    try:
        der = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    if len(der) < 64 or der[0] != 0x30:
        return False
    if der[1] < 0x80:
        return len(der) == 2 + der[1]
    count = der[1] & 0x7F
    return count in (1, 2, 3) and len(der) == 2 + count + int.from_bytes(der[2 : 2 + count])


def _discovery_rules(parsed: Parsed) -> Iterator[Finding]:
    domain = mapping(parsed.value).get("trustDomain")
    if isinstance(domain, str) and not _DOMAIN.fullmatch(domain):
        message = f'"{domain[:80]}" is no trust domain'
        yield parsed.finding(("trustDomain",), message, "write such as factory.example")
    uri = mapping(parsed.value).get("trustBundleUri")
    if isinstance(uri, str) and not _HTTPS.fullmatch(uri):
        message = f'"{uri[:80]}" is no absolute https address'
        yield parsed.finding(("trustBundleUri",), message, "write https://<host>/<path>")
