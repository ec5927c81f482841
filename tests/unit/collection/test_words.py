"""The engines' words become classes that decide what happens next."""

from __future__ import annotations

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _containers
from ansible_collections.margrave.edge.plugins.module_utils._compose import env_file
from ansible_collections.margrave.edge.plugins.module_utils._compose_words import (
    start_error,
    stop_error,
    tidy,
)
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._pull_errors import pull_error


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("connection refused", "registry"),
        ("dial tcp: lookup registry.site: no such host", "registry"),
        ("received unexpected HTTP status: 503 Service Unavailable", "registry"),
        ("writing blob: no space left on device", "disk"),
        ("manifest unknown: manifest unknown", "image"),
        ("name unknown: repository name not known to registry", "image"),
        ("no image found in manifest list for architecture arm64", "image"),
        ("unauthorized: authentication required", "auth"),
        ("requested access to the resource is denied", "auth"),
        ('Head "http://registry.site/v2/web/manifests/1": no basic auth credentials', "auth"),
        ("something nobody has seen before", "engine"),
    ],
)
def test_class_of_a_failed_pull(words: str, kind: str) -> None:
    """The site's trouble is told apart from the release's."""
    error = pull_error("registry.site/web:1", words)

    assert kind == error.kind
    assert error.message.startswith("image registry.site/web:1: ")


@pytest.mark.parametrize(
    ("words", "kind", "code"),
    [
        ("dependency failed to start: container p-cache-1 is unhealthy", "health", "not-healthy"),
        ("cannot listen on the TCP port: bind: address already in use", "engine", "port-taken"),
        ('the container name "x" is already in use by 1234', "engine", "name-taken"),
        ("crun: executable file `/bin/x` not found in $PATH", "config", "cannot-start"),
        ("no space left on device", "disk", "disk-full"),
        ("something else", "engine", "up-failed"),
    ],
)
def test_class_of_a_failed_start(words: str, kind: str, code: str) -> None:
    """What Compose says becomes a class and a code."""
    error = start_error(words)

    assert (kind, code) == (error.kind, error.code)


def test_only_what_matters_is_repeated() -> None:
    """Progress and warnings of Compose are left out of messages."""
    told = tidy(' Container p-web-1  Creating\ntime="x" level=warning msg="y"\nError: it broke\n')

    assert told == "Error: it broke"


def test_values_are_literal() -> None:
    """Quotes, backslashes and dollars reach the container as they are."""
    assert env_file({"A": 'it\'s "50$" \\n'}) == b'A="it\'s \\"50\\$\\" \\\\n"\n'


@pytest.mark.parametrize("name", ["DOCKER_HOST", "COMPOSE_FILE", "a b", "1A", ""])
def test_names_that_cannot_be_variables(name: str) -> None:
    """A parameter cannot steer Compose itself."""
    with pytest.raises(ConfigError):
        env_file({name: "x"})


def test_docker_tells_health_in_a_sentence() -> None:
    """Docker's and podman's lists come out in one shape."""
    docker = _containers.from_docker(
        {
            "Id": "1",
            "Names": ["/web-1"],
            "Image": "web:1",
            "ImageID": "sha256:abc",
            "State": "running",
            "Status": "Up 3 seconds (health: starting)",
            "Labels": {},
        }
    )
    podman = _containers.from_podman(
        {
            "Id": "1",
            "Names": ["web-1"],
            "Image": "web:1",
            "ImageID": "abc",
            "State": "running",
            "Status": "starting",
            "Labels": None,
        }
    )

    assert docker == podman


def test_a_full_disk_is_told_as_one_when_containers_are_stopped() -> None:
    """podman's database has its own words; whatever else it says is the engine's trouble."""
    full = stop_error("project x: writing container b0 state: database or disk is full")
    assert (full.kind, full.code) == ("disk", "disk-full")
    other = stop_error("project x: cannot reach the daemon")
    assert (other.kind, other.code) == ("engine", "down-failed")
