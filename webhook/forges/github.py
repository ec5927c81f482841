"""GitHub: `X-Hub-Signature-256: sha256=<hex>`; a `ping` greets a new webhook."""

from __future__ import annotations

from typing import Final

from webhook.forges.forge import Forge, read_push
from webhook.signature import hmac_hex_fits

PREFIX: Final = "sha256="

GITHUB: Final = Forge(
    name="github",
    # Also whoever signs the way GitHub does without calling itself GitHub.
    recognised=lambda came: bool(
        came.header("X-GitHub-Event") or came.header("X-Hub-Signature-256")
    ),
    # The older X-Hub-Signature is SHA-1 and is never looked at.
    verified=lambda came, secrets: (
        came.header("X-Hub-Signature-256").startswith(PREFIX)
        and hmac_hex_fits(
            secrets, came.body, came.header("X-Hub-Signature-256").removeprefix(PREFIX)
        )
    ),
    event=lambda came, _: came.header("X-GitHub-Event") or "push",
    delivery=lambda came: came.header("X-GitHub-Delivery"),
    read=read_push,
)
