"""`margrave runner serve`: threads, two servers, and an end that leaves everything resumable."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final

from flask import Flask
from waitress.server import create_server

from margrave.errors import Conflict, Refused
from margrave.sections import SOCKET
from runner import app
from runner.execute import AnsibleExecutor
from runner.notify import Systemd
from runner.settings import RunnerSettings
from runner.tls_server import TlsServer
from runner.web.problems import BODY_LIMIT

_log = logging.getLogger(__name__)

_LOCK: Final = "runner.lock"
_GRACE: Final = 5.0
_ABOVE: Final = 64 * 1024
_SOCKET_PATH_LIMIT: Final = 107  # of a UNIX socket on Linux
_M_ARENA_MAX: Final = -8  # of glibc's malloc.h


def serve(
    settings: RunnerSettings, reload: Callable[[], RunnerSettings] | None = None, warning: str = ""
) -> None:
    """Serve until SIGTERM or SIGINT. SIGUSR1 looks at Git at once.

    `reload` reads the configuration again: a token in it may be replaced while the runner serves.
    `warning` is about the configuration, and is logged once the runner may serve.
    """
    _one_heap()
    folder = settings.state.dir
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with only_one(folder):
        if warning:
            _log.warning("%s", warning)
        runner = app.build(settings, reload=reload)
        signals = noted_signals()
        try:
            _run(runner, settings, signals)
        finally:
            runner.close()


def _one_heap() -> None:
    """Have all threads share a heap: one of its own for each costs five megabytes at rest, and
    threads that wait for Git, SSH and the database hardly meet in it. Elsewhere than on glibc
    nothing happens."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """One runner per state folder; Conflict with the other one's process id."""
    with (folder / _LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Conflict(
                f"{folder}: {_holder(file)} serves this state folder", "stop it first"
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _holder(file: IO[str]) -> str:
    file.seek(0)
    pid = file.read().strip()
    return f"the runner with process id {pid}" if pid else "another runner"


def _run(runner: app.Runner, settings: RunnerSettings, signals: int) -> None:
    if isinstance(runner.ground.executor, AnsibleExecutor):
        runner.ground.executor.open()
    resumed = runner.work.operations.resume()
    if resumed:
        _log.info("%d operations were cut off; they are taken up again", resumed)
    if runner.line is not None:
        runner.line.sender.introduce()
    with _servers(runner, settings):
        threads = [
            threading.Thread(target=run, name=name, daemon=True)
            for name, (run, _) in runner.threads().items()
        ]
        for thread in threads:
            thread.start()
        _log.info("site %s: serving on %s", settings.site.name, settings.http.bind)
        systemd = Systemd()
        systemd.say("READY=1", f"STATUS=site {settings.site.name} on {settings.http.bind}")
        stopping = threading.Event()
        watch = (runner.work.reconciler.alive, stopping)
        threading.Thread(target=systemd.watch, args=watch, daemon=True, name="watchdog").start()
        until_asked_to_stop(signals, runner.work.git.hint)
        stopping.set()
        _log.info("stopping")
        systemd.say("STOPPING=1")
        for _, stop in runner.threads().values():
            stop()
        runner.ground.executor.stop()
        for thread in threads:
            # The stream may be deep in a read; it is a daemon and ends with the process.
            thread.join(_GRACE if thread.name != "stream" else 0)


@contextlib.contextmanager
def _servers(runner: app.Runner, settings: RunnerSettings) -> Iterator[None]:
    path = settings.state.dir / SOCKET
    outside = _outside(runner.public, settings)
    inside = server(runner.admin, sockets=[_bind_socket(path)])
    servers = (outside, inside)
    threads = [threading.Thread(target=one.run, daemon=True) for one in servers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for one in servers:
            one.close()
        path.unlink(missing_ok=True)


def _outside(application: Flask, settings: RunnerSettings) -> Any:
    listener = _bind(settings.http.bind)
    if settings.http.tls.cert is None:
        return server(application, sockets=[listener])
    try:
        return TlsServer(application, listener, settings.http.tls)
    except OSError as error:
        raise Refused(f"http.tls: {error}", "check certificate, key and client_ca") from error


def server(application: Flask, **options: Any) -> Any:
    """A server for it, which is still to be run."""
    return create_server(
        application,
        threads=8,
        ident="margrave",
        clear_untrusted_proxy_headers=False,
        # It takes a body in whole before anybody is asked whether it is wanted. A little above
        # the limit, so that who is a little above it still gets the door's own words.
        max_request_body_size=BODY_LIMIT + _ABOVE,
        **options,
    )


def _bind(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, int(port)))
    except (OSError, ValueError) as error:
        listener.close()
        raise Refused(f"http.bind {address}: {error}", "choose an address that is free") from error
    listener.listen()
    return listener


def _bind_socket(path: Path) -> socket.socket:
    if len(os.fsencode(path)) > _SOCKET_PATH_LIMIT:
        raise Refused(f"{path}: is too long for a socket", "choose a shorter state.dir")
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Made unreadable before anyone can connect: who opens the socket owns the site.
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    listener.listen()
    return listener


def noted_signals() -> int:
    """From now on each signal is a byte that is read here.

    Python runs a handler when the main thread runs: one that waits for an event sleeps on when the
    signal came a moment too early, or when the kernel gave it to another thread.
    """
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, lambda *_: None)
    return told


def until_asked_to_stop(signals: int, hint: Callable[[], None]) -> None:
    """Return at SIGTERM or SIGINT; each SIGUSR1 is a hint."""
    while True:
        for number in os.read(signals, 64):
            if number in (signal.SIGTERM, signal.SIGINT):
                return
            if number == signal.SIGUSR1:
                hint()
