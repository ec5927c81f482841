"""By hand a package is refused for the same paths as by the controller and the runner."""

from __future__ import annotations

import pytest
from ansible_collections.margrave.edge.plugins.plugin_utils.strays import strays

from margrave import compose_files

FILES = {"a.yaml": b"services: {}", "own.env": b"A=1", "more/b.yaml": b"include: [../../x]"}


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
        ("x: &x {env_file: /x}\nservices: {a: {<<: *x}}", 1),
        ("services: [", 0),
        ("[]", 0),
    ],
)
def test_one_rule_on_both_sides(text: str, findings: int) -> None:
    """The collection stands alone and so has the rules once more: they find the same."""
    files = {**FILES, "compose.yaml": text.encode()}

    found = strays(files)

    assert found == [str(one) for one in compose_files.strays(files)]
    assert len(found) == findings
