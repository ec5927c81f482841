"""A door for pushes with a sink behind it, and how something is sent to it."""

from __future__ import annotations

import json
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from margrave.secret import Secret
from tests.support.forges import FOLLOWED, NOW, SECRET, recorded
from webhook import Push, door


class Sink:
    """Keeps what came through; fails when told to."""

    def __init__(self) -> None:
        self.pushes: list[Push] = []
        self.broken = False

    def __call__(self, push: Push) -> None:
        if self.broken:
            raise RuntimeError("the disk is full")
        self.pushes.append(push)


def client_for(sink: Sink, secrets: tuple[str, ...] = (SECRET,)) -> FlaskClient:
    app = Flask("test")
    given = [Secret(one) for one in secrets]
    app.register_blueprint(door(given, FOLLOWED, sink, lambda: NOW))
    return app.test_client()


def send(client: FlaskClient, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
    answer = client.post(
        "/hooks/git", data=body, headers={"Content-Type": "application/json", **headers}
    )
    return answer.status_code, answer.get_json()


def changed(name: str, **keys: Any) -> bytes:
    """A recorded body with other values at some keys."""
    return json.dumps(json.loads(recorded(name)) | keys).encode()
