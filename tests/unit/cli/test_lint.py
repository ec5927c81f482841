"""`margrave lint` on documents, packages and repositories."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from margrave import digest, folder
from margrave.cli.lint import check
from margrave.cli.lint.package import component_digests

EXAMPLES = Path(__file__).parents[3] / "examples" / "apps"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package to break."""
    shutil.copytree(EXAMPLES / "storefront" / "1.0.0", tmp_path / "package")
    return tmp_path / "package"


def test_the_examples_are_good() -> None:
    """What we ship passes what we ask."""
    assert check(EXAMPLES) == []


def test_a_finding_names_file_line_and_pointer(package: Path) -> None:
    """A wrong duration is told where it stands, with its cure."""
    file = package / "margo.yaml"
    file.write_text(file.read_text().replace("timeout: 1m0s", "timeout: 5m"))

    (finding,) = check(package)

    assert finding.file == str(file)
    assert finding.line > 1
    assert finding.pointer == "/deploymentProfiles/0/components/0/properties/timeout"
    assert "5m0s" in finding.cure


def test_a_component_without_compose_is_found(package: Path) -> None:
    """The place is the path in margo.yaml."""
    (package / "compose" / "compose.yaml").unlink()
    (package / "compose" / "other.yaml").write_text("a: 1\n")

    (finding,) = check(package)

    assert finding.pointer.endswith("/x-margrave-extensions/path")


def test_a_link_in_a_component_is_found(package: Path) -> None:
    """Nothing may point out of a package."""
    (package / "compose" / "link").symlink_to("/etc/passwd")

    assert ["link" in str(one) for one in check(package)] == [True]


def test_a_folder_with_nothing_to_check_is_a_finding(tmp_path: Path) -> None:
    """CI that checks the wrong folder must not be green."""
    assert [one.code for one in check(tmp_path)] == ["empty"]


DOCUMENT = """\
id: 11111111-1111-4111-8111-111111111111
metadata: {name: web, namespace: default, deviceId: harbor/*}
spec:
  applicationId: web
  deploymentProfile:
    type: compose
    components:
      - name: web
        properties: {repository: oci://r/web, revision: 1.0.0}
        x-margrave-extensions: {source: components/HEX}
  parameters: {}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A deployments repository with one good document."""
    content = tmp_path / "draft"
    content.mkdir()
    (content / "compose.yaml").write_text("services: {}\n")
    name = digest.of_files(folder.read(content)).removeprefix("sha256:")
    base = tmp_path / "repository"
    (base / "components").mkdir(parents=True)
    content.rename(base / "components" / name)
    (base / "deployments" / "harbor").mkdir(parents=True)
    text = DOCUMENT.replace("HEX", name)
    (base / "deployments/harbor/11111111-1111-4111-8111-111111111111.yaml").write_text(text)
    (base / "sites").mkdir()
    (base / "sites" / "harbor.yaml").write_text("labels: {zone: shop}\n")
    return base


def test_a_good_repository_has_no_findings(repository: Path) -> None:
    """The fixture is good."""
    assert check(repository) == []


def test_a_document_at_the_wrong_place_is_found(repository: Path) -> None:
    """File name, site and components have to agree with the document."""
    good = next((repository / "deployments/harbor").iterdir())
    (repository / "deployments/depot").mkdir()
    good.rename(repository / "deployments/depot/web.yaml")
    shutil.rmtree(repository / "components")

    assert {one.pointer for one in check(repository)} == {
        "/id",
        "/metadata/deviceId",
        "/spec/deploymentProfile/components/0/x-margrave-extensions/source",
    }


def test_a_component_that_was_changed_is_found(repository: Path) -> None:
    """Its name no longer says what it holds."""
    component = next((repository / "components").iterdir())
    (component / "compose.yaml").write_text("services: {a: {image: r/a}}\n")

    assert [one.code for one in check(repository)] == ["component"]


def test_an_unknown_key_of_a_site_is_found(repository: Path) -> None:
    """Of a single file below sites/ too."""
    file = repository / "sites" / "harbor.yaml"
    file.write_text("lables: {zone: shop}\n")

    assert len(check(repository)) == 1
    assert [one.file for one in check(file)] == [str(file)]


def test_a_component_has_the_digest_of_its_folder() -> None:
    """`app digest` of a package names each component with its own."""
    base = EXAMPLES / "storefront" / "1.0.0"

    (found,) = component_digests(base)

    assert found["digest"] == digest.of_files(folder.read(base / "compose"))
