"""Azure DevOps: HTTP Basic with the secret as password; what it is stands in the body alone."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from webhook.forges.forge import Delivery, Forge, Move, Told, mapping, objects, text
from webhook.signature import token_fits

SCHEME: Final = "basic "
# Its SSH address has another host and path than its HTTPS one, and a push does not tell it.
_PAGE: Final = re.compile(r"https://(?:[^@/]*@)?dev\.azure\.com/([^/]+)/([^/]+)/_git/([^/]+)")


def _recognised(came: Delivery) -> bool:
    return came.header("Authorization").lower().startswith(SCHEME)


def _verified(came: Delivery, secrets: Sequence[bytes]) -> bool:
    given = _password(came.header("Authorization")[len(SCHEME) :])
    return given is not None and token_fits(secrets, given)


def _password(credentials: str) -> bytes | None:
    try:
        pair = base64.b64decode(credentials.strip(), validate=True)
    except (binascii.Error, ValueError):
        return None
    _, colon, password = pair.partition(b":")
    return password if colon else None


def _event(_: Delivery, payload: Mapping[str, Any]) -> str:
    return text(payload.get("eventType")).removeprefix("git.")


def _read(payload: Mapping[str, Any]) -> Told:
    resource = mapping(payload.get("resource"))
    repository = mapping(resource.get("repository"))
    told = [text(repository.get(key)) for key in ("remoteUrl", "sshUrl", "webUrl")]
    places = filter(None, (*told, *map(_ssh_address, told)))
    moves = [
        Move(text(one.get("name")), text(one.get("newObjectId")))
        for one in objects(resource.get("refUpdates"))
    ]
    return Told(tuple(places), tuple(moves))


def _ssh_address(url: str) -> str:
    match = _PAGE.fullmatch(url)
    return f"git@ssh.dev.azure.com:v3/{'/'.join(match.groups())}" if match else ""


AZURE_DEVOPS: Final = Forge(
    name="azure-devops",
    recognised=_recognised,
    verified=_verified,
    event=_event,
    delivery=lambda _, payload: text(payload.get("id")),
    read=_read,
)
