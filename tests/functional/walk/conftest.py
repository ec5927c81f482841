"""A controller that really serves, its own repository, and a small honest site that reports."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest

from tests.support import packages, postgres
from tests.support.fake_site import FakeSite
from tests.support.registry import FakeRegistry
from tests.support.served import ROOT, served

STEPS = ("world", "acting", "commands", "deploying", "people", "places", "runners")
pytest.register_assert_rewrite(*(f"{__package__}.{name}" for name in STEPS))
from tests.functional.walk.world import World  # noqa: E402 - its assertions are told whole

HOOK = "between the forge and us"
MOST = 6  # streams at once


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """The site harbor has two nodes; the catalogue is empty."""
    folder = tmp_path_factory.mktemp("walk")
    shutil.copytree(ROOT / "examples" / "apps", folder / "apps")
    for version in ("1.0.0", "1.1.0"):
        packages.write(folder / "apps", version=version)
    registry = FakeRegistry().start()
    known = [
        {"host": "registry.margrave.lab:5000", "address": registry.address, "insecure": True},
    ]
    database = ""
    if request.param == "postgresql":
        server = postgres.Postgres().start()
        request.addfinalizer(server.stop)
        database = server.create()
    settings = {
        "CATALOG__LOCAL_ROOTS": json.dumps([str(folder / "apps")]),
        "REGISTRIES__JSON": json.dumps(known),
        "HOOKS__SECRETS": json.dumps([HOOK]),
        "EVENTS__MAX_CLIENTS": str(MOST),
    }
    with served(folder, database=database, **settings) as controller:
        made = controller.post("/sites", {"name": "harbor", "labels": {"zone": "shop"}})
        (folder / "harbor").mkdir()
        nodes = ("harbor-1", "harbor-2")
        site = FakeSite(controller.url, "harbor", made["token"], folder / "harbor", nodes).start()
        world = World(controller, site)
        yield world
        site.stop()
        world.close()
    registry.stop()
