"""What the documents show as files are files that work."""

from __future__ import annotations

import re
import textwrap
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from controller.settings import ControllerSettings
from margrave.cli.lint import check
from runner.settings import RunnerSettings

DOCS = Path(__file__).parents[3] / "docs"


def _blocks(kind: str) -> list[tuple[str, str]]:
    pattern = re.compile(rf"^( *)```{kind}\n(.*?)^ *```", re.M | re.S)
    return [
        (page.name, textwrap.dedent(block))
        for page in sorted(DOCS.rglob("*.md"))
        for _, block in pattern.findall(page.read_text())
    ]


@pytest.mark.parametrize(("page", "block"), _blocks("toml"))
def test_a_configuration_in_the_docs_has_only_keys_that_are_known(page: str, block: str) -> None:
    """Of the controller's file or of the runner's; an unknown key would stop the start."""
    value = tomllib.loads(block)

    assert any(not _unknown(value, kind) for kind in (ControllerSettings, RunnerSettings)), page


def _unknown(value: dict[str, Any], section: type[BaseModel]) -> list[str]:
    found: list[str] = []
    for name, one in value.items():
        field = section.model_fields.get(name) or section.model_fields.get(name[: -len("_file")])
        if field is None:
            found.append(name)
            continue
        inner = _section_in(field.annotation)
        if inner is not None:
            for each in one if isinstance(one, list) else [one]:
                found += _unknown(each, inner)
    return found


def _section_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := _section_in(one))), None)


def test_the_application_in_the_docs_has_no_finding(tmp_path: Path) -> None:
    """Whoever copies it has a package that the catalogue takes."""
    description, compose = (block for page, block in _blocks("yaml") if page == "application.md")
    package = tmp_path / "thermo/1.0.0"
    (package / "compose").mkdir(parents=True)
    (package / "margo.yaml").write_text(description)
    (package / "compose/compose.yaml").write_text(compose)

    assert check(tmp_path) == []


def test_the_chart_in_the_docs_has_no_finding(tmp_path: Path) -> None:
    """Its description fits a package with a chart and a Compose file."""
    [description] = (block for page, block in _blocks("yaml") if page == "chart.md")
    package = tmp_path / "thermo/1.0.0"
    for name, text in {
        "margo.yaml": description,
        "chart/Chart.yaml": "apiVersion: v2\nname: thermo\nversion: 1.0.0\n",
        "chart/values.yaml": "measuring: {interval: 10}\n",
        "compose/compose.yaml": "services: {thermo: {image: 'r/t:1', command: '${INTERVAL}'}}\n",
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)

    assert check(tmp_path) == []
