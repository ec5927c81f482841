"""Removal of secrets from answers: an error may repeat a value that its call carried. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from runner.execute.quoting import forms_of

MASK: Final = "[redacted]"
# A shorter text is part of half of all words: its mask would only show where it stands.
SHORTEST: Final = 4
# A line of a secret of several lines is masked alone unless it may be an ordinary word.
SHORTEST_LINE: Final = 8
_NAME: Final = re.compile(r"[a-z_]+")
# Programs break lines at blanks, with a backslash in YAML, and join them again.
_BLANK: Final = re.compile(r"\s+")
_ANY_BLANK: Final = r"[\s\\]+"
# YAML continues a text between double quotes behind a backslash, anywhere in it.
_CONTINUED: Final = re.compile(r"\\\n\s*(\\(?=\s))?")


class Masking:
    """Replaces secrets in whatever is reported of a call."""

    def __init__(self, hidden: Iterable[str]) -> None:
        forms = {form.strip() for text in hidden for form in _forms(text)}
        # Longest first: a form may be a part of another one.
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._forms = [_Form(form) for form in ordered if len(form) >= SHORTEST]

    def __call__(self, value: Any) -> Any:
        """Return the value with each secret replaced in its texts."""
        if not self._forms:
            return value
        if isinstance(value, str):
            text = _CONTINUED.sub("", value)
            for form in self._forms:
                text = form.masked(text)
            return text
        if isinstance(value, dict):
            return {self._key(key): self(below) for key, below in value.items()}
        if isinstance(value, list):
            return [self(below) for below in value]
        return value

    def _key(self, key: Any) -> Any:
        """Mask a key unless it is a name of the protocol, which a secret may happen to equal."""
        return key if isinstance(key, str) and _NAME.fullmatch(key) else self(key)


class _Form:
    """One form of a secret; a blank in it matches any other."""

    def __init__(self, form: str) -> None:
        first, *others = _BLANK.split(form)
        self._first = first  # found quickly, and nearly never there
        words = [re.escape(word) for word in (first, *others)]
        self._pattern = re.compile(_ANY_BLANK.join(words))

    def masked(self, text: str) -> str:
        return self._pattern.sub(MASK, text) if self._first in text else text


def _forms(secret: str) -> Iterable[str]:
    """Return every form of a secret, and of its lines where it has several."""
    if len(secret) < SHORTEST:
        return
    yield from forms_of(secret)
    lines = [line.strip() for line in secret.splitlines()]
    for line in lines if len(lines) > 1 else ():
        if len(line) >= SHORTEST_LINE:
            yield from forms_of(line)
