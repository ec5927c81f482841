"""Passwords as argon2id hashes, and the random secrets that tokens and sessions are."""

from __future__ import annotations

import hashlib
import secrets
from functools import cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

TOKEN_BYTES: Final = 32  # 256 random bits: a plain SHA-256 of them cannot be searched back
LEAST: Final = 10
MOST: Final = 256
# Of a made password nothing is taken for something else, or for an option, and a double click
# takes it whole. 20 of these 31 characters are 99 random bits.
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
_MADE: Final = 20

_HASHER = PasswordHasher()


def hash_password(password: str) -> str:
    """The argon2id hash that is stored."""
    return _HASHER.hash(password)


def verify(stored: str | None, password: str) -> bool:
    """Whether the password is the stored one; as slow for a user that does not exist."""
    try:
        matched = _HASHER.verify(stored or _nobody(), password)
    except (VerificationError, InvalidHashError):
        return False
    return matched and stored is not None


def new_password() -> str:
    """A password for somebody who has none yet: easy to read out, to copy and to type."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_MADE))


def new_token(prefix: str) -> str:
    """A new secret; the prefix tells people and scanners what they found."""
    return f"{prefix}_{secrets.token_urlsafe(TOKEN_BYTES)}"


def token_hash(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _nobody() -> str:
    return _HASHER.hash(secrets.token_urlsafe())
