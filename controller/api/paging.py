"""Lists a page at a time: `limit`, and an opaque `cursor` that holds the last row's key."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from controller.api.problems import invalid
from margrave.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Named = tuple[tuple[str], dict[str, Any]]  # a row that is keyed by a name

K = TypeVar("K", int, str)

DEFAULT: Final = 40  # of deployments: below 30 KB
MOST: Final = 200
_FOREIGN: Final = Finding("/cursor", "not a cursor of this list", "pass `next` of the page before")
KEY_LIMIT: Final = 1024  # a cursor is ours: what is longer was made by somebody else


@dataclass(frozen=True, slots=True)
class Page:
    """How many rows are wanted, and the key they come after (none: from the beginning)."""

    limit: int = DEFAULT
    after: tuple[str | int, ...] | None = None

    @property
    def fetch(self) -> int:
        """One row more than shown tells whether there is a next page."""
        return self.limit + 1


def read(args: Mapping[str, str], width: int = 1) -> Page:
    """The page that the query asks for; 422 for a bad limit or cursor. `width`: parts of a key."""
    findings = []
    limit, after = DEFAULT, None
    if "limit" in args:
        text = args["limit"]
        if text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= MOST:
            limit = int(text)
        else:
            findings.append(
                Finding("/limit", f'"{text[:20]}" is no limit', f"a number from 1 to {MOST}")
            )
    if args.get("cursor"):
        after = _unpack(args["cursor"], width)
        if after is None:
            findings.append(_FOREIGN)
    if findings:
        raise invalid(findings)
    return Page(limit, after)


def cursor(key: Sequence[str | int]) -> str:
    """The key as text that nobody is tempted to read."""
    text = json.dumps(list(key), separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def listing(
    page: Page, rows: Sequence[tuple[tuple[str | int, ...], dict[str, Any]]]
) -> dict[str, Any]:
    """`{items, next}` of (key, item) rows, of which `page.fetch` were asked for."""
    shown = rows[: page.limit]
    more = len(rows) > page.limit
    return {"items": [item for _, item in shown], "next": cursor(shown[-1][0]) if more else None}


def within_reach(
    page: Page,
    fetch: Callable[[str | None, int], Sequence[Named]],
    reaches: Callable[[dict[str, Any]], bool],
) -> list[Named]:
    """Return rows for a page, without those out of reach; `fetch` reads rows behind a key."""
    found: list[Named] = []
    after = text(page)
    while len(found) < page.fetch:
        rows = fetch(after, page.fetch)
        found += [row for row in rows if reaches(row[1])]
        if len(rows) < page.fetch:
            break
        after = rows[-1][0][0]
    return found[: page.fetch]


def number(page: Page) -> int | None:
    """The key of a list keyed by a number."""
    return _only(page, int)


def text(page: Page) -> str | None:
    """The key of a list keyed by a name."""
    return _only(page, str)


def _only(page: Page, kind: type[K]) -> K | None:
    if page.after is None:
        return None
    key = page.after[0]
    if not isinstance(key, kind):
        raise invalid([_FOREIGN])
    return key


def _unpack(text: str, width: int) -> tuple[str | int, ...] | None:
    if len(text) > KEY_LIMIT or not text.isascii():
        return None
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        key = json.loads(raw)
    except (binascii.Error, ValueError, RecursionError):
        return None
    if not isinstance(key, list) or len(key) != width:
        return None
    if not all(isinstance(part, str | int) and not isinstance(part, bool) for part in key):
        return None
    return tuple(key)
