"""What runners and forges say, and what is streamed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx

from tests.functional.walk.conftest import HOOK, MOST
from tests.functional.walk.world import World
from tests.support.waiting import eventually

AT = "2026-03-01T12:00:00Z"


@contextmanager
def _stream(
    w: World, path: str, token: str | None = None, last: str = ""
) -> Iterator[Iterator[str]]:
    """The lines of a stream that is open."""
    w.saw("GET", f"/api/v1{path}")
    headers = {"Authorization": f"Bearer {w.served.token if token is None else token}"}
    headers |= {"Last-Event-ID": last} if last else {}
    url = f"{w.served.url}/api/v1{path}"
    with httpx.stream("GET", url, headers=headers, timeout=30) as stream:
        assert stream.status_code == 200
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        assert next(line for line in lines if line == ": open")
        yield lines


def _event(
    lines: Iterator[str], word: str, fits: Callable[[Any], bool] = lambda _: True
) -> tuple[str, Any]:
    """The next event of a kind that fits: its id and what it says, in one line."""
    number = kind = ""
    for line in lines:
        name, _, value = line.partition(": ")
        number = value if name == "id" else number
        kind = value if name == "event" else kind
        if name == "data" and kind == word and fits(json.loads(value)):
            return number, json.loads(value)
    raise AssertionError(f"the stream ended without {word}")


def streams(w: World) -> None:
    """Events as they come, filtered, taken up again; one client too many is told when."""
    with _stream(w, "/events?site=harbor") as lines:
        w.ask("POST", "/sites/depot/pause", json={"reason": "elsewhere"})
        w.ask("POST", "/sites/harbor/pause", json={"reason": "here"})
        number, told = _event(lines, "site", lambda one: one["paused"] is not None)
        assert told["name"] == "harbor" and told["paused"]["reason"] == "here" and told["at"]
    w.ask("POST", "/sites/harbor/resume")
    w.ask("POST", "/sites/depot/resume")
    with _stream(w, "/events?site=harbor", last=number) as lines:
        _event(lines, "site", lambda one: one["paused"] is None)  # what came meanwhile is told
    with _stream(w, f"/events?deployment={w.ids['shop']}", last="0") as lines:
        assert _event(lines, "placement")[1]["deployment"] == w.ids["shop"]
    with _stream(w, "/sites/depot/stream", token=w.ids["depot"]) as lines:
        w.ask("POST", "/sites/depot/reload", 202)
        _event(lines, "command")
        w.ask("PATCH", "/sites/depot", json={"labels": {"zone": "yard"}})
        _event(lines, "revision")
    w.ask("GET", "/sites/harbor/stream", 403, token=w.ids["depot"])
    headers = {"Authorization": f"Bearer {w.served.token}"}
    with ExitStack() as stack:
        for _ in range(MOST + 1):  # those that were closed a moment ago may still count
            asked = httpx.stream("GET", f"{w.served.url}/api/v1/events", headers=headers)
            answer = stack.enter_context(asked)
            if answer.status_code == 503:
                break
        assert answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0
        assert json.loads(answer.read())["cure"]
    eventually(lambda: w.send("GET", "/healthz").status_code == 200)


def _batch(first: int, *events: tuple[str, Any], runner: str) -> dict[str, Any]:
    told = [
        {"seq": number, "at": AT, "kind": kind, "data": data}
        for number, (kind, data) in enumerate(events, first)
    ]
    return {"protocol": 1, "runner": runner, "epoch": 1, "first_seq": first, "events": told}


def reports(w: World) -> None:
    """In order and each once; commands repeat until a report acknowledges them."""
    runner, token = str(uuid.uuid4()), w.ids["depot"]
    post = lambda body, status=200: w.ask(  # noqa: E731 - the same question many times
        "POST", "/sites/depot/reports", status, token=token, json=body
    )
    node = {"name": "depot-1", "address": "10.0.0.9", "status": "active"}
    snapshot = ("snapshot", {"placements": [], "nodes": [node], "site": {}})
    assert post(_batch(1, snapshot, runner=runner)) == {"ack": 1}
    assert post(_batch(1, snapshot, runner=runner)) == {"ack": 1}, "a repeat"
    told = post(_batch(4, ("node", node), runner=runner), 409)
    assert told["expected"] == 2
    bad = ("placement", {"zork": 1})
    assert post(_batch(2, bad, ("node", node), runner=runner)) == {"ack": 3}, "nothing blocks"
    beat = {"protocol": 1, "runner": runner, "epoch": 1, "at": AT, "applied_commit": None}
    beat["nodes"] = [{"name": "depot-1", "status": "active", "last_seen": AT}]
    beats = lambda: w.ask(  # noqa: E731
        "POST", "/sites/depot/heartbeat", token=token, json=beat
    )
    answer = beats()
    assert set(answer) >= {"head", "commands", "time"} and len(answer["head"]) == 40
    commands = answer["commands"]
    assert {"reload", "accept"} <= {one["kind"] for one in commands}
    assert beats()["commands"] == commands
    done = [("command", {"id": one["id"], "result": "done", "detail": ""}) for one in commands]
    post(_batch(4, *done, runner=runner))
    assert beats()["commands"] == []
    w.ask("POST", "/sites/harbor/heartbeat", 403, token=token, json=beat)


def runs(w: World) -> None:
    """What was done by hand stands in the history under who did it."""
    result = {
        "node": "harbor-1", "deployment": w.ids["shop"], "kind": "update",
        "outcome": "succeeded", "error": None, "at": AT,
    }  # fmt: skip
    body = {"tool": "ansible-playbook", "user": "grace", "playbook": "update.yml"}
    told = w.ask(
        "POST", "/sites/harbor/runs", 201, token=w.ids["operator"],
        json={**body, "results": [result]},
    )  # fmt: skip
    assert told["results"] == 1
    past = w.items(f"/deployments/{w.ids['shop']}/history", "history")
    assert "hand:grace" in [one["actor"] for one in past]
    w.ask("POST", "/sites/harbor/runs", 403, token=w.site.token, json={**body, "results": []})


def pushes(w: World) -> None:
    """The forge's door takes what is signed; the repository lets in who has a token."""
    push = {"ref": "refs/heads/main", "after": "c" * 40, "repository": {"clone_url": "https://x/y"}}
    data = json.dumps(push).encode()
    signature = hmac.new(HOOK.encode(), data, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "X-GitHub-Event": "push"}
    headers["X-GitHub-Delivery"] = str(uuid.uuid4())
    w.ask("POST", "/hooks/git", 401, token="", content=data, headers=headers)
    signed = {**headers, "X-Hub-Signature-256": f"sha256={signature}"}
    told = w.ask("POST", "/hooks/git", 202, token="", content=data, headers=signed)
    assert told["status"] == "ignored"  # a repository that nobody here follows
    refs = "/git/deployments.git/info/refs?service=git-upload-pack"
    assert w.send("GET", refs, token="").status_code == 401
    for token in (w.site.token, w.ids["viewer"], w.ids["operator"]):
        basic = base64.b64encode(f"anybody:{token}".encode()).decode()
        headers = {"Authorization": f"Basic {basic}", "Git-Protocol": "version=2"}
        answer = w.send("GET", refs, token="", headers=headers)
        assert answer.status_code == 200 and b"version 2" in answer.content
        pushing = w.send("GET", refs.replace("upload", "receive"), token="", headers=headers)
        assert pushing.status_code == (200 if token == w.ids["operator"] else 403)
