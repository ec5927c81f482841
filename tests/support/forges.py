"""What each forge sends with a push: its headers, signed with a secret, and its recorded body."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from webhook import Followed

PAYLOADS = Path(__file__).parents[1] / "unit/webhook/payloads"
SECRET = "a shared secret"
NOW = 1_763_467_200.0
COMMIT = "9f2d4c6e8a0b1c3d5e7f90a1b2c3d4e5f6071829"
# One address of each recorded repository, as a site might follow it.
REMOTES = (
    "https://github.example/acme-ops/deployments.git",
    "ssh://git@forge.example:2222/ops/deployments.git",
    "git@gitlab.example:ops/deployments.git",
    "git@bitbucket.example:acme-ops/deployments.git",
    "ssh://git@bitbucket.example:7999/ops/deployments.git",
    "git@ssh.dev.azure.com:v3/acme/ops/deployments",
)
# As a site follows them: main, and nothing else of them.
FOLLOWED = tuple(Followed(one, "refs/heads/main") for one in REMOTES)

Headers = dict[str, str]


def recorded(name: str) -> bytes:
    """A recorded body."""
    return (PAYLOADS / f"{name}.json").read_bytes()


def hexed(body: bytes, secret: str = SECRET) -> str:
    """The body's HMAC-SHA256 as most forges write it."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _sha1(body: bytes, secret: str) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha1).hexdigest()


def github(body: bytes, secret: str = SECRET, event: str = "push") -> Headers:
    """GitHub, with the older signature that it sends too."""
    return {
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "X-Hub-Signature": f"sha1={_sha1(body, secret)}",
        "X-Hub-Signature-256": f"sha256={hexed(body, secret)}",
    }


def gogs(body: bytes, secret: str = SECRET) -> Headers:
    """Gogs, which also calls itself GitHub."""
    own = {"X-Gogs-Event": "push", "X-Gogs-Delivery": "g-1"}
    return own | {"X-Gogs-Signature": hexed(body, secret)} | github(body, secret)


def gitea(body: bytes, secret: str = SECRET) -> Headers:
    """Gitea, which also calls itself Gogs."""
    own = {"X-Gitea-Event": "push", "X-Gitea-Delivery": "t-1"}
    return own | {"X-Gitea-Signature": hexed(body, secret)} | gogs(body, secret)


def forgejo(body: bytes, secret: str = SECRET) -> Headers:
    """Forgejo, which also calls itself Gitea."""
    own = {"X-Forgejo-Event": "push", "X-Forgejo-Delivery": "f-1"}
    return own | {"X-Forgejo-Signature": hexed(body, secret)} | gitea(body, secret)


def gitlab(_: bytes, secret: str = SECRET) -> Headers:
    """GitLab with its token."""
    return {"X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": secret, "X-Gitlab-Event-UUID": "l-1"}


def standard(
    body: bytes,
    secret: str = SECRET,
    at: float = NOW,
    key: bytes | None = None,
    ident: str = "msg_1",
) -> Headers:
    """Anybody who signs as Standard Webhooks says, beside a signature of a secret that is gone."""
    signed = f"{ident}.{int(at)}.".encode() + body
    made = hmac.new(secret.encode() if key is None else key, signed, hashlib.sha256).digest()
    return {
        "webhook-id": ident,
        "webhook-timestamp": str(int(at)),
        "webhook-signature": f"v1,AAAA v1,{base64.b64encode(made).decode()}",
    }


def gitlab_signed(body: bytes, secret: str = SECRET) -> Headers:
    """GitLab where it signs."""
    return {"X-Gitlab-Event": "Push Hook"} | standard(body, secret)


def bitbucket_cloud(body: bytes, secret: str = SECRET) -> Headers:
    """Bitbucket Cloud."""
    return {
        "X-Event-Key": "repo:push",
        "X-Hook-UUID": "0302255c-f4f0-4232-916b-bef521fbdd08",
        "X-Request-UUID": "c-1",
        "X-Attempt-Number": "1",
        "X-Hub-Signature": f"sha256={hexed(body, secret)}",
    }


def bitbucket_data_center(
    body: bytes, secret: str = SECRET, event: str = "repo:refs_changed"
) -> Headers:
    """Bitbucket Data Center."""
    return {
        "X-Event-Key": event,
        "X-Request-Id": "b-1",
        "X-Hub-Signature": f"sha256={hexed(body, secret)}",
    }


def azure_devops(_: bytes, secret: str = SECRET) -> Headers:
    """Azure DevOps with a user name that nobody looks at."""
    pair = base64.b64encode(f"margrave:{secret}".encode()).decode()
    return {"Authorization": f"Basic {pair}"}


@dataclass(frozen=True)
class Sender:
    """A forge as the door meets it."""

    sign: Callable[..., Headers]
    payload: str
    delivery: str  # the id under which it sends
    proof: tuple[str, ...]  # the headers that prove who sent it
    signs: bool = True  # the body is under the proof; else the proof is a password

    def unproven(self, body: bytes) -> Headers:
        """What it would send without a secret."""
        return {name: text for name, text in self.sign(body).items() if name not in self.proof}


_HUB = ("X-Hub-Signature", "X-Hub-Signature-256")
_GOGS = ("X-Gogs-Signature", *_HUB)
_GITEA = ("X-Gitea-Signature", *_GOGS)
_STANDARD = ("webhook-signature",)

SENDERS = {
    "forgejo": Sender(forgejo, "forgejo_push", "f-1", ("X-Forgejo-Signature", *_GITEA)),
    "gitea": Sender(gitea, "gitea_push", "t-1", _GITEA),
    "gogs": Sender(gogs, "gogs_push", "g-1", _GOGS),
    "github": Sender(github, "github_push", "72d3162e-cc78-11e3-81ab-4c9367dc0958", _HUB),
    "gitlab": Sender(gitlab, "gitlab_push", "l-1", ("X-Gitlab-Token",), signs=False),
    "gitlab-signed": Sender(gitlab_signed, "gitlab_push", "msg_1", _STANDARD),
    "bitbucket-cloud": Sender(bitbucket_cloud, "bitbucket_cloud_push", "c-1", _HUB),
    "bitbucket-data-center": Sender(
        bitbucket_data_center, "bitbucket_data_center_push", "b-1", _HUB
    ),
    "standard": Sender(standard, "standard_push", "msg_1", _STANDARD),
    "azure-devops": Sender(
        azure_devops,
        "azure_devops_push",
        "03c164c2-8912-4d5e-8009-3707d5f83734",
        ("Authorization",),
        signs=False,
    ),
}
