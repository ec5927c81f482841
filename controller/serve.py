"""`margrave controller serve`: gunicorn with threads, one process, and the chores beside it."""

from __future__ import annotations

import gc
import json
import logging
import os
import resource
import socket
import ssl
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]
from gunicorn.arbiter import Arbiter  # type: ignore[import-untyped]
from gunicorn.systemd import sd_notify  # type: ignore[import-untyped]

from controller import logs
from controller.edge import proxies, routing
from controller.edge.worker import EdgeOptions, EdgeWorker
from margrave import durations
from margrave.errors import MargraveError, Refused, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from flask import Flask

    from controller.chores import Chores
    from controller.settings import ControllerSettings

LOG = logging.getLogger(__name__)

COLLECT_AFTER: Final = 20_000  # new objects: a batch of reports makes ten thousand
ALIVE_EVERY: Final = 5.0  # seconds between two words to a systemd that watches
GRACE: Final = 25  # seconds for requests in progress when asked to stop
# Files that are open beside connections: databases, repositories, programs that Git starts.
SPARE_FILES: Final = 1024


class Worker(EdgeWorker):
    """A worker that ends its streams when asked to stop: they would never end by themselves.

    It tells systemd too that it lives: gunicorn's own process only tells that it has begun.
    """

    _notified = 0.0

    def notify(self) -> None:
        """Report that the worker lives, unless requests have waited for minutes in vain."""
        super().notify()
        if time.monotonic() - self._notified >= ALIVE_EVERY:
            self._notified = time.monotonic()
            stalled = self.tpool.stalled()
            if stalled:
                LOG.error("no request ends any longer: %s", ", ".join(stalled))
            else:
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

    def __init__(self, settings: ControllerSettings, announce: Callable[[str], object]) -> None:
        self.edge = edge_options(settings)
        self._settings = settings
        self._announce = announce
        self._chores: Chores | None = None
        self._hear, self._say = os.pipe()
        super().__init__()

    def load_config(self) -> None:
        """Our settings in gunicorn's words."""
        for name, value in options(self._settings).items():
            self.cfg.set(name, value)
        self.cfg.set("post_worker_init", self._begin)
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
            if os.getpid() != watcher:  # a worker ends here too
                raise
            told = self._heard()
            if not told:
                _check_address(self._settings.http.bind)
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

    def _begin(self, worker: Worker) -> None:
        settle_memory()
        if self._chores is not None:
            self._chores.start()
        for listener in worker.sockets:
            self._announce(f"Listening on {listener}")

    def _end(self) -> None:
        if self._chores is not None:
            self._chores.stop()


def _check_address(bind: str) -> None:
    """Refuse an address that nobody can listen on now; gunicorn's own log lines name no cure."""
    if bind.startswith("unix:"):
        return
    host, _, port = bind.rpartition(":")
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host.strip("[]"), int(port), type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except OSError as error:
        reason = error.strerror or str(error)
        cure = "choose an address of this machine that is free"
        raise Refused(f"http.bind {bind}: {reason}", cure) from error


def settle_memory() -> None:
    """Keep what was loaded out of the collector's rounds, and let it go round less often.

    Modules, mappings and routes live as long as the process: looking through them again for every
    few hundred values of a report takes a tenth of its time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 20)


def edge_options(settings: ControllerSettings) -> EdgeOptions:
    """Return the limits and deadlines of the HTTP edge."""
    http = settings.http
    return EdgeOptions(
        connections=http.connections,
        per_address=http.connections_per_address,
        header_timeout=durations.seconds(http.header_timeout),
        body_timeout=durations.seconds(http.body_timeout),
        idle_timeout=durations.seconds(http.idle_timeout),
        threads=http.threads or routing.THREADS,
        streams=settings.events.max_clients,
        trusted=proxies.networks(http.trusted_proxies),
    )


def options(settings: ControllerSettings) -> dict[str, Any]:
    """Return gunicorn's options."""
    http, tls = settings.http, settings.http.tls
    found: dict[str, Any] = {
        "bind": http.bind,
        "workers": 1,
        "threads": http.threads or routing.THREADS,
        "worker_class": "controller.serve.Worker",
        "worker_connections": http.connections,
        "graceful_timeout": GRACE,
        "timeout": 60,
        "keepalive": round(durations.seconds(http.idle_timeout)),
        "limit_request_line": 8190,
        "loglevel": "warning",
        "proc_name": "margrave-controller",
        "control_socket_disable": True,
        "do_handshake_on_connect": False,
        # Who may report that people use https://; a proxy on this machine always may.
        "forwarded_allow_ips": ",".join(("127.0.0.1", "::1", *http.trusted_proxies)),
    }
    if tls.cert:
        found |= {"certfile": str(tls.cert), "keyfile": str(tls.key)}
    if tls.client_ca:
        found |= {"ca_certs": str(tls.client_ca), "cert_reqs": ssl.CERT_REQUIRED}
    return found


def allow_files(settings: ControllerSettings) -> None:
    """Raise the limit of open files to what all connections need, as far as that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.http.connections + settings.events.max_clients + SPARE_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve(settings: ControllerSettings, announce: Callable[[str], object] = LOG.info) -> None:
    """Serve until asked to stop; `announce` receives each address once it is served."""
    logs.configure(settings.log)
    allow_files(settings)
    Server(settings, announce).run()
