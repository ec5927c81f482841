"""Plain scalars of YAML 1.1 as values of JSON, with what people did not expect pointed out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

import yaml

_INT_LIMIT: Final = 2**64
_TAG: Final = "tag:yaml.org,2002:"
_RESOLVERS: Final = yaml.SafeLoader.yaml_implicit_resolvers
# Longer text is no number, truth or date that anybody means; it is told apart before the patterns
# of the resolver see it.
_LONGEST: Final = 100
_BEGINS: Final = frozenset("0123456789+-.")
_YAML_1_2: Final = re.compile(
    r"[-+]?(0o[0-7]+|[0-9]+|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)"
)


class Scalar(NamedTuple):
    """A value with a warning about it, or the error that there is none."""

    value: Any
    warning: str = ""
    error: str = ""


@lru_cache(maxsize=4096)
def plain(text: str) -> Scalar:
    """The value of a scalar without quotes and tag; the same few texts come again and again."""
    if len(text) > _LONGEST:
        numeric = text.lstrip("+-")[:1].isdigit() and not text.strip("+-0123456789_.:eE")
        return Scalar(None, error=f"{text[:40]}… is out of range") if numeric else Scalar(text)
    for tag, pattern in (*_RESOLVERS.get(text[:1], ()), *_RESOLVERS.get(None, ())):
        if pattern.match(text):
            return tagged(tag, text)
    if is_number_elsewhere(text):
        return Scalar(text, f"{text} is text here, and a number to readers of YAML 1.2")
    return Scalar(text)


def is_number_elsewhere(text: str) -> bool:
    """Whether YAML 1.2 takes a text without quotes for a number, which YAML 1.1 does not."""
    return text[:1] in _BEGINS and _YAML_1_2.fullmatch(text) is not None


def tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar of this tag."""
    match tag.removeprefix(_TAG):
        case "null":
            return Scalar(None)
        case "bool":
            return _boolean(text)
        case "int":
            return _integer(text)
        case "float":
            return _float(text)
        case "str" | "timestamp" | "value" | "merge":
            return Scalar(text)
    return Scalar(None, error=f"has the tag {tag}")


def _boolean(text: str) -> Scalar:
    known = text.lower()
    if known in ("true", "false"):
        return Scalar(known == "true")
    if known in ("yes", "on", "no", "off"):
        return Scalar(known in ("yes", "on"), f"{text} is read as true or false")
    return Scalar(None, error=f"{text[:40]} is not true or false")


def _integer(text: str) -> Scalar:
    plain_digits = text.lstrip("+-")
    odd = (len(plain_digits) > 1 and plain_digits.startswith("0")) or ":" in text or "_" in text
    number = _yaml_integer(text)
    if number is None or abs(number) > _INT_LIMIT:
        return Scalar(None, error=f"{text[:40]} is out of range")
    return Scalar(number, f"{text} is not read as a decimal number" if odd else "")


def _yaml_integer(text: str) -> int | None:
    """YAML 1.1's integers: decimal, 0b, 0x, leading-zero octal; sexagesimal is nobody's intent."""
    digits = text.replace("_", "").lstrip("+")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("-")
    if len(digits) > _LONGEST:
        return None
    try:
        if digits.startswith(("0b", "0x")):
            return sign * int(digits, 0)
        return sign * int(digits, 8 if len(digits) > 1 and digits.startswith("0") else 10)
    except ValueError:
        return None


def _float(text: str) -> Scalar:
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        return Scalar(None, error=f"{text[:40]} is not a number")
    if number - number != 0:  # infinite, or no number at all: JSON has neither
        return Scalar(None, error=f"{text[:40]} is out of range")
    return Scalar(number)
