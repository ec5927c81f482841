"""Rules of `margrave lint` for a component's Compose files."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from margrave.findings import Finding, Severity
from margrave.linting.compose import findings, findings_with_policy

GOOD = """\
services:
  web:
    image: registry.example/web:1
    environment:
      GREETING: ${GREETING}
      LEVEL: ${LEVEL:-info}
    volumes:
      - ./site:/srv/site:ro
      - data:/data
    configs: [motd]
volumes:
  data: {}
configs:
  motd:
    file: ./motd.txt
"""
FILES = {"compose.yaml": GOOD.encode(), "site/index.html": b"hello", "motd.txt": b"hello"}


def lint(text: str, names: Collection[str] | None = ("GREETING",), **more: str) -> list[Finding]:
    """Lint a compose.yaml beside the good component's other files."""
    files = {**FILES, "compose.yaml": text.encode()}
    files |= {name: body.encode() for name, body in more.items()}
    return findings(files, names)


def ask(text: str, **defaults: str) -> list[Finding]:
    """Lint a compose.yaml together with what it asks of a site's policy."""
    return findings_with_policy({**FILES, "compose.yaml": text.encode()}, defaults)


def test_a_good_component_has_no_findings() -> None:
    """What the other tests break is whole before."""
    assert findings_with_policy(FILES, {"GREETING": "hello"}) == []


def test_a_build_section_is_an_error_at_its_place() -> None:
    """Nodes build nothing, so the author learns it before a site does."""
    text = "services:\n  web:\n    image: r/web:1\n    build: ./web\n"

    (finding,) = lint(text, None)

    assert finding.severity is Severity.ERROR
    assert (finding.file, finding.line, finding.pointer) == (
        "compose.yaml",
        4,
        "/services/web/build",
    )
    assert "push the image" in finding.cure


def test_a_service_that_is_built_needs_no_second_finding_for_its_image() -> None:
    """One cause has one finding."""
    assert len(lint("services: {web: {build: .}}", None)) == 1


def test_a_service_without_an_image_is_an_error() -> None:
    """A service inherits an image by extends; without one there is nothing to run."""
    text = """\
services:
  base: {image: r/base:1}
  child: {extends: {service: base}}
  empty: {command: run}
"""
    assert [finding.pointer for finding in lint(text, None)] == ["/services/empty"]


@pytest.mark.parametrize(
    "mount",
    [
        "./missing:/srv",
        "../outside:/srv",
        "{type: bind, source: ./missing, target: /srv}",
        "{type: bind, source: missing/, target: /srv, read_only: true}",
    ],
)
def test_a_bind_mount_of_a_file_that_is_not_in_the_package_is_an_error(mount: str) -> None:
    """Compose would make an empty folder of it, and the next release would lose what is in it."""
    text = f"services:\n  web:\n    image: r/web:1\n    volumes:\n      - {mount}\n"

    (finding,) = lint(text, None)

    assert (finding.line, finding.pointer) == (5, "/services/web/volumes/0")
    assert "not in the package" in finding.message


@pytest.mark.parametrize(
    "mount",
    [
        "./site:/srv:ro",
        "./site:/srv:ro,z",
        "./site/index.html:/srv/index.html:ro",
        "data:/data",
        "/var/anonymous",
        "/srv/host:/srv",
        "{type: bind, source: ./site, target: /srv, read_only: true}",
        "{type: volume, source: data, target: /srv}",
        "{type: tmpfs, target: /tmp}",
    ],
)
def test_mounts_that_nodes_take_as_they_are_have_no_finding(mount: str) -> None:
    """Files of the package, named volumes, and paths of the node that the policy judges."""
    text = f"services:\n  web:\n    image: r/web:1\n    volumes:\n      - {mount}\n"

    assert lint(text, None) == []


def test_a_writable_mount_of_a_package_file_is_a_warning() -> None:
    """Package files are mounted read-only whatever the author writes."""
    (finding,) = lint("services: {web: {image: r/w, volumes: ['./site:/srv']}}", None)

    assert finding.severity is Severity.WARNING
    assert "read-only" in finding.message


def test_a_config_or_secret_of_a_missing_file_is_an_error() -> None:
    """Both kinds name the definition, not the service."""
    text = """\
services: {web: {image: r/web:1}}
configs: {motd: {file: ./gone.txt}}
secrets: {key: {file: gone.key}}
"""
    assert [finding.pointer for finding in lint(text, None)] == [
        "/configs/motd/file",
        "/secrets/key/file",
    ]


def test_a_variable_that_no_parameter_sets_is_named_with_the_nearest_parameter() -> None:
    """Without a default the container would get an empty text, so it is worth a warning."""
    text = "services: {web: {image: r/web:1, environment: {A: '${GREETINGS}', B: '$GREETING'}}}"

    (finding,) = lint(text)

    assert finding.severity is Severity.WARNING
    assert finding.pointer == "/services/web/environment/A"
    assert 'did you mean "GREETING"?' in finding.cure


@pytest.mark.parametrize("text", ["${TAG:?say which}", "${TAG?}"])
def test_a_required_variable_that_no_parameter_sets_is_an_error(text: str) -> None:
    """Compose would stop for it on every node."""
    (finding,) = lint(f"services: {{web: {{image: 'r/web:{text}'}}}}", [])

    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    "text", ["${TAG:-1}", "${TAG-1}", "${TAG:+1}", "$$TAG", "$${TAG}", "${COMPOSE_PROJECT_NAME}"]
)
def test_a_variable_with_a_default_or_an_escaped_one_is_fine(text: str) -> None:
    """Compose sets these itself, or replaces nothing."""
    assert lint(f"services: {{web: {{image: 'r/web:{text}'}}}}", []) == []


def test_the_packages_own_env_file_sets_variables() -> None:
    """Compose reads .env beside compose.yaml, on nodes too."""
    text = "services: {web: {image: 'r/web:${TAG}'}}"

    assert lint(text, [], **{".env": "# comment\nexport TAG=1\n"}) == []


def test_a_parameter_that_nothing_uses_is_a_warning() -> None:
    """A misspelled target would change nothing, silently."""
    (finding,) = lint(
        "services: {web: {image: r/w, command: '$GREETING'}}", ["GREETING", "GRETING"]
    )

    assert finding.severity is Severity.WARNING
    assert "$GRETING" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        "services: {web: {image: r/w, environment: [GREETING]}}",
        "services: {web: {image: r/w, environment: {GREETING: }}}",
        "services: {web: {image: r/w}}\nsecrets: {word: {environment: GREETING}}",
        "services: {web: {image: r/w}}\nconfigs: {word: {environment: GREETING}}",
    ],
)
def test_a_parameter_that_is_passed_on_by_name_is_used(text: str) -> None:
    """Compose takes the value of the variable of that name."""
    assert lint(text) == []


def test_variables_are_not_judged_where_parameters_are_unknown() -> None:
    """A component in a deployments repository is used by documents with parameters of their own."""
    assert lint("services: {web: {image: 'r/web:${TAG}'}}", None) == []


@pytest.mark.parametrize("name", ["compose.override.yaml", "docker-compose.yml"])
def test_a_file_that_nodes_ignore_is_an_error(name: str) -> None:
    """What an author sees with Compose on a desk must be what runs at a site."""
    (finding,) = lint("services: {web: {image: r/web:1}}", None, **{name: "services: {}"})

    assert name in finding.message


def test_an_included_file_is_checked_at_its_own_place() -> None:
    """Rules hold for whatever compose.yaml includes."""
    text = "include: [more.yaml]\nservices: {web: {image: r/web:1}}\n"

    (finding,) = lint(text, None, **{"more.yaml": "services:\n  db:\n    build: .\n"})

    assert (finding.file, finding.line) == ("more.yaml", 3)


@pytest.mark.parametrize("text", ["services: [", "a: 1\n---\nb: 2\n", "[]", "services: []"])
def test_broken_yaml_is_an_error_and_no_crash(text: str) -> None:
    """A file that cannot be read has a finding with its file."""
    found = lint(text, None)

    assert found
    assert all(finding.file == "compose.yaml" for finding in found)
    assert all(finding.severity is Severity.ERROR for finding in found)


def test_what_a_site_has_to_open_is_a_warning_that_names_the_key() -> None:
    """The package is right, and runs at sites that allow it."""
    text = "services:\n  web:\n    image: r/web:1\n    privileged: true\n"

    (finding,) = ask(text)

    assert finding.severity is Severity.WARNING
    assert (finding.code, finding.line) == ("policy", 4)
    assert "privileged" in finding.cure


def test_what_no_site_can_open_is_an_error() -> None:
    """No policy has a key for it."""
    (finding,) = ask("services: {web: {image: r/web:1, external_links: [other]}}")

    assert (finding.severity, finding.code) == (Severity.ERROR, "policy")


def test_a_parameters_default_decides_what_a_package_asks_for() -> None:
    """Variables are filled in as a deployment without values of its own would."""
    text = "services: {web: {image: r/w, volumes: ['${FOLDER}:/data']}}\nvolumes: {data: {}}"

    assert [finding.code for finding in ask(text, FOLDER="/srv")] == ["policy"]
    assert ask(text, FOLDER="data") == []
