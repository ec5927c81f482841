"""What comes through the door, and what is turned away."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from margrave.secret import Secret
from webhook import Push, door

PAYLOADS = Path(__file__).parent / "payloads"
SECRET = "a shared secret"
NOW = 1_763_467_200.0
COMMIT = "9f2d4c6e8a0b1c3d5e7f90a1b2c3d4e5f6071829"
OURS = (
    "https://github.example/acme-ops/deployments.git",
    "ssh://git@forge.example:2222/ops/deployments.git",
    "git@gitlab.example:ops/deployments.git",
)


class Sink:
    """Keeps what came through; fails when told to."""

    def __init__(self) -> None:
        self.pushes: list[Push] = []
        self.broken = False

    def __call__(self, push: Push) -> None:
        if self.broken:
            raise RuntimeError("the disk is full")
        self.pushes.append(push)


@pytest.fixture
def sink() -> Sink:
    return Sink()


@pytest.fixture
def client(sink: Sink) -> Iterator[FlaskClient]:
    yield client_for(sink)


def client_for(sink: Sink, secrets: tuple[str, ...] = (SECRET,)) -> FlaskClient:
    app = Flask("test")
    app.register_blueprint(door([Secret(one) for one in secrets], OURS, "main", sink, lambda: NOW))
    return app.test_client()


def recorded(name: str) -> bytes:
    return (PAYLOADS / f"{name}.json").read_bytes()


def hexed(body: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def sha1(body: bytes) -> str:
    return hmac.new(SECRET.encode(), body, hashlib.sha1).hexdigest()


def github(body: bytes, event: str = "push", secret: str = SECRET) -> dict[str, str]:
    return {
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "X-Hub-Signature": f"sha1={sha1(body)}",
        "X-Hub-Signature-256": f"sha256={hexed(body, secret)}",
    }


def gogs(body: bytes) -> dict[str, str]:
    own = {"X-Gogs-Event": "push", "X-Gogs-Delivery": "g-1", "X-Gogs-Signature": hexed(body)}
    return own | github(body)


def gitea(body: bytes) -> dict[str, str]:
    own = {"X-Gitea-Event": "push", "X-Gitea-Delivery": "t-1", "X-Gitea-Signature": hexed(body)}
    return own | gogs(body)


def forgejo(body: bytes) -> dict[str, str]:
    own = {"X-Forgejo-Event": "push", "X-Forgejo-Delivery": "f-1"}
    return own | {"X-Forgejo-Signature": hexed(body)} | gitea(body)


def gitlab(_: bytes) -> dict[str, str]:
    return {"X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": SECRET, "X-Gitlab-Event-UUID": "l-1"}


def standard(body: bytes, at: float = NOW, key: bytes = SECRET.encode()) -> dict[str, str]:
    signed = f"msg_1.{int(at)}.".encode() + body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(at)),
        "webhook-signature": f"v1,AAAA v1,{signature}",
    }


def gitlab_signed(body: bytes) -> dict[str, str]:
    return {"X-Gitlab-Event": "Push Hook"} | standard(body)


FORGES = {
    "forgejo": (forgejo, "forgejo_push", "f-1"),
    "gitea": (gitea, "gitea_push", "t-1"),
    "gogs": (gogs, "gogs_push", "g-1"),
    "github": (github, "github_push", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
    "gitlab": (gitlab, "gitlab_push", "l-1"),
    "standard": (standard, "standard_push", "msg_1"),
}


def send(client: FlaskClient, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
    answer = client.post(
        "/hooks/git", data=body, headers={"Content-Type": "application/json", **headers}
    )
    return answer.status_code, answer.get_json()


@pytest.mark.parametrize("forge", FORGES)
def test_each_forge_is_told_from_the_others_by_its_own_headers(forge, client, sink) -> None:
    """A push of each forge arrives under its own name, whatever headers of others it carries."""
    sign, payload, delivery = FORGES[forge]
    body = recorded(payload)
    status, answer = send(client, body, sign(body))
    assert (status, answer) == (202, {"status": "accepted", "id": delivery})
    [push] = sink.pushes
    assert (push.forge, push.ref, push.commit, push.delivery) == (
        forge,
        "refs/heads/main",
        COMMIT,
        delivery,
    )


@pytest.mark.parametrize("forge", FORGES)
def test_a_changed_byte_is_refused_before_anything_is_parsed(forge, client, sink) -> None:
    """A body that is no longer what was signed answers 401, even where it is no JSON at all."""
    sign, payload, _ = FORGES[forge]
    headers = sign(recorded(payload))
    if forge == "gitlab":
        headers["X-Gitlab-Token"] = "another"
    status, answer = send(client, b"{not json", headers)
    assert status == 401
    assert "does not fit" in answer["detail"]
    assert sink.pushes == []


@pytest.mark.parametrize("forge", FORGES)
def test_a_missing_signature_is_refused(forge, client) -> None:
    """Taking the signature headers away does not open the door."""
    sign, payload, _ = FORGES[forge]
    body = recorded(payload)
    headers = {
        name: value
        for name, value in sign(body).items()
        if "signature" not in name.lower() and "token" not in name.lower()
    }
    assert send(client, body, headers)[0] == 401


def test_a_repeat_is_known_and_does_nothing(client, sink) -> None:
    """The same delivery twice reaches the sink once and is called a duplicate."""
    body = recorded("github_push")
    send(client, body, github(body))
    status, answer = send(client, body, github(body))
    assert (status, answer["status"]) == (202, "duplicate")
    assert len(sink.pushes) == 1


def test_a_delivery_that_could_not_be_handed_on_may_come_again(client, sink) -> None:
    """When the sink fails the forge sees an error, and its next try counts."""
    body = recorded("github_push")
    sink.broken = True
    assert client.post("/hooks/git", data=body, headers=github(body)).status_code == 500
    sink.broken = False
    assert send(client, body, github(body))[1]["status"] == "accepted"


def test_a_greeting_is_answered(client, sink) -> None:
    """GitHub's ping gets 200 and triggers nothing."""
    body = recorded("github_ping")
    assert send(client, body, github(body, "ping")) == (200, {"status": "pong"})
    assert sink.pushes == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ref": "refs/heads/try"}, '"refs/heads/try" is not the branch main'),
        ({"ref": "refs/tags/main"}, '"refs/tags/main" is not the branch main'),
        ({"after": "0" * 40}, "the branch main was deleted"),
        (
            {"repository": {"clone_url": "https://github.example/other/repo.git"}},
            "another repository",
        ),
        ({"repository": []}, "another repository"),
        ({"ref": 7}, '"" is not the branch main'),
    ],
)
def test_what_is_not_about_our_branch_is_ignored(change, reason, client, sink) -> None:
    """Tags, other branches, other repositories and deleted branches answer 202 and do nothing."""
    body = json.dumps({**json.loads(recorded("github_push")), **change}).encode()
    assert send(client, body, github(body)) == (202, {"status": "ignored", "reason": reason})
    assert sink.pushes == []


def test_other_events_are_ignored(client, sink) -> None:
    """A signed event that is no push answers 202 and does nothing."""
    body = recorded("github_push")
    assert send(client, body, github(body, "issues"))[1]["status"] == "ignored"
    assert sink.pushes == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"payload=%7B%7D", b"[" * 100_000])
def test_a_signed_body_that_is_no_json_object_answers_400(body, client) -> None:
    """A form or broken JSON is refused with the cure, once its signature fits."""
    status, answer = send(client, body, github(body))
    assert status == 400
    assert answer["title"] == "Bad Request"


def test_a_body_above_a_mebibyte_answers_413(client) -> None:
    """Size is looked at before the signature."""
    body = b" " * (1024 * 1024 + 1)
    status, answer = send(client, body, {})
    assert (status, answer["status"]) == (413, 413)


def test_both_secrets_of_a_rotation_are_valid(sink) -> None:
    """While two secrets are set, either signs."""
    client = client_for(sink, ("old", "new"))
    body = recorded("github_push")
    assert send(client, body, github(body, secret="old"))[1]["status"] == "accepted"
    assert send(client, body, github(body, secret="new"))[1]["status"] == "duplicate"
    assert send(client, body, github(body, secret="older"))[0] == 401


def test_without_a_secret_everything_is_refused(sink) -> None:
    """No secret set means closed, not open: also for an empty one."""
    body = recorded("github_push")
    for secrets in ((), ("",)):
        status, answer = send(client_for(sink, secrets), body, github(body, secret=""))
        assert status == 401
        assert "hooks.secrets" in answer["detail"]


def test_sha1_alone_opens_nothing(client) -> None:
    """GitHub's older signature is not looked at."""
    body = recorded("github_push")
    headers = github(body)
    del headers["X-Hub-Signature-256"]
    assert send(client, body, headers)[0] == 401


@pytest.mark.parametrize("drift", [-301, 301])
def test_a_signed_time_far_from_ours_is_refused(drift, client) -> None:
    """Where the time is signed, a delivery more than five minutes off is stale."""
    body = recorded("standard_push")
    assert send(client, body, standard(body, NOW + drift))[0] == 401
    assert send(client, body, standard(body, NOW + drift - drift // 301))[0] == 202


def test_a_whsec_secret_is_base64_behind_its_prefix(sink) -> None:
    """Standard Webhooks' own form of a secret is understood, for GitLab's signatures too."""
    key = b"0123456789abcdef0123456789abcdef"
    client = client_for(sink, (f"whsec_{base64.b64encode(key).decode()}",))
    body = recorded("standard_push")
    assert send(client, body, standard(body, key=key))[1]["status"] == "accepted"


def test_gitlab_that_signs_is_held_to_its_signature(client) -> None:
    """A right token beside a wrong signature does not open the door; a right signature does."""
    body = recorded("gitlab_push")
    wrong = gitlab_signed(b"other") | {"X-Gitlab-Token": SECRET}
    assert send(client, body, wrong)[0] == 401
    assert send(client, body, gitlab_signed(body))[1]["status"] == "accepted"


def test_gitlab_system_hooks_tell_their_kind_in_the_body(client, sink) -> None:
    """A system hook that is no push is ignored."""
    body = json.dumps({**json.loads(recorded("gitlab_push")), "object_kind": "tag_push"}).encode()
    headers = gitlab(body) | {"X-Gitlab-Event": "System Hook"}
    assert send(client, body, headers)[1]["status"] == "ignored"
    assert sink.pushes == []


def test_who_sends_no_delivery_id_is_known_by_the_body(client, sink) -> None:
    """Without ids the same bytes are a repeat, and other bytes are not."""
    body = recorded("github_push")
    headers = {"X-Hub-Signature-256": f"sha256={hexed(body)}"}
    assert send(client, body, headers)[1]["status"] == "accepted"
    assert send(client, body, headers)[1]["status"] == "duplicate"
    other = body + b"\n"
    headers = {"X-Hub-Signature-256": f"sha256={hexed(other)}"}
    assert send(client, other, headers)[1]["status"] == "accepted"
