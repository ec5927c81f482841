"""What comes through the door, and what is turned away."""

from __future__ import annotations

import base64
import inspect
import json
from urllib.parse import urlencode

import pytest
from flask import Flask

from margrave.secret import Secret
from tests.support.forges import (
    COMMIT,
    FOLLOWED,
    NOW,
    REMOTES,
    SECRET,
    SENDERS,
    github,
    hexed,
    recorded,
    standard,
)
from tests.support.webhooks import changed, client_for, send
from webhook import Deliveries, Followed, door, signature


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


def test_who_sends_no_delivery_id_is_known_by_the_body(client, sink) -> None:
    """Without ids the same bytes are a repeat, and other bytes are not."""
    body = recorded("github_push")
    headers = {"X-Hub-Signature-256": f"sha256={hexed(body)}"}
    assert send(client, body, headers)[1]["status"] == "accepted"
    assert send(client, body, headers)[1]["status"] == "duplicate"
    other = body + b"\n"
    headers = {"X-Hub-Signature-256": f"sha256={hexed(other)}"}
    assert send(client, other, headers)[1]["status"] == "accepted"


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


@pytest.mark.parametrize(
    "name", [name for name, one in SENDERS.items() if one.signs and one.delivery != "msg_1"]
)
def test_a_recorded_body_under_another_id_is_a_repeat(name, client, sink) -> None:
    """The id is a header that nobody signed: whoever recorded a push may write another one."""
    sender = SENDERS[name]
    body = recorded(sender.payload)
    headers = sender.sign(body)
    send(client, body, headers)
    other = {key: "another" if text == sender.delivery else text for key, text in headers.items()}
    assert other != headers
    assert send(client, body, other) == (202, {"status": "duplicate", "id": sender.delivery})
    assert len(sink.pushes) == 1


def test_a_sender_that_signs_its_ids_may_say_the_same_again(client, sink) -> None:
    """A program that tells no commit sends the same bytes with each push, under a new id."""
    body = recorded("standard_push")
    for number in (1, 2):
        headers = standard(body, ident=f"msg_{number}")
        assert send(client, body, headers)[1] == {"status": "accepted", "id": f"msg_{number}"}
    assert len(sink.pushes) == 2


def test_a_recorded_body_that_could_not_be_handed_on_may_come_under_another_id(
    client, sink
) -> None:
    """What was not done is no repeat."""
    body = recorded("github_push")
    sink.broken = True
    assert client.post("/hooks/git", data=body, headers=github(body)).status_code == 500
    sink.broken = False
    other = github(body) | {"X-GitHub-Delivery": "another"}
    assert send(client, body, other)[1] == {"status": "accepted", "id": "another"}
