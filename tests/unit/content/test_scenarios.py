"""What scenarios are made of: none leaves out a step that shows something."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.scenario import ROOT, SCENARIOS

ALL = {"create", "converge", "idempotence", "check", "verify", "destroy"}


def _read(name: str) -> tuple[str, dict[str, Any]]:
    text = (ROOT / "molecule" / name / "molecule.yml").read_text()
    found: dict[str, Any] = yaml.safe_load(text)
    return text, found


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_goes_all_the_way(name: str) -> None:
    """Made, brought about twice, checked, proven, removed; and it says its command."""
    text, scenario = _read(name)
    option = "" if name == "default" else f" -s {name}"

    assert set(scenario["scenario"]["test_sequence"]) >= ALL
    assert f"#   PATH=.venv/bin:$PATH molecule test{option}\n" in text


def test_each_role_has_one() -> None:
    """Of its own name."""
    assert {one.parent.name for one in ROOT.glob("roles/*/tasks")} <= set(SCENARIOS)


def test_each_stands_in_the_documentation() -> None:
    """With what it shows."""
    text = (ROOT / "docs/roles.md").read_text()

    assert [name for name in SCENARIOS if f"| `{name}` |" not in text] == []
