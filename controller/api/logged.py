"""A line in the log for each request that was answered, and its id in every line written for it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from flask import g, request

from controller import logs

if TYPE_CHECKING:
    from flask import Flask, Response

# Asked for every few seconds by machines: they would bury the rest.
QUIET: Final = ("/healthz", "/readyz", "/metrics")


def register(app: Flask) -> None:
    """After the request has got its id."""
    app.before_request(_begin)
    app.after_request(_end)
    app.teardown_request(_forget)


def _begin() -> None:
    g.begun = time.perf_counter()
    logs.begin(str(g.request_id))


def _end(response: Response) -> Response:
    if request.path not in QUIET:
        spent = (time.perf_counter() - g.get("begun", time.perf_counter())) * 1000
        more = {
            "method": request.method,
            "path": request.path,
            "status": response.status_code,
            "milliseconds": round(spent, 1),
            "address": request.remote_addr,
        }
        told = (request.method, request.path, response.status_code)
        logs.ACCESS.info("%s %s %s", *told, extra=more)
    return response


def _forget(_: BaseException | None) -> None:
    logs.begin(None)
