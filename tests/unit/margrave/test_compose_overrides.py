"""Compose files that Compose would read by itself are reported where they have no effect."""

from __future__ import annotations

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _compose_files

from margrave import compose_overrides


@pytest.mark.parametrize(
    "name", [*compose_overrides.OVERRIDE_FILES, *compose_overrides.OTHER_NAMES]
)
def test_a_file_counts_unless_compose_yaml_names_it(name: str) -> None:
    """A name that only looks alike does not count as named."""
    files = {"compose.yaml": b"services: {}", name: b""}
    included = {**files, "compose.yaml": f"include: [{name}]".encode()}
    alike = {**files, "compose.yaml": f"include: [other-{name}]".encode()}

    assert compose_overrides.ignored(included) == []
    for each in (files, alike):
        [(finding, cure)] = compose_overrides.ignored(each)
        assert finding.startswith(f"{name} is not applied")
        assert "compose.yaml" in cure


def test_lint_and_the_node_know_the_same_names() -> None:
    """A component that passes lint is not refused on a node for its files."""
    assert compose_overrides.OVERRIDE_FILES == _compose_files.OVERRIDE_FILES
    assert compose_overrides.OTHER_NAMES == _compose_files.OTHER_NAMES
