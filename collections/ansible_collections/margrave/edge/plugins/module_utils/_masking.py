# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a call says and stores, without the secrets that it carried: an error may quote a value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

MASK = "[redacted]"
# A shorter one stands in half of all words; masked, it would be read off from what is left.
SHORTEST = 4


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
    """What a call's parameters say is secret.

    A runner tells which values are. A person's playbook seldom does: then each text that it gives
    to the application may be one.
    """
    told = params.get("secrets")
    if told is None:
        components = [one for one in _list(params.get("components")) if isinstance(one, Mapping)]
        told = [one.get(name) for one in components for name in ("variables", "values")]
    logins = [one for one in _list(params.get("registries")) if isinstance(one, Mapping)]
    return ordered([*texts_in(told), *texts_in([one.get("password") for one in logins])])


def _list(value: object) -> list:
    return value if isinstance(value, list) else []


def _forms(text: str) -> list[str]:
    """A text as programs write it: as it is, quoted, or line by line."""
    quoted = [json.dumps(text), json.dumps(text, ensure_ascii=False), repr(text)]
    lines = [one.strip() for one in text.splitlines()] if "\n" in text else []
    return [text, *(one[1:-1] for one in quoted), *(one for one in lines if len(one) >= SHORTEST)]
