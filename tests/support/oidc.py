"""A small real OpenID Connect provider: discovery, code flow with PKCE, signed ID tokens, keys."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "margrave", "between the two of us"


@dataclass
class FakeProvider:
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
    _server: ThreadingHTTPServer | None = None

    def __post_init__(self) -> None:
        self._key = RSAKey.generate_key(2048, {"kid": "1"})
        self._other = RSAKey.generate_key(2048, {"kid": "1"})

    @property
    def issuer(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> FakeProvider:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(url.query).items()}
                if provider.ill:
                    self.send_error(503)
                elif url.path == "/.well-known/openid-configuration":
                    self._json(200, provider.facts())
                elif url.path == "/keys":
                    self._json(200, {"keys": [provider._key.as_dict(private=False)]})
                elif url.path == "/authorize":
                    self.send_response(302)
                    self.send_header("Location", provider.authorized(query))
                    self.end_headers()
                else:
                    self.send_error(404)

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                form = {k: v[0] for k, v in parse_qs(self.rfile.read(length).decode()).items()}
                self._json(*provider.exchanged(self.headers.get("Authorization", ""), form))

            def _json(self, status: int, value: Any) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

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
