"""Each module does what it says, once, and check mode tells the truth about it."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.shop import ENGINES, Shop, Step, assert_alike, four

pytestmark = [pytest.mark.lab, pytest.mark.parametrize("shop", ENGINES, indirect=True)]

SOCKETS = {"podman": "podman/podman.sock", "docker": "docker.sock"}

CHECK_ACT_AGAIN = [True, True, False, False]


def test_install_and_delete(shop: Shop) -> None:
    """Install and delete change a node once; delete leaves nothing but what is not ours."""
    shop.ssh(f"{shop.engine} run -d --name foreign registry.margrave.lab:5000/idle:1")
    images = shop.ssh(f"{shop.engine} images -q")

    installed = shop.call(*four(shop.install("1.0.0")))
    page = shop.page()
    labels = shop.ssh(
        f"{shop.engine} ps --filter label=margrave.deployment={shop.deployment}"
        " --format '{{.Labels}}' | grep -c margrave.revision"
    )
    deleted = shop.call(*four(shop.delete()))

    assert [one["changed"] for one in installed] == CHECK_ACT_AGAIN
    assert_alike(installed)
    assert {one["state"] for one in installed} == {"INSTALLED"}
    assert len({one["revision"] for one in installed}) == 1
    assert page == {"version": "1.0.0", "greeting": "hello"}
    assert labels.strip() == "2"
    assert [one["changed"] for one in deleted] == CHECK_ACT_AGAIN
    assert_alike(deleted)
    assert all(one["deleted"] and one["exit_code"] == 0 for one in deleted)
    assert len(deleted[1]["volumes_kept"]) == 1
    listed = shop.ssh(f"{shop.engine} ps -a --format '{{{{.Names}}}} {{{{.State}}}}'")
    assert listed == "foreign running\n"
    assert shop.ssh(f"{shop.engine} images -q") == images
    assert shop.ssh(f"{shop.engine} network ls -q --filter label=margrave.deployment") == ""
    assert shop.ssh("find /var/lib/margrave /run/margrave -mindepth 1") == ""


@pytest.mark.full
def test_volumes_go_only_when_asked(shop: Shop) -> None:
    """The data stays over a deletion and is there again, until somebody says remove."""
    shop.call(shop.install("1.0.0"), shop.delete(), shop.install("1.0.0"))
    kept = shop.ssh(f"{shop.engine} volume ls -q --filter label=margrave.deployment")

    gone = shop.one(shop.delete(volumes="remove"))

    assert len(kept.split()) == 1
    assert gone["volumes_kept"] == []
    assert shop.ssh(f"{shop.engine} volume ls -q --filter label=margrave.deployment") == ""


def test_update_and_rollback(shop: Shop) -> None:
    """An update changes what differs and nothing else; a rollback goes back once."""
    shop.one(shop.install("1.0.0"))
    inspect, cache = f"{shop.engine} inspect -f", f"$({shop.engine} ps -qf name=cache)"
    cache = f"{inspect} '{{{{.Id}}}} {{{{.State.StartedAt}}}}' {cache}"
    before = shop.ssh(cache)

    updated = shop.call(*four(shop.update("1.1.0")))
    newer = shop.page()
    back = shop.call(*four(shop.rollback()))

    assert [one["changed"] for one in updated] == CHECK_ACT_AGAIN
    assert_alike(updated)
    assert_alike(back)
    assert newer["version"] == "1.1.0"
    assert updated[1]["previous_revision"] == shop.content("1.0.0")["revision"]
    assert [one["changed"] for one in back] == CHECK_ACT_AGAIN
    assert {one["version"] for one in back} == {"1.0.0"}
    assert shop.page()["version"] == "1.0.0"
    assert shop.ssh(cache) == before


def test_what_is_edited_is_deployed(shop: Shop) -> None:
    """Without a revision each change has its own; one that is used again for something else is
    refused, and what runs stays."""
    steps = [shop.content("1.0.0", greeting=greeting) for greeting in ("one", "two", "two")]
    named = {**shop.content("1.0.0", greeting="three"), "revision": f"sha256:{'3' * 64}"}
    for one in steps:
        del one["revision"]
    reused = {**named, "components": steps[0]["components"]}

    first, second, again, third, refused = shop.call(
        *(Step("workload_install", one) for one in (*steps, named, reused))
    )

    assert [one["changed"] for one in (first, second, again, third)] == [True, True, False, True]
    assert second["previous_revision"] == first["revision"] != second["revision"]
    assert (refused["error"]["class"], refused["error"]["code"]) == ("config", "revision-reused")
    assert (refused["changed"], refused["revision"]) == (False, named["revision"])
    assert shop.page()["greeting"] == "three"


@pytest.mark.full
def test_a_release_gets_the_time_of_the_call(shop: Shop) -> None:
    """A release that ran before may be given other limits; going back takes those it had."""
    folder = f"/var/lib/margrave/deployments/{shop.deployment}"
    noted = f"cat {folder}/current/release.json"
    longer = {**shop.content("1.0.0", timeout=90), "health": {"timeout": 70, "grace": 1}}

    shop.call(shop.install("1.0.0"), shop.update("1.1.0"), Step("workload_update", longer))
    updated = json.loads(shop.ssh(noted))
    shop.call(shop.update("1.1.0"), shop.rollback())
    back = json.loads(shop.ssh(noted))
    shop.one(shop.rollback(release=_release(shop, "1.1.0"), health={"timeout": 50}))
    told = json.loads(shop.ssh(noted))

    limits = {"timeout": 70, "grace": 1}
    assert (updated["health"], updated["components"][0]["timeout"]) == (limits, 90)
    assert (back["version"], back["health"]) == ("1.0.0", limits)
    assert (told["version"], told["health"]) == ("1.1.0", {"timeout": 50, "grace": 5})


def _release(shop: Shop, version: str) -> str:
    """The release that follows from a version's revision."""
    return sha256(shop.content(version)["revision"].encode()).hexdigest()


def test_values_are_taken_literally(shop: Shop) -> None:
    """Whatever a value holds, the container sees it as it is, and the system log does not."""
    ugly = 'it\'s "$HOME" ${X} \\n \\ #ü'

    result = shop.one(Step("workload_install", shop.content("1.0.0", greeting=ugly)))

    logged = shop.ssh(f"journalctl --no-pager -o cat | grep {shop.deployment} | grep -v health")
    assert result["state"] == "INSTALLED"
    assert shop.page()["greeting"] == ugly
    assert f"deployment {shop.deployment} request -" in logged
    assert "GREETING" not in logged


@pytest.mark.full
def test_what_only_proves_health_changes_nothing(shop: Shop) -> None:
    """Where a call was cut off and all runs as it should, check and act say so alike; what the
    policy of now denies is denied in both."""
    shop.one(shop.install("1.0.0"))
    shop.one(shop.update("1.1.0"))
    cut_off = (
        'sed -i \'s/"phase": "done"/"phase": "switch"/\''
        f" /var/lib/margrave/deployments/{shop.deployment}/journal.json"
    )
    old, new = (shop.content(version)["revision"] for version in ("1.0.0", "1.1.0"))
    narrow = {"policy": {"registries": ["nowhere.example"]}}

    answers = []
    for step in (shop.update("1.1.0"), shop.rollback(revision=new)):
        shop.ssh(cut_off)
        answers += shop.call(*four(step))
    denied = shop.call(*four(shop.rollback(revision=old, **narrow)))

    assert {one["changed"] for one in answers} == {False}
    assert_alike(answers[:4])
    assert_alike(answers[4:])
    assert {one["error"]["code"] for one in denied} == {"policy"}
    assert shop.page()["version"] == "1.1.0"


def test_drift_is_told_and_mended(shop: Shop) -> None:
    """What a person removes or changes is told, and mended by the same revision called again."""
    shop.one(shop.install("1.0.0"))
    shop.ssh(f"{shop.engine} rm -f $({shop.engine} ps -qf name=web)")
    shop.ssh(f"{shop.engine} update --cpu-shares 512 $({shop.engine} ps -qf name=cache)")
    look = Step("workload_info", {"deployment": shop.deployment})

    drifted, would, mended, again, fine = shop.call(
        look,
        shop.update("1.0.0", check=True),
        shop.update("1.0.0"),
        shop.update("1.0.0"),
        look,
    )

    workload = drifted["workloads"][0]
    told = {(one["service"], one["what"]) for one in workload["drift"]}
    assert told == {("web", "missing"), ("cache", "limits")}
    assert workload["health"] == "degraded"
    assert (would["changed"], mended["changed"], again["changed"]) == (True, True, False)
    assert fine["workloads"][0]["drift"] == []
    assert fine["workloads"][0]["health"] == "healthy"
    assert shop.page()["version"] == "1.0.0"


@pytest.mark.full
def test_what_is_too_much_is_told_and_goes(shop: Shop) -> None:
    """A service that a person started once more has one container too many, until it is mended."""
    shop.one(shop.install("1.0.0"))
    release = f"/var/lib/margrave/deployments/{shop.deployment}/current"
    project = '{{index .Config.Labels "com.docker.compose.project"}}'
    shop.ssh(
        f"export DOCKER_HOST=unix:///run/{SOCKETS[shop.engine]};"
        f" docker-compose -p $({shop.engine} inspect -f '{project}'"
        f" $({shop.engine} ps -qf name=cache))"
        f" --project-directory $(realpath {release})/components/storefront"
        f" -f {release}/storefront.compose.json up -d --no-recreate --scale cache=2 cache"
    )
    count = f"{shop.engine} ps -q --filter label=com.docker.compose.service=cache | wc -l"
    before = shop.ssh(count)
    look = Step("workload_info", {"deployment": shop.deployment})

    drifted, mended, fine = shop.call(look, shop.install("1.0.0"), look)

    told = [(one["service"], one["what"]) for one in drifted["workloads"][0]["drift"]]
    assert (before.strip(), told) == ("2", [("cache", "extra")])
    assert (mended["changed"], mended["state"]) == (True, "INSTALLED"), mended["error"]
    assert fine["workloads"][0]["drift"] == []
    assert shop.ssh(count).strip() == "1"


def test_a_node_tells_what_it_is(shop: Shop) -> None:
    """A lab node passes its checks and can take Compose deployments."""
    node = shop.one(Step("node_info", {}))

    assert [one["name"] for one in node["checks"] if not one["ok"]] == []
    assert node["capabilities"]["deployment_types"] == ["compose"]
    assert node["capabilities"]["architecture"] == "amd64"
    assert node["capabilities"]["engines"][0]["name"] == shop.engine


def test_a_compose_file_cannot_read_the_node(shop: Shop, tmp_path: Path) -> None:
    """Its own files are a package's to read; what leads out of it does not even travel."""
    text = (shop.packages["1.0.0"] / "compose.yaml").read_text()
    content = shop.content("1.0.0")
    for name, path in (("fine", "own.env"), ("nosy", "/etc/shadow"), ("stray", "own.env")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "own.env").write_text("OWN=1\n")
        reading = f"  cache:\n    env_file: {path}\n"
        (folder / "compose.yaml").write_text(text.replace("  cache:\n", reading, 1))
    stray = tmp_path / "stray/compose.yaml"
    stray.write_text(stray.read_text().replace('"data:/data"', '"data:/data", "../x:/x"'))
    wanted = {
        name: dict(content["components"][0], src=str(tmp_path / name))
        for name in ("fine", "nosy", "stray")
    }

    free = {"policy": {"host_paths": ["/"]}}
    fine, nosy, stayed = shop.call(
        *(
            Step("workload_install", {**content, **free, "components": [one]}, check=True)
            for one in wanted.values()
        )
    )

    assert fine["error"] is None
    assert nosy["error"]["class"] == "config"
    assert stayed["error"]["code"] == "stray-file", stayed["error"]
    assert '"/etc/shadow" leads out of the component' in nosy["error"]["message"]
