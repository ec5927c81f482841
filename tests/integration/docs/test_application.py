"""`docs/howto/application.md`: the page's own application, checked, read and deployed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.integration.docs import box
from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page, tree_paths
from tests.integration.docs.reader import start_of_site

if TYPE_CHECKING:
    from pathlib import Path

    from lab import Lab
    from tests.integration.docs.reader import Reader

pytestmark = [pytest.mark.lab, pytest.mark.full]

PAGE = Page("application")
DESCRIPTION, COMPOSE = PAGE.texts("yaml")
LINT, LINT_IN_CI = PAGE.block("$ margrave app lint").lines
ADD, SYNC, SHOW, PLAN, DEPLOY = PAGE.block("$ margrave source add").lines


@pytest.fixture(scope="module")
def package(reader: Reader) -> Path:
    """Return the package of the page; a controller and a site's runner serve, with one node."""
    reader.follow(start_of_site())
    add = "margrave node add --site harbor --yes --identity ~/.ssh/id_ed25519 press-1 192.0.2.17"
    reader.type(add)
    # The page's image is the reader's own; here the storefront's stands for it.
    reader.words |= {
        "registry.example/thermo:1.0.0": "registry.margrave.lab:5000/storefront-web:1.0.0",
        "https://git.example/apps.git": str(reader.folder / "apps"),
    }
    package = reader.folder / "apps/thermo/1.0.0"
    reader.write(package / "margo.yaml", DESCRIPTION)
    reader.write(package / "compose/compose.yaml", COMPOSE)
    return package


def test_an_application(reader: Reader, package: Path, lab: Lab) -> None:
    """Lint has no finding, the catalogue takes it, and it runs with the value that was set."""
    [tree] = PAGE.texts("")
    files = [path for path in tree_paths(tree) if (reader.folder / path).exists()]
    assert files == list(tree_paths(tree))
    reader.executed.add(tree)
    for line in (LINT, LINT_IN_CI, ADD, SYNC):
        reader.type(line)
    assert "Thermometer" in reader.type(SHOW)
    assert "install" in reader.type(PLAN)
    reader.type(DEPLOY)
    names = lab.ssh(box.NODE, "podman ps --format '{{.Names}}'", check=True).stdout.split()
    [name] = (name for name in names if "thermo" in name)
    environment = lab.ssh(box.NODE, f"podman inspect {name} --format '{{{{.Config.Env}}}}'")
    assert "INTERVAL=30" in environment.stdout
    assert unexecuted("application", reader.executed) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "code", "words"),
    [
        ("margo.yaml", "pointer: INTERVAL", "pointer: INTERVALL", 0, 'did you mean "INTERVAL"?'),
        ("margo.yaml", "components: [thermo]", "components: [termo]", 1, 'did you mean "thermo"?'),
        ("margo.yaml", "path: ./compose", "path: ./compos", 1, "compos is no folder"),
        ("margo.yaml", "schema: seconds", "schema: second", 1, 'did you mean "seconds"?'),
        ("margo.yaml", "timeout: 1m0s", "timeout: 1 minute", 1, "write such as 5m0s"),
        ("margo.yaml", "id: thermo\n", "", 1, "/id: is missing"),
        ("compose/compose.yaml", "image:", "imag:", 1, "has no image"),
        ("compose/compose.yaml", "${INTERVAL}", "${INTERVALS}", 0, "is set by no parameter"),
    ],
)
def test_lint_finds_a_mistake(
    reader: Reader, package: Path, file: str, old: str, new: str, code: int, words: str
) -> None:
    """Both forms of the command name the file and the fix; an error ends with 1."""
    path = package / file
    whole = path.read_text()
    assert old in whole
    path.write_text(whole.replace(old, new, 1))
    try:
        for line in (LINT, LINT_IN_CI):
            found = reader.type(line, code)
            assert "thermo/1.0.0/" in found and words in found, found
    finally:
        path.write_text(whole)


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (ADD, 5, "apps"),
        (ADD.replace(" apps ", " other ").replace("https://git.example/apps.git", "/etc"), 1,
         "local_roots"),
        (SYNC.replace(" apps", " aps"), 3, "aps"),
        (SHOW.replace("thermo", "termo"), 3, 'did you mean "thermo"'),
        (PLAN.replace("interval=30", "intervall=30"), 1, 'did you mean "interval"'),
        (PLAN.replace("interval=30", "interval=0"), 1, "write 1 or more"),
        (DEPLOY.replace("interval=30", "interval=often"), 1, "write a whole number"),
        (DEPLOY.replace("interval=30", "interval"), 2, "is not key=value"),
        (DEPLOY.replace("harbor", "haven"), 3, "haven"),
        (DEPLOY.replace("thermo", "thermo@9.9.9"), 3, "9.9.9"),
    ],
)  # fmt: skip
def test_a_wrong_name_or_value_is_refused(
    reader: Reader, package: Path, line: str, code: int, words: str
) -> None:
    """The error names the right form, and nothing is deployed."""
    before = _deployments(reader)
    refused = reader.type(line, code)
    assert words in refused, refused
    assert _deployments(reader) == before


def test_content_that_changes_under_its_version_is_a_finding(reader: Reader, package: Path) -> None:
    """The catalogue keeps the first; the next version is taken."""
    compose = package / "compose/compose.yaml"
    whole = compose.read_text()
    compose.write_text(whole.replace("start_period: 10s", "start_period: 20s"))
    synced = reader.type(SYNC) + reader.type(SHOW)
    assert synced.count("give the change a new version") == 2, synced
    compose.write_text(whole)


def test_credentials_that_are_not_there(reader: Reader, package: Path) -> None:
    """The error names the missing file with its path."""
    reader.type("margrave source add private https://127.0.0.1:9/apps.git --credentials plant")
    synced = reader.type("margrave app sync private", 3)
    assert "state/credentials/plant" in synced, synced
    reader.type("margrave source remove private --yes")


def _deployments(reader: Reader) -> list[str]:
    page = json.loads(reader.type("margrave deployment list -o json"))
    return sorted(item["id"] for item in page["items"])
