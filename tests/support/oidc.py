"""A small real OpenID Connect provider: discovery, code flow with PKCE, signed ID tokens, keys."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.support.small_server import Asked, SmallServer, Told

CLIENT, SECRET = "margrave", "between the two of us"


@dataclass
class FakeProvider(SmallServer):
    """It knows one person; a test may change what it says of them, or make it lie."""

    claims: dict[str, Any] = field(
        default_factory=lambda: {
            "sub": "17",
            "preferred_username": "Grace",
            "groups": ["shops", "margrave-ops"],
        }
    )
    lies: dict[str, Any] = field(default_factory=dict)  # over what is right in the ID token
    now: float = 0.0
    ill: bool = False
    foreign_key: bool = False
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._key = RSAKey.generate_key(2048, {"kid": "1"})
        self._other = RSAKey.generate_key(2048, {"kid": "1"})

    @property
    def issuer(self) -> str:
        return f"http://{self.address}"

    def answer(self, asked: Asked) -> Told:
        """Discovery, keys, the way through the browser, and the exchange behind it."""
        if self.ill:
            return Told(503)
        match asked.method, asked.path:
            case "GET", "/.well-known/openid-configuration":
                return Told(body=self.facts())
            case "GET", "/keys":
                return Told(body={"keys": [self._key.as_dict(private=False)]})
            case "GET", "/authorize":
                return Told(302, headers={"Location": self.authorized(dict(asked.query))})
            case "POST", _:
                return Told(*self.exchanged(asked.headers.get("Authorization", ""), asked.form))
        return Told(404)

    def facts(self) -> dict[str, str]:
        """What it tells of itself."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }

    def authorized(self, asked: dict[str, str]) -> str:
        """Where the browser is sent once the person has signed in here."""
        assert asked["client_id"] == CLIENT and asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self._codes[code] = asked
        back = urlencode({"code": code, "state": asked["state"]})
        return f"{asked['redirect_uri']}?{back}"

    def exchanged(self, authorization: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """A code for an ID token, once, to who began it and knows the secret."""
        right = base64.b64encode(f"{CLIENT}:{SECRET}".replace(" ", "+").encode()).decode()
        plain = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if authorization not in (f"Basic {right}", f"Basic {plain}"):
            return 401, {"error": "invalid_client"}
        asked = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if asked is None or challenge != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        now = int(self.now or time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **self.claims,
            **self.lies,
        }
        key = self._other if self.foreign_key else self._key
        token = jwt.encode({"alg": "RS256", "kid": "1"}, claims, key)
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": token}
