"""Files and variables that Compose does not use are reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _compose_files
from ansible_collections.margrave.edge.plugins.module_utils._compose import (
    env_file,
    read_env_file,
)
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

SERVICES = "services: {web: {image: web}}\n"
VALUE = 'x\nB="y"\r\nC=\\z $HOME \\\\'


@pytest.fixture
def component(tmp_path: Path) -> Path:
    """A component's folder with a compose.yaml."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "compose.yaml").write_text(SERVICES)
    return folder


@pytest.mark.parametrize("name", _compose_files.OVERRIDE_FILES)
def test_an_override_file_is_refused(component: Path, name: str) -> None:
    """It would change what runs if Compose was called by hand, and is not applied here."""
    _compose_files.refuse_overrides(str(component))
    (component / name).write_text(SERVICES)

    with pytest.raises(ConfigError, match=f"components.shop: {name} is not applied") as refused:
        _compose_files.refuse_overrides(str(component))

    assert refused.value.code == "override-file"
    assert "merge it into compose.yaml" in refused.value.cure


def test_an_override_file_that_is_included_is_read(component: Path) -> None:
    """Its name does not matter when compose.yaml itself asks for it."""
    (component / "compose.override.yaml").write_text(SERVICES)
    (component / "compose.yaml").write_text("include: [compose.override.yaml]\n" + SERVICES)

    _compose_files.refuse_overrides(str(component))


def test_a_second_compose_file_is_reported(component: Path) -> None:
    """Of Compose's default names only one counts."""
    (component / "docker-compose.yml").write_text(SERVICES)

    assert _compose_files.other_compose_files(str(component)) == [
        "components.shop: docker-compose.yml is not read: compose.yaml is"
    ]


def test_variables_that_nothing_sets_are_listed(component: Path) -> None:
    """Compose reports each use; the warning names each variable once."""
    line = 'time="2026-01-01" level=warning msg="The \\"%s\\" variable is not set. Defaulting…"\n'
    messages = "".join(line % name for name in ("TAG", "PORT", "TAG"))

    (warning,) = _compose_files.undefined_variables(str(component), messages)

    assert warning.startswith("components.shop: compose.yaml uses variables that are not set")
    assert ": PORT, TAG (" in warning
    assert _compose_files.undefined_variables(str(component), "") == []


@pytest.mark.parametrize(
    ("files", "unused"),
    [
        ({}, "TAG"),
        ({"compose.yaml": "services: {web: {image: 'web:${TAG:-1}'}}"}, ""),
        ({"compose.yaml": "services: {web: {environment: [TAG]}}"}, ""),
        ({"compose.yaml": "services: {web: {environment: [TAGS]}}"}, "TAG"),
        ({"README.md": "set TAG"}, "TAG"),
        ({".env": "IMAGE=web:${TAG}"}, ""),
        ({"compose.yaml": "include: [sub/more.yaml]", "sub/more.yaml": "x: $TAG"}, ""),
        ({"compose.yaml": "x: {env_file: web.conf}", "web.conf": "A=$TAG"}, ""),
        ({"compose.yaml": "include: [a.yaml]", "a.yaml": "include: [b]", "b": "$TAG"}, ""),
    ],
    ids=[
        "nowhere",
        "interpolated",
        "passed through",
        "another name",
        "only in a text for people",
        "in .env",
        "in an included file",
        "in an env_file",
        "two files away",
    ],
)
def test_variables_that_nothing_uses_are_listed(
    component: Path, files: dict[str, str], unused: str
) -> None:
    """A variable counts as used when a file that Compose reads has its name."""
    for name, text in files.items():
        (component / name).parent.mkdir(exist_ok=True)
        (component / name).write_text(text)

    found = _compose_files.unused_variables(str(component), ["TAG"])

    assert [one.split("does not use: ")[1].split(" (")[0] for one in found] == unused.split()


def test_names_of_variables_are_read_back(tmp_path: Path) -> None:
    """Values may hold anything, also lines that look like variables."""
    path = tmp_path / "shop.env"
    path.write_bytes(env_file({"A": VALUE, "_D9": ""}))

    assert read_env_file(str(path)) == {"A": VALUE, "_D9": ""}
