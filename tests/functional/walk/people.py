"""Doors that need no token, people and their tokens, and how refusals look."""

from __future__ import annotations

from tests.functional.walk.world import World


def doors(w: World) -> None:
    """Health, readiness, descriptions; whoever asks."""
    for door in ("/healthz", "/readyz"):
        told = w.ask("GET", door, token="")
        assert told["status"] == "ok" and isinstance(told["checks"], list)
    assert w.ask("GET", "/openapi.json", token="")["openapi"].startswith("3.1")
    for name in ("application-description", "application-deployment"):
        assert "$schema" in w.ask("GET", f"/schemas/{name}.json", token="")
    assert "# TYPE margrave_" in w.ask("GET", "/metrics", token="")  # this is loopback
    assert w.ask("GET", "/meta/capabilities")["api"] == "v1"
    answer = w.send("GET", "/meta/capabilities", headers={"X-Request-Id": "walk-1"})
    assert answer.headers["X-Request-Id"] == "walk-1"


def tokens_and_users(w: World) -> None:
    """Shown once, in roles, revoked; people sign in and are taken away."""
    for role in ("viewer", "operator"):
        made = w.ask("POST", "/tokens", 201, json={"name": role, "role": role})
        assert made["id"] and made["token"]
        w.ids[role] = made["token"]
    ends = {"name": "short", "role": "viewer", "expires_at": "2999-01-01T00:00:00Z"}
    short = w.ask("POST", "/tokens", 201, json={**ends, "sites": ["harbor"]})
    listed = w.items("/tokens", "token")
    assert short["id"] in [one["id"] for one in listed]
    assert not [one for one in listed if "token" in one], "a token is shown once"
    w.ask("GET", "/sites/harbor", token=short["token"])
    w.ask("DELETE", f"/tokens/{short['id']}", 204)
    w.ask("GET", "/sites/harbor", 401, token=short["token"])
    ada = {"name": "ada", "password": "correct horse battery", "role": "viewer"}
    w.ask("POST", "/users", 201, json=ada)
    w.ask("POST", "/users", 409, json=ada)
    assert "ada" in [one["name"] for one in w.items("/users", "user")]
    w.ask("PATCH", "/users/ada", json={"role": "operator"})
    login = {"user": "ada", "password": ada["password"]}
    signed_in = w.ask("POST", "/login", 201, token="", json=login)
    assert signed_in["id"]
    w.ask("POST", "/sites/harbor/resume", token=signed_in["token"])
    w.ask("DELETE", "/users/ada", 204)
    w.ask("GET", "/sites", 401, token=signed_in["token"])


def refusals(w: World) -> None:
    """Each status in the same shape, with what helps."""
    w.ask("POST", "/tokens", 400, content=b"{")
    w.ask("GET", "/sites", 401, token="")
    w.ask("GET", "/sites", 401, token="mgt_nobodys")
    w.ask("POST", "/plans", 403, token=w.site.token, json={})
    w.ask("POST", "/deployments", 403, token=w.ids["viewer"], json={})
    w.ask("POST", "/tokens", 403, token=w.ids["operator"], json={"name": "x", "role": "admin"})
    w.ask("GET", "/nothing", 404)
    w.ask("GET", "/sites/nowhere", 404)
    w.ask("PUT", "/sites", 405)
    large = b" " * (2**20 + 1)  # left unread, so the connection ends
    w.ask("POST", "/sites", 413, content=large, headers={"Connection": "close"})
    for query in ("limit=0", "limit=x", "cursor=zork"):
        told = w.ask("GET", f"/deployments?{query}", 422)
        assert told["errors"][0]["pointer"] == f"/{query.partition('=')[0]}"
    told = w.ask("POST", "/sites", 422, json={"name": "depot", "zork": 1})
    assert told["errors"][0]["pointer"] == "/zork"
    wrong = {"user": "nobody", "password": "x"}
    for _ in range(30):
        answer = w.send("POST", "/login", token="", json=wrong)
        if answer.status_code == 429:
            break
        assert answer.status_code == 401
    assert answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0
    assert answer.json()["cure"]
    actions = [one["action"] for one in w.items("/audit", "audit")]
    assert {"login", "token.create", "user.remove"} <= set(actions)
