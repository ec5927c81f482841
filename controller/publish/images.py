"""Image tags become digests: what was published stays what it was, whoever moves a tag."""

from __future__ import annotations

import base64
import json
import re
import ssl
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, IncompleteRead
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from margrave.digest import is_digest, of_bytes
from margrave.errors import MargraveError, NotFound, Refused, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from http.client import HTTPResponse

    from margrave.sections import Registry

SECONDS: Final = 10
MANIFEST_LIMIT: Final = 4 * 1024 * 1024
_DOCKER_HUB: Final = "docker.io"
_ACCEPT: Final = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
NOT_REACHED: Final = (
    "check the registry; one that only nodes reach needs [[registries]] with host and address in"
    " the controller's configuration, or images written with their digest"
)
_CHALLENGE: Final = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True)
class Reference:
    """An image reference in its parts."""

    host: str
    name: str
    tag: str
    digest: str = ""

    @property
    def pinned(self) -> bool:
        """Whether a digest already says which image is meant."""
        return bool(self.digest)


def parse(text: str) -> Reference:
    """The parts of `host/name:tag@digest`, with Docker's defaults for what is missing."""
    rest, _, digest = text.partition("@")
    head, slash, tail = rest.rpartition("/")
    name, colon, tag = tail.partition(":")
    path = f"{head}{slash}{name}"
    first, _, below = path.partition("/")
    if not below or not ("." in first or ":" in first or first == "localhost"):
        first, below = _DOCKER_HUB, path if "/" in path else f"library/{path}"
    if (colon and not tag) or not name or (digest and not is_digest(digest)):
        raise Refused(f'"{text}" is not an image reference', "write registry/name:tag")
    return Reference(first, below, tag or "latest", digest)


def is_pinned(text: str) -> bool:
    """Return whether no registry is needed: it has a digest, or holds a variable."""
    return "$" in text or parse(text).pinned


def host_of(text: str) -> str:
    """Return the registry of an image reference."""
    return parse(text).host


class Images:
    """Asks registries which digest a tag stands for."""

    def __init__(self, registries: Sequence[Registry]) -> None:
        self._registries: Mapping[str, Registry] = {one.host: one for one in registries}

    def pinned(self, text: str) -> str:
        """The reference with its digest; the text itself when it has one or holds a variable."""
        if is_pinned(text):
            return text
        return f"{text}@{self._digest(parse(text), text)}"

    def layers(self, text: str, architecture: str) -> dict[str, int]:
        """Bytes of each layer, by digest, of the image for that architecture of Linux."""
        reference = parse(text)
        manifest = self._manifest(reference, reference.digest or reference.tag, text)
        if "manifests" in manifest:
            fit = [
                one.get("digest")
                for one in manifest["manifests"]
                if (one.get("platform") or {}).get("architecture") == architecture
            ]
            if not fit:
                raise NotFound(f"{text}: has nothing for {architecture}", "choose other nodes")
            manifest = self._manifest(reference, str(fit[0]), text)
        parts = [manifest.get("config") or {}, *(manifest.get("layers") or [])]
        return {str(one["digest"]): int(one["size"]) for one in parts if "size" in one}

    def _manifest(self, reference: Reference, name: str, text: str) -> dict[str, Any]:
        path = f"/v2/{reference.name}/manifests/{name}"
        with _told(reference, text), self._open(reference, path, "GET") as answer:
            found = json.loads(_whole(answer))
        if not isinstance(found, dict):
            raise Unreachable(f"{text}: its manifest is no object", "look at the registry")
        return found

    def _digest(self, reference: Reference, text: str) -> str:
        path = f"/v2/{reference.name}/manifests/{reference.tag}"
        with _told(reference, text):
            with self._open(reference, path, "HEAD") as answer:
                found = answer.headers.get("Docker-Content-Digest", "")
            if not is_digest(found):
                with self._open(reference, path, "GET") as answer:
                    found = of_bytes(_whole(answer))
        return found

    def _open(self, reference: Reference, path: str, method: str) -> HTTPResponse:
        settings = self._registries.get(reference.host)
        url = f"{_base(reference.host, settings)}{path}"
        headers = {"Accept": _ACCEPT, **_basic(settings)}
        try:
            return _send(url, method, headers, settings)
        except urllib.error.HTTPError as error:
            challenge = error.headers.get("WWW-Authenticate", "")
            if error.code != 401 or not challenge.lower().startswith("bearer "):
                raise
        token = _token(challenge, settings)
        return _send(url, method, {**headers, "Authorization": f"Bearer {token}"}, settings)


@contextmanager
def _told(reference: Reference, text: str) -> Iterator[None]:
    """What a registry does wrong, in our words."""
    try:
        yield
    except urllib.error.HTTPError as error:
        raise _of_status(error.code, reference, text) from error
    except (OSError, HTTPException, ValueError) as error:  # who speaks no HTTP, or no JSON
        raise Unreachable(
            f"{text}: registry {reference.host} does not answer the controller: {error}",
            NOT_REACHED,
        ) from error


def _of_status(code: int, reference: Reference, text: str) -> MargraveError:
    if code == 404:
        return NotFound(f"{text}: the registry has no such image", "push it, or correct the tag")
    if code in (401, 403):
        return Unreachable(
            f"{text}: registry {reference.host} refuses the credentials",
            "set username and password_file in `registries`",
        )
    return Unreachable(f"{text}: registry {reference.host} answers {code}", "look at the registry")


def _base(host: str, settings: Registry | None) -> str:
    address = settings.address if settings and settings.address else host
    if address == _DOCKER_HUB:
        address = "registry-1.docker.io"
    return f"{'http' if settings and settings.insecure else 'https'}://{address}"


def _basic(settings: Registry | None) -> dict[str, str]:
    if settings is None or not settings.username or not settings.password_file:
        return {}
    password = settings.password_file.read_text(encoding="utf-8").rstrip("\n")
    pair = base64.b64encode(f"{settings.username}:{password}".encode()).decode()
    return {"Authorization": f"Basic {pair}"}


def _token(challenge: str, settings: Registry | None) -> str:
    """A bearer token from where the registry's challenge says (the distribution token flow)."""
    parts = dict(_CHALLENGE.findall(challenge))
    realm = parts.pop("realm", "")
    asked = {key: value for key, value in parts.items() if key in ("service", "scope")}
    with _send(f"{realm}?{urlencode(asked)}", "GET", _basic(settings), settings) as answer:
        body = json.loads(_whole(answer))
    return str(body.get("token") or body.get("access_token") or "")


def _whole(answer: HTTPResponse) -> bytes:
    """The body; half of one has another digest, and would be taken for the image."""
    data = answer.read(MANIFEST_LIMIT)
    if answer.length:
        raise IncompleteRead(data, answer.length)
    return data


def _send(
    url: str, method: str, headers: Mapping[str, str], settings: Registry | None
) -> HTTPResponse:
    if urlsplit(url).scheme not in ("http", "https"):
        raise urllib.error.URLError(f"{url}: is no address of a registry")
    request = urllib.request.Request(url, headers=dict(headers), method=method)  # noqa: S310 - checked above
    ca_file = settings.ca_file if settings else None
    # No proxy of the environment: a registry is where the configuration says.
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if ca_file or url.startswith("https:"):  # to read a machine's authorities takes a while
        context = ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
        handlers.append(urllib.request.HTTPSHandler(context=context))
    opener = urllib.request.build_opener(*handlers)
    answer: HTTPResponse = opener.open(request, timeout=SECONDS)
    return answer
