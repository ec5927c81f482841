"""The deployments repository as it is followed: where it stands, what waits to be merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import request

from controller.pages.asking import ask, may
from controller.pages.frame import go, render

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

    from controller.api.call import Call


def shown(call: Call) -> str | Answer:
    """GET /repository; POST accepts a main that was rewritten."""
    if request.method == "POST":
        body = {"commit": request.form.get("commit", "").strip()}
        ask(call, "POST", "/repository/accept", body)
        return go("/repository", "main-accepted")
    return render(
        "repository.html",
        told=ask(call, "GET", "/repository"),
        accept=may(call, "POST", "/repository/accept"),
        audited=may(call, "GET", "/audit"),
    )
