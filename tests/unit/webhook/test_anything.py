"""Whatever is sent, the door answers one of the statuses that it promises."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

from flask import Flask
from hypothesis import given, settings
from hypothesis import strategies as st

from margrave.secret import Secret
from webhook import Followed, Push, door

PROMISED = {200, 202, 400, 401, 413}
REPOSITORY = "https://forge.example/ops/deployments.git"
EVENTS = (
    "X-Forgejo-Event",
    "X-Gitea-Event",
    "X-Gogs-Event",
    "X-GitHub-Event",
    "X-Gitlab-Event",
    "X-Event-Key",
)
NAMES = (
    *EVENTS,
    "X-Hub-Signature-256",
    "X-Gitea-Signature",
    "X-Gitlab-Token",
    "X-Hub-Signature",
    "X-Hook-UUID",
    "Authorization",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
)

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
refs = st.sampled_from(["refs/heads/main", "main", "", "refs/tags/main"]) | anything
places = st.sampled_from([REPOSITORY, "https://[", "a:b", "://"]) | st.text() | anything
repositories = places | st.dictionaries(
    st.sampled_from(["clone_url", "ssh_url", "git_http_url", "url"]), places
)
payloads = st.fixed_dictionaries(
    {},
    optional={
        "ref": refs,
        "after": anything,
        "repository": repositories,
        "project": repositories,
        "data": anything,
        "type": anything,
        "object_kind": anything,
        "push": anything | st.fixed_dictionaries({"changes": anything | st.lists(anything)}),
        "changes": anything | st.lists(anything),
        "eventType": st.just("git.push") | anything,
        "resource": anything,
    },
)
KINDS = ["push", "Push Hook", "ping", "repo:push", "repo:refs_changed"]
header = st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=40)
digits = st.integers(min_value=0, max_value=10**400).map(str)

pushes: list[Push] = []
app = Flask("test")
app.register_blueprint(
    door([Secret("s")], [Followed(REPOSITORY, "refs/heads/main")], pushes.append, lambda: 0.0)
)
client = app.test_client()


@given(st.binary(max_size=200), st.dictionaries(st.sampled_from(NAMES), header | digits))
@settings(max_examples=150)
def test_what_is_not_signed_never_gets_in(body, headers) -> None:
    """No headers and bytes that anybody makes up reach the sink, or break the door."""
    before = len(pushes)
    answer = client.post("/hooks/git", data=body, headers=headers)
    assert answer.status_code == 401
    assert len(pushes) == before


@given(payloads | anything, st.sampled_from(EVENTS), st.sampled_from(KINDS))
@settings(max_examples=150)
def test_what_is_signed_may_hold_anything(payload, forge, event) -> None:
    """A signed body of any shape is answered, and what reaches the sink is a push to main."""
    body = json.dumps(payload).encode()
    signature = hmac.new(b"s", body, hashlib.sha256).hexdigest()
    headers = {
        forge: event,
        forge.replace("Event", "Signature"): signature,
    }
    if forge == "X-GitHub-Event":
        headers["X-Hub-Signature-256"] = f"sha256={signature}"
    if forge == "X-Gitlab-Event":
        headers["X-Gitlab-Token"] = "s"
    if forge == "X-Event-Key":
        headers["X-Hub-Signature"] = f"sha256={signature}"
    assert client.post("/hooks/git", data=body, headers=headers).status_code in PROMISED
    assert all(push.branch == "main" and push.repository == REPOSITORY for push in pushes)


@given(payloads | anything)
@settings(max_examples=100)
def test_what_signs_in_with_a_password_may_hold_anything(payload) -> None:
    """The same where nothing but the body says what it is."""
    pair = base64.b64encode(b"anybody:s").decode()
    answer = client.post(
        "/hooks/git", data=json.dumps(payload), headers={"Authorization": f"Basic {pair}"}
    )
    assert answer.status_code in PROMISED
    assert all(push.branch == "main" and push.repository == REPOSITORY for push in pushes)
