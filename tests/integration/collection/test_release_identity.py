"""A container is replaced exactly when something that reaches it has changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab import Lab
from tests.support.shop import ENGINES, Shop, Step, assert_alike, four
from tests.support.workload import Workload, idle, push_idle

pytestmark = [
    pytest.mark.lab,
    pytest.mark.parametrize("shop", ENGINES, indirect=True),
]

FILES = {"settings/app.conf": "a=1\n", "token.txt": "first\n", "page.html": "one\n"}
COMPOSE: dict[str, Any] = {
    "services": {
        "web": idle(
            configs=[{"source": "page", "target": "/srv/page.html"}, "inline"],
            secrets=["token"],
            environment={"STEP": "${STEP}"},
        ),
        "rotating": idle(configs=["inline"]),
        "files": idle(volumes=["./settings:/settings:ro"]),
        "granted": idle(secrets=["token"], configs=["page"]),
        "plain": idle(),
    },
    "configs": {
        "page": {"file": "./page.html"},
        "inline": {"content": "pw=${PASSWORD} $$5\n"},
    },
    "secrets": {"token": {"file": "./token.txt"}},
}
# A config and a secret from a variable, and a config with owner and mode.
NAMED: dict[str, Any] = {
    "services": {
        "web": idle(
            configs=["named", {"source": "inline", "uid": "1000", "gid": "1001", "mode": 0o440}],
            secrets=[{"source": "password", "target": "password.txt"}],
        ),
        "plain": idle(),
    },
    "configs": {"named": {"environment": "PASSWORD"}, "inline": {"content": "in $$5\n"}},
    "secrets": {"password": {"environment": "PASSWORD"}},
}


@pytest.fixture
def workload(shop: Shop, tmp_path: Path) -> Workload:
    """Return a component with files, configs and secrets, not installed yet."""
    workload = Workload(shop, tmp_path / "package", {"STEP": "1", "PASSWORD": "hunter2$x"})
    workload.write(COMPOSE, FILES)
    return workload


def test_configs_secrets_and_files_reach_containers(workload: Workload) -> None:
    """Package files, configs and secrets are in the containers, read-only."""
    workload.apply(kind="install")

    assert workload.read("files", "/settings/app.conf") == "a=1\n"
    assert workload.read("web", "/srv/page.html") == "one\n"
    assert workload.read("web", "/inline") == "pw=hunter2$x $5\n"
    assert workload.read("web", "/run/secrets/token") == "first\n"
    assert not any(mount["RW"] for mount in workload.inspect("web")["Mounts"])


@pytest.mark.full
def test_configs_and_secrets_may_come_from_variables(workload: Workload) -> None:
    """A rotated variable replaces only containers with a config or secret from it."""
    workload.write(NAMED)
    workload.apply(kind="install")
    plain = workload.started("plain")

    assert workload.read("web", "/named") == "hunter2$x"
    assert workload.read("web", "/run/secrets/password.txt") == "hunter2$x"
    pid = workload.inspect("web")["State"]["Pid"]
    status = workload.shop.ssh(f"stat -c '%u %g %a' /proc/{pid}/root/inline")
    assert status.split() == ["1000", "1001", "440"]

    workload.variables["PASSWORD"] = "rotated"
    workload.apply()

    assert workload.read("web", "/named") == "rotated"
    assert workload.read("web", "/run/secrets/password.txt") == "rotated"
    assert workload.read("web", "/inline") == "in $5\n"
    assert workload.started("plain") == plain


@pytest.mark.full
def test_a_variable_may_come_from_the_packages_own_file(workload: Workload) -> None:
    """A variable of the package's `.env` can be the content of a config or secret."""
    del workload.variables["PASSWORD"]
    workload.write(NAMED, {".env": "PASSWORD='from $ file'\n"})

    workload.apply(kind="install")

    assert workload.read("web", "/named") == "from $ file"


@pytest.mark.parametrize(
    ("change", "service_path"),
    [
        pytest.param({"page.html": "two\n"}, ("granted", "/page", "two\n"), marks=pytest.mark.full),
        pytest.param(
            {"token.txt": "second\n"},
            ("granted", "/run/secrets/token", "second\n"),
            marks=pytest.mark.full,
        ),
        ({"settings/app.conf": "a=2\n"}, ("files", "/settings/app.conf", "a=2\n")),
    ],
    ids=["config file", "secret file", "mounted folder"],
)
def test_a_changed_file_replaces_the_containers_that_have_it(
    workload: Workload, change: dict[str, str], service_path: tuple[str, str, str]
) -> None:
    """A changed file is in the container after the update; other containers keep running."""
    workload.apply(kind="install")
    plain = workload.started("plain")

    workload.write(COMPOSE, FILES | change)
    answer = workload.apply()

    service, path, text = service_path
    assert answer["changed"]
    assert workload.read(service, path) == text
    assert workload.started("plain") == plain


@pytest.mark.full
def test_a_rotated_variable_reaches_configs_and_secrets(workload: Workload) -> None:
    """A rotated variable in a config's content replaces only the containers with that config."""
    workload.apply(kind="install")
    others = [workload.started(name) for name in ("granted", "files", "plain")]

    workload.variables["PASSWORD"] = "rotated"
    workload.apply()

    assert workload.read("rotating", "/inline") == "pw=rotated $5\n"
    assert [workload.started(name) for name in ("granted", "files", "plain")] == others


@pytest.mark.full
@pytest.mark.parametrize("service", ["granted", "files"])
def test_an_unchanged_service_keeps_its_mounts_over_releases(
    workload: Workload, service: str
) -> None:
    """A service is not restarted by updates of another one, and can start again later."""
    workload.apply(kind="install")
    before = workload.started(service)
    for step in "234":
        workload.variables["STEP"] = step
        workload.apply()
    engine, shop = workload.shop.engine, workload.shop
    after, sources = workload.started(service), workload.mounted(service)
    missing = [path for path in sources if not shop.ssh(f"ls -d {path} 2>/dev/null || true")]

    assert missing == []
    assert after == before
    shop.ssh(f"{engine} stop -t 1 {before[0]} && {engine} start {before[0]}")
    if service == "files":
        assert workload.read(service, "/settings/app.conf") == "a=1\n"
    else:
        assert workload.read(service, "/run/secrets/token") == "first\n"


@pytest.mark.full
def test_content_that_nothing_uses_is_removed(workload: Workload) -> None:
    """Only the contents of the current and the previous release stay on the node."""
    content = f"/var/lib/margrave/deployments/{workload.shop.deployment}/content"
    for number in range(4):
        workload.write(COMPOSE, FILES | {"page.html": f"page {number}\n"})
        workload.apply()
    pages = workload.shop.ssh(f"cat {content}/*/page.html")

    assert sorted(pages.splitlines()) == ["page 2", "page 3"]


def test_a_missing_mount_source_is_drift_and_is_healed(workload: Workload) -> None:
    """A removed mount source is drift that names the path; the next update restores it."""
    workload.apply(kind="install")
    plain = workload.started("plain")
    lost = workload.mounted("files")[0]
    workload.shop.ssh(f"rm -rf {lost}")

    drifted = workload.info()
    everything = workload.shop.one(Step("workload_info", {}))
    healed = workload.apply()
    again = workload.apply()

    assert [(one["service"], one["what"]) for one in drifted["drift"]] == [("files", "mounts")]
    assert all(lost in one["detail"] for one in drifted["drift"])
    assert everything["workloads"][0]["health"] == "degraded"
    assert (healed["changed"], again["changed"]) == (True, False)
    assert workload.read("files", "/settings/app.conf") == "a=1\n"
    assert workload.info()["drift"] == []
    assert workload.started("plain") == plain


@pytest.mark.full
def test_a_missing_variable_is_refused_before_anything_changes(workload: Workload) -> None:
    """A secret from an unset variable is refused before the switch, and in check mode."""
    workload.write(NAMED)
    workload.apply(kind="install")
    before = workload.started("web")
    del workload.variables["PASSWORD"]

    answers = workload.shop.call(workload.step(check=True), workload.step())

    assert [one["changed"] for one in answers] == [False, False]
    assert {one["error"]["class"] for one in answers} == {"config"}
    assert all("PASSWORD" in one["error"]["message"] for one in answers)
    assert workload.started("web") == before


@pytest.mark.full
def test_a_mount_source_that_is_not_in_the_package_is_refused(workload: Workload) -> None:
    """A bind mount of a file that the package lacks is refused, also in check mode."""
    workload.write({"services": {"web": idle(volumes=["./absent:/data"])}})

    answers = workload.shop.call(workload.step(check=True), workload.step())

    assert {one["error"]["class"] for one in answers} == {"config"}
    assert all("absent" in one["error"]["message"] for one in answers)


@pytest.mark.full
def test_nested_mounts_fit_into_a_read_only_folder(workload: Workload) -> None:
    """Volumes and secrets can be mounted below a folder of the package."""
    service = idle(
        volumes=["./settings:/app", "data:/app/deep/data"],
        secrets=[{"source": "token", "target": "/app/token"}],
    )
    workload.write(
        {
            "services": {"web": service},
            "volumes": {"data": {}},
            "secrets": {"token": {"file": "./token.txt"}},
        },
        FILES,
    )

    workload.apply(kind="install")

    assert workload.read("web", "/app/app.conf") == "a=1\n"
    assert workload.read("web", "/app/token") == "first\n"


@pytest.mark.full
def test_a_rollback_brings_the_old_content_back(workload: Workload) -> None:
    """A rollback restores files, configs and secrets of the older release."""
    workload.apply(kind="install")
    plain = workload.started("plain")
    workload.write(COMPOSE, {name: f"new {text}" for name, text in FILES.items()})
    workload.variables["PASSWORD"] = "rotated"
    workload.apply()

    back = workload.shop.one(workload.shop.rollback())

    assert back["state"] == "INSTALLED", back["error"]
    assert workload.read("web", "/srv/page.html") == "one\n"
    assert workload.read("web", "/inline") == "pw=hunter2$x $5\n"
    assert workload.read("files", "/settings/app.conf") == "a=1\n"
    assert workload.started("plain") == plain


# -- images -----------------------------------------------------------------------------------


@pytest.fixture
def moving(lab: Lab, workload: Workload, tmp_path: Path) -> Iterator[str]:
    """Push an image under a tag that tests can move; return its name."""
    name = f"moving-{workload.shop.deployment[:8]}"
    reference = push_idle(workload.shop, tmp_path, name, "one")
    yield reference
    engine = workload.shop.engine
    workload.shop.clean()
    workload.shop.ssh(f"{engine} image prune --force --all >/dev/null")


def _move(workload: Workload, moving: str, folder: Path, version: str) -> None:
    push_idle(workload.shop, folder, moving.rpartition("/")[2].partition(":")[0], version)


def _with_image(image: str, **more: Any) -> dict[str, Any]:
    service = idle(environment={"STEP": "${STEP}"}, **more)
    return {"services": {"web": {**service, "image": image}}}


@pytest.mark.full
def test_a_new_release_gets_the_image_that_the_tag_means_now(
    workload: Workload, moving: str, tmp_path: Path
) -> None:
    """A new release pulls a moved tag, and a rollback runs the former image."""
    workload.write(_with_image(moving))
    workload.apply(kind="install")
    first = workload.read("web", "/etc/version")
    _move(workload, moving, tmp_path, "two")

    again = workload.apply()
    kept = workload.read("web", "/etc/version")
    workload.variables["STEP"] = "2"
    updated = workload.apply()
    second = workload.read("web", "/etc/version")
    back = workload.shop.one(workload.shop.rollback())
    third = workload.read("web", "/etc/version")
    drift = workload.info()["drift"]

    assert (again["changed"], first, kept) == (False, "one", "one")
    assert (second, updated["images"]) == ("two", [moving])
    assert (back["state"], third, drift) == ("INSTALLED", "one", []), back["error"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("policy", "versions"),
    [
        ("always", ["one", "two", "two"]),
        ("missing", ["one", "one", "one"]),
    ],
)
def test_a_pull_policy_is_honoured(
    workload: Workload, moving: str, tmp_path: Path, policy: str, versions: list[str]
) -> None:
    """`always` pulls with each call, `missing` only without a local image."""
    workload.write(_with_image(moving, pull_policy=policy))
    workload.apply(kind="install")
    seen = [workload.read("web", "/etc/version")]
    _move(workload, moving, tmp_path, "two")

    same_release = workload.apply()
    seen.append(workload.read("web", "/etc/version"))
    settled = workload.apply()
    workload.variables["STEP"] = "2"
    workload.apply()
    seen.append(workload.read("web", "/etc/version"))

    assert seen == versions
    assert same_release["changed"] is (policy == "always")
    assert settled["changed"] is False
    assert workload.info()["drift"] == []


@pytest.mark.full
def test_an_unreachable_registry_stops_only_those_that_insist(
    lab: Lab, workload: Workload, moving: str
) -> None:
    """By default the local image is used with a warning; `always` fails and changes nothing."""
    workload.write(_with_image(moving))
    workload.apply(kind="install")
    lab.fail(workload.shop.node, registry=True)
    try:
        workload.variables["STEP"] = "2"
        tolerant = workload.apply()
        workload.write(_with_image(moving, pull_policy="always"))
        strict = workload.shop.one(workload.step())
    finally:
        lab.heal(workload.shop.node)

    assert any(moving in text for text in tolerant["warnings"])
    assert (strict["state"], strict["error"]["class"]) == ("FAILED", "registry")
    assert strict["revision"] == tolerant["revision"]


# -- a call with nothing to do --------------------------------------------------------------------


@pytest.mark.full
def test_a_new_version_with_equal_content_is_recorded(workload: Workload) -> None:
    """A new version and new limits are recorded once, without a restart."""
    workload.apply(kind="install", version="1.0.0")
    before = [workload.started(name) for name in ("web", "files", "granted", "plain")]
    newer = workload.step(version="1.0.1", health={"timeout": 70, "grace": 1})

    answers = workload.shop.call(*four(newer))

    noted = json.loads(
        workload.shop.ssh(
            f"cat /var/lib/margrave/deployments/{workload.shop.deployment}/current/release.json"
        )
    )
    assert [one["changed"] for one in answers] == [True, True, False, False]
    assert_alike(answers)
    assert {one["version"] for one in answers} == {"1.0.1"}
    assert (noted["version"], noted["health"]["timeout"]) == ("1.0.1", 70)
    assert workload.info()["version"] == "1.0.1"
    assert [workload.started(name) for name in ("web", "files", "granted", "plain")] == before


def test_a_tightened_policy_is_applied_to_what_runs(workload: Workload) -> None:
    """A policy that forbids the running release is reported as an error, and nothing is touched."""
    workload.apply(kind="install")
    before = workload.started("web")
    narrow = workload.step(policy={"registries": ["nowhere.example"]})

    answers = workload.shop.call(*four(narrow))

    assert {one["error"]["class"] for one in answers} == {"config"}
    assert {one["error"]["code"] for one in answers} == {"policy"}
    assert not any(one["changed"] for one in answers)
    assert workload.started("web") == before


@pytest.mark.full
def test_a_release_from_before_the_policy_table_is_only_warned_about(workload: Workload) -> None:
    """A release of an older version is healed with a warning; its next change is refused."""
    workload.apply(kind="install")
    noted = f"/var/lib/margrave/deployments/{workload.shop.deployment}/current/release.json"
    workload.shop.ssh(f"sed -i '/\"policy_table\"/d' {noted}")
    policy = {"registries": ["nowhere.example"]}

    same = workload.shop.one(workload.step(policy=policy))
    workload.shop.ssh(f"{workload.shop.engine} rm -f {workload.started('web')[0]}")
    healed = workload.shop.one(workload.step(policy=policy))
    workload.variables["STEP"] = "2"
    changed = workload.shop.one(workload.step(policy=policy))

    assert (same["changed"], same["error"]) == (False, None)
    assert any("nowhere" in text or "registries" in text for text in same["policy_findings"])
    assert same["warnings"]
    assert (healed["changed"], healed["state"]) == (True, "INSTALLED"), healed["error"]
    assert changed["error"]["code"] == "policy"
