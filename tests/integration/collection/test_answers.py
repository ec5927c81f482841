"""Answers to an engineer who uses the collection alone, on podman and on Docker."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from tests.support.private_registry import PASSWORD, USER, PrivateRegistry
from tests.support.shop import ENGINES, Shop, Step

pytestmark = [
    pytest.mark.lab,
    pytest.mark.parametrize("shop", ENGINES, indirect=True),
]

IDLE = "registry.margrave.lab:5000/idle:1"
SERVICE = "services: {{web: {{image: '{image}', command: [/bin/idle], {more}}}}}\n"


def _content(
    shop: Shop, compose: str, files: dict[str, str] | None = None, **variables: Any
) -> dict[str, Any]:
    """Parameters that install this compose.yaml, with these files beside it."""
    name = sha256(json.dumps([compose, files, variables]).encode()).hexdigest()
    package = shop.folder / name
    package.mkdir(exist_ok=True)
    for file, text in {"compose.yaml": compose, **(files or {})}.items():
        (package / file).write_text(text)
    component = {"name": "web", "src": str(package), "variables": variables, "timeout": 20}
    return {
        "deployment": shop.deployment,
        "name": "shop",
        "application": "shop",
        "version": name[:5],
        "components": [component],
    }


def _install(content: dict[str, Any], **more: Any) -> Step:
    return Step("workload_install", content, **more)


def test_a_forgotten_become_is_named_before_anything_else(shop: Shop) -> None:
    """As a module that Ansible carries, and where the collection's code lies on the node."""
    content = _content(shop, SERVICE.format(image=IDLE, more=""))
    nobody = {"words": {"become": True, "become_user": "nobody"}}
    steps = (
        _install(content, **nobody),
        Step("workload_info", {}, **nobody),
        Step("node_info", {}, **nobody),
    )
    carried = shop.call(*steps)
    shop.ssh("install -d -m 0700 -o nobody /run/user/65534")
    try:
        direct = shop.call(*steps)
        laid = shop.ssh("ls /run/user/65534")
    finally:
        shop.ssh("rm -rf /run/user/65534")

    assert "margrave-code" in laid
    for answer in (*carried, *direct):
        assert answer["failed"] is True
        assert (answer["error"]["class"], answer["error"]["code"]) == ("auth", "not-root")
        assert "become: true" in answer["msg"]
    assert shop.ssh("ls -A /var/lib/margrave /run/margrave 2>/dev/null || true").split() == [
        "/var/lib/margrave:"
    ]


def test_variables_that_miss_or_go_nowhere_are_warnings(shop: Shop) -> None:
    """In the answer, and as Ansible's own warnings; the call goes on."""
    content = _content(
        shop,
        SERVICE.format(image=IDLE, more="environment: {A: '${MISSING}', B: '${SET}', C: '${D:-}'}"),
        SET="yes",
        TYPO="no",
    )
    running = shop.begin(_install(content))
    output = " ".join(running.process.communicate(timeout=300)[0].split())
    (answer,) = json.loads(running.answers.read_text())

    assert answer["state"] == "INSTALLED", answer
    missing, unused = sorted(answer["warnings"])
    assert "uses variables that are not set, and gets empty text for them: MISSING (" in missing
    assert "variables that compose.yaml does not use: TYPO (" in unused
    assert output.count("[WARNING]: components.web: ") == 2


@pytest.mark.full
def test_an_override_file_is_refused(shop: Shop) -> None:
    """Before anything changes, in check mode too, with the cure."""
    compose = SERVICE.format(image=IDLE, more="")
    content = _content(shop, compose, {"compose.override.yaml": compose})

    answers = shop.call(_install(content, check=True), _install(content))

    for answer in answers:
        assert answer["error"]["code"] == "override-file"
        assert "merge it into compose.yaml" in answer["error"]["cure"]
    assert shop.ssh(f"{shop.engine} ps -aq --filter label=margrave.deployment") == ""


@pytest.mark.full
def test_a_port_that_is_taken_is_readable_in_the_error(shop: Shop) -> None:
    """Without a list of secrets ordinary values are shown, and a password is not."""
    more = "ports: ['${PORT}:80'], environment: {P: '${DB_PASSWORD}'}"
    compose = SERVICE.format(image=IDLE, more=more)
    content = _content(shop, compose, PORT="18765", DB_PASSWORD="18765-hunter2")
    other = {**content, "deployment": str(uuid.uuid4()), "name": "other"}

    first, second = shop.call(_install(content), _install(other))

    assert first["state"] == "INSTALLED", first
    assert second["error"]["code"] == "port-taken", second
    assert "18765" in second["error"]["message"]
    assert "[redacted]" not in second["error"]["message"]
    assert "hunter2" not in json.dumps([first, second])


@pytest.mark.full
def test_check_mode_asks_the_registry_for_missing_images(shop: Shop) -> None:
    """An image that does not exist fails alike, and nothing is fetched by asking."""
    tagged = "registry.margrave.lab:5000/storefront-web:1.2.0"
    shop.ssh(f"{shop.engine} rmi -f {tagged} 2>/dev/null || true")
    here = _content(shop, SERVICE.format(image=tagged, more=""))
    gone = _content(shop, SERVICE.format(image=IDLE.replace(":1", ":nothing"), more=""))

    exists, checked, done = shop.call(
        Step("workload_prefetch", here, check=True),
        _install(gone, check=True),
        _install(gone),
    )
    images = shop.ssh(f"{shop.engine} images --format '{{{{.Repository}}}}:{{{{.Tag}}}}'").split()

    assert (exists["changed"], exists["error"]) == (True, None)
    assert tagged not in images
    for answer in (checked, done):
        assert (answer["error"]["class"], answer["error"]["code"]) == ("image", "image-not-found")
        assert "idle:nothing" in answer["error"]["message"]


@pytest.mark.full
def test_check_mode_uses_the_login(shop: Shop, private: PrivateRegistry) -> None:
    """A registry that asks for a password answers as it does to the pull."""
    where = private.open_to(shop)
    image = f"{where}/storefront-web:1.2.0"
    content = _content(shop, SERVICE.format(image=image, more=""))
    login = {"host": where, "username": USER, "password": PASSWORD}
    wrong = {**login, "password": "guessed-wrong"}

    right, refused, without = shop.call(
        Step("workload_prefetch", {**content, "registries": [login]}, check=True),
        Step("workload_prefetch", {**content, "registries": [wrong]}, check=True),
        Step("workload_prefetch", content, check=True),
    )

    assert right["error"] is None, right
    assert (refused["error"]["class"], without["error"]["class"]) == ("auth", "auth")
    assert PASSWORD not in json.dumps(right)


@pytest.mark.full
def test_a_diff_shows_what_changes_and_no_secret(shop: Shop) -> None:
    """Files, variables and images as text; the same in check mode and for real."""
    more = "environment: {A: '${GREETING}', B: '${DB_PASSWORD}'}"
    first = SERVICE.format(image=IDLE, more=more)
    second = first + "x-note: changed\n"
    old = {"GREETING": "hello", "DB_PASSWORD": "first-hunter2"}
    new = {"GREETING": "good evening", "DB_PASSWORD": "second-hunter2"}
    shop.one(_install(_content(shop, first, **old)))
    update = Step("workload_update", _content(shop, second, **new), diff=True)

    running = shop.begin(replace(update, check=True), update)
    output = running.process.communicate(timeout=300)[0]
    checked, done = json.loads(running.answers.read_text())

    assert done["state"] == "INSTALLED", done
    assert checked["diff"] == done["diff"]
    assert [entry["after_header"] for entry in done["diff"]] == [
        "release",
        "web/compose.yaml",
        "variables of web",
    ]
    for line in ("-GREETING: hello", "+GREETING: good evening", "+x-note: changed"):
        assert output.count(line) == 2, output
    assert "+DB_PASSWORD: [redacted] (changed)" in output
    assert "hunter2" not in output
