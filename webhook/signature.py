"""Signatures over raw bytes, compared in constant time against every secret that is valid now."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable
from typing import Final

PREFIX: Final = "sha256="
SYMMETRIC: Final = "whsec_"


def hmac_hex_fits(secrets: Iterable[bytes], body: bytes, given: str) -> bool:
    """Whether `given` is the hex HMAC-SHA256 of the body under one of the secrets."""
    return _any_equal(given, (hmac.new(key, body, hashlib.sha256).hexdigest() for key in secrets))


def prefixed_hmac_fits(secrets: Iterable[bytes], body: bytes, given: str) -> bool:
    """The same behind `sha256=`; any other algorithm is refused."""
    return given.startswith(PREFIX) and hmac_hex_fits(secrets, body, given.removeprefix(PREFIX))


def token_fits(secrets: Iterable[bytes], given: bytes) -> bool:
    """Whether `given` is one of the secrets itself."""
    # Digests are compared, because compare_digest tells the length of what it is given.
    wanted = (hashlib.sha256(key).hexdigest() for key in secrets)
    return _any_equal(hashlib.sha256(given).hexdigest(), wanted)


def standard_fits(secrets: Iterable[bytes], signed: bytes, given: str) -> bool:
    """Whether one of the space-separated `v1,<base64>` signatures fits one of the secrets."""
    offered = [part[3:] for part in given.split() if part.startswith("v1,")]
    wanted = [
        base64.b64encode(hmac.new(_standard_key(key), signed, hashlib.sha256).digest()).decode()
        for key in secrets
    ]
    return sum(_any_equal(one, wanted) for one in offered) > 0


def _standard_key(secret: bytes) -> bytes:
    """Standard Webhooks writes keys as base64 behind `whsec_`; other secrets are their bytes."""
    if not secret.startswith(SYMMETRIC.encode()):
        return secret
    text = secret.removeprefix(SYMMETRIC.encode())
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return secret


def _any_equal(given: str, wanted: Iterable[str]) -> bool:
    # A sum looks at every candidate, any() stops at the first: which secret fits shall not show
    # in the time taken.
    ours = given.encode("utf-8", "replace")
    return sum(hmac.compare_digest(ours, one.encode()) for one in wanted) > 0
