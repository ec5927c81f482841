"""Packages that reach for more than they may: refused by name, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from margrave.errors import DocumentError
from tests.support import packages
from tests.support.registry import FakeRegistry
from tests.support.works import ADA, Works

SERVICE = "services:\n  web:\n    image: registry.margrave.lab:5000/shop:1.0.0\n"


@pytest.fixture(scope="module")
def registry() -> Iterator[FakeRegistry]:
    registry = FakeRegistry().start()
    yield registry
    registry.stop()


@pytest.fixture
def works(tmp_path: Path, registry: FakeRegistry) -> Iterator[Works]:
    works = Works(tmp_path / "state", registry)
    works.catalog.add({"name": "own", "url": str(tmp_path / "apps")})
    works.sites.create({"name": "harbor"}, ADA)
    yield works
    works.store.close()


def hostile(works: Works, folder: Path, lines: str) -> Path:
    """A package whose service says these lines too."""
    return packages.write(folder / "apps", compose=SERVICE + lines)


def refusals(works: Works, **more: Any) -> list[str]:
    body = {"app": "shop", "targets": {"sites": ["harbor"]}, **more}
    with pytest.raises(DocumentError) as caught:
        works.admission.create(body, ADA)
    return [f"{one.code} {one.message}" for one in caught.value.findings]


@pytest.mark.parametrize(
    ("lines", "words", "policy"),
    [
        ("    privileged: true\n", "privileged: is denied", {"privileged": "allow"}),
        (
            "    volumes: [/etc:/host]\n",
            "volumes[0].source: /etc is not in host_paths",
            {"host_paths": ["/etc"]},
        ),
        (
            "    volumes: [/var/run/docker.sock:/run/engine.sock]\n",
            "volumes[0].source: /var/run/docker.sock is not in host_paths",
            {"host_paths": ["/var/run"]},
        ),
        (
            "    volumes: [{type: bind, source: /root, target: /x}]\n",
            "volumes[0].source: /root is not in host_paths",
            {"host_paths": ["/"]},
        ),
        ("    network_mode: host\n", "network_mode: host is denied", {"host_namespaces": "allow"}),
        ("    pid: host\n", "pid: host is denied", {"host_namespaces": "allow"}),
        (
            "    cap_add: [SYS_ADMIN]\n",
            "SYS_ADMIN is not in capabilities",
            {"capabilities": ["CAP_SYS_ADMIN"]},
        ),
        (
            "    devices: [/dev/kmsg:/dev/kmsg]\n",
            "/dev/kmsg is not in devices",
            {"devices": ["/dev/*"]},
        ),
        (
            "    security_opt: [seccomp=unconfined]\n",
            "seccomp=unconfined is as good as privileged",
            {"privileged": "allow"},
        ),
        (
            "    volumes: [host:/x]\nvolumes: {host: {driver_opts: {device: /srv, o: bind}}}\n",
            "driver_opts.device: /srv is not in host_paths",
            {"host_paths": ["/srv"]},
        ),
        ("    <<: {privileged: true}\n", "privileged: is denied", {"privileged": "allow"}),
        (
            "    volumes: ['${GREETING}:/x']\n",
            "/etc is not in host_paths",
            {"host_paths": ["/etc"]},
        ),
    ],
)
def test_what_the_site_does_not_allow_is_refused_by_name(
    works: Works, tmp_path: Path, lines: str, words: str, policy: dict[str, Any] | None
) -> None:
    """The plan names it, nothing is accepted; where the site's policy has a word for it, it may."""
    hostile(works, tmp_path, lines)
    findings = works.catalog.sync("own")["findings"]
    assert [one for one in findings if one["severity"] == "error"] == []
    more = {"parameters": {"greeting": "/etc"}}
    before = works.repository.head()
    found = refusals(works, **more)
    assert [one for one in found if one.startswith("policy harbor: ") and words in one], found
    plan = works.admission.plan({"app": "shop", "targets": {"sites": ["harbor"]}, **more}, ADA)
    assert [one["code"] for one in plan["findings"]] == ["policy"]
    assert works.repository.head() == before
    if policy is not None:
        works.sites.change("harbor", {"policy": policy}, ADA)
        assert works.create("harbor", app="shop", **more)["deployments"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("    build: .\n", "nodes do not build images"),
        ("    volumes: [../../etc:/x]\n", "../../etc is not in the package"),
    ],
)
def test_a_package_that_no_policy_could_allow_is_a_finding_of_the_catalogue(
    works: Works, tmp_path: Path, lines: str, message: str
) -> None:
    """The author learns it where the package is read, and the version cannot be chosen."""
    hostile(works, tmp_path, lines)
    findings = works.catalog.sync("own")["findings"]
    (error,) = [one for one in findings if one["severity"] == "error"]
    assert message in str(error["message"])
    assert str(error["file"]).endswith("compose/compose.yaml")
    assert "no version of shop can be deployed" in refusals(works)[0]


def test_a_registry_that_the_site_does_not_know(works: Works, tmp_path: Path) -> None:
    """Images come from registries of the site's policy alone."""
    hostile(works, tmp_path, "")
    works.catalog.sync("own")
    works.sites.change("harbor", {"policy": {"registries": ["ghcr.io"]}}, ADA)
    assert "registry registry.margrave.lab:5000 is not in registries" in refusals(works)[0]


def test_what_an_included_file_reaches_for_is_seen(works: Works, tmp_path: Path) -> None:
    """A second Compose file of the package is read like the first."""
    place = hostile(works, tmp_path, "include: [more.yaml]\n")
    (place / "compose" / "more.yaml").write_text(SERVICE.replace("web", "spy") + "    pid: host\n")
    works.catalog.sync("own")
    assert "services.spy.pid: host is denied" in refusals(works)[0]


def test_a_hostile_version_is_no_update(works: Works, tmp_path: Path) -> None:
    """What runs may not become what the policy denies."""
    packages.write(tmp_path / "apps", compose=SERVICE)
    packages.write(tmp_path / "apps", version="1.1.0", compose=SERVICE + "    privileged: true\n")
    works.catalog.sync("own")
    one = works.create("harbor", app="shop", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    with pytest.raises(DocumentError, match="privileged: is denied"):
        works.act("update", one["id"], version="1.1.0")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda place: _path(place, "../../etc"), "leads out of the package"),
        (lambda place: _path(place, "/etc"), "leads out of the package"),
        (lambda place: _link(place / "compose" / "x", "/etc/passwd"), "is a link"),
        (lambda place: _link(place / "compose" / "sub", "/etc"), "is a link"),
        (lambda place: _margo_link(place), "is a link"),
    ],
)
def test_what_leads_out_of_the_package_is_never_read(
    works: Works, tmp_path: Path, spoil: Any, words: str
) -> None:
    """Paths and links out of it are findings by name; the package cannot be deployed."""
    spoil(packages.write(tmp_path / "apps"))
    answer = works.catalog.sync("own")
    assert any(words in one["message"] for one in answer["findings"]), answer
    assert answer["apps"] == []


def _path(place: Path, path: str) -> None:
    file = place / "margo.yaml"
    file.write_text(file.read_text().replace("path: ./compose", f"path: {path}"))


def _link(path: Path, target: str) -> None:
    path.symlink_to(target)


def _margo_link(place: Path) -> None:
    file = place / "margo.yaml"
    file.rename(place / "other.yaml")
    file.symlink_to("other.yaml")


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c id",
        "ext::id",
        "fd::17",
        "--upload-pack=id",
        "-oProxyCommand=id",
        "ssh://-oProxyCommand=id/x",
        "git://forge.example/x",
        "https://user:word@forge.example/x",
        "file:///etc",
        "/etc",
        "/proc/self/root/etc",
        "https://forge.example/x\nurl = y",
    ],
)
def test_no_source_is_a_command(works: Works, url: str) -> None:
    """Transport helpers, options, foreign schemes and folders outside the roots are no sources."""
    with pytest.raises(DocumentError) as caught:
        works.catalog.add({"name": "x", "url": url})
    assert [one.pointer for one in caught.value.findings] == ["/url"]
    assert "x" not in [name for name, _, _ in works.catalog.places()]
