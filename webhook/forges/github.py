"""GitHub: `X-Hub-Signature-256: sha256=<hex>`; a `ping` greets a new webhook."""

from __future__ import annotations

from typing import Final

from webhook.forges.forge import Forge, read_push
from webhook.signature import prefixed_hmac_fits

GITHUB: Final = Forge(
    name="github",
    # Also whoever signs the way GitHub does without calling itself GitHub.
    recognised=lambda came: bool(
        came.header("X-GitHub-Event") or came.header("X-Hub-Signature-256")
    ),
    # The older X-Hub-Signature is SHA-1 and is never looked at.
    verified=lambda came, secrets: prefixed_hmac_fits(
        secrets, came.body, came.header("X-Hub-Signature-256")
    ),
    event=lambda came, _: came.header("X-GitHub-Event") or "push",
    delivery=lambda came, _: came.header("X-GitHub-Delivery"),
    read=read_push,
)
