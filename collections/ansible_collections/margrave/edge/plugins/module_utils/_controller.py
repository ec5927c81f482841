# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A controller as modules speak with it. Private: nobody else should import this."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, Callable
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode

from ansible.module_utils.basic import AnsibleModule, env_fallback
from ansible.module_utils.urls import open_url

PAGE = 200  # the most that the controller gives at once
# What `open_url` is told of the line, as our own options are named.
HOW = ("validate_certs", "ca_path", "client_cert", "client_key", "timeout")
# A controller that restarts or has too much to do is asked again this often, with growing pauses.
PATIENCE = 4
# As long as this the controller may ask for a pause in one go; a longer one is no short trouble.
LONGEST_PAUSE = 10.0


class ControllerError(Exception):
    """The controller refused, or was not reached."""

    def __init__(self, message: str, cure: str = "", status: int = 0, errors: Any = ()) -> None:
        super().__init__(message)
        self.message, self.cure, self.status = message, cure, status
        self.errors = list(errors)

    def as_dict(self) -> dict:
        """As modules return it."""
        return {
            "status": self.status,
            "message": self.message,
            "cure": self.cure,
            "errors": self.errors,
        }


def spec(**options: dict) -> dict:
    """An argument specification with what every one of these modules takes."""
    return {
        "url": {"type": "str", "required": True, "fallback": (env_fallback, ["MARGRAVE_URL"])},
        "token": {
            "type": "str",
            "required": True,
            "no_log": True,
            "fallback": (env_fallback, ["MARGRAVE_TOKEN"]),
        },
        "validate_certs": {"type": "bool", "default": True},
        "ca_path": {"type": "path"},
        "client_cert": {"type": "path", "fallback": (env_fallback, ["MARGRAVE_CERT"])},
        "client_key": {
            "type": "path",
            "no_log": False,  # where it lies
            "fallback": (env_fallback, ["MARGRAVE_KEY"]),
        },
        "timeout": {"type": "int", "default": 30},
        **options,
    }


def at(*parts: str) -> str:
    """A path of the API; names from outside cannot leave their place in it."""
    return "/api/v1/" + "/".join(quote(str(part), safe="") for part in parts)


class Controller:
    """The API of one controller."""

    def __init__(self, params: dict) -> None:
        self._base = params["url"].rstrip("/")
        self._token = params["token"]
        self._options = {key: params[key] for key in HOW}

    def get(self, path: str) -> dict:
        """What stands there."""
        return self.send("GET", path)

    def find(self, path: str) -> dict | None:
        """What stands there, or None."""
        try:
            return self.send("GET", path)
        except ControllerError as error:
            if error.status != 404:
                raise
            return None

    def items(self, path: str, **query: str) -> Iterator[dict]:
        """All items of a list, page by page."""
        cursor: dict = {}
        while True:
            page = self.get(f"{path}?{urlencode({**query, 'limit': PAGE, **cursor})}")
            yield from page["items"]
            if not page.get("next"):
                return
            cursor = {"cursor": page["next"]}

    def send(self, method: str, path: str, body: Any = None, key: str = "") -> dict:
        """The answer; what failed for a moment is asked again where that does no harm."""
        # A request with a key is taken once however often it comes; so is what only reads.
        safe = bool(key) or method == "GET"
        for attempt in range(PATIENCE):
            try:
                return self._ask(method, path, body, key)
            except _Busy as busy:
                if attempt + 1 == PATIENCE or not (safe or busy.untouched):
                    raise busy.error from busy
                time.sleep(min(busy.pause or 0.5 * 2**attempt, LONGEST_PAUSE))
        raise AssertionError("the last attempt returns or raises")

    def _ask(self, method: str, path: str, body: Any, key: str) -> dict:
        headers = {"Authorization": f"Bearer {self._token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key:
            headers["Idempotency-Key"] = key
        data = None if body is None else json.dumps(body)
        url = self._base + path
        try:
            answer = open_url(url, method=method, data=data, headers=headers, **self._options)
            text = answer.read()
            return json.loads(text) if text.strip() else {}
        except HTTPError as error:
            raise _refusal(f"{method} {url}", error) from error
        except (URLError, OSError) as error:
            told = ControllerError(f"{url}: {error}", "is the controller running, and url right?")
            raise _Busy(told) from error
        except ValueError as error:
            raise ControllerError(
                f"{url}: the answer is not JSON ({error})", "is url that of a controller?"
            ) from error


class _Busy(Exception):
    """No answer, or one that says later. `untouched`: the request was surely not begun."""

    def __init__(self, error: ControllerError, pause: float = 0.0, untouched: bool = False) -> None:
        super().__init__(str(error))
        self.error, self.pause, self.untouched = error, pause, untouched


def _refusal(what: str, error: HTTPError) -> Exception:
    try:
        problem = json.loads(error.read())
        problem = problem if isinstance(problem, dict) else {}
    except (OSError, ValueError):
        problem = {}
    words = problem.get("detail") or problem.get("title") or "no reason is given"
    findings = problem.get("errors") or []
    told = "; ".join(_told(one) for one in findings)
    cure = problem.get("cure") or ""
    if error.code == 401:
        cure = cure or "look at token and MARGRAVE_TOKEN"
    message = f"{what}: {error.code} {words}" + (f": {told}" if told else "")
    refused = ControllerError(message, cure, error.code, findings)
    if error.code in (429, 503):
        return _Busy(refused, _seconds(error.headers.get("Retry-After")), untouched=True)
    if error.code in (502, 504):
        return _Busy(refused)
    return refused


def _told(finding: dict) -> str:
    cure = f" ({finding['cure']})" if finding.get("cure") else ""
    where = f"{finding['pointer']} " if finding.get("pointer") else ""
    return f"{where}{finding.get('detail', '')}{cure}"


def _seconds(text: str | None) -> float:
    return float(text) if text and text.isdigit() else 0.0


def run(module: AnsibleModule, work: Callable[[Controller], dict]) -> None:
    """Do the work and end the module with its result, or with what went wrong and its cure."""
    try:
        result = work(Controller(module.params))
    except ControllerError as error:
        cure = f" ({error.cure})" if error.cure else ""
        module.fail_json(msg=error.message + cure, error=error.as_dict())
    else:
        module.exit_json(**result)


def difference(before: dict, after: dict) -> dict:
    """Before and after as `--diff` shows them, without what is the same in both."""
    keys = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    return {
        "before": {key: before[key] for key in keys if key in before},
        "after": {key: after[key] for key in keys if key in after},
    }
