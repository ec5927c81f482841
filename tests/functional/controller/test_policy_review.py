"""What applications need from a site's policy, before they are deployed and while they run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.admission.policy_review import Need, PolicyReview
from controller.publish.materials import Materials
from controller.store import world
from margrave.errors import DocumentError
from tests.support import packages
from tests.support.registry import FakeRegistry
from tests.support.works import ADA, Works

SERVICE = "services:\n  web:\n    image: registry.margrave.lab:5000/shop:1.0.0\n"
NEEDY = SERVICE + "    volumes: [/srv/shop:/data]\n    cap_add: [NET_ADMIN]\n"


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    registry = FakeRegistry().start()
    yield registry
    registry.stop()


@pytest.fixture
def works(tmp_path: Path, registry: FakeRegistry) -> Iterator[Works]:
    """A catalogue with a plain shop, one that needs more of its node, and the site harbor."""
    works = Works(tmp_path / "state", registry)
    packages.write(tmp_path / "apps", compose=SERVICE)
    packages.write(tmp_path / "apps", version="2.0.0", compose=NEEDY)
    works.catalog.add({"name": "own", "url": str(tmp_path / "apps")})
    works.catalog.sync("own")
    works.sites.create({"name": "harbor"}, ADA)
    yield works
    works.store.close()


def review_application(works: Works, version: str | None = None) -> list[Need]:
    """What the shop needs at harbor."""
    with works.store.session() as session:
        return _review(works, session).of_application("shop", version)


def review_deployments(works: Works) -> list[Need]:
    """What harbor's deployments need and its policy does not allow."""
    with works.store.session() as session:
        return _review(works, session).of_deployments("harbor", works.repository)


def _review(works: Works, session: object) -> PolicyReview:
    document = world.sites(session, ["harbor"])["harbor"].document  # type: ignore[arg-type]
    materials = Materials(works.store, images=None)
    return PolicyReview(session, materials, document)  # type: ignore[arg-type]


def test_each_need_names_the_key_that_opens_it(works: Works) -> None:
    """The newest version is reviewed; its registry is open by default, the rest is not."""
    needs = review_application(works)

    assert {(need.opens, need.allowed) for need in needs} == {
        ("registries", True),
        ("host_paths", False),
        ("capabilities", False),
    }
    assert {need.version for need in needs} == {"2.0.0"}
    assert all(need.path.startswith("services.web.") for need in needs)


def test_an_ordinary_version_needs_its_registry_alone(works: Works) -> None:
    """A version can be named."""
    assert [need.opens for need in review_application(works, "1.0.0")] == ["registries"]


def test_a_need_is_allowed_once_the_site_opens_its_key(works: Works) -> None:
    """The review is the site's, not the application's alone."""
    policy = {"host_paths": ["/srv/shop"], "capabilities": ["NET_ADMIN"]}
    works.sites.change("harbor", {"policy": policy}, ADA)

    assert all(need.allowed for need in review_application(works))


def test_an_unknown_application_is_a_finding(works: Works) -> None:
    """It says so instead of needing nothing."""
    with works.store.session() as session, pytest.raises(DocumentError):
        _review(works, session).of_application("shopp", None)


def test_a_deployment_that_a_stricter_policy_refuses_is_named(works: Works) -> None:
    """It runs on; the review says what its next change would be refused for."""
    open_policy = {"host_paths": ["/srv/shop"], "capabilities": ["NET_ADMIN"]}
    works.sites.change("harbor", {"policy": open_policy}, ADA)
    works.create("harbor", app="shop", version="2.0.0", name="needy")
    works.create("harbor", app="shop", version="1.0.0", name="plain")
    works.publisher.publish_all()
    assert review_deployments(works) == []

    works.sites.change("harbor", {"policy": {"host_paths": []}}, ADA)

    (need,) = review_deployments(works)
    assert (need.name, need.opens, need.allowed) == ("needy", "host_paths", False)
