"""SOPS files in YAML or JSON: the data key from its age stanza, each value by itself, then the MAC.

Read as SOPS itself does (its own reference is the code of `aes` and `sops.go`): a value is AES-256
in GCM with a nonce of 32 bytes, bound to its place by the path of its keys; the MAC over all values
in their order is encrypted like a value and bound to the time of the last change. Without the MAC
whoever may write to Git could leave values out, or put an older one back.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from margrave.errors import MargraveError, Refused

_SEALED: Final = re.compile(
    r"ENC\[AES256_GCM,data:(?P<data>[^,]*),iv:(?P<iv>[^,]+),tag:(?P<tag>[^,]+),type:(?P<type>\w+)\]"
)
# What SOPS hashes first where the MAC is over encrypted values only.
_ENCRYPTED_ONLY: Final = hashlib.sha256(b"sops").digest()
_KEY_BYTES: Final = 32

OpenAge = Callable[[bytes, str], bytes]


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A value, the keys that lead to it (places in lists do not count), and its name."""

    value: Any
    path: tuple[str, ...]
    name: str


def values(document: Any, where: str, open_age: OpenAge) -> dict[str, str]:
    """Each value by its dotted path, or Refused: a file is taken whole or not at all."""
    if not isinstance(document, dict) or not isinstance(document.get("sops"), dict):
        raise Refused(f"{where}: is no SOPS file", "sops --encrypt, or take it away from secrets/")
    about = document["sops"]
    key = _data_key(about, where, open_age)
    only_encrypted = about.get("mac_only_encrypted") is True
    mac = hashlib.sha512(_ENCRYPTED_ONLY if only_encrypted else b"")
    found: dict[str, str] = {}
    for leaf in _leaves({name: one for name, one in document.items() if name != "sops"}):
        sealed = _SEALED.fullmatch(leaf.value) if isinstance(leaf.value, str) else None
        if sealed is not None:
            place = f"{where}: {leaf.name}"
            text = _decrypt(sealed, key, ":".join(leaf.path) + ":", place)
        else:
            text = _plain(leaf.value)
        if sealed is not None or not only_encrypted:
            mac.update(text)
        truth = sealed["type"] == "bool" if sealed else isinstance(leaf.value, bool)
        found[leaf.name] = _told(text, where, truth=truth)
    _check_mac(about, key, mac.hexdigest(), where)
    return found


def _data_key(about: Mapping[str, Any], where: str, open_age: OpenAge) -> bytes:
    if about.get("key_groups"):
        raise Refused(f"{where}: its key is split over groups", "use one group of age recipients")
    stanzas = [one for one in about.get("age") or () if isinstance(one, dict)]
    if not stanzas:
        raise Refused(f"{where}: has no age recipient", "sops --age RECIPIENT")
    refusal: MargraveError | None = None
    for stanza in stanzas:
        try:
            key = open_age(str(stanza.get("enc") or "").encode(), where)
        except MargraveError as error:
            refusal = error
            continue
        if len(key) == _KEY_BYTES:
            return key
    raise refusal or Refused(f"{where}: its data key is broken", "encrypt it again")


def _leaves(value: Any, path: tuple[str, ...] = (), name: str = "") -> Iterator[_Leaf]:
    """All values in their order; null is none. Depth is bounded by the reader of the document."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, (*path, key), f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _leaves(one, path, f"{name}.{number}")
    elif value is not None:
        yield _Leaf(value, path, name)


def _decrypt(sealed: re.Match[str], key: bytes, place: str, where: str) -> bytes:
    try:
        data, nonce, tag = (
            base64.b64decode(sealed[part], validate=True) for part in ("data", "iv", "tag")
        )
        return AESGCM(key).decrypt(nonce, data + tag, place.encode())
    except (binascii.Error, ValueError, InvalidTag) as error:
        raise Refused(
            f"{where}: was changed by other means than SOPS", "write it again with sops"
        ) from error


def _check_mac(about: Mapping[str, Any], key: bytes, found: str, where: str) -> None:
    sealed = _SEALED.fullmatch(str(about.get("mac") or ""))
    told = (
        _decrypt(sealed, key, str(about.get("lastmodified")), f"{where}: sops.mac")
        if sealed
        else b""
    )
    if not hmac.compare_digest(told, found.upper().encode()):
        raise Refused(
            f"{where}: its values are not those that its MAC was made of",
            "write it again with sops; somebody added, moved or removed a value by hand",
        )


def _plain(value: Any) -> bytes:
    """A value that was left in the clear, as SOPS hashes it."""
    if isinstance(value, bool):
        return b"True" if value else b"False"
    if isinstance(value, float) and value.is_integer():
        return str(int(value)).encode()
    return str(value).encode()


def _told(text: bytes, where: str, *, truth: bool) -> str:
    try:
        found = text.decode()
    except UnicodeDecodeError as error:
        raise Refused(f"{where}: holds bytes that are no text", "encode it, as base64") from error
    return found.lower() if truth else found
