"""Margo's generations: which one a document is of, and what brings it to 1.0.0-rc.3.

`mend` makes the changes that need no decision and tells each; what needs one stays as it is, for
the reader to refuse. An rc.3 document comes back as it went in, without notes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from margrave.documents._reading import TOLD
from margrave.documents.generations import (
    _capabilities,
    _deployment,
    _description,
    _manifest,
    _status,
)
from margrave.documents.generations._draft import Draft, Note
from margrave.documents.generations._kinds import Generation, Kind, kind_of
from margrave.findings import Finding, pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from margrave.yaml_text import Parsed

__all__ = ["Generation", "Kind", "Note", "generation_of", "kind_of", "mend", "told"]

_CHANGES: Final[Mapping[Kind, Callable[[Draft], Generation]]] = {
    Kind.DESCRIPTION: _description.change,
    Kind.DEPLOYMENT: _deployment.change,
    Kind.MANIFEST: _manifest.change,
    Kind.CAPABILITIES: _capabilities.change,
    Kind.STATUS: _status.change,
}


# str.isdigit accepts digits that int refuses, and int refuses numbers of thousands of digits.
_INDEX: Final = re.compile(r"[0-9]{1,9}")


def generation_of(value: Any, kind: Kind | None = None) -> Generation:
    """The generation that the document's shape is of; rc.3 when nothing says otherwise."""
    return _drafted(value, kind)[1]


def mend(value: Any, kind: Kind | None = None) -> tuple[Any, tuple[Note, ...]]:
    """The document in rc.3's shape as far as that is mechanical, with a note for each change."""
    draft, _ = _drafted(value, kind)
    return (draft.value if draft.notes else value), tuple(draft.notes)


def told(kind: Kind, parsed: Parsed, again: Callable[[Parsed], list[Finding]]) -> list[Finding]:
    """What to tell of an older document: its generation, each change, and what then remains.

    Empty for an rc.3 document. `again` checks a value under rc.3.
    """
    draft, generation = _drafted(parsed.value, kind)
    if generation is Generation.RC3:
        return []
    found = [_head(parsed, kind, generation, draft)]
    found += [
        parsed.finding(one.path, one.message, one.cure, "generation")
        for one in (*draft.notes[:TOLD], *draft.left[:TOLD])
    ]
    left = [pointer(one.path) + "/" for one in draft.left]
    mended = replace(parsed, value=draft.value)
    remaining = (
        one
        for one in again(mended)
        if not any(known.startswith(one.pointer + "/") for known in left if one.pointer)
    )
    return found + [one.at(parsed.file, *_old_place(parsed, draft, one)) for one in remaining]


def _drafted(value: Any, kind: Kind | None) -> tuple[Draft, Generation]:
    draft = Draft(value)
    known = kind or kind_of(value)
    if known is None or known not in _CHANGES or not isinstance(value, dict):
        return draft, Generation.RC3
    generation = _CHANGES[known](draft)
    return draft, generation if draft.notes or draft.left else Generation.RC3


def _head(parsed: Parsed, kind: Kind, generation: Generation, draft: Draft) -> Finding:
    words = f"is {kind.with_article} of Margo's {generation}; what is read here is {Generation.RC3}"
    cure = "`margrave lint --fix` makes the changes that need no decision"
    return parsed.finding((), words, cure if draft.notes else "", "generation")


def _old_place(parsed: Parsed, draft: Draft, found: Finding) -> tuple[int, int]:
    """Where a part that was moved stands in the text as it was written."""
    path = tuple(
        int(part) if _INDEX.fullmatch(part) else part.replace("~1", "/").replace("~0", "~")
        for part in found.pointer.split("/")[1:]
    )
    return parsed.place(draft.origin(path))
