"""What a node says, without the secrets that its call carried: an error may quote a value. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

MASK: Final = "[redacted]"
# A shorter one stands in half of all words; masked, it would be read off from what is left.
SHORTEST: Final = 4


def masked(value: Any, hidden: Sequence[str]) -> Any:
    """The value with each hidden text replaced, also where it is quoted as JSON or Go quotes it."""
    if not hidden:
        return value
    if isinstance(value, str):
        for text in hidden:
            if len(text) >= SHORTEST:
                value = value.replace(text, MASK)
                for quoted in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
                    value = value.replace(quoted[1:-1], MASK)
        return value
    if isinstance(value, dict):
        return {key: masked(one, hidden) for key, one in value.items()}
    if isinstance(value, list):
        return [masked(one, hidden) for one in value]
    return value
