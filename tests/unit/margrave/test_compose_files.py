"""A package's Compose files read the package's own files, and no others."""

from __future__ import annotations

import pytest

from margrave.compose_files import strays

FINE = b"""
include: [more/part.yaml, {path: [more/part.yaml], env_file: web.env}]
services:
  web:
    image: web
    env_file: [web.env, {path: ./web.env}, {path: absent.env, required: false}]
    extends: {file: more/part.yaml, service: base}
  other:
    extends: web
"""
PART = b"services: {base: {image: base, env_file: ../web.env}}\n"


def test_files_of_the_component_are_fine() -> None:
    """Every way of naming a file of the component passes, from a file below it too."""
    assert strays({"compose.yaml": FINE, "web.env": b"", "more/part.yaml": PART}) == []


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("services: {a: {env_file: /etc/shadow}}", "services.a.env_file", "leads out"),
        ("services: {a: {env_file: [{path: ../x}]}}", "services.a.env_file", "leads out"),
        ("services: {a: {env_file: [{path: ../x, required: false}]}}", "env_file", "leads out"),
        ("services: {a: {env_file: './a/../../x'}}", "services.a.env_file", "leads out"),
        ("services: {a: {env_file: '${WHERE}'}}", "services.a.env_file", "not known before"),
        ("services: {a: {label_file: ~/x}}", "services.a.label_file", "leads out"),
        ("services: {a: {extends: {file: /x.yaml}}}", "services.a.extends.file", "leads out"),
        ("include: [oci://registry.example/x]", "include", "leads out"),
        ("include: [github.com/a/b.git]", "include", "is not in the component"),
        ("include: [{path: a.yaml, project_directory: /}]", "project_directory", "leads out"),
        ("include: [{path: a.yaml, env_file: /x}]", "include.env_file", "leads out"),
        ("x: &x {env_file: /x}\nservices: {a: {<<: *x}}", "services.a.env_file", "leads out"),
        ("x: &x {services: {a: {env_file: /x}}}\n<<: [*x]", "services.a.env_file", "leads out"),
        ('services: {a: {"env\\u005ffile": /x}}', "services.a.env_file", "leads out"),
    ],
)
def test_what_leads_out_is_found(text: str, where: str, words: str) -> None:
    """However it is written: the place, the path and the cure are told."""
    found = strays({"compose.yaml": text.encode(), "a.yaml": b"services: {}"})

    assert len(found) == 1
    assert where in found[0].where
    assert words in found[0].words
    assert found[0].cure


def test_what_is_included_is_looked_at_too() -> None:
    """A file that the first one names must not lead out either, nor name itself for ever."""
    part = b"include: [more/part.yaml]\nservices: {b: {env_file: ../../x}}"
    whole = b"include: [more/part.yaml]"

    out = strays({"compose.yaml": whole, "more/part.yaml": part})
    endless = strays({"compose.yaml": b"include: [compose.yaml]"})

    assert {stray.where for stray in out} == {
        "more/part.yaml: include",
        "more/part.yaml: services.b.env_file",
    }
    assert [one.words for one in endless] == ["is included too deeply"]


UNREADABLE = {
    "a second document": b"services: {}\n---\nservices: {a: {env_file: /etc/shadow}}",
    "a tag that resets": b"services: {a: {env_file: !override [/etc/shadow]}}",
    "a key that is no text": b"? [a]\n: b\nservices: {a: {env_file: /etc/shadow}}",
    "very many values": b"x: [" + b"0," * 20_000 + b"]\nservices: {a: {env_file: /etc/shadow}}",
    "many by aliases": b"a: &a [0,0,0,0,0,0,0,0,0]\n"
    + b"".join(
        f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n".encode()
        for old, new in zip("abcdef", "bcdefg", strict=True)
    )
    + b"services: {a: {env_file: /etc/shadow}}",
    "deep nesting": b"x: " + b"[" * 200 + b"]" * 200 + b"\nservices: {a: {env_file: /etc/shadow}}",
    "no YAML": b"services: [",
    "no UTF-8": "services: {a: {env_file: /etc/shadow}}".encode("utf-16"),
    "a list": b"[]",
    "nothing": b"",
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_a_finding(text: bytes) -> None:
    """A file that Compose might read otherwise than we do is refused, here and when included."""
    own = strays({"compose.yaml": text})
    included = strays({"compose.yaml": b"include: [more/a.yaml]", "more/a.yaml": text})

    assert [stray.where for stray in own] == ["compose.yaml"]
    assert [stray.where for stray in included] == ["more/a.yaml"]
    assert "cannot be read" in own[0].words


def test_paths_of_files_that_are_included_together_begin_at_the_first() -> None:
    """A file in a deep folder does not lead further up than Compose lets it."""
    found = strays(
        {
            "compose.yaml": b"include: [{path: [a.yaml, deep/er/b.yaml]}]",
            "a.yaml": b"services: {}",
            "deep/er/b.yaml": b"services: {b: {env_file: ../own.env}}",
            "deep/own.env": b"",
        }
    )

    assert [stray.where for stray in found] == ["deep/er/b.yaml: services.b.env_file"]


def test_files_that_include_each_other_without_end_are_refused() -> None:
    """Ten files that all include each other are not read ten to the power of eight times."""
    names = [f"{number}.yaml" for number in range(10)]
    files = dict.fromkeys([*names, "compose.yaml"], f"include: [{', '.join(names)}]".encode())

    assert any("one file too many" in stray.words for stray in strays(files))
