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
    assert where in str(found[0])
    assert words in str(found[0])
    assert found[0].cure


def test_what_is_included_is_looked_at_too() -> None:
    """A file that the first one names must not lead out either, nor name itself for ever."""
    part = b"include: [more/part.yaml]\nservices: {b: {env_file: ../../x}}"
    whole = b"include: [more/part.yaml]"

    out = strays({"compose.yaml": whole, "more/part.yaml": part})
    endless = strays({"compose.yaml": b"include: [compose.yaml]"})

    assert {str(one).split('"')[0] for one in out} == {
        "more/part.yaml: include: ",
        "more/part.yaml: services.b.env_file: ",
    }
    assert [one.words for one in endless] == ["is included too deeply"]
