"""What the beacon was told: its node, where its runner is, and the key that both know."""

from __future__ import annotations

import json
import os

from .words import log

INTERVAL = 10.0
# A changed container is told at once, but a crash loop shall not become a storm.
SHORTEST_PAUSE = 1.0


class NotUsable(Exception):
    """Why the configuration cannot be used, for people."""


class Config:
    """What the file said when it was last read, and why it cannot be used when it cannot."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.node, self.url, self.key = "", "", b""
        self.interval, self.ca_file = INTERVAL, ""
        self.client_cert, self.client_key = "", ""
        self.trouble = "not read yet"
        self._stamp: object = None

    def read(self, again: bool = False) -> None:
        """Read the file when it is another one than last time."""
        try:
            found = os.stat(self.path)
        except OSError:
            self._stamp, self.trouble = (
                None,
                f"{self.path} is not there: margrave node add writes it",
            )
            return
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        if stamp == self._stamp and not again:
            return
        self._stamp = stamp
        try:
            self._take()
            self.trouble = ""
        except (OSError, ValueError, NotUsable) as error:
            self.trouble = f"{self.path}: {error}"
        log(self.trouble or f"beats go to {self.url} for node {self.node}")

    def _take(self) -> None:
        with open(self.path, encoding="utf-8") as file:
            told = json.load(file)
        if not isinstance(told, dict):
            raise NotUsable("is no JSON object")
        missing = [name for name in ("node", "url", "key") if not isinstance(told.get(name), str)]
        if missing:
            raise NotUsable(f"{', '.join(missing)}: is missing")
        key = bytes.fromhex(told["key"])
        if len(key) != 32:
            raise NotUsable("key: has not 64 hexadecimal digits")
        if not told["url"].startswith(("http://", "https://")):
            raise NotUsable("url: does not begin with https:// or http://")
        if bool(told.get("client_cert")) != bool(told.get("client_key")):
            raise NotUsable("client_cert and client_key: belong together")
        self.node, self.url, self.key = told["node"], told["url"].rstrip("/"), key
        self.interval = max(SHORTEST_PAUSE, float(told.get("interval", INTERVAL)))
        self.ca_file = str(told.get("ca_file") or "")
        self.client_cert = str(told.get("client_cert") or "")
        self.client_key = str(told.get("client_key") or "")
