"""A node counts how its containers fare after a release was found healthy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.shop import ENGINES, Shop
from tests.support.waiting import eventually
from tests.support.workload import Workload, idle

AGAIN = {"restart": "unless-stopped"}
CRASHING = idle(**AGAIN) | {"command": ["/bin/sh", "-c", "sleep 4; exit 7"]}
PROVE = 15


@pytest.fixture
def workload(shop: Shop, tmp_path: Path) -> Workload:
    """A deployment that is not there yet."""
    return Workload(shop, tmp_path / "package")


def _disturbances(workload: Workload) -> list[dict[str, object]]:
    found: list[dict[str, object]] = workload.info()["stability"]["disturbances"]
    return found


@pytest.mark.full
@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_a_release_that_crashes_is_degraded_and_goes_back(workload: Workload) -> None:
    """It counts as healthy after its grace; its crashes are counted, and its next attempt fails."""
    workload.write({"services": {"web": idle(**AGAIN)}})
    good = workload.apply()
    assert workload.info()["stability"]["disturbances"] == []
    assert workload.info()["stability"]["seconds"] >= 0

    workload.write({"services": {"web": CRASHING}})
    bad = workload.apply(proven=good["release"])
    assert bad["previous_revision"] == good["revision"]
    eventually(lambda: _disturbances(workload), 60, "a restart is counted")
    told = workload.info()
    disturbance = told["stability"]["disturbances"][0]
    assert (disturbance["service"], disturbance["recent"]) == ("web", True)
    assert disturbance["restarts"] >= 1
    assert told["health"] == "degraded"
    # Docker waits between restarts: a container that is down meanwhile is drift as well.
    assert told["components"][0]["error"]["code"] in ("unstable", "drift")

    answer = workload.shop.one(workload.step(proven=good["release"], prove=PROVE))
    assert answer["error"]["class"] == "health", answer
    assert answer["rolled_back"] is True
    assert answer["release"] == good["release"]
    told = workload.info()
    assert (told["revision"], told["health"]) == (good["revision"], "healthy")
    assert (told["drift"], told["stability"]["disturbances"]) == ([], [])


@pytest.mark.full
@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_a_first_install_that_crashes_leaves_nothing_running(workload: Workload) -> None:
    """There is nothing to go back to."""
    workload.write({"services": {"web": CRASHING}})
    workload.apply(proven="")
    answer = workload.shop.one(workload.step(proven="", prove=PROVE))
    assert (answer["error"]["class"], answer["release"]) == ("health", None)
    label = f"--filter label=margrave.deployment={workload.shop.deployment}"
    assert workload.shop.ssh(f"{workload.shop.engine} ps -aq {label}") == ""


@pytest.mark.full
@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_an_attempt_that_stays_healthy_ends_well(workload: Workload) -> None:
    """It runs for the whole time without a restart, and replaces no container."""
    workload.write({"services": {"web": idle(**AGAIN), "job": _job(), "asked": _asked()}})
    first = workload.apply(proven="")
    before = workload.started("web")
    answer = workload.shop.one(workload.step(proven="", prove=PROVE))
    assert (answer["state"], answer["release"]) == ("INSTALLED", first["release"]), answer
    assert answer["durations"]["health"] >= PROVE
    assert workload.started("web") == before


@pytest.mark.full
@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_what_a_person_restarts_is_not_disturbed(workload: Workload) -> None:
    """Neither a restart nor a stop by hand is the release's failure."""
    workload.write({"services": {"web": idle(**AGAIN)}})
    workload.apply()
    name = workload.inspect("web")["Name"].lstrip("/")
    workload.shop.ssh(f"{workload.shop.engine} restart -t 1 {name}")
    told = workload.info()
    assert (told["health"], told["stability"]["disturbances"]) == ("healthy", [])
    workload.shop.ssh(f"{workload.shop.engine} stop -t 1 {name}")
    told = workload.info()
    assert [one["what"] for one in told["drift"]] == ["stopped"]
    assert told["stability"]["disturbances"] == []


@pytest.mark.full
@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_a_service_that_is_not_restarted_and_fails_is_disturbed(workload: Workload) -> None:
    """An exit with an error counts; one with 0, of a step that is done, does not."""
    exits = ["/bin/sh", "-c", "sleep 6; exit 3"]
    ends = ["/bin/sh", "-c", "sleep 6; exit 0"]
    services = {"bad": idle(restart="no") | {"command": exits}}
    services |= {"done": idle(restart="no") | {"command": ends}}
    workload.write({"services": services})
    workload.apply()
    eventually(lambda: _disturbances(workload), 60, "the exit is seen")
    eventually(lambda: len(workload.info()["drift"]) == len(services), 60, "both have ended")
    found = _disturbances(workload)
    assert [(one["service"], one["exit_code"]) for one in found] == [("bad", 3)]


def _job() -> dict[str, object]:
    return idle(restart="no") | {"command": ["/bin/true"]}


def _asked() -> dict[str, object]:
    check = {"test": ["CMD", "/bin/true"], "interval": "1s", "timeout": "5s"}
    return idle(**AGAIN, healthcheck=check)
