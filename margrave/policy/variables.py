"""Variables of Compose files: `$NAME`, `${NAME}` and their defaults, filled in as Compose does."""

from __future__ import annotations

import re
from collections import ChainMap
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_OPERATORS: Final = (":-", ":?", ":+", "-", "?", "+")
_LINE: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*[=:]\s*(.*)")
_DEPTH: Final = 3  # defaults within defaults: nobody's intent
_LONGEST: Final = 256 * 1024  # characters of a text or of an env file, once it is filled in
_BRACES: Final = 1000  # of both kinds within one variable
_BRACE: Final = re.compile("[{}]")


class UnreadableTemplate(ValueError):
    """A `$` that Compose does not take for a variable."""


def filled(text: str, variables: Mapping[str, str], depth: int = 0) -> str:
    """Return the text with its variables filled in; unknown ones are empty."""
    if depth > _DEPTH:
        raise UnreadableTemplate("variables are nested too deeply")
    parts: list[str] = []
    place = length = 0
    while (dollar := text.find("$", place)) >= 0:
        parts.append(text[place:dollar])
        value, place = _variable(text, dollar + 1, variables, depth)
        parts.append(value)
        length += len(value)
        if length > _LONGEST:
            raise UnreadableTemplate("variables make it too long")
    return "".join([*parts, text[place:]])


def _variable(text: str, place: int, variables: Mapping[str, str], depth: int) -> tuple[str, int]:
    """Return the value of the variable whose `$` ends before a place, and where it ends."""
    if text.startswith("$", place):
        return "$", place + 1
    braced = text.startswith("{", place)
    name = _NAME.match(text, place + braced)
    if name is None:
        raise UnreadableTemplate(f"{text[place - 1 : place + 20]} is not a variable")
    if not braced:
        return variables.get(name[0], ""), name.end()
    end = _closing(text, place)
    rest = text[name.end() : end]
    operator = next((sign for sign in _OPERATORS if rest.startswith(sign)), "")
    if rest and not operator:
        raise UnreadableTemplate(f"{text[place - 1 : end + 1]} is not a variable")
    value = variables.get(name[0])
    is_set = bool(value) if operator.startswith(":") else value is not None
    if is_set == operator.endswith("+") and operator[-1:] in ("-", "+"):
        return filled(rest[len(operator) :], variables, depth + 1), end + 1
    return value or "", end + 1


def _closing(text: str, place: int) -> int:
    """Return the place of the brace that closes the one at a place."""
    open_braces = 0
    for count, brace in enumerate(_BRACE.finditer(text, place)):
        if count > _BRACES:
            raise UnreadableTemplate(f"{text[place - 1 : place + 20]} has too many braces")
        open_braces += 1 if brace[0] == "{" else -1
        if not open_braces:
            return brace.start()
    last = text.rfind("}", place)  # Compose takes the rest where braces do not match
    if last < 0:
        raise UnreadableTemplate(f"{text[place - 1 : place + 20]} has no closing brace")
    return last


def from_env_file(text: str, known: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of an env file, in whose values those known before are filled in."""
    found: dict[str, str] = {}
    all_known = ChainMap(dict(known), found)
    length = 0
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        name, value = match[1], match[2].strip()
        if value[:1] in ("'", '"'):
            quoted = value[1:].partition(value[0])[0]
            value = quoted if value[0] == "'" else filled(quoted, all_known)
        else:
            value = filled(re.sub(r"(?<!\s)\s+#.*", "", value), all_known)
        length += len(value)
        if length > _LONGEST:
            raise UnreadableTemplate("variables make it too long")
        found[name] = value
    return found
