"""Signing in with accounts of an OpenID Connect provider: the code flow with PKCE.

What a provider says is believed only where its signature, issuer, audience, time and our nonce say
so. Imported where a provider is configured alone: its libraries cost memory.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import requests
from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]
from authlib.integrations.requests_client import OAuth2Session  # type: ignore[import-untyped]
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from controller.access.identity import Role
from controller.settings import Oidc
from margrave.errors import Refused, Unreachable

SECONDS: Final = 10
LEEWAY: Final = 60  # seconds by which two clocks may differ
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9._]{0,61}[a-z0-9])?")
_ROLES: Final = (Role.ADMIN, Role.OPERATOR, Role.VIEWER)  # the first that fits


@dataclass(frozen=True, slots=True)
class Begun:
    """A sign-in that is on its way: what has to come back with it, and where to go then."""

    state: str
    nonce: str
    verifier: str
    target: str


@dataclass(frozen=True, slots=True)
class Person:
    """Whom the provider vouches for."""

    subject: str  # issuer and the id there: names may be given to others, this is not
    name: str
    role: Role


class Provider:
    """The configured provider."""

    def __init__(self, settings: Oidc, back: str, clock: Callable[[], datetime]) -> None:
        self._settings = settings
        self._back = back
        self._clock = clock
        self._verify: Any = str(settings.ca_file) if settings.ca_file else True

    def begin(self, target: str) -> tuple[str, Begun]:
        """Where to send the browser, and what to remember of it."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        made = Begun(state, nonce, verifier, target)
        with self._client() as client:
            url, _ = client.create_authorization_url(
                self._endpoint(self._facts(), "authorization_endpoint"),
                state=made.state,
                nonce=made.nonce,
                code_verifier=made.verifier,
            )
        return str(url), made

    def finish(self, code: str, begun: Begun) -> Person:
        """The person that the code stands for; Refused when anything about it is not right."""
        facts = self._facts()
        with self._client() as client:
            try:
                token = client.fetch_token(
                    self._endpoint(facts, "token_endpoint"),
                    code=code,
                    code_verifier=begun.verifier,
                    timeout=SECONDS,
                    verify=self._verify,
                )
            except OAuthError as error:
                words = f"the provider does not take the code: {_plain(error.error)}"
                raise Refused(words, "sign in again") from error
            except (requests.RequestException, ValueError) as error:
                raise self._away(error) from error
        claims = self._claims(str(token.get("id_token") or ""), facts, begun.nonce)
        return self._person(claims)

    def _claims(self, told: str, facts: dict[str, Any], nonce: str) -> dict[str, Any]:
        """What the ID token says, once everything about it holds."""
        keys: Any = self._json(self._endpoint(facts, "jwks_uri"))
        registry = jwt.JWTClaimsRegistry(
            now=int(self._clock().timestamp()),
            leeway=LEEWAY,
            iss={"essential": True, "value": str(self._settings.issuer)},
            aud={"essential": True, "value": str(self._settings.client_id)},
            exp={"essential": True},
            sub={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        try:
            token = jwt.decode(told, KeySet.import_key_set(keys), algorithms=list(ALGORITHMS))
            registry.validate(token.claims)
        except (JoseError, ValueError, KeyError, TypeError) as error:
            words = f"what the provider says cannot be trusted: {type(error).__name__}"
            raise Refused(words, "sign in again; an admin finds more in the log") from error
        party = token.claims.get("azp")
        if party is not None and party != self._settings.client_id:
            raise Refused("what the provider says is meant for somebody else", "sign in again")
        return dict(token.claims)

    def _person(self, claims: dict[str, Any]) -> Person:
        settings = self._settings
        name = str(claims.get(settings.name_claim) or "").lower()
        if not NAME.fullmatch(name):
            raise Refused(
                f"the provider's {settings.name_claim} is no name of a user here",
                "letters, digits, dots and dashes; an admin can choose another oidc.name_claim",
            )
        told = claims.get(settings.role_claim)
        values = {str(one) for one in (told if isinstance(told, list) else [told])}
        for role in _ROLES:
            if values & set(getattr(settings, f"{role}s")):
                return Person(f"{settings.issuer}#{claims['sub']}", name, role)
        words = f"nothing in {settings.role_claim} gives {name} a role here"
        raise Refused(words, "ask an admin to add one of your groups to oidc.viewers")

    def _facts(self) -> dict[str, Any]:
        """What the provider tells of itself; asked each time, for keys and addresses change."""
        issuer = str(self._settings.issuer)
        found = self._json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != issuer:
            raise Unreachable(
                "the provider names itself otherwise than oidc.issuer",
                f"write it as it does: {_plain(found.get('issuer'))}",
            )
        return found

    def _endpoint(self, facts: dict[str, Any], name: str) -> str:
        found = facts.get(name)
        safe = str(self._settings.issuer).split("://")[0]
        if not isinstance(found, str) or not found.startswith(("https://", f"{safe}://")):
            raise Unreachable(f"the provider tells no {name}", "look at its configuration")
        return found

    def _json(self, url: str) -> dict[str, Any]:
        try:
            answer = requests.get(url, timeout=SECONDS, verify=self._verify)
            answer.raise_for_status()
            found = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise self._away(error) from error
        if not isinstance(found, dict):
            raise Unreachable(f"{url}: answers no object", "look at the provider")
        return found

    def _away(self, error: Exception) -> Unreachable:
        words = f"{self._settings.issuer}: does not answer ({type(error).__name__})"
        return Unreachable(words, "try again, or sign in with a password")

    def _client(self) -> Any:
        settings = self._settings
        secret = settings.client_secret.reveal() if settings.client_secret else None
        return OAuth2Session(
            settings.client_id,
            secret,
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            scope=" ".join(settings.scopes),
            redirect_uri=self._back,
            code_challenge_method="S256",
        )


def _plain(text: object) -> str:
    """Somebody else's words, fit for a message."""
    return "".join(one for one in str(text)[:100] if one.isprintable())
