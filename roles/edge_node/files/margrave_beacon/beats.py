"""Beating: signed, in time, at once when something ended, and never queued."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.client
import json
import ssl
import threading
import time
import urllib.error
import urllib.request

from . import VERSION
from .config import INTERVAL, SHORTEST_PAUSE, Config
from .engine import TROUBLE, Engine
from .node import problems, read
from .words import log, notify

PROTOCOL = 1
# Several times within systemd's WatchdogSec, and the most that an end has to wait for.
STEP = 2.0


class Beacon:
    """What it knows of itself, shared by its three threads."""

    def __init__(self, config: Config, engine: Engine) -> None:
        self.config, self.engine = config, engine
        self.lock = threading.Lock()
        self.wake = threading.Event()
        self.ending = threading.Event()
        self.changed: set[str] = set()
        self.beats: dict[str, int] = {"accepted": 0, "refused": 0, "failed": 0}
        self.last_beat = 0.0
        self.trouble = "no beat yet"
        self.stamp = 0
        self.interval = INTERVAL
        self.brief = False

    # -- beating ------------------------------------------------------------------------------

    def run(self) -> None:
        """Beat until the end."""
        due = 0.0
        while not self.ending.is_set():
            notify("WATCHDOG=1")
            now = time.monotonic()
            if now >= due:
                self.config.read()
                self.beat()
                due = time.monotonic() + self.interval
            self.wake.wait(min(STEP, max(0.0, due - time.monotonic())))
            if self.wake.is_set():
                # Whatever else happens in this moment goes with the same beat.
                self.ending.wait(SHORTEST_PAUSE)
                self.wake.clear()
                due = 0.0

    def beat(self) -> None:
        """One beat; a failure is told once, and never queued."""
        if self.config.trouble:
            self.interval = INTERVAL
            self._told("failed", self.config.trouble)
            return
        with self.lock:
            told, self.changed = self.changed, set()
        status, words, answer = self._post(self._body(told))
        if status == 200:
            self.brief = False
            self.last_beat = time.time()
            self.interval = max(SHORTEST_PAUSE, float(answer.get("interval", self.config.interval)))
            self._told("accepted", "")
            return
        with self.lock:
            self.changed |= told
        self.interval = self.config.interval
        self.brief = status == 413
        if status == 401:
            theirs = answer.get("time")
            if isinstance(theirs, (int, float)):
                words += f" (its clock is {theirs / 1000 - time.time():+.0f} s from ours)"
            self.config.read(again=True)
        self._told("refused" if 400 <= status < 500 else "failed", words)

    def _told(self, result: str, trouble: str) -> None:
        self.beats[result] += 1
        if trouble != self.trouble and trouble:
            log(trouble)
        elif self.trouble and not trouble:
            log("the runner hears us")
        self.trouble = trouble

    def _body(self, told: set[str]) -> bytes:
        body: dict = {"protocol": PROTOCOL, "beacon": VERSION, "changed": sorted(told)}
        body["boot_id"] = read("/proc/sys/kernel/random/boot_id")
        if not self.brief:
            body["problems"] = problems(self.engine)
        return json.dumps(body).encode()

    def _post(self, body: bytes) -> tuple[int, str, dict]:
        """Status (0 without an answer), why it was not taken, and the answer."""
        config = self.config
        # Greater than the last one, whatever the clock does.
        self.stamp = max(self.stamp + 1, int(time.time() * 1000))
        signed = f"v1.{config.node}.{self.stamp}.".encode() + body
        headers = {
            "Content-Type": "application/json",
            "X-Margrave-Node": config.node,
            "X-Margrave-Timestamp": str(self.stamp),
            "X-Margrave-Signature": "v1="
            + hmac.new(config.key, signed, hashlib.sha256).hexdigest(),
        }
        request = urllib.request.Request(f"{config.url}/heartbeat", data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=5, context=_trust(config)) as answer:
                return answer.status, "", _object(answer.read(65536))
        except urllib.error.HTTPError as error:
            with error:
                found = _object(error.read(65536))
            words = f"{config.url}: {error.code} {found.get('detail') or error.reason}"
            return error.code, words, found
        except (OSError, http.client.HTTPException, ValueError) as error:
            return 0, f"{config.url}: {error}", {}

    # -- listening to the engine --------------------------------------------------------------

    def listen(self) -> None:
        """Hear of containers until the end; an engine that is away is asked again later."""
        while not self.ending.is_set():
            # What happens to the engine is told among the problems: here it only means waiting.
            with contextlib.suppress(*TROUBLE):
                for deployment in self.engine.events() if self.engine.place else ():
                    with self.lock:
                        self.changed.add(deployment)
                    self.wake.set()
            self.ending.wait(STEP)


def _trust(config: Config) -> ssl.SSLContext:
    """Whom it believes, and what it shows a door that asks for a certificate."""
    context = ssl.create_default_context(cafile=config.ca_file or None)
    if config.client_cert:
        try:
            # With a word, even none, nobody is asked for one: there is no terminal.
            context.load_cert_chain(config.client_cert, config.client_key, password="")
        except OSError as error:
            words = f"{config.client_cert} cannot be shown with {config.client_key}: {error}"
            raise ValueError(words) from error
    return context


def _object(data: bytes) -> dict:
    try:
        value = json.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
