"""What docs/lint.md and docs/editors.md show is so."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import click
import pytest
import yaml
from jsonschema import Draft202012Validator

from controller.api.schemas import schemas
from margrave.cli.commands.lint import FORMATS, lint
from margrave.cli.lint.formats import RULES
from margrave.documents.deployment import read_deployment

DOCS = Path(__file__).parents[3] / "docs"
LINT = (DOCS / "lint.md").read_text()
EDITORS = (DOCS / "editors.md").read_text()
MARGRAVE = DOCS.parent / "margrave"
SERVED = re.compile(r"/schemas/([a-z-]+)\.json")


def _block(text: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", text, re.S)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("rule", sorted(RULES))
def test_each_rule_has_its_line(rule: str) -> None:
    """The name of a rule leads from a report to the page."""
    assert f"| `{rule}` | {RULES[rule]} |" in LINT


@pytest.mark.parametrize("form", FORMATS)
def test_each_format_has_its_line(form: str) -> None:
    """And each option of the command is told."""
    assert f"| `--format {form}` |" in LINT


def test_each_option_is_told() -> None:
    """A flag that stands nowhere is used by nobody."""
    options = [one for one in lint.params if isinstance(one, click.Option)]
    assert all(any(f"`{word}" in LINT for word in one.opts) for one in options)


def _codes(path: Path) -> set[str]:
    """The codes that a module gives its findings: the fourth argument, or as_warning's only one."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            place = {"finding": 3, "Finding": 3, "wrong": 3, "as_warning": 0}.get(name)
            if place is not None and len(node.args) > place:
                code = node.args[place]
                found |= {code.value} if isinstance(code, ast.Constant) else set()
    return found


def test_each_code_has_a_rule() -> None:
    """What a reader or lint calls a finding is told on the page."""
    read = ("documents/_*", "documents/constraints", "documents/de*/*", "documents/generations/*")
    rooms = ("_yaml*", "linting/*", "cli/lint/*", *read)
    sources = [path for room in rooms for path in MARGRAVE.glob(f"{room}.py")]

    codes = set().union(*(_codes(path) for path in sources))

    assert {"surprise", "twice", "generation"} <= codes
    assert codes <= set(RULES)


def test_each_schema_that_is_named_is_served() -> None:
    """An address that an editor cannot fetch is worse than none."""
    named = set(SERVED.findall(EDITORS))

    assert named >= {"application-deployment", "application-description", "site"}
    assert named <= set(schemas())


def test_the_example_is_good() -> None:
    """The document on the page satisfies the schema that its first line names, and the reader."""
    text = _block(EDITORS, "yaml")
    named = SERVED.search(text.splitlines()[0])
    assert named is not None
    assert text.startswith("# yaml-language-server: $schema=")
    schema = Draft202012Validator(schemas()[named[1]])

    assert list(schema.iter_errors(yaml.safe_load(text))) == []
    assert read_deployment(text).name == "storefront"
    assert not schema.is_valid(yaml.safe_load(text.replace("batch: canary", "batch: most")))
    assert not schema.is_valid(yaml.safe_load(text.replace("timeout: 1m0s", "timeout: 5m")))


def test_the_settings_are_json() -> None:
    """They are there to be copied."""
    assert json.loads(_block(EDITORS, "json"))["yaml.schemas"]
