"""Images of a chart's values: found at their paths, replaced where they stand."""

from __future__ import annotations

from controller import chart

TEXT = """\
# what runs
image: "registry.example:5000/web:1.0.0"   # the web
base: &base
  image: registry.example/side:2
sides:
  - *base
  - image: registry.example/side:2
db: {image: {repository: registry.example/db, tag: "16"}}
bare:
  image: registry.example/none
a.b:
  image: registry.example/dotted:1
"""
WEB, SIDE, DOTTED = (
    "registry.example:5000/web:1.0.0",
    "registry.example/side:2",
    "registry.example/dotted:1",
)


def test_whole_references_are_found() -> None:
    """Repository and tag apart, or a reference without a tag, are not: templates make of them."""
    assert chart.images(TEXT, {}) == [WEB, SIDE, DOTTED]


def test_a_parameter_goes_before_the_text() -> None:
    """By the path that it sets, a key's own dot with its backslash."""
    given = {"image": "registry.example/other:9", r"a\.b.image": "registry.example/another:1"}
    assert chart.images(TEXT, given) == [given["image"], SIDE, given[r"a\.b.image"]]


def test_only_the_images_change() -> None:
    """Comments, anchors and all else stay as they were; quotes go, as nothing needs them."""
    pinned = {one: f"{one}@sha256:{'0' * 64}" for one in (WEB, SIDE)}

    changed = chart.with_images(TEXT, pinned)

    assert chart.with_images(TEXT, {}) == TEXT
    assert changed == TEXT.replace(f'"{WEB}"', pinned[WEB]).replace(SIDE, pinned[SIDE])


def test_what_is_not_read_has_none() -> None:
    """Helm may take it; lint tells that its images are not pinned."""
    for text in ("a: 1\na: 2\nimage: b:1\n", "- image: b:1\n", "", "\t"):
        assert chart.images(text, {}) == []
        assert chart.with_images(text, {"b:1": "c"}) == text
