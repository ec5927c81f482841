"""Changes that need no decision: an older generation's shape, scalars whose cure is one text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml

from margrave import yaml_text
from margrave.documents import generations
from margrave.errors import DocumentError
from margrave.findings import Severity
from margrave.linting.reading import GENERATIONS, Kind, kind_in, read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from margrave.findings import Finding

# One mend can uncover the next: a version in quotes may then be found to be no version.
_ROUNDS: Final = 3
_BOM: Final = "\ufeff"
_WRITE: Final = re.compile(r"write ([0-9]+m[0-9]+s)")
# Where nothing but true or false may stand. Anywhere else `no` may well mean Norway.
_SWITCHES: Final = ("allowEmpty", "drain", "immutable", "multiselect", "wait")
_TRUTHS: Final = {"yes": "true", "on": "true", "no": "false", "off": "false"}


@dataclass(frozen=True)
class Mended:
    """The document's new bytes, and what was changed, a line each."""

    data: bytes
    notes: tuple[str, ...]


def mend(kind: Kind, data: bytes, file: str) -> Mended | None:
    """The document after all that is mechanical; None when nothing is, or it cannot be read."""
    if kind is not Kind.SITE:
        kind = kind_in(data) or kind  # at a wrong place it is still mended as what it is
    try:
        text, notes = _brought_up(kind, data, file)
        for _ in range(_ROUNDS):
            text, more = _scalars(kind, text, file)
            notes += more
            if not more:
                break
    except DocumentError:
        return None  # it is no YAML: whoever lints it says where and why
    return Mended(text.encode(), tuple(notes)) if notes else None


def _brought_up(kind: Kind, data: bytes, file: str) -> tuple[str, list[str]]:
    """The text under the present generation; it is written anew only when that changes it."""
    parsed = yaml_text.parse(data, file)
    if kind in GENERATIONS:
        value, notes = generations.mend(parsed.value, GENERATIONS[kind])
        if notes:
            if file.endswith(".json"):
                return json.dumps(value, ensure_ascii=False, indent=2) + "\n", _told(notes)
            lost = ["written anew: comments and order are not kept"] if "#" in parsed.text else []
            return yaml_text.dump(value), [*_told(notes), *lost]
    return data.decode(), []


def _told(notes: Iterable[object]) -> list[str]:
    return [str(one) for one in notes]


def _scalars(kind: Kind, text: str, file: str) -> tuple[str, list[str]]:
    """The text with each scalar replaced that has one right writing; all else stays as it is."""
    found = read(kind, text.encode(), file)
    if found.parsed is None:
        return text, []
    nodes = _places(found.parsed.root)
    bom, body = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    starts = _line_starts(body)
    edits: dict[tuple[int, int], tuple[str, str]] = {}
    for one in sorted(found.findings, key=lambda one: one.severity is Severity.WARNING):
        node = nodes.get((one.line, one.column))
        new = _replacement(one, node) if node is not None else None
        if node is not None and new is not None:
            edits.setdefault(_span(node, starts), (new, f"{one.pointer}: wrote {new}"))
    notes = []
    for (start, end), (new, note) in sorted(edits.items(), reverse=True):
        notes.append(note)
        body = body[:start] + new + body[end:]
    return bom + body, notes[::-1]


def _replacement(finding: Finding, node: yaml.ScalarNode) -> str | None:
    """What stands there instead, or None when somebody has to decide."""
    if not node.style and finding.message == "is not text" and "\n" not in node.value:
        return json.dumps(node.value, ensure_ascii=False)
    surprise = finding.message.endswith("is read as true or false")
    if surprise and finding.pointer.rpartition("/")[2] in _SWITCHES:
        return _TRUTHS.get(node.value.lower())
    told = _WRITE.fullmatch(finding.cure)
    return told[1] if told and "no duration" in finding.message else None


def _places(root: yaml.Node) -> dict[tuple[int, int], yaml.ScalarNode]:
    """Values without quotes around more than one line, by line and column from 1; no keys."""
    found = {}
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            waiting += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif node.start_mark.line == node.end_mark.line:
            found[node.start_mark.line + 1, node.start_mark.column + 1] = node
    return found


def _line_starts(text: str) -> list[int]:
    """Where each line begins, by YAML's line breaks."""
    breaks = re.finditer("\r\n|[\r\n\x85\u2028\u2029]", text)
    return [0, *(one.end() for one in breaks)]


def _span(node: yaml.ScalarNode, starts: list[int]) -> tuple[int, int]:
    first, last = node.start_mark, node.end_mark
    return starts[first.line] + first.column, starts[last.line] + last.column
