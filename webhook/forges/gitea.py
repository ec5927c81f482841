"""Gitea and its kin: the bare hex HMAC in a header of their own name, GitHub's shape inside."""

from __future__ import annotations

from typing import Final

from webhook.forges.forge import Forge, read_push
from webhook.signature import hmac_hex_fits


def _of(name: str, header: str) -> Forge:
    return Forge(
        name=name,
        recognised=lambda came: bool(came.header(f"X-{header}-Event")),
        verified=lambda came, secrets: hmac_hex_fits(
            secrets, came.body, came.header(f"X-{header}-Signature")
        ),
        event=lambda came, _: came.header(f"X-{header}-Event"),
        delivery=lambda came, _: came.header(f"X-{header}-Delivery"),
        read=read_push,
    )


FORGEJO: Final = _of("forgejo", "Forgejo")
GITEA: Final = _of("gitea", "Gitea")
GOGS: Final = _of("gogs", "Gogs")
