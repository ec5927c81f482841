"""What a compose.yaml says: its images and where they stand in the text, and its host ports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from margrave.yaml_text import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_VARIABLE: Final = re.compile(r"\$\$|\$\{([A-Za-z_]\w*)(?:(:?[-?+])([^{}]*))?\}|\$([A-Za-z_]\w*)")
_PORT: Final = re.compile(
    r"(?:(?P<ip>\[[0-9a-fA-F:]+\]|[0-9.]+):)?(?P<host>\d+(?:-\d+)?):\d+(?:-\d+)?(?:/(?P<protocol>\w+))?"
)
_NUMBERS: Final = re.compile("([0-9]{1,5})(?:-([0-9]{1,5}))?")
_PROTOCOLS: Final = ("tcp", "udp", "sctp")
_LAST_PORT: Final = 65535
_MOST_PORTS: Final = 4096  # a range wider than this is nobody's intent


@dataclass(frozen=True)
class ImageText:
    """An image reference, and the place of its text."""

    image: str
    line: int
    column: int
    end: int  # the column behind it


def images(text: str, file: str = "compose.yaml") -> list[str]:
    """Image references in the order of the text; raises DocumentError when it cannot be read."""
    return [one.image for one in image_texts(text, file)]


def image_texts(text: str, file: str = "compose.yaml") -> list[ImageText]:
    """Every service's image where it is written; one that anchors share is told once."""
    root = parse(text, file).root
    found: dict[tuple[int, int], ImageText] = {}
    for _, service in _pairs(_child(root, "services")):
        for node in _values(service, "image"):
            start, end = node.start_mark, node.end_mark
            if start.line == end.line and isinstance(node.value, str):
                place = (start.line, start.column)
                found[place] = ImageText(node.value, start.line, start.column, end.column)
    return [found[place] for place in sorted(found)]


def with_images(text: str, replaced: Mapping[str, str], file: str = "compose.yaml") -> str:
    """The same text, with the images that have a replacement replaced where they stand."""
    return put(text, image_texts(text, file), replaced)


def put(text: str, places: Iterable[ImageText], replaced: Mapping[str, str]) -> str:
    """The text with what has a replacement replaced at its place; places in the text's order."""
    lines = text.splitlines(keepends=True)
    for one in reversed(list(places)):
        if one.image in replaced:
            line = lines[one.line]
            lines[one.line] = line[: one.column] + replaced[one.image] + line[one.end :]
    return "".join(lines)


def host_ports(text: str, variables: Mapping[str, str], file: str = "compose.yaml") -> set[str]:
    """Ports of the node that it wants, as `8000/tcp`; those that stay unknown are left out."""
    value = parse(text, file).value
    services = value.get("services") if isinstance(value, dict) else None
    ranges: set[tuple[str, int, int]] = set()
    for service in (services or {}).values() if isinstance(services, dict) else ():
        ports = service.get("ports") if isinstance(service, dict) else None
        for port in ports if isinstance(ports, list) else ():
            ranges |= set(_host_range(port, variables))
    return set(_each_once(ranges))


def _each_once(ranges: Iterable[tuple[str, int, int]]) -> Iterator[str]:
    """Yield the ports of ranges that may overlap, none of them twice."""
    done: dict[str, int] = {}
    for protocol, low, high in sorted(ranges):
        for number in range(max(low, done.get(protocol, 0)), high + 1):
            yield f"{number}/{protocol}"
        done[protocol] = max(high + 1, done.get(protocol, 0))


def filled(text: str, variables: Mapping[str, str]) -> str:
    """The text with its variables put in as Compose does; unknown ones are empty."""

    def put(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        name, operator, other = found[1] or found[4], found[2] or "", found[3] or ""
        value = variables.get(name)
        there = bool(value) if operator.startswith(":") else value is not None
        if operator.endswith("-"):
            return value or "" if there else other
        if operator.endswith("+"):
            return other if there else ""
        return value or ""

    return _VARIABLE.sub(put, text)


def _host_range(port: Any, variables: Mapping[str, str]) -> Iterator[tuple[str, int, int]]:
    """Yield the protocol, the first and the last port of the node, if they are known."""
    if isinstance(port, dict):
        published = filled(str(port.get("published") or ""), variables)
        protocol = str(port.get("protocol") or "tcp")
    else:
        found = _PORT.fullmatch(filled(str(port), variables))
        published = found["host"] if found else ""
        protocol = (found["protocol"] if found else None) or "tcp"
    numbers = _NUMBERS.fullmatch(published)
    if numbers is not None and protocol in _PROTOCOLS:
        low = int(numbers[1])
        high = int(numbers[2] or low)
        yield protocol, low, min(high, low + _MOST_PORTS, _LAST_PORT)


def _pairs(node: Any) -> list[tuple[str, Any]]:
    """Keys and values of a mapping node; none of anything else."""
    if node is None or node.id != "mapping":
        return []
    return [(str(key.value), value) for key, value in node.value]


def _child(node: Any, name: str) -> Any:
    return next((value for key, value in _pairs(node) if key == name), None)


def _values(service: Any, name: str) -> Iterator[Any]:
    """The key's node in a service, or in what it merges with `<<`."""
    own = _child(service, name)
    if own is not None:
        yield own
        return
    merged = _child(service, "<<")
    if merged is None:
        return
    for part in merged.value if merged.id == "sequence" else [merged]:
        yield from _values(part, name)
