"""What most likely went wrong where YAML cannot be read, from the lines around the place."""

from __future__ import annotations

import re
from typing import Final

_KEY: Final = re.compile(r"( *)(?:- +)*([^\s#:][^:]*):(?: .*)?$")
_PLAIN_VALUE: Final = re.compile(r"( *)((?:- +)*)[^\s#:][^:]*: +[^\s#&*!|>'\"{\[].*$")

GENERAL: Final = "check indentation, quotes and colons here"


def cure(text: str, problem: str, line: int, column: int) -> str:
    """What to write instead; line and column count from 0, as YAML's marks do."""
    lines = text.split("\n")
    here = lines[line] if line < len(lines) else ""
    if "\t" in here[: max(column, 1)] or "'\\t'" in problem:
        return "indent with blanks, not with tabs"
    if problem.startswith("mapping values are not allowed"):
        # libyaml counts line ends that are none here, so its line may not be there.
        return (_of_mapping(lines, line, column) if line < len(lines) else "") or GENERAL
    if problem.startswith("could not find expected ':'"):
        return "write a colon and a blank behind the key, or indent the text under its key"
    return GENERAL


def _of_mapping(lines: list[str], line: int, column: int) -> str:
    """A key stands deeper than the value above it, or a value has a colon in it."""
    here = _KEY.match(lines[line])
    if here is None:
        return ""
    if column > lines[line].find(":"):
        return f"put the value of {here[2]} in quotes: it has a colon and a blank in it"
    above = next((one for one in range(line - 1, -1, -1) if lines[one].strip()), 0)
    value = _PLAIN_VALUE.match(lines[above])
    if value is None:
        return ""
    wanted, found = len(value[1]) + len(value[2]), len(here[1])
    if found <= wanted:
        return ""
    key = lines[above].strip().lstrip("- ").partition(":")[0]
    return f"indent {here[2]} by {wanted} blanks instead of {found}, like {key} in line {above + 1}"
