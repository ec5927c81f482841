"""What is peculiar to a forge: its greeting, its lists, its proof."""

from __future__ import annotations

import base64
import json

import pytest
from flask import Flask

from margrave.secret import Secret
from tests.support.forges import (
    COMMIT,
    SECRET,
    SENDERS,
    azure_devops,
    bitbucket_cloud,
    bitbucket_data_center,
    gitlab,
    gitlab_signed,
    hexed,
    recorded,
)
from tests.support.webhooks import changed, send
from webhook import Followed, door


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
