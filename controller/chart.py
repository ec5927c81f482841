"""What a chart's values.yaml says of its images: whole references, and where they stand.

An image that a template puts together of several values, or names itself, is known to nobody before
the chart is rendered; `margrave app lint` says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.compose import ImageText, put
from margrave.chart_files import VALUES, is_image
from margrave.errors import DocumentError
from margrave.yaml_text import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def images(text: str, values: Mapping[str, Any]) -> list[str]:
    """Image references in the order of the text; a parameter's value by path goes before it."""
    found = (values.get(path, one.image) for path, one in _image_texts(text).items())
    return list(dict.fromkeys(str(one) for one in found))


def with_images(text: str, replaced: Mapping[str, str]) -> str:
    """The same text, with the images that have a replacement replaced where they stand."""
    places = {(one.line, one.column): one for one in _image_texts(text).values()}
    return put(text, [places[place] for place in sorted(places)], replaced)


def _image_texts(text: str) -> dict[str, ImageText]:
    """Each image by the path of its value; none of a text that is not read here."""
    try:
        parsed = parse(text, VALUES)
    except DocumentError:
        return {}
    return dict(_of_node(parsed.root, "")) if isinstance(parsed.value, dict) else {}


def _of_node(node: Any, path: str) -> Iterator[tuple[str, ImageText]]:
    if node.id == "sequence":
        for number, one in enumerate(node.value):
            yield from _of_node(one, f"{path}[{number}]")
    for key, one in node.value if node.id == "mapping" else ():
        name = str(key.value).replace(".", r"\.")
        place = f"{path}.{name}" if path else name
        start, end = one.start_mark, one.end_mark
        # Quoted or over several lines is no matter of its own: the whole value stands on one line.
        if one.id == "scalar" and is_image(key.value, one.value) and start.line == end.line:
            yield place, ImageText(one.value, start.line, start.column, end.column)
        else:
            yield from _of_node(one, place)
