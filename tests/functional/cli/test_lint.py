"""`margrave lint` as CI runs it: answers, formats, exit codes, mending."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from margrave import digest, folder
from tests.functional.cli.conftest import Run

EXAMPLES = Path(__file__).parents[3] / "examples" / "apps"
ID = "11111111-1111-4111-8111-111111111111"
DOCUMENT = """\
id: {id}
metadata: {{name: web, namespace: default, deviceId: harbor/*}}
spec:
  applicationId: web
  deploymentProfile:
    type: compose
    components:
      - name: web
        properties: {{repository: "oci://r/web", revision: 1.0.0}}
        x-margrave-extensions: {{source: components/{hex}}}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A deployments repository with one good document."""
    base = tmp_path / "repository"
    draft = base / "components" / "draft"
    draft.mkdir(parents=True)
    (draft / "compose.yaml").write_text("services: {web: {image: r/web}}\n")
    name = digest.of_files(folder.read(draft)).removeprefix("sha256:")
    draft.rename(draft.parent / name)
    (base / "deployments" / "harbor").mkdir(parents=True)
    text = DOCUMENT.format(id=ID, hex=name)
    (base / "deployments" / "harbor" / f"{ID}.yaml").write_text(text)
    (base / "sites").mkdir()
    (base / "sites" / "harbor.yaml").write_text("labels: {zone: shop}\n")
    return base


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    """The examples, to break."""
    shutil.copytree(EXAMPLES, tmp_path / "apps")
    return tmp_path / "apps"


def test_what_is_good_is_done(run: Run, repository: Path, registry: Path) -> None:
    """Several paths are one answer, and the exit code is 0."""
    ran = run("lint", "-o", "json", str(repository), str(registry))

    assert (ran.code, ran.json) == (0, {"findings": []})
    assert run("lint", str(repository)).out == "good\n"
    assert run("app", "lint", str(registry)).out == "good\n"


def test_an_error_fails_and_a_warning_does_not(run: Run, repository: Path) -> None:
    """CI goes red for the one and tells the other."""
    site = repository / "sites" / "harbor.yaml"
    site.write_text("drain: no\n")
    warned = run("lint", "-o", "json", str(site))
    site.write_text("drian: false\n")
    failed = run("lint", "-o", "json", str(repository))

    assert (warned.code, [one["severity"] for one in warned.json["findings"]]) == (0, ["warning"])
    assert failed.code == 1
    assert failed.json["findings"] == [
        {
            "file": str(site),
            "line": 1,
            "column": 8,
            "pointer": "/drian",
            "severity": "error",
            "message": "is not a key that is known here",
            "cure": 'did you mean "drain"?',
        }
    ]


def test_a_path_that_is_not_there_is_not_found(run: Run, repository: Path) -> None:
    """Alone it is exit code 3; beside findings of others it is a failure like them."""
    missing = str(repository / "sites" / "depot.yaml")
    (repository / "sites" / "harbor.yaml").write_text("x: 1\n")

    assert run("lint", missing).code == 3
    assert run("lint", missing, str(repository)).code == 1


@pytest.mark.parametrize(
    "words", [("lint",), ("lint", "-o", "json", "--format", "sarif", "."), ("lint", "--colour")]
)
def test_wrong_words_are_usage(run: Run, words: tuple[str, ...]) -> None:
    """Exit code 2, as everywhere."""
    assert run(*words).code == 2


@pytest.mark.parametrize("form", ["sarif", "github", "gitlab"])
def test_each_format_tells_the_finding(run: Run, repository: Path, form: str) -> None:
    """With the same exit code as for eyes."""
    (repository / "sites" / "harbor.yaml").write_text("x: 1\n")

    ran = run("lint", "--format", form, str(repository))

    assert ran.code == 1
    assert "sites/harbor.yaml" in ran.out
    if form != "github":
        assert ran.json


def test_parts_of_a_repository_know_the_whole(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what is asked for is told, but by the rules of the repository."""
    (repository / "sites" / "harbor.yaml").write_text("x: 1\n")
    shutil.rmtree(repository / "components")
    monkeypatch.chdir(repository / "deployments")

    for part in (repository / "deployments", repository / "deployments" / "harbor", Path()):
        (found,) = run("lint", "-o", "json", str(part)).json["findings"]
        assert found["pointer"].endswith("/source")


def test_a_version_may_not_stand_twice(run: Run, registry: Path) -> None:
    """Two packages of one version: which of them is it?"""
    shutil.copytree(registry / "storefront" / "1.0.0", registry / "copy")

    (found,) = run("lint", "-o", "json", str(registry)).json["findings"]

    assert found["pointer"] == "/metadata/version"


def test_what_devices_exchange_says_what_it_is(run: Run, tmp_path: Path) -> None:
    """A manifest without deployments is good JSON; a problem as YAML stands where none belongs."""
    file = tmp_path / "manifest.json"
    file.write_text('{"manifestVersion": 1, "bundle": null, "deployments": []}')
    other = tmp_path / "problem.yaml"
    other.write_text("{type: about:blank, title: Gone, status: 410}")

    assert run("lint", str(file)).code == 0
    assert "where a deployment belongs" in run("lint", str(other)).out


def _spoil(base: Path) -> None:
    site = base / "deployments" / "harbor"
    (site / "binary.yaml").write_bytes(bytes(range(256)) * 10)
    (site / "empty.yaml").write_bytes(b"")
    (site / "huge.yaml").write_bytes(b"a: 1\n" * 400_000)
    (site / "loop.yaml").symlink_to("loop.yaml")
    (site / "list.yaml").write_text("[1, 2]\n")
    (site / "deep.yaml").write_text("[" * 5000)
    (site / "folder.yaml").mkdir()
    (site / "other.yml").write_text("a: 1\n")
    (base / "components" / "loop").symlink_to("loop")
    (base / "sites" / "self").symlink_to(".")
    (site / os.fsdecode(b"\xff.yaml")).write_text("a: 1\n")
    component = next(one for one in (base / "components").iterdir() if one.is_dir())
    (component / os.fsdecode(b"\xff")).write_text("")
    os.mkfifo(site / "pipe.yaml")


@pytest.mark.parametrize(
    "words", [(), ("-o", "json"), ("-o", "yaml"), ("--format", "sarif"), ("--fix",)]
)
def test_whatever_lies_there_is_a_finding(
    run: Run, repository: Path, words: tuple[str, ...]
) -> None:
    """No file makes lint fail itself, wait for ever, or pass it over."""
    _spoil(repository)

    ran = run("lint", *words, str(repository))

    assert ran.code == 1
    for name in ("binary", "empty", "huge", "loop", "list", "deep", "folder", "other", "self"):
        assert f"/{name}" in ran.out, name
    assert "xff" in ran.out
    assert "pipe.yaml" in ran.out


@pytest.mark.parametrize("name", ["binary", "empty", "huge", "loop", "deep", "folder", "pipe"])
def test_a_single_file_is_a_finding_too(run: Run, repository: Path, name: str) -> None:
    """The same without the repository around it."""
    _spoil(repository)

    ran = run("lint", str(repository / "deployments" / "harbor" / f"{name}.yaml"))

    assert ran.code == 1


@pytest.mark.parametrize("closed", ["iterdir", "open", "lstat", "stat"])
@pytest.mark.parametrize("part", ["components", "deployments/harbor", "sites"])
def test_what_may_not_be_read_is_a_finding(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch, part: str, closed: str
) -> None:
    """Root reads everything, so the machine's refusal is played: a finding or nothing, no end."""
    plain = getattr(Path, closed)

    def refuse(self: Path, *args: object, **more: object) -> object:
        if self.is_relative_to(repository / part):
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return plain(self, *args, **more)

    monkeypatch.setattr(Path, closed, refuse)

    ran = run("lint", "--fix", str(repository))

    assert ran.code in (0, 1)
    if closed in ("iterdir", "open"):
        assert "cannot be read: Permission denied" in ran.out


def test_fix_mends_and_says_what(run: Run, registry: Path) -> None:
    """The file is right afterwards, and a second run changes nothing."""
    file = registry / "storefront" / "1.0.0" / "margo.yaml"
    text = file.read_text()
    file.write_text(text.replace("1m0s", "60s"))
    file.chmod(0o640)

    mended = run("lint", "--fix", "-o", "json", str(registry))
    again = run("lint", "--fix", str(registry))

    pointer = "/deploymentProfiles/0/components/0/properties/timeout"
    assert mended.code == 0
    assert mended.json["mended"] == [{"file": str(file), "changes": [f"{pointer}: wrote 1m0s"]}]
    assert (file.read_text(), file.stat().st_mode & 0o777) == (text, 0o640)
    assert again.out == "good\n"


def test_fix_tells_what_stays_wrong(run: Run, registry: Path) -> None:
    """A mended file that is not right yet has its findings beside the change."""
    file = registry / "storefront" / "1.0.0" / "margo.yaml"
    file.write_text(file.read_text().replace("1m0s", "60s").replace("id: storefront\n", ""))

    ran = run("lint", "--fix", str(registry))

    assert ran.code == 1
    assert ran.out.startswith(f"mended: {file}: ")
    assert f"error: {file}:" in ran.out


def test_fix_leaves_components_alone(run: Run, repository: Path) -> None:
    """They are addressed by what they hold."""
    component = next((repository / "components").iterdir())
    (component / "margo.yaml").write_text("apiVersion: margo.org/v1-alpha1\n")

    ran = run("lint", "--fix", "-o", "json", str(repository))

    assert ran.json["mended"] == []
    assert (component / "margo.yaml").read_text() == "apiVersion: margo.org/v1-alpha1\n"


def test_compose_files_that_no_node_reads_are_findings(run: Run, registry: Path) -> None:
    """An override file changes what runs on a developer's machine, and nowhere else."""
    folder = registry / "storefront/1.0.0/compose"
    (folder / "compose.override.yaml").write_text("services: {}\n")
    (folder / "docker-compose.yml").write_text("services: {}\n")

    ran = run("lint", "-o", "json", str(registry / "storefront/1.0.0"))

    assert ran.code == 1
    override, second = (found["message"] for found in ran.json["findings"])
    assert override == "compose.override.yaml is not applied: compose.yaml alone is read"
    assert "docker-compose.yml is not applied" in second


def test_a_compose_file_reads_its_own_files_only(run: Run, registry: Path) -> None:
    """What Compose would read before any policy is asked is told with its place and a cure."""
    file = registry / "storefront/1.0.0/compose/compose.yaml"
    file.write_text("services: {web: {image: 'r/web:${GREETING}', env_file: ../../x}}\n")

    ran = run("lint", "-o", "json", str(registry / "storefront/1.0.0"))

    assert ran.code == 1
    [found] = ran.json["findings"]
    assert 'services.web.env_file: "../../x" leads out of the component' in found["message"]
    assert found["cure"] == "put the file into the component's folder"
