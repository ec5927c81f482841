# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Masking of secrets in answers and stored texts: an error may quote a value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

MASK = "[redacted]"
# A shorter one stands in half of all words; masked, it would be read off from what is left.
SHORTEST = 4
# The parts of a component that reach the application.
SETTINGS = ("variables", "values")
# Words of a name, however they are joined: DB_PASSWORD, db.password, dbPassword.
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
SECRET_WORD = re.compile(
    r"(auth|oauth|cookie|creds?|dsn|hmac|mnemonic|otp|totp|pin|pw|salt|seed|webhook)$"
    r"|.*(passw|passphrase|pwd|secret|token|credential|private)"
    r"|.*((?<!com)(?<!by)pass|keys?)$"
)
# Switches beside secrets, such as AUTH_ENABLED; masked, the rest of a text would reveal them.
PLAIN_WORDS = ("", "true", "false", "yes", "no", "on", "off", "none", "null")
# A password inside a text: in an address, in a connection string, in JSON.
EMBEDDED = re.compile(
    r"""(?:://[^/\s:@]*:|(?:password|passwd|pwd|secret|token|accountkey|api_?key)["']?\s*[=:]\s*["']?)"""
    r"""([^/\s@;&"',}]+)""",
    re.IGNORECASE,
)
PRIVATE_KEY = "PRIVATE KEY-----"


def masked(text: str, hidden: Iterable[str]) -> str:
    """The text with each hidden one replaced, also as JSON, Go or Python quote it."""
    for one in hidden:
        for form in _forms(one):
            text = text.replace(form, MASK)
    return text


def ordered(texts: Iterable[str]) -> tuple[str, ...]:
    """Those that are masked, long ones first: one may be a part of another."""
    found = {one for one in texts if len(one) >= SHORTEST}
    return tuple(sorted(found, key=lambda one: (-len(one), one)))


def texts_in(value: object) -> Iterator[str]:
    """All texts below a value, at any depth; keys are names, and none of them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from texts_in(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from texts_in(one)


def secrets_of(params: Mapping[str, object]) -> tuple[str, ...]:
    """Return the texts that nothing may repeat.

    `secrets` names them all. Without it, those count that look like secrets: an answer that masks
    ports and host names hides why a call failed.
    """
    given = params.get("secrets")
    components = [each for each in _list(params.get("components")) if isinstance(each, Mapping)]
    if given is None:
        settings = [component.get(name) for component in components for name in SETTINGS]
        given = [text for setting in settings for text in _likely_secrets(setting)]
    logins = [login for login in _list(params.get("registries")) if isinstance(login, Mapping)]
    return ordered([*texts_in(given), *texts_in([login.get("password") for login in logins])])


def _likely_secrets(value: object, named: bool = False) -> Iterator[str]:
    """Yield the texts below a setting that look like secrets; `named`: so does a name above."""
    if isinstance(value, Mapping):
        # Kubernetes writes environment variables as `name` and `value`.
        label = str(value.get("name") or "") if "value" in value else ""
        for name, each in value.items():
            known_by = label if name == "value" and label else str(name)
            yield from _likely_secrets(each, named or is_secret_name(known_by))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _likely_secrets(each, named)
    elif value is not None and str(value).lower() not in PLAIN_WORDS:
        text = str(value)
        yield from EMBEDDED.findall(text)
        if named or PRIVATE_KEY in text:
            yield text


def is_secret_name(name: str) -> bool:
    """Return whether a variable of this name usually holds a secret."""
    return any(SECRET_WORD.match(word.lower()) for word in WORD.findall(name))


def _list(value: object) -> list:
    return value if isinstance(value, list) else []


def _forms(text: str) -> list[str]:
    """A text as programs write it: as it is, quoted, or line by line."""
    quoted = [json.dumps(text), json.dumps(text, ensure_ascii=False), repr(text)]
    lines = [one.strip() for one in text.splitlines()] if "\n" in text else []
    return [text, *(one[1:-1] for one in quoted), *(one for one in lines if len(one) >= SHORTEST)]
