"""`margrave controller serve`: gunicorn with threads, one process, and the chores beside it."""

from __future__ import annotations

import gc
import json
import logging
import os
import ssl
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]
from gunicorn.arbiter import Arbiter  # type: ignore[import-untyped]
from gunicorn.systemd import sd_notify  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

from controller import logs
from margrave.errors import MargraveError, Refused, Unreachable

if TYPE_CHECKING:
    from types import FrameType

    from flask import Flask

    from controller.chores import Chores
    from controller.settings import ControllerSettings

LOG = logging.getLogger(__name__)

SPARE_THREADS: Final = 16  # beyond the streams, so that they never starve /healthz
COLLECT_AFTER: Final = 20_000  # new objects: a batch of reports makes ten thousand
ALIVE_EVERY: Final = 5.0  # seconds between two words to a systemd that watches
GRACE: Final = 25  # seconds for requests in progress when asked to stop


def write_problem(sock: Any, status: int, title: str, words: str) -> None:
    """What gunicorn refuses before it reaches the application, in the shape of all refusals."""
    body = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": words[:200] or "the request cannot be answered",
        "cure": "send HTTP/1.1 with an address and headers of 8 KiB at most",
        "errors": [],
        "request_id": "",
    }
    data = json.dumps(body).encode()
    head = (
        f"HTTP/1.1 {status} {title}\r\nConnection: close\r\n"
        f"Content-Type: application/problem+json\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    util.write_nonblock(sock, head.encode("latin-1") + data)


util.write_error = write_problem  # gunicorn has no door for it, and would answer HTML


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A worker that ends its streams when asked to stop: they would never end by themselves.

    It tells systemd too that it lives: gunicorn's own process only tells that it has begun.
    """

    _told = 0.0

    def notify(self) -> None:
        """Alive; called on each turn of the loop that takes connections."""
        super().notify()
        if time.monotonic() - self._told >= ALIVE_EVERY:
            self._told = time.monotonic()
            sd_notify("WATCHDOG=1", self.log)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM."""
        self.app.end_streams()
        super().handle_exit(sig, frame)

    def handle_quit(self, sig: int, frame: FrameType | None) -> None:
        """SIGINT and SIGQUIT."""
        self.app.end_streams()
        super().handle_quit(sig, frame)


class Server(BaseApplication):  # type: ignore[misc]
    """gunicorn told by our settings instead of by its own file and command line."""

    def __init__(self, settings: ControllerSettings) -> None:
        self._settings = settings
        self._chores: Chores | None = None
        self._hear, self._say = os.pipe()
        super().__init__()

    def load_config(self) -> None:
        """Our settings in gunicorn's words."""
        for name, value in options(self._settings).items():
            self.cfg.set(name, value)
        self.cfg.set("post_worker_init", lambda _: self._begin())
        self.cfg.set("worker_exit", lambda _server, _worker: self._end())

    def load(self) -> Flask:
        """Made in the worker: threads and database connections do not survive a fork.

        What it is made of is loaded here too: the process that only watches the worker stays small.
        """
        try:
            return self._made()
        except MargraveError as error:
            # gunicorn would show a trace. Who started us gets the words and the cure, from run().
            away = isinstance(error, Unreachable)
            told = {"message": error.message, "cure": error.cure, "away": away}
            os.write(self._say, json.dumps(told).encode())
            sys.exit(Arbiter.APP_LOAD_ERROR)

    def _made(self) -> Flask:
        from controller.app import assemble, create_app
        from controller.chores import Chores
        from controller.pages import compiled

        parts = assemble(self._settings)
        problem = parts.store.schema_problem()
        if problem:
            raise Refused(problem)
        parts.repository.prepare()
        self._chores = Chores(parts)
        return compiled(create_app(parts, self._chores))

    def run(self) -> None:
        """Serve until stopped; Refused or Unreachable where the worker could not begin."""
        watcher = os.getpid()
        try:
            super().run()
        except SystemExit:
            told = self._heard() if os.getpid() == watcher else b""  # a worker ends here too
            if not told:
                raise
            said = json.loads(told)
            kind = Unreachable if said["away"] else Refused
            raise kind(said["message"], said["cure"]) from None

    def _heard(self) -> bytes:
        """What a worker said before it ended, if it said anything."""
        os.set_blocking(self._hear, False)
        try:
            return os.read(self._hear, 65536)
        except BlockingIOError:
            return b""

    def end_streams(self) -> None:
        """Let every open stream end; on a thread, for a signal may not wait for a lock."""
        if self._chores is not None:
            threading.Thread(target=self._chores.end_streams, daemon=True).start()

    def _begin(self) -> None:
        settle_memory()
        if self._chores is not None:
            self._chores.start()

    def _end(self) -> None:
        if self._chores is not None:
            self._chores.stop()


def settle_memory() -> None:
    """Keep what was loaded out of the collector's rounds, and let it go round less often.

    Modules, mappings and routes live as long as the process: looking through them again for every
    few hundred values of a report takes a tenth of its time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 20)


def options(settings: ControllerSettings) -> dict[str, Any]:
    """gunicorn's options."""
    tls = settings.http.tls
    threads = settings.http.threads or settings.events.max_clients + SPARE_THREADS
    found: dict[str, Any] = {
        "bind": settings.http.bind,
        "workers": 1,
        "threads": threads,
        "worker_class": "controller.serve.Worker",
        "worker_connections": threads + 1000,
        "graceful_timeout": GRACE,
        "timeout": 60,
        "keepalive": 15,
        "limit_request_line": 8190,
        "loglevel": "warning",
        "proc_name": "margrave-controller",
        "control_socket_disable": True,
    }
    if tls.cert:
        found |= {"certfile": str(tls.cert), "keyfile": str(tls.key)}
    if tls.client_ca:
        found |= {"ca_certs": str(tls.client_ca), "cert_reqs": ssl.CERT_REQUIRED}
    return found


def serve(settings: ControllerSettings) -> None:
    """Serve until asked to stop."""
    logs.configure(settings.log)
    Server(settings).run()
