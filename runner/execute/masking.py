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
# Programs break lines at blanks, with a backslash in YAML, and join them again.
_BLANK: Final = re.compile(r"\s+")
_ANY_BLANK: Final = r"[\s\\]+"
# YAML continues a text between double quotes behind a backslash, anywhere in it.
_CONTINUED: Final = re.compile(r"\\\n\s*(\\(?=\s))?")


class Masking:
    """Replaces the secrets of a run in whatever is reported of it."""

    def __init__(self, hidden: Iterable[str]) -> None:
        forms = {form.strip() for text in hidden for form in _forms(text)}
        self._forms = sorted(
            (form for form in forms if len(form) >= SHORTEST), key=lambda form: (-len(form), form)
        )

    def __call__(self, value: Any) -> Any:
        """Return the value with each secret replaced in its texts, also in those of its keys."""
        if not self._forms:
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {self(key): self(below) for key, below in value.items()}
        if isinstance(value, list):
            return [self(below) for below in value]
        return value

    def _text(self, text: str) -> str:
        text = _CONTINUED.sub("", text)
        for form in self._forms:
            first, *others = _BLANK.split(form)
            if first not in text:
                continue
            if others:
                pattern = _ANY_BLANK.join(re.escape(word) for word in (first, *others))
                text = re.sub(pattern, MASK, text)
            else:
                text = text.replace(form, MASK)
        return text


def _forms(secret: str) -> Iterable[str]:
    """Return every form of a secret, and of its lines where it has several."""
    if len(secret) < SHORTEST:
        return
    yield from forms_of(secret)
    lines = [line.strip() for line in secret.splitlines()]
    for line in lines if len(lines) > 1 else ():
        if len(line) >= SHORTEST_LINE:
            yield from forms_of(line)
