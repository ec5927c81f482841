"""What comes through the door, and what is turned away."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask
from flask.testing import FlaskClient

from margrave.secret import Secret
from tests.support.forges import (
    COMMIT,
    FOLLOWED,
    NOW,
    REMOTES,
    SECRET,
    SENDERS,
    azure_devops,
    bitbucket_cloud,
    bitbucket_data_center,
    github,
    gitlab,
    gitlab_signed,
    hexed,
    recorded,
    standard,
)
from webhook import Deliveries, Followed, Push, door, signature


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
    given = [Secret(one) for one in secrets]
    app.register_blueprint(door(given, FOLLOWED, sink, lambda: NOW))
    return app.test_client()


def send(client: FlaskClient, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
    answer = client.post(
        "/hooks/git", data=body, headers={"Content-Type": "application/json", **headers}
    )
    return answer.status_code, answer.get_json()


@pytest.mark.parametrize("name", SENDERS)
def test_each_forge_is_told_from_the_others_by_its_own_headers(name, client, sink) -> None:
    """A push of each forge arrives under its own name, whatever headers of others it carries."""
    sender = SENDERS[name]
    body = recorded(sender.payload)
    status, answer = send(client, body, sender.sign(body))
    assert (status, answer) == (202, {"status": "accepted", "id": sender.delivery})
    [push] = sink.pushes
    assert (push.forge, push.ref, push.commit, push.delivery) == (
        name.removesuffix("-signed"),
        "refs/heads/main",
        COMMIT,
        sender.delivery,
    )


@pytest.mark.parametrize("name", SENDERS)
def test_a_wrong_proof_is_refused_before_anything_is_parsed(name, client, sink) -> None:
    """Another secret, or a body that is not what was signed: 401, even where it is no JSON."""
    sender = SENDERS[name]
    body = recorded(sender.payload)
    wrong = [(body, sender.sign(body, "another")), (b"{not json", sender.sign(body, "another"))]
    if sender.signs:
        wrong += [(body + b" ", sender.sign(body)), (b"{not json", sender.sign(body))]
    for given, headers in wrong:
        status, answer = send(client, given, headers)
        assert (status, "does not fit" in answer["detail"]) == (401, True)
    assert sink.pushes == []


@pytest.mark.parametrize("name", SENDERS)
def test_a_missing_proof_is_refused(name, client, sink) -> None:
    """Taking away what proves the sender does not open the door."""
    body = recorded(SENDERS[name].payload)
    assert send(client, body, SENDERS[name].unproven(body))[0] == 401
    assert sink.pushes == []


@pytest.mark.parametrize("name", SENDERS)
def test_a_repeat_is_known_and_does_nothing(name, client, sink) -> None:
    """The same delivery twice reaches the sink once and is called a duplicate."""
    sender = SENDERS[name]
    body = recorded(sender.payload)
    send(client, body, sender.sign(body))
    status, answer = send(client, body, sender.sign(body))
    assert (status, answer) == (202, {"status": "duplicate", "id": sender.delivery})
    assert len(sink.pushes) == 1


@pytest.mark.parametrize("name", SENDERS)
def test_while_a_secret_is_rotated_both_are_valid(name, sink) -> None:
    """Either of two secrets proves a sender, and a third does not."""
    client = client_for(sink, ("old", "new"))
    sender = SENDERS[name]
    body = recorded(sender.payload)
    assert send(client, body, sender.sign(body, "old"))[1]["status"] == "accepted"
    assert send(client, body, sender.sign(body, "new"))[1]["status"] == "duplicate"
    assert send(client, body, sender.sign(body, "older"))[0] == 401


@pytest.mark.parametrize("name", SENDERS)
def test_a_body_above_a_mebibyte_answers_413(name, client, sink) -> None:
    """Size is looked at before the proof, and a right proof is no way around it."""
    body = recorded(SENDERS[name].payload)
    body += b" " * (1024 * 1024 + 1 - len(body))
    status, answer = send(client, body, SENDERS[name].sign(body))
    assert (status, answer["status"]) == (413, 413)
    assert send(client, body, {})[0] == 413
    assert send(client, body[:-1], SENDERS[name].sign(body[:-1]))[0] == 202


@pytest.mark.parametrize("name", SENDERS)
@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"payload=%7B%7D", b"[" * 100_000])
def test_a_proven_body_that_is_no_json_object_answers_400(name, body, client) -> None:
    """A form or broken JSON is refused with the cure, once the sender is proven."""
    status, answer = send(client, body, SENDERS[name].sign(body))
    assert (status, answer["title"]) == (400, "Bad Request")


def test_secrets_are_compared_in_constant_time() -> None:
    """Every comparison is hmac.compare_digest, over every secret; nothing is compared with ==."""
    text = inspect.getsource(signature)
    assert text.count("hmac.compare_digest(") == 1
    assert "==" not in text


@pytest.mark.parametrize("name", SENDERS)
def test_every_forge_is_compared_by_that_function(name, client, monkeypatch) -> None:
    """Without hmac.compare_digest saying yes, nobody gets in; each secret is looked at."""
    asked: list[object] = []
    monkeypatch.setattr(signature.hmac, "compare_digest", lambda *pair: bool(asked.append(pair)))
    body = recorded(SENDERS[name].payload)
    assert send(client, body, SENDERS[name].sign(body))[0] == 401
    assert asked


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
    assert send(client, body, github(body, event="ping")) == (200, {"status": "pong"})
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


@pytest.mark.parametrize(
    ("ref", "moved", "heard"),
    [
        ("release", "refs/heads/release", True),
        ("release", "refs/heads/main", False),
        ("v1", "refs/tags/v1", True),
        (None, "refs/heads/master", True),
        (None, "refs/tags/v1", False),
        ("refs/heads/main", "refs/tags/refs/heads/main", False),
    ],
)
def test_each_repository_is_followed_at_its_own_branch(ref, moved, heard, sink) -> None:
    """A branch or a tag by its name, or whichever branch a source without one has."""
    app = Flask("test")
    followed = [Followed(one, ref) for one in REMOTES]
    app.register_blueprint(door([Secret(SECRET)], followed, sink, lambda: NOW))
    body = changed("github_push", ref=moved)
    answer = send(app.test_client(), body, github(body))[1]
    assert answer["status"] == ("accepted" if heard else "ignored")
    assert [one.ref for one in sink.pushes] == ([moved] if heard else [])


def test_a_push_in_a_form_counts_as_well(client, sink) -> None:
    """GitHub's other content type: the same payload as a field of a form, signed as it is sent."""
    body = urlencode({"payload": recorded("github_push").decode()}).encode()
    headers = {**github(body), "Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post("/hooks/git", data=body, headers=headers)
    assert (answer.status_code, answer.get_json()["status"]) == (202, "accepted")
    assert sink.pushes[0].commit == COMMIT
    body = urlencode({"another": "field"}).encode()
    headers = {**github(body), "Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post("/hooks/git", data=body, headers=headers)
    assert (answer.status_code, answer.get_json()["cure"]) == (
        400,
        "set the webhook's content type to application/json",
    )


def test_other_events_are_ignored(client, sink) -> None:
    """A signed event that is no push answers 202 and does nothing."""
    body = recorded("github_push")
    assert send(client, body, github(body, event="issues"))[1]["status"] == "ignored"
    assert sink.pushes == []


def test_without_a_secret_everything_is_refused(sink) -> None:
    """No secret set means closed, not open: also for an empty one."""
    body = recorded("github_push")
    for secrets in ((), ("",)):
        status, answer = send(client_for(sink, secrets), body, github(body, secret=""))
        assert status == 401
        assert "hooks.secrets" in answer["cure"]


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
    assert send(client, body, standard(body, at=NOW + drift))[0] == 401
    assert send(client, body, standard(body, at=NOW + drift - drift // 301))[0] == 202


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


def test_bitbucket_data_center_greets_too(client, sink) -> None:
    """Its test of a connection gets 200 and triggers nothing."""
    body = recorded("bitbucket_data_center_ping")
    headers = bitbucket_data_center(body, event="diagnostics:ping")
    assert send(client, body, headers) == (200, {"status": "pong"})
    assert sink.pushes == []


def test_sha1_is_not_looked_at_under_bitbucket_s_header_either(client) -> None:
    """X-Hub-Signature must say sha256."""
    body = recorded("bitbucket_cloud_push")
    for text in ("sha1=" + hexed(body), hexed(body), ""):
        assert send(client, body, bitbucket_cloud(body) | {"X-Hub-Signature": text})[0] == 401


@pytest.mark.parametrize("kind", ["branch", "tag"])
def test_a_branch_that_bitbucket_says_is_gone_is_ignored(kind, client, sink) -> None:
    """`new` is null then; a tag of the branch's name is no branch."""
    gone = {"old": {"type": kind, "name": "main", "target": {"hash": COMMIT}}, "new": None}
    body = changed("bitbucket_cloud_push", push={"changes": [gone]})
    reason = send(client, body, bitbucket_cloud(body))[1]["reason"]
    assert reason.endswith("was deleted" if kind == "branch" else "is not the branch main")
    assert sink.pushes == []


@pytest.mark.parametrize("changes", [None, [], {}, [None], [{}], [{"new": 7, "ref": "x"}]])
@pytest.mark.parametrize("name", ["bitbucket-cloud", "bitbucket-data-center", "azure-devops"])
def test_a_push_that_moves_nothing_is_ignored(name, changes, client, sink) -> None:
    """Lists may be empty, or hold anything."""
    sender = SENDERS[name]
    resource = json.loads(recorded("azure_devops_push"))["resource"] | {"refUpdates": changes}
    body = changed(sender.payload, changes=changes, push={"changes": changes}, resource=resource)
    assert send(client, body, sender.sign(body))[1]["status"] == "ignored"
    assert sink.pushes == []


def test_other_events_of_azure_are_ignored(client, sink) -> None:
    """It says in the body what it is; a pull request is no push, nor is a body without a word."""
    for kind in ("git.pullrequest.merged", "", None, 7):
        body = changed("azure_devops_push", eventType=kind)
        assert send(client, body, azure_devops(body))[1]["status"] == "ignored"
    assert sink.pushes == []


@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic ",
        "Basic !!!",
        "Basic " + base64.b64encode(SECRET.encode()).decode(),
        "Basic " + base64.b64encode(f"{SECRET}:".encode()).decode(),
        f"Bearer {SECRET}",
        "Basic \xe9",
    ],
)
def test_odd_credentials_open_nothing(header, client) -> None:
    """A password stands behind a colon, in base64."""
    body = recorded("azure_devops_push")
    assert send(client, body, {"Authorization": header})[0] == 401


@pytest.mark.parametrize(
    ("remote", "status"),
    [
        ("https://dev.azure.com/acme/ops/_git/deployments", "accepted"),
        ("https://me@dev.azure.com/acme/ops/_git/deployments", "accepted"),
        ("git@ssh.dev.azure.com:v3/acme/ops/deployments", "accepted"),
        ("https://dev.azure.com/acme/ops/_git/other", "ignored"),
        ("git@ssh.dev.azure.com:v3/acme/other/deployments", "ignored"),
    ],
)
def test_azure_is_followed_by_either_address(remote, status, sink) -> None:
    """A push tells the HTTPS address alone; whoever follows SSH is meant too."""
    app = Flask("test")
    app.register_blueprint(door([Secret(SECRET)], [Followed(remote, "refs/heads/main")], sink))
    body = recorded("azure_devops_push")
    assert send(app.test_client(), body, azure_devops(body))[1]["status"] == status


def test_what_was_taken_is_found_by_its_id(sink) -> None:
    """The memory answers for what came in, and for nothing that was ignored or refused."""
    deliveries = Deliveries()
    app = Flask("test")
    app.register_blueprint(door([Secret(SECRET)], FOLLOWED, sink, lambda: NOW, deliveries))
    body = recorded("github_push")
    identifier = send(app.test_client(), body, github(body))[1]["id"]
    taken = deliveries.find(identifier)
    assert taken is not None
    assert (taken.push, taken.at) == (sink.pushes[0], NOW)
    tag = changed("gitea_push", ref="refs/tags/v1")
    send(app.test_client(), tag, SENDERS["gitea"].sign(tag))
    assert deliveries.find("t-1") is None


def changed(name: str, **keys: Any) -> bytes:
    """A recorded body with other values at some keys."""
    return json.dumps(json.loads(recorded(name)) | keys).encode()
