"""The whole path, as a user walks it: each test begins where the one before it ended."""

from __future__ import annotations

import hashlib
import hmac
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.support.demo import Demo, margrave
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab

SITES = ("--site", "harbor", "--site", "depot")
NODES = {"harbor-1", "harbor-2", "depot-1"}


def test_the_demo_ends_with_storefront_healthy_on_every_node(demo: Demo) -> None:
    """After `make demo` each node answers with version 1.0.0 and all is INSTALLED."""
    answers = demo.answers()

    assert set(answers) == NODES
    assert {answer["version"] for answer in answers.values()} == {"1.0.0"}
    assert {answer["greeting"] for answer in answers.values()} == {"hello"}
    assert {(p["state"], p["outcome"], p["freshness"]) for p in demo.placements().values()} == {
        ("INSTALLED", "succeeded", "fresh")
    }
    for name in ("MARGRAVE_DEPLOYMENTS_REPO", "MARGRAVE_REGISTRY", "MARGRAVE_WEBHOOK_SECRET"):
        assert demo.env[name]


def test_a_second_demo_finds_what_is_there(demo: Demo) -> None:
    """`margrave demo up` again leaves processes, nodes and deployments as they are."""
    before = demo.status()

    demo.done("demo", "up")

    assert demo.status() == before
    assert len(demo.deployments()) == 2


def test_an_update_reaches_every_node_one_first(demo: Demo) -> None:
    """1.1.0 with another greeting runs everywhere; at a site one node goes first."""
    greeting = 'hei "du" \\ på $kaia: {1}'
    demo.done(
        "deploy", "storefront@1.1.0", *SITES, "--set", f"greeting={greeting}", "--wait",
        "--timeout", "180s",
    )  # fmt: skip

    answers = demo.answers()
    assert {answer["version"] for answer in answers.values()} == {"1.1.0"}
    assert {answer["greeting"] for answer in answers.values()} == {greeting}
    harbor = demo.deployments()["harbor"]["id"]
    moves = [
        (entry["node"], entry["from"], entry["to"])
        for entry in demo.items(f"/deployments/{harbor}/history")
        if "UPDATING" in (entry["from"], entry["to"])
    ]
    first, second = moves[0][0], moves[2][0]
    assert {first, second} == {"harbor-1", "harbor-2"}
    assert moves == [
        (first, "INSTALLED", "UPDATING"),
        (first, "UPDATING", "INSTALLED"),
        (second, "INSTALLED", "UPDATING"),
        (second, "UPDATING", "INSTALLED"),
    ]


def test_a_bad_release_goes_back_and_is_not_tried_again(demo: Demo) -> None:
    """1.2.0 never gets healthy: rolled back where it was tried, held where it was not."""
    failed = demo.margrave(
        "deployment", "update", "storefront", "--version", "1.2.0", "--wait", "--timeout", "240s"
    )
    assert failed.code == 1, failed.out + failed.err

    placements = demo.placements()
    assert {(p["state"], p["version"]) for p in placements.values()} == {("INSTALLED", "1.1.0")}
    harbor = sorted(placements[node]["outcome"] for node in ("harbor-1", "harbor-2"))
    assert harbor == ["held", "rolled-back"]
    assert placements["depot-1"]["outcome"] == "rolled-back"
    assert {answer["version"] for answer in demo.answers().values()} == {"1.1.0"}

    settled = demo.history()
    demo.done("runner", "once", "--config", "var/demo/harbor/margrave.toml")
    demo.done("runner", "once", "--config", "var/demo/depot/margrave.toml")
    assert demo.history() == settled
    assert not any(entry["irregular"] for entry in settled)


def test_the_next_good_release_goes_through(demo: Demo) -> None:
    """A quarantined revision stands in nobody's way."""
    demo.done("deploy", "storefront@1.0.0", *SITES, "--wait", "--timeout", "180s")

    assert {answer["version"] for answer in demo.answers().values()} == {"1.0.0"}
    assert {p["outcome"] for p in demo.placements().values()} == {"succeeded"}


def _git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@harbor.example")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_persons_edit_in_git_arrives_and_is_not_undone(demo: Demo, tmp_path: Path) -> None:
    """What a person pushes runs, and stays when the controller changes something else."""
    _git(tmp_path, "clone", "--quiet", demo.env["MARGRAVE_DEPLOYMENTS_REPO"], "clone")
    clone = tmp_path / "clone"
    document = clone / "deployments/depot" / f"{demo.deployments()['depot']['id']}.yaml"
    raw: dict[str, Any] = yaml.safe_load(document.read_text())
    raw["spec"]["parameters"]["greeting"]["value"] = "by hand"
    document.write_text(yaml.safe_dump(raw, sort_keys=True, allow_unicode=True))
    _git(clone, "commit", "--quiet", "--all", "--message", "Greet by hand")
    _git(clone, "push", "--quiet")

    eventually(
        lambda: (demo.answers()["depot-1"] or {}).get("greeting") == "by hand",
        60,
        "the edit arrives",
    )
    demo.done(
        "deployment", "update", "storefront", "--site", "depot", "--version", "1.1.0", "--wait",
        "--timeout", "120s",
    )  # fmt: skip
    assert demo.answers()["depot-1"] == {"version": "1.1.0", "greeting": "by hand"}
    assert demo.deployments()["depot"]["parameters"] == {"greeting": "by hand"}


@pytest.mark.parametrize("victim", ["runner", "controller"])
def test_a_killed_process_finishes_its_work_when_it_is_back(demo: Demo, victim: str) -> None:
    """kill -9 in the middle of an update: the operation ends as it should, nothing is doubled."""
    version = {"runner": "1.1.0", "controller": "1.0.0"}[victim]
    seen = {entry["operation"] for entry in demo.history()}
    demo.done("deployment", "update", "storefront", "--site", "harbor", "--version", version)

    def at_work() -> bool:
        states = {p["state"] for p in demo.placements().values() if p["site"] == "harbor"}
        return "UPDATING" in states

    eventually(at_work, 60, "the update is at work")
    os.kill(_pid(demo, victim), signal.SIGKILL)
    demo.done("demo", "up")
    eventually(
        lambda: (
            {
                (p["state"], p["version"], p["outcome"])
                for p in demo.placements().values()
                if p["site"] == "harbor"
            }
            == {("INSTALLED", version, "succeeded")}
        ),
        90,
        "the update is finished",
    )

    fresh = [e for e in demo.history() if e["operation"] not in seen and e["node"] != "depot-1"]
    for node in ("harbor-1", "harbor-2"):
        moves = [(e["from"], e["to"]) for e in fresh if e["node"] == node]
        assert moves == [("INSTALLED", "UPDATING"), ("UPDATING", "INSTALLED")]
    assert {demo.answers()[node]["version"] for node in ("harbor-1", "harbor-2")} == {version}
    assert len(demo.deployments()) == 2


def _pid(demo: Demo, victim: str) -> int:
    status = demo.status()
    if victim == "controller":
        return int(status["controller"]["pid"])
    return int(next(one["pid"] for one in status["runners"] if one["site"] == "harbor"))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("deploy", "storefrnt@1.0.0", "--site", "harbor"), 3, "storefrnt"),
        (("deploy", "storefront@9.9.9", "--site", "harbor"), 3, "9.9.9"),
        (("deploy", "storefront@1.0.0", "--site", "atlantis"), 3, "atlantis"),
        (
            ("deploy", "storefront", "--site", "harbor", "--set", "greeting=" + "x" * 41),
            1,
            "/parameters/greeting",
        ),
        (("deploy", "storefront", "--site", "harbor", "--set", "greting=hi"), 1, "greeting"),
        (("deployment", "show", "nothing"), 3, "nothing"),
        (("deployment", "frobnicate"), 2, "frobnicate"),
    ],
    ids=["app", "version", "site", "schema", "parameter", "deployment", "verb"],
)
def test_bad_input_is_refused_clearly_and_changes_nothing(
    demo: Demo, arguments: tuple[str, ...], code: int, words: str
) -> None:
    """One clear error, the fixed exit code, and nothing written."""
    head = _head(demo)

    ran = demo.margrave(*arguments)

    assert (ran.code, words in ran.err) == (code, True), ran.out + ran.err
    assert "Traceback" not in ran.err
    assert _head(demo) == head


def _head(demo: Demo) -> str:
    done = subprocess.run(
        ["git", "ls-remote", demo.env["MARGRAVE_DEPLOYMENTS_REPO"], "main"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()[0]


def test_a_broken_package_is_told_with_path_finding_and_cure(demo: Demo, tmp_path: Path) -> None:
    """`margrave lint` names the place; a source with a broken package harms no other."""
    package = tmp_path / "broken"
    package.mkdir()
    text = Path("examples/apps/storefront/1.0.0/margo.yaml").read_text()
    (package / "margo.yaml").write_text(text.replace("deploymentProfiles", "deploymentProfile"))

    ran = margrave("lint", str(package))

    assert ran.code == 1
    assert "deploymentProfiles" in ran.out + ran.err
    assert "margo.yaml" in ran.out + ran.err


def test_a_webhook_is_taken_only_with_its_signature(demo: Demo) -> None:
    """The runner's door takes a signed push and refuses a forged one."""
    url = next(one["url"] for one in demo.status()["runners"] if one["site"] == "harbor")
    repository = demo.env["MARGRAVE_URL"] + "/git/deployments.git"
    body = (
        '{"ref": "refs/heads/main", "after": "' + _head(demo) + '",'
        ' "repository": {"clone_url": "' + repository + '", "full_name": "margrave/deployments"}}'
    ).encode()
    secret = demo.env["MARGRAVE_WEBHOOK_SECRET"].encode()
    signature = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
    headers = {
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": "one",
        "Content-Type": "application/json",
    }

    taken = httpx.post(
        f"{url}/hooks/git", content=body, headers={**headers, "X-Hub-Signature-256": signature}
    )
    forged = httpx.post(
        f"{url}/hooks/git",
        content=body,
        headers={**headers, "X-Hub-Signature-256": "sha256=" + "0" * 64},
    )

    assert taken.status_code == 202, taken.text
    assert forged.status_code == 401


def test_delete_leaves_nothing_of_ours_and_all_that_is_not(demo: Demo) -> None:
    """Containers, networks, files and images are gone; volumes and foreign things stay."""
    registry = "registry.margrave.lab:5000"
    demo.on_node("harbor-1", f"podman run -d --name foreign {registry}/idle:1")
    harbor = demo.deployments()["harbor"]["id"]

    demo.done("deployment", "delete", "storefront", "--yes", "--wait", "--timeout", "120s")

    assert demo.deployments() == {}
    gone = demo.get(f"/deployments/{harbor}")
    assert (gone["state"], gone["outcome"]) == ("DELETED", "succeeded")
    for node in NODES:
        ours = "--filter label=margrave.deployment -q"
        assert demo.on_node(node, f"podman ps -a {ours}; podman network ls {ours}").strip() == ""
        assert "data" in demo.on_node(node, "podman volume ls -q")
        assert "storefront" not in demo.on_node(node, "podman images --format '{{.Repository}}'")
        files = demo.on_node(node, "find /var/lib/margrave -type f -printf '%P\\n'").split()
        assert all(name == "fence.json" or name.startswith("fences/") for name in files), files
    assert "foreign" in demo.on_node("harbor-1", "podman ps --format '{{.Names}}'")
