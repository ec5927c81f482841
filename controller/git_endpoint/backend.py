"""Runs `git http-backend` (a CGI program) for one request, streaming both ways."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final

from flask import Response, request

from controller.gate.git_command import environment
from controller.gate.pushed import SITES
from controller.gate.shelf import FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from controller.access.identity import Identity

LOG = logging.getLogger(__name__)

CHUNK: Final = 64 * 1024
HEADERS_LIMIT: Final = 64 * 1024


def run(
    repository: Path,
    path: str,
    who: Identity,
    watch: Callable[[bytes], bool] = lambda _: True,
    done: Callable[[], object] = lambda: None,
    shelf: Path | None = None,
) -> Response:
    """Return Git's answer. `watch` sees what the client sends and ends the request with False,
    `done` is called once Git has ended, and `shelf` is what the hook checks against."""
    process = subprocess.Popen(
        ["git", "http-backend"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(repository, path, who, shelf),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    # Git may answer before it has read everything, so both directions have to move at once.
    feeder = threading.Thread(
        target=_feed,
        args=(process.stdin, request.stream.read, watch),
        daemon=True,
        name="git-feed",
    )
    feeder.start()
    status, headers = _head(process.stdout)
    body = _body(process, feeder, done)
    return Response(body, status=status, headers=headers, direct_passthrough=True)


def _environment(repository: Path, path: str, who: Identity, shelf: Path | None) -> dict[str, str]:
    settings = {"core.hooksPath": str(repository / "hooks")}
    found = {
        **environment(settings),
        "GIT_PROJECT_ROOT": str(repository),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": path,
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.query_string.decode("latin-1"),
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "REMOTE_USER": who.actor or "unknown",
        "REMOTE_ADDR": request.remote_addr or "",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "MARGRAVE_PYTHON": sys.executable,
        "PYTHONPATH": ":".join(entry for entry in sys.path if entry),
    }
    if shelf is not None:
        found[FOLDER] = str(shelf)
    if who.sites is not None:
        found[SITES] = ",".join(sorted(who.sites))
    if request.content_length is not None:
        found["CONTENT_LENGTH"] = str(request.content_length)
    for header, name in (
        ("Git-Protocol", "GIT_PROTOCOL"),
        ("Content-Encoding", "HTTP_CONTENT_ENCODING"),
    ):
        if header in request.headers:
            found[name] = request.headers[header]
    return found


def _call(done: Callable[[], object]) -> None:
    """What the push brought is in Git; whoever is told of it may fail, the push has not."""
    try:
        done()
    except Exception:
        LOG.exception("a push is in, but was not followed up; the next look at Git does it")


def _feed(sink: IO[bytes], read: Callable[[int], bytes], watch: Callable[[bytes], bool]) -> None:
    try:
        # Git has ended, or the client has gone: the answer tells which, if anybody reads it.
        with suppress(OSError, ValueError):
            while (chunk := read(CHUNK)) and watch(chunk):
                sink.write(chunk)
    finally:
        # Without the end of its input Git would wait for ever; one that ends early changes nothing.
        with suppress(OSError, ValueError):
            sink.close()


def _head(source: IO[bytes]) -> tuple[str, list[tuple[str, str]]]:
    status, headers, size = "200 OK", [], 0
    for line in iter(source.readline, b""):
        size += len(line)
        text = line.decode("latin-1").rstrip("\r\n")
        if not text or size > HEADERS_LIMIT:
            break
        name, _, value = text.partition(":")
        if name.lower() == "status":
            status = value.strip()
        else:
            headers.append((name, value.strip()))
    if not headers:
        return "502 Bad Gateway", [("Content-Type", "text/plain; charset=utf-8")]
    return status, headers


def _body(
    process: subprocess.Popen[bytes],
    feeder: threading.Thread,
    done: Callable[[], object],
) -> Iterator[bytes]:
    assert process.stdout is not None
    try:
        while chunk := process.stdout.read1(CHUNK):  # type: ignore[attr-defined]  # a buffered pipe
            yield chunk
        process.wait()
        feeder.join(timeout=5)
    finally:
        # The client may have gone in the middle: nothing of this request stays behind, and what
        # came through of it is told all the same.
        process.stdout.close()
        if process.poll() is None:
            process.kill()
        process.wait()
        _call(done)
