"""The collection as somebody gets it: built, installed elsewhere, documented."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.served import ROOT

EDGE = ROOT / "collections/ansible_collections/margrave/edge"
BIN = Path(sys.executable).parent


def _run(*words: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        words,
        cwd=cwd,
        env={
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": str(cwd),
            "LC_ALL": "C.UTF-8",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive."""
    folder = tmp_path_factory.mktemp("built")
    _run("ansible-galaxy", "collection", "build", EDGE, "--output-path", folder, cwd=folder)
    (found,) = folder.glob("margrave-edge-*.tar.gz")
    return found


@pytest.fixture(scope="module")
def installed(built: Path) -> Path:
    """Where it was installed from the archive, as the only collection there is."""
    place = built.parent / "collections"
    _run(
        "ansible-galaxy", "collection", "install", "--offline", built, "-p", place, cwd=built.parent
    )
    return place


def _plugins() -> dict[str, list[str]]:
    found = {}
    for kind in ("callback", "filter", "inventory", "modules"):
        folder = EDGE / "plugins" / kind
        names = {one.stem for one in folder.iterdir() if one.suffix in (".py", ".yml")}
        # One file holds all filters; each has a description of its own beside it.
        found[kind.removesuffix("s")] = sorted(names - {"edge", "__pycache__"})
    return found


def test_all_of_it_is_documented(installed: Path) -> None:
    """`ansible-doc` shows every module, plugin and filter of the installed collection."""
    for kind, names in _plugins().items():
        whole = [f"margrave.edge.{name}" for name in names]
        settings = {"ANSIBLE_COLLECTIONS_PATH": str(installed)}
        text = _run("ansible-doc", "--json", "-t", kind, *whole, cwd=installed, **settings)
        told: dict[str, Any] = json.loads(text)
        assert sorted(told) == whole
        for name, one in told.items():
            assert one["doc"]["short_description"], name
            assert one["examples"], name


def test_the_archive_holds_what_is_of_use(built: Path) -> None:
    """Licence, README, changelog and definitions are in it; nothing that was left lying is."""
    with tarfile.open(built) as archive:
        names = set(archive.getnames())

    assert {"LICENSE", "README.md", "CHANGELOG.md", "meta/runtime.yml", "bindep.txt"} <= names
    assert "extensions/execution_environment/execution-environment.yml" in names
    left = [one for one in names if "__pycache__" in one or one.endswith((".pyc", ".swp"))]
    assert left == []


def test_the_action_groups_name_modules_that_are_there() -> None:
    """`module_defaults` of a group reaches each of them."""
    groups = yaml.safe_load((EDGE / "meta/runtime.yml").read_text())["action_groups"]
    named = {one.removeprefix("margrave.edge.") for names in groups.values() for one in names}

    assert named == {name for name in _plugins()["module"] if not name.endswith("_info")}


@pytest.mark.full
def test_an_execution_environment_can_be_made_of_it(built: Path, tmp_path: Path) -> None:
    """`ansible-builder create` takes the definition and what the collection asks of the system."""
    here = tmp_path / "environment"
    shutil.copytree(EDGE / "extensions/execution_environment", here)
    shutil.copy(built, here)

    _run("ansible-builder", "create", "--output-filename", "Containerfile", cwd=here)

    made = (here / "context/Containerfile").read_text()
    assert "ansible-galaxy collection install" in made
    assert (here / "context/_build/collections" / built.name).is_file()


@pytest.mark.full
def test_changes_are_written_as_fragments(tmp_path: Path) -> None:
    """The next release's changelog is made of them."""
    copy = tmp_path / "ansible_collections/margrave/edge"
    shutil.copytree(EDGE, copy, ignore=shutil.ignore_patterns("__pycache__"))

    _run("antsibull-changelog", "lint", cwd=copy)
    _run("antsibull-changelog", "release", "--reload-plugins", cwd=copy)

    text = (copy / "CHANGELOG.md").read_text().replace("\\", "")
    assert "v0.1.0" in text
    assert [name for name in _plugins()["module"] if f"margrave.edge.{name}" not in text] == []
