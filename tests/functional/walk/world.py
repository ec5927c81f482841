"""What the walk stands on: the contract's lines, the fields of each resource, and who asks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support.fake_site import FakeSite
from tests.support.served import Served
from tests.support.waiting import eventually

# Every line of what a controller answers, as clients were promised it.
PROMISED = """
GET /healthz
GET /readyz
GET /metrics
GET /openapi.json
GET /schemas/{schema}
POST /hooks/git
GET /git/deployments.git/info/refs
GET /api/v1/meta/capabilities
GET /api/v1/apps
GET /api/v1/apps/{app}
GET /api/v1/apps/{app}/versions/{version}
GET /api/v1/app-sources
POST /api/v1/app-sources
GET /api/v1/app-sources/{name}
DELETE /api/v1/app-sources/{name}
POST /api/v1/app-sources/{name}/sync
GET /api/v1/sites
POST /api/v1/sites
GET /api/v1/sites/{site}
PATCH /api/v1/sites/{site}
DELETE /api/v1/sites/{site}
POST /api/v1/sites/{site}/tokens
DELETE /api/v1/sites/{site}/tokens/{id}
POST /api/v1/sites/{site}/pause
POST /api/v1/sites/{site}/resume
POST /api/v1/sites/{site}/reload
POST /api/v1/sites/{site}/drain
POST /api/v1/sites/{site}/undrain
POST /api/v1/sites/{site}/accept
GET /api/v1/nodes
GET /api/v1/sites/{site}/nodes
GET /api/v1/sites/{site}/nodes/{node}
DELETE /api/v1/sites/{site}/nodes/{node}
POST /api/v1/sites/{site}/nodes/{node}/drain
POST /api/v1/sites/{site}/nodes/{node}/undrain
POST /api/v1/sites/{site}/nodes/{node}/reload
POST /api/v1/plans
POST /api/v1/deployments
GET /api/v1/deployments
GET /api/v1/deployments/{id}
PATCH /api/v1/deployments/{id}
DELETE /api/v1/deployments/{id}
POST /api/v1/deployments/{id}/rollback
POST /api/v1/deployments/{id}/retry
POST /api/v1/deployments/{id}/cancel
POST /api/v1/deployments/{id}/release
POST /api/v1/deployments/actions
GET /api/v1/requests
GET /api/v1/requests/{id}
DELETE /api/v1/requests/{id}
GET /api/v1/deployments/{id}/placements
GET /api/v1/deployments/{id}/history
GET /api/v1/deployments/{id}/explain
GET /api/v1/deployments/{id}/manifest
GET /api/v1/operations
GET /api/v1/operations/{id}
GET /api/v1/operations/{id}/log
GET /api/v1/operations/{id}/events
GET /api/v1/artifacts/{id}
GET /api/v1/events
GET /api/v1/audit
GET /api/v1/tokens
POST /api/v1/tokens
DELETE /api/v1/tokens/{id}
GET /api/v1/users
POST /api/v1/users
PATCH /api/v1/users/{name}
DELETE /api/v1/users/{name}
POST /api/v1/login
POST /api/v1/sites/{site}/reports
POST /api/v1/sites/{site}/heartbeat
GET /api/v1/sites/{site}/stream
POST /api/v1/sites/{site}/runs
"""

LINES = PROMISED.strip().split("\n")

# Fields that are always there; more may be.
FIELDS = {
    "app": "id name version versions description source profiles parameters findings",
    "site": "name labels timezone freshness last_seen wanted_commit applied_commit paused locked"
    " halted nodes deployments",
    "node": "site name address status drain last_seen labels capabilities",
    "deployment": "id name app version profile site state outcome freshness revision"
    " document_digest commit parameters created_at updated_at request author",
    "placement": "deployment site node incarnation state outcome freshness revision version"
    " wanted_revision wanted_version attempt reason error waiting health drift components since",
    "history": "at deployment node incarnation from to actor reason operation attempt revision"
    " version commit error",
    "request": "id action actor state position eta commit deployments plan created_at",
    "operation": "id deployment site node kind state phase attempt started_at ended_at fence error",
    "plan": "hash sites findings",
    "planned site": "site nodes",
    "planned node": "node action from to images bytes strategy why waiting",
    "error": "class code message cure",
    "capabilities": "architecture cpus memory engines deployment_types",
    "profile": "id type components",
    "parameter": "name default",
}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def has(kind: str, resource: Any) -> Any:
    """The resource, which has every field that its kind always has."""
    missing = set(FIELDS[kind].split()) - set(resource)
    assert not missing, f"{kind}: {sorted(missing)} missing in {resource}"
    for name, value in resource.items():
        if name in ("at", "since", "last_seen") or name.endswith("_at"):
            assert value is None or TIME.fullmatch(value), f"{kind}.{name}: {value} is not UTC"
    return resource


@dataclass
class World:
    """A controller that serves, a site that reports to it, and what was asked so far."""

    served: Served
    site: FakeSite
    asked: set[str] = field(default_factory=set)
    ids: dict[str, str] = field(default_factory=dict)  # what one step leaves for the next

    def __post_init__(self) -> None:
        self._http = httpx.Client(base_url=self.served.url, timeout=60)

    def close(self) -> None:
        """No more questions."""
        self._http.close()

    def send(self, method: str, path: str, token: str | None = None, **more: Any) -> httpx.Response:
        """The answer to the admin, or to whom a token is of; "" is nobody."""
        whole = path if path.startswith(("/git", "/hooks", "/schemas")) else self._whole(path)
        bearer = self.served.token if token is None else token
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        headers = {**headers, **more.pop("headers", {})}
        self.saw(method, whole)
        return self._http.request(method, whole, headers=headers, **more)

    def saw(self, method: str, path: str) -> None:
        """Write down which of the promised lines this is."""
        bare = path.partition("?")[0]
        fits = [line for line in LINES if _fits(line, method, bare)]
        if fits:  # a word stands above a name: actions is no deployment's id
            self.asked.add(min(fits, key=lambda line: line.count("{")))

    def ask(self, method: str, path: str, status: int = 200, **more: Any) -> Any:
        """What is answered, with the status that was promised; refusals say what helps."""
        answer = self.send(method, path, **more)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        assert answer.headers["X-Request-Id"]
        if status >= 400:
            assert answer.headers["Content-Type"] == "application/problem+json"
            told = answer.json()
            assert told["cure"] and told["detail"] and told["status"] == status
            assert all({"pointer", "code", "detail"} <= set(one) for one in told["errors"])
            return told
        if not answer.content:
            return None
        kind = answer.headers["Content-Type"]
        return answer.json() if kind.startswith("application/json") else answer.text

    def items(self, path: str, kind: str) -> list[Any]:
        """All of a list, a page of one at a time: next is null at the end."""
        found: list[Any] = []
        cursor: str | None = ""
        sign = "&" if "?" in path else "?"
        while cursor is not None:
            page = self.ask("GET", f"{path}{sign}limit=1" + (f"&cursor={cursor}" if cursor else ""))
            assert set(page) >= {"items", "next"} and len(page["items"]) <= 1
            found += [has(kind, one) if kind in FIELDS else one for one in page["items"]]
            cursor = page["next"]
        return found

    def deployment(self, deployment: str) -> Any:
        """One deployment, whole."""
        return has("deployment", self.ask("GET", f"/deployments/{deployment}"))

    def until(self, deployment: str, state: str, outcome: str) -> Any:
        """The deployment, once it stands so."""

        def stands() -> bool:
            one = self.deployment(deployment)
            found = (one["state"], one["outcome"])
            assert found == (state, outcome), found
            return True

        eventually(stands, 60, f"{deployment} {state} {outcome}", pause=0.2)
        return self.deployment(deployment)

    def published(self, request: str) -> Any:
        """The request, once it is."""
        path = f"/requests/{request}"
        eventually(lambda: self.ask("GET", path)["state"] == "published", 60, request, pause=0.2)
        return has("request", self.ask("GET", path))

    @staticmethod
    def _whole(path: str) -> str:
        doors = ("/healthz", "/readyz", "/metrics", "/openapi.json")
        return path if path in doors else f"/api/v1{path}"


def _fits(line: str, method: str, path: str) -> bool:
    verb, _, form = line.partition(" ")
    return verb == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", form), path) is not None
