"""What is secret stands in nothing that is stored or answered, whoever quotes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import (
    _masking,
    _release,
    _request,
)
from ansible_collections.margrave.edge.plugins.module_utils._apply import switch_to
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._errors import EngineError
from ansible_collections.margrave.edge.plugins.module_utils._files import point
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs
from ansible_collections.margrave.edge.plugins.module_utils._shell import operate

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
RUNNER = "aaaaaaaa-0000-0000-0000-000000000000"
DIGEST = "sha256:" + "0" * 64
SECRET = 'hunter2 "quoted" \\ ü'
COLLECTIONS = Path(__file__).resolve().parents[3] / "collections"


def _component(**variables: Any) -> dict[str, Any]:
    return {"name": "web", "digest": DIGEST, "variables": variables}


def _params(**more: Any) -> dict[str, Any]:
    fence = {"runner": RUNNER, "epoch": 1, "seq": 1}
    return {"deployment": ID, "revision": DIGEST, "fence": fence, **more}


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"secrets": [SECRET], "components": [_component(GREETING="hello")]}, (SECRET,)),
        ({"secrets": [], "components": [_component(GREETING="hello")]}, ()),
        ({"secrets": [], "registries": [{"host": "h", "password": "p4ss"}]}, ("p4ss",)),
        ({"components": "not a list", "registries": None}, ()),
    ],
    ids=["the runner names one", "the runner names none", "a login", "wrong types"],
)
def test_what_is_secret(params: dict[str, Any], found: tuple[str, ...]) -> None:
    """With `secrets` only these count, and passwords of registries."""
    assert _masking.secrets_of(params) == found


@pytest.mark.parametrize(
    "name",
    [
        "DB_PASSWORD",
        "dbPassword",
        "PGPASSWORD",
        "DB_PASS",
        "db.auth.user",
        "API_KEY",
        "apikey",
        "AccessKeys",
        "SESSION_SECRET",
        "GITHUB_TOKEN",
        "AWS_CREDENTIALS",
        "PRIVATE_SETTINGS",
        "BASIC_AUTH",
        "SALT",
        "SLACK_WEBHOOK",
    ],
)
def test_without_a_list_a_name_tells_a_secret(name: str) -> None:
    """A variable counts that is named as secrets usually are, numbers too."""
    assert _masking.secrets_of({"components": [_component(**{name: "hunter2"})]}) == ("hunter2",)
    assert _masking.secrets_of({"components": [_component(**{name: 123456})]}) == ("123456",)
    assert _masking.secrets_of({"components": [_component(**{name: True})]}) == ()
    assert _masking.secrets_of({"components": [_component(**{name: "false"})]}) == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "8080"),
        ("LISTEN", "0.0.0.0:8080"),
        ("DB_HOST", "db.plant.example.com"),
        ("GREETING", "hello world"),
        ("DEBUG", "true"),
        ("AUTHOR", "somebody"),
        ("KEYCLOAK_URL", "https://login.example.com/realms/plant"),
        ("COMPASS", "north"),
        ("IMAGE", "registry.example.com:5000/web@sha256:0123"),
    ],
)
def test_without_a_list_ordinary_values_are_shown(name: str, value: str) -> None:
    """Ports, addresses and host names are what an error is understood by."""
    assert _masking.secrets_of({"components": [_component(**{name: value})]}) == ()


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("postgres://shop:hunter2@db:5432/shop", ("hunter2",)),
        ("Server=db;Password=hunter2;Port=1", ("hunter2",)),
        ('{"user": "shop", "password": "hunter2"}', ("hunter2",)),
        ("-----BEGIN PRIVATE KEY-----\nMIIE", ("-----BEGIN PRIVATE KEY-----\nMIIE",)),
    ],
    ids=["address", "connection string", "JSON", "key"],
)
def test_without_a_list_a_password_in_a_text_is_found(value: str, found: tuple[str, ...]) -> None:
    """The variable's name does not matter, and the rest of the text stays readable."""
    assert _masking.secrets_of({"components": [_component(SETTING=value)]}) == found


@pytest.mark.parametrize(
    "values",
    [
        {"db.password": "hunter2", "db.host": "plant"},
        {"db": {"password": "hunter2", "host": "plant"}},
        {"tokens": ["hunter2"], "hosts": ["plant"]},
        {"env": [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "A", "value": "plant"}]},
    ],
    ids=["dotted", "nested", "a list", "Kubernetes' name and value"],
)
def test_values_of_charts_are_judged_by_all_names_above(values: dict[str, Any]) -> None:
    """A chart's values are nested, and any name on the way may mark a secret."""
    assert _masking.secrets_of({"components": [{"values": values}]}) == ("hunter2",)


@pytest.mark.parametrize(
    "quoted",
    [SECRET, json.dumps(SECRET), json.dumps(SECRET, ensure_ascii=False), repr(SECRET)],
)
def test_a_secret_is_found_however_it_is_quoted(quoted: str) -> None:
    """As it is, and as JSON, Go and Python write it."""
    said = _masking.masked(quoted, [SECRET])

    assert "hunter2" not in said
    assert _masking.MASK in said


def test_a_secret_of_several_lines_is_found_line_by_line() -> None:
    """A program's words are put into one line before they are told."""
    key = "-----BEGIN KEY-----\nMIIEvQ\nIBADAN\n-----END KEY-----\n"

    said = _masking.masked("bad key: " + " ".join(key.split("\n")), [key])

    assert "MIIE" not in said
    assert "IBAD" not in said


def test_logins_are_not_kept_with_a_release() -> None:
    """What a release's variables hold is kept beside them; a password went with the pull."""
    params = _params(
        secrets=[SECRET, "p4ssword"],
        components=[_component(URL=f"postgres://shop:{SECRET}@db")],
        registries=[{"host": "r.example", "username": "u", "password": "p4ssword"}],
    )

    request = _request.read(params)

    assert set(request.secrets) == {SECRET, "p4ssword"}
    assert request.lasting_secrets == [SECRET]


def test_words_of_a_program_lose_secrets_before_they_are_cut(tmp_path: Path) -> None:
    """The cut of a long message must not leave half of a secret."""
    programs = Programs(masked=lambda text: _masking.masked(text, ["hunter2"]))

    ran = programs.run(["/bin/sh", "-c", "echo hunter2; echo hunter2 >&2"], 10, {})

    assert (ran.out, ran.err) == ("hunter2\n", "[redacted]\n")


class Quoting:
    """A driver whose program quotes the release's secret, and, going back, the older one's."""

    profile = "compose"

    def __init__(self, *words: str) -> None:
        self.words = list(words)

    def __getattr__(self, _name: str) -> Any:
        return lambda *_, **__: []

    def health(self, *_: Any) -> str:
        """Nobody knows."""
        return "unknown"

    def run(self, *_: Any) -> None:
        """Fail, and quote."""
        raise EngineError("up-failed", f'invalid port "{self.words.pop(0)}"', "mend it")


def _release_here(call: Call, name: str) -> _release.Release:
    part = _release.Part("web", DIGEST, "project")
    release = _release.Release(name * 64, DIGEST, "1.0.0", "shop", "shop", {}, [part])
    Path(call.folder.release(release.release)).mkdir(parents=True)
    release.store(call.folder)
    return release


def test_a_failure_stores_and_answers_no_secret(tmp_path: Path) -> None:
    """Neither the journal nor the record of the call, also of the release that is gone back to."""
    layout = Layout(str(tmp_path / "state"), str(tmp_path / "run"))

    def work(call: Call) -> None:
        call.driver = Quoting("new-secret", "old-secret")
        old, new = _release_here(call, "a"), _release_here(call, "b")
        _release.store_secrets(call.folder.release(old.release), ["old-secret"])
        point(call.folder.path, {"current": f"releases/{old.release}"})
        switch_to(call, call.observe(), new)

    answer = operate("update", _params(secrets=["new-secret"]), False, work, layout)
    (tmp_path / "state" / "deployments" / ID / "releases" / ("a" * 64) / "secrets.json").unlink()
    stored = [one.read_text() for one in (tmp_path / "state").rglob("*") if one.is_file()]

    assert answer["error"]["message"] == (
        'invalid port "[redacted]"; going back failed too: invalid port "[redacted]"'
    )
    assert "-secret" not in json.dumps(answer)
    assert [text for text in stored if "-secret" in text] == []


MODULE = """
import json, sys
from ansible.module_utils import basic
from ansible_collections.margrave.edge.plugins.modules import workload_update
basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": json.load(sys.stdin)}).encode()
basic._ANSIBLE_PROFILE = "legacy"
workload_update.main()
"""


@pytest.mark.parametrize(
    "wrong", [{"nonsense": True}, {"deadline": SECRET}, {"profile": SECRET}], ids=str
)
def test_parameters_that_are_refused_are_not_repeated(wrong: dict[str, Any]) -> None:
    """A wrong option is told as Ansible tells it, and none of the values beside it."""
    params = _params(
        name="shop",
        application="shop",
        secrets=[SECRET],
        components=[{**_component(PASSWORD=SECRET), "archive": "content"}],
        **wrong,
    )
    ran = subprocess.run(
        [sys.executable, "-c", MODULE],
        input=json.dumps(params),
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS)},
        capture_output=True,
        text=True,
        check=False,
    )
    answer = json.loads(ran.stdout)

    assert answer["failed"] is True
    assert next(iter(wrong)) in answer["msg"]
    assert answer["invocation"] == {"module_args": {"deployment": ID}}
    assert "hunter2" not in ran.stdout + ran.stderr
