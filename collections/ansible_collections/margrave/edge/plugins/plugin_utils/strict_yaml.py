# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""YAML of packages, read so strictly that Compose cannot read anything else in it."""

from __future__ import annotations

from typing import Any

import yaml
from ansible_collections.margrave.edge.plugins.plugin_utils._compose_paths import Unreadable

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# A Compose file holds some hundred values; an alias counts as all that it stands for.
COUNT_LIMIT = 10_000
DEPTH_LIMIT = 64
SIZE_LIMIT = 512 * 1024
PLAIN_TAGS = tuple(
    f"tag:yaml.org,2002:{kind}" for kind in ("bool", "float", "int", "map", "null", "seq", "str")
)


def read(data: bytes) -> Any:
    """Return the value of the one document, or raise Unreadable."""
    if len(data) > SIZE_LIMIT:
        raise Unreadable(f"is larger than {SIZE_LIMIT} bytes")
    try:
        text = data.decode("utf-8-sig")
        scan = _Scan()
        for event in yaml.parse(text, Loader=LOADER):
            scan.take(event)
        value = yaml.load(text, Loader=LOADER)  # noqa: S506 - it is a safe loader
    except Unreadable:
        raise
    except UnicodeDecodeError as error:
        raise Unreadable("is not UTF-8 text") from error
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable(f"is not YAML: {str(error).splitlines()[0]}") from error
    _refuse_other_keys(value)
    return value


class _Scan:
    """Limits of a document, measured before anything is built."""

    def __init__(self) -> None:
        self._documents = 0
        self._count = 0
        self._open: list[tuple[str | None, int]] = []
        self._sizes: dict[str, int] = {}

    def take(self, event: Any) -> None:
        """Count one event, or raise Unreadable."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise Unreadable("holds a second document")
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._sizes:
                raise Unreadable(f"*{event.anchor} stands for nothing yet")
            self._add(self._sizes[event.anchor])
        elif isinstance(event, yaml.NodeEvent):
            self._node(event)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            anchor, before = self._open.pop()
            if anchor:
                self._sizes[anchor] = self._count - before

    def _node(self, event: Any) -> None:
        if event.tag and event.tag != "!" and event.tag not in PLAIN_TAGS:
            raise Unreadable(f"has the tag {event.tag}")
        self._add(1)
        if isinstance(event, yaml.ScalarEvent):
            if event.anchor:
                self._sizes[event.anchor] = 1
            return
        if len(self._open) >= DEPTH_LIMIT:
            raise Unreadable(f"is nested deeper than {DEPTH_LIMIT} levels")
        self._open.append((event.anchor, self._count - 1))

    def _add(self, count: int) -> None:
        self._count += count
        if self._count > COUNT_LIMIT:
            raise Unreadable(f"holds more than {COUNT_LIMIT} keys and values")


def _refuse_other_keys(value: Any) -> None:
    """Refuse keys that are not text: others read other keys in them."""
    if isinstance(value, dict):
        for key, part in value.items():
            if not isinstance(key, str):
                raise Unreadable(f"has the key {key}, which is not text")
            _refuse_other_keys(part)
    elif isinstance(value, list):
        for part in value:
            _refuse_other_keys(part)
