"""Every refusal is problem details with a place, a finding and a cure."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.functional.controller.kit import Api


def _is_problem(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/problem+json"
    body = answer.get_json(force=True)
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    assert isinstance(body["errors"], list)
    return body


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/nothing/here", 404),
        ("put", "/api/v1/deployments", 405),
        ("get", "/api/v1/deployments", 401),
    ],
)
def test_flasks_own_refusals_are_problems(client: FlaskClient, method, path, status):
    """An unknown address, a wrong method and a missing token are told in the same shape."""
    _is_problem(getattr(client, method)(path), status)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"", 400),
        (b'{"a": NaN}', 400),
        (b'{"a": 1, "a": 2}', 400),
        (b'{"a": "\\ud800"}', 400),
        (b'{"a": "\\u0000"}', 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b"[]", 422),
        (b'"text"', 422),
    ],
)
def test_what_is_not_a_json_object_is_refused(admin: Api, body, status):
    """A body is a JSON object in UTF-8, or it is refused before anything reads it."""
    _is_problem(admin.post("/tokens", data=body), status)


def test_a_body_too_large_is_refused(admin: Api):
    """A body above one MiB is 413."""
    _is_problem(admin.post("/tokens", data=b" " * (1024 * 1024 + 1)), 413)


def test_a_gzip_bomb_is_refused(harbor):
    """What unpacks to more than the limit is 413, however small it came."""
    import gzip

    answer = harbor.client.post(
        "/api/v1/sites/harbor/reports",
        data=gzip.compress(b" " * (9 * 1024 * 1024)),
        headers={"Authorization": "Bearer runner-harbor", "Content-Encoding": "gzip"},
    )
    _is_problem(answer, 413)


def test_all_findings_come_at_once_with_their_places(admin: Api):
    """Unknown keys, missing keys and wrong values are told together, each with its pointer."""
    answer = admin.post("/tokens", json={"rolle": "admin", "name": 5})
    found = {one["pointer"]: one for one in _is_problem(answer, 422)["errors"]}
    assert found["/rolle"]["code"] == "unknown-key"
    assert "role" in found["/rolle"]["cure"]
    assert found["/role"]["code"] == "missing"
    assert "/name" in found


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "cursor=%00", "cursor=e30"])
def test_a_bad_page_is_a_finding(viewer: Api, query):
    """A limit or cursor that is none is 422."""
    body = _is_problem(viewer.get(f"/deployments?{query}"), 422)
    assert body["errors"][0]["pointer"] in ("/limit", "/cursor")


def test_a_word_nobody_knows_is_a_finding(viewer: Api):
    """A filter by a state that is none says which is meant."""
    body = _is_problem(viewer.get("/deployments?state=INSTALED"), 422)
    assert "INSTALLED" in body["errors"][0]["cure"]


def test_a_request_id_is_echoed_or_made(client: FlaskClient):
    """A sensible id comes back, a strange one is replaced."""
    assert (
        client.get("/healthz", headers={"X-Request-Id": "abc-1"}).headers["X-Request-Id"] == "abc-1"
    )
    made = client.get("/healthz", headers={"X-Request-Id": "a b\tc"}).headers["X-Request-Id"]
    assert len(made) == 36


def test_answers_carry_protecting_headers(client: FlaskClient):
    """Nothing inline, nothing from elsewhere, no sniffing, no frames."""
    headers = client.get("/healthz").headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_an_error_inside_tells_nothing_of_the_inside(client, parts, monkeypatch, viewer: Api):
    """An unexpected error is 500 with an id for the log, without a trace."""
    from controller.store import fleet

    def broken(*_, **__):
        raise RuntimeError("the secret inside")

    monkeypatch.setattr(fleet, "sites", broken)
    answer = viewer.get("/sites")
    assert "secret inside" not in answer.text
    assert _is_problem(answer, 500)["request_id"] == answer.headers["X-Request-Id"]
