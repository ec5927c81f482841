"""By hand a package is refused for the same paths as by the controller and the runner."""

from __future__ import annotations

import pytest
from ansible_collections.margrave.edge.plugins.plugin_utils.strays import strays

from margrave import compose_files

FILES = {"a.yaml": b"services: {}", "own.env": b"A=1", "more/b.yaml": b"include: [../../x]"}


def _place(finding: str) -> str:
    """Return a finding without the reason why a file cannot be read."""
    return finding.partition("cannot be read: ")[0]


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("services: {a: {env_file: own.env}}", 0),
        ("services: {a: {env_file: /etc/shadow}}", 1),
        ("services: {a: {env_file: [{path: ../x, required: false}, own.env]}}", 1),
        ("services: {a: {env_file: './a/../../x'}}", 1),
        ("services: {a: {env_file: '${WHERE}'}}", 1),
        ("services: {a: {label_file: ~/x}}", 1),
        ("services: {a: {extends: {file: /x.yaml}}}", 1),
        ("include: [oci://registry.example/x, a.yaml]", 1),
        ("include: [{path: a.yaml, project_directory: /, env_file: /x}]", 2),
        ("include: [more/b.yaml, compose.yaml]", 10),
        ("include: [{path: [a.yaml, more/b.yaml]}]", 1),
        ("x: &x {env_file: /x}\nservices: {a: {<<: *x}}", 1),
        ("services: [", 1),
        ("[]", 1),
        ("", 1),
        ("services: {}\n---\nservices: {a: {env_file: /etc/shadow}}", 1),
        ("services: {a: {env_file: !override [/etc/shadow]}}", 1),
        ("services: {a: {env_file: /etc/shadow}, 1: {}}\n? [a]\n: b", 1),
        ("x: [" + "0," * 20_000 + "]\nservices: {a: {env_file: /etc/shadow}}", 1),
        ("x: " + "[" * 200 + "]" * 200 + "\nservices: {a: {env_file: /etc/shadow}}", 1),
        ("a: &a [0,0]\nb: &b [*a,*a]\n*c : x", 1),
        ("a: &a [*a]", 1),
    ],
)
def test_one_rule_on_both_sides(text: str, findings: int) -> None:
    """By hand a package is refused for the same paths; only why YAML is unreadable may differ."""
    files = {**FILES, "compose.yaml": text.encode()}

    found = strays(files)

    ours = [f"{stray.where}: {stray.words}" for stray in compose_files.strays(files)]
    assert [_place(finding) for finding in found] == [_place(finding) for finding in ours]
    assert len(found) == findings
