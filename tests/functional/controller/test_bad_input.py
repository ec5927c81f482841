"""Bad input by the dozen: a clear answer with a cure, the right status, and nothing changed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from controller.parts import Parts
from tests.functional.controller.kit import Api, add_deployment, add_site, clear, rows_of

SITE, NODE, ONE = "/sites/harbor", "/sites/harbor/nodes/harbor-1", "/deployments/ONE"
NAMES = [
    "..",
    "../../etc/passwd",
    "..%2f..%2fetc",
    "%2e%2e%2f",
    "harbor/../depot",
    "harbor%00",
    "-rf",
    "--upload-pack=id",
    "$(id)",
    "`id`",
    "a;id",
    "HARBOR",
    "h\u0430rbor",  # a Cyrillic letter
    "\uff48arbor",  # a full-width letter
    "har\u200bbor",
    "\u202eharbor",
    "harbor\n",
    " harbor",
    "x" * 64,
    "x" * 3000,
    "{{7*7}}",
    "<script>alert(1)</script>",
    "' or '1'='1",
    "NULL",
]  # fmt: skip


@pytest.fixture
def one(parts: Parts) -> str:
    """A site with a deployment."""
    add_site(parts, "harbor")
    return add_deployment(parts, "harbor")


@pytest.fixture
def unchanged(parts: Parts, one: str) -> Iterator[None]:
    """After the test every table has the rows that it had; the audit may tell of refusals."""
    before = rows_of(parts)
    head = parts.repository.head()
    yield
    assert rows_of(parts) == before
    assert parts.repository.head() == head


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "path",
    ["/deployments?q=%00", "/deployments?site=a%00b", "/operations?node=%00", "/apps?%00=x"],
)
def test_a_null_character_is_nobodys_name(client: FlaskClient, admin: Api, path: str) -> None:
    """In a query or a form it is a finding, whether the database would take it or not."""
    clear(admin.get(path), 422)
    sent = {"user": "ada\0", "password": "x", "token": "x"}
    clear(client.post("/sign-in", data=sent), 422)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_that_is_none_meets_nothing(
    client: FlaskClient, admin: Api, operator: Api, one: str, name: str
) -> None:
    """In a path it is not found, in a body it is a finding; it never becomes a path or a word."""
    quoted = name.replace("\n", "%0A")
    for path in (f"/sites/{quoted}", f"/apps/{quoted}", f"/deployments/{quoted}/manifest"):
        answer = admin.get(path)
        assert answer.status_code in (308, 404), (path, answer.text)
        if answer.status_code == 404:
            clear(answer, 404)
    clear(admin.post("/sites", json={"name": name}), 422)
    clear(admin.post("/app-sources", json={"name": name, "url": "https://forge.example/x"}), 422)
    body = {"app": "shop", "name": name, "targets": {"sites": [name]}}
    found = clear(operator.post("/deployments", json=body), 422)
    assert {error["pointer"] for error in found["errors"]} >= {"/targets/sites/0"}
    clear(operator.post("/deployments", json={"app": name, "targets": {"sites": ["harbor"]}}), 422)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("method", "path", "body", "status", "pointer"),
    [
        ("post", "/deployments", {}, 422, "/app"),
        ("post", "/deployments", {"app": 5, "targets": {}}, 422, "/app"),
        ("post", "/deployments", {"app": "x", "targets": []}, 422, "/targets"),
        (
            "post",
            "/deployments",
            {"app": "x", "targets": {"sites": "harbor"}},
            422,
            "/targets/sites",
        ),
        (
            "post",
            "/deployments",
            {"app": "x", "targets": {"nodes": ["harbor"]}},
            422,
            "/targets/nodes/0",
        ),
        (
            "post",
            "/deployments",
            {"app": "x", "targets": {"sites": ["harbor"]}, "parameters": 5},
            422,
            "/parameters",
        ),
        (
            "post",
            "/deployments",
            {"app": "x", "targets": {"sites": ["harbor"]}, "priority": "now"},
            422,
            "/priority",
        ),
        ("post", "/deployments/actions", {"action": "explode", "select": {}}, 422, "/action"),
        ("post", "/deployments/actions", {"action": "delete", "select": {}}, 422, "/select"),
        (
            "post",
            "/deployments/actions",
            {"action": "delete", "select": {"name": "none"}},
            422,
            "/select",
        ),
        (
            "post",
            "/deployments/actions",
            {"action": "delete", "select": {"ids": [5]}},
            422,
            "/select/ids/0",
        ),
        ("patch", ONE, {"version": 1}, 422, "/version"),
        ("patch", ONE, {"select": {"name": "x"}}, 422, "/select"),
        ("patch", ONE, {"zork": 1}, 422, "/zork"),
        ("post", f"{ONE}/rollback", {"version": "1.0.0"}, 422, "/version"),
        ("post", f"{ONE}/retry", {"priority": "urgent"}, 422, "/priority"),
        ("delete", ONE, {"zork": 1}, 422, "/zork"),
        ("patch", SITE, {"timezone": "Mars/Olympus"}, 422, "/timezone"),
        ("patch", SITE, {"policy": {"privileged": "maybe"}}, 422, "/policy/privileged"),
        ("patch", SITE, {"windows": [{"cron": "* *", "duration": "1h"}]}, 422, "/windows/0/cron"),
        ("patch", SITE, {"name": "other"}, 422, "/name"),
        ("post", f"{SITE}/pause", {"until": 5}, 422, "/until"),
        ("post", f"{SITE}/accept", {"commit": "HEAD; id"}, 422, "/commit"),
        ("post", "/tokens", {"name": "x", "role": "root"}, 422, "/role"),
        (
            "post",
            "/tokens",
            {"name": "x", "role": "viewer", "expires_at": "2020-01-01T00:00:00Z"},
            422,
            "/expires_at",
        ),
        ("post", "/tokens", {"name": "x", "role": "viewer", "sites": ["none"]}, 422, "/sites/0"),
        (
            "post",
            "/users",
            {"name": "kim", "role": "viewer", "password": "short"},
            422,
            "/password",
        ),
        ("post", "/app-sources", {"name": "x", "url": "ext::sh -c id"}, 422, "/url"),
        (
            "post",
            "/app-sources",
            {"name": "x", "url": "https://a.example/x", "path": "../.."},
            422,
            "/url",
        ),
        ("get", "/deployments?limit=0", None, 422, "/limit"),
        ("get", "/deployments?cursor=zork", None, 422, "/cursor"),
        ("get", "/deployments?state=zork", None, 422, "/state"),
        ("get", f"/deployments?q={'x' * 201}", None, 422, "/q"),
    ],
)
def test_what_is_wrong_in_a_request_is_told_at_its_place(
    admin: Api, one: str, method: str, path: str, body: Any, status: int, pointer: str
) -> None:
    """Wrong types, missing and unknown keys, words nobody knows: 422 with pointer and cure."""
    more = {} if body is None else {"json": body}
    found = clear(getattr(admin, method)(path.replace("ONE", one), **more), status)
    assert pointer in [error["pointer"] for error in found["errors"]], found["errors"]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("path", ["/deployments", "/tokens", "/sites"])
@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"{", 400),
        (b"{'a': 1}", 400),
        (b'{"a": Infinity}', 400),
        (b'{"a": 1e999}', 400),
        (b'{"a": 1, "a": 2}', 400),
        (b'"\xff"', 400),
        (b"[" * 50_000, 400),
        (b"[]", 422),
        (b"null", 422),
        (b'{"x": "' + b"y" * (1024 * 1024) + b'"}', 413),
    ],
    ids=range(10),
)
def test_what_is_no_json_object_is_refused(admin: Api, path: str, raw: bytes, status: int) -> None:
    """Broken, doubled, endless, deep, too big: each with its status, before anything reads it."""
    clear(admin.post(path, data=raw, content_type="application/json"), status)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", "/deployments/ID"),
        ("patch", "/deployments/ID"),
        ("delete", "/deployments/ID"),
        ("post", "/deployments/ID/retry"),
        ("get", "/deployments/ID/history"),
        ("get", "/requests/ID"),
        ("delete", "/requests/ID"),
        ("get", "/operations/ID"),
        ("get", "/operations/ID/log"),
        ("get", "/operations/ID/events"),
        ("get", "/artifacts/ID"),
        ("get", "/apps/none"),
        ("get", "/apps/none/versions/1.0.0"),
        ("delete", "/app-sources/none"),
        ("post", "/app-sources/none/sync"),
        ("get", "/sites/none"),
        ("delete", "/sites/none"),
        ("post", "/sites/none/pause"),
        ("post", "/sites/none/tokens"),
        ("delete", "/sites/harbor/tokens/ID"),
        ("get", NODE),
        ("delete", NODE),
        ("post", f"{NODE}/drain"),
        ("delete", "/tokens/ID"),
        ("patch", "/users/none"),
        ("delete", "/users/none"),
    ],
)
def test_what_is_not_there_is_404(admin: Api, one: str, method: str, path: str) -> None:
    """An unknown thing in the path, whatever is asked of it."""
    more = {"json": {}} if method in ("patch", "post") else {}
    clear(getattr(admin, method)(path.replace("ID", str(uuid.uuid4())), **more), 404)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("token", "status"),
    [("", 401), ("nobody", 401), ("x" * 4000, 401), ("admin ", 200), ("viewer", 403)],
)
def test_a_token_that_is_not_enough(client: FlaskClient, token: str, status: int) -> None:
    """Unknown ones are 401, those of too small a role 403; nothing is written for either."""
    headers = {"Authorization": f"Bearer {token}"}
    answer = client.get("/api/v1/tokens", headers=headers)
    if status == 200:
        assert answer.status_code == 200
    else:
        clear(answer, status)
        clear(client.post("/api/v1/users", headers=headers, json={"name": "x"}), status)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("key", ["", "k" * 201])
def test_a_key_that_is_none(admin: Api, key: str) -> None:
    """An Idempotency-Key is 1 to 200 characters."""
    body = {"app": "shop", "targets": {"sites": ["harbor"]}}
    answer = admin.post("/deployments", json=body, headers={"Idempotency-Key": key})
    assert clear(answer, 422)["errors"][0]["pointer"] == "/Idempotency-Key"


def test_a_short_password_is_told_the_rule(admin: Api):
    """The length that is asked for stands in the cure."""
    body = {"name": "kim", "password": "short", "role": "viewer"}
    (found,) = clear(admin.post("/users", json=body), 422)["errors"]
    assert (found["pointer"], found["cure"]) == ("/password", "at least 10 characters")
