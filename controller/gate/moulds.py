"""Documents that differ only in their id and site are read once: a fleet's mostly do.

A document's mould is its text with both taken out. What is found out about a mould holds for every
document that has it, because nothing else in a document depends on the two.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from controller.gate.checking import place_of
from margrave.names import is_uuid

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

T = TypeVar("T")

SITE: Final = "a"
ID: Final = "00000000-0000-4000-8000-000000000000"
PATH: Final = f"deployments/{SITE}/{ID}.yaml"
# As the controller writes them, at the beginning. Other text is read by itself.
_BEGIN: Final = re.compile(rb"id: (\S+)\nmetadata:\n  deviceId: ([^/\s]+)/")
MOST: Final = 1024


def mould_of(path: str, data: bytes) -> bytes | None:
    """The text without id and site, or None where they do not stand as in the path."""
    place = place_of(path)
    if place is None or not is_uuid(place.deployment):
        return None
    found = _BEGIN.match(data)
    if found is None or found.groups() != (place.deployment.encode(), place.site.encode()):
        return None
    return _begin(SITE, ID) + data[found.end() :]


def cast(mould: bytes, path: str) -> bytes:
    """The document of this path that has the mould."""
    place, found = place_of(path), _BEGIN.match(mould)
    assert place is not None
    assert found is not None, "what the controller renders begins so"
    return _begin(place.site, place.deployment) + mould[found.end() :]


def _begin(site: str, deployment: str) -> bytes:
    return f"id: {deployment}\nmetadata:\n  deviceId: {site}/".encode()


class Known(Generic[T]):
    """What was found out about the newest moulds."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, find_out: Callable[[], T]) -> T:
        """The value of a key; what fails is not kept."""
        if key in self._found:
            self._found.move_to_end(key)
            return self._found[key]
        found = self._found[key] = find_out()
        if len(self._found) > self._most:
            self._found.popitem(last=False)
        return found
