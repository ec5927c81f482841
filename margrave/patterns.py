"""Regular expressions that strangers write, matched in time that grows with the text alone.

Python's own matcher can be made to think for ever by a pattern of a dozen characters. The one that
comes with pydantic cannot: it has neither look-around nor backreferences, and says so.
"""

from __future__ import annotations

from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, core_schema

from margrave.errors import MargraveError


def check(pattern: str) -> None:
    """Nothing when the pattern can be used, else MargraveError with the reason."""
    _compiled(pattern)


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; it is anchored only where it says so itself."""
    return _compiled(pattern).isinstance_python(text)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> SchemaValidator:
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as error:
        reason = str(error).strip().rpartition("\n")[2].removeprefix("error:").strip()
        raise MargraveError(
            f"is no regular expression that can be used: {reason}",
            "write it without look-around and backreferences, brackets closed",
        ) from error
