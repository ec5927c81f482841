"""A small fleet as the fake controller tells it: one of everything, and never a new time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController

API = "/api/v1"
AT = "2030-01-01T10:00:00Z"
COMMIT = "3f9c2d41e5a0" + "0" * 28
REVISION = "sha256:" + "ab" * 32
ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"
REQUEST = "99999999-9999-4999-8999-999999999999"

STOREFRONT = {
    "id": ONE, "name": "storefront", "app": "storefront", "version": "1.1.0", "profile": "compose",
    "site": "harbor", "state": "INSTALLED", "outcome": "rolled-back", "freshness": "fresh",
    "revision": REVISION, "commit": COMMIT, "parameters": {"greeting": "ahoy"}, "author": "ann",
    "created_at": AT, "updated_at": AT, "request": REQUEST,
}  # fmt: skip
KIOSK = {
    **STOREFRONT, "id": TWO, "name": "kiosk", "app": "kiosk", "site": "depot",
    "outcome": "succeeded", "freshness": "unknown", "parameters": {},
}  # fmt: skip
ERROR = {
    "class": "health", "code": "unhealthy", "message": "web did not get healthy within 60 s",
    "cure": "read its log, mend the release",
}  # fmt: skip
PLACEMENT = {
    "deployment": ONE, "site": "harbor", "node": "harbor-1", "incarnation": 1,
    "state": "INSTALLED", "outcome": "rolled-back", "freshness": "fresh", "revision": REVISION,
    "version": "1.0.0", "wanted_revision": REVISION, "wanted_version": "1.1.0", "attempt": 2,
    "reason": "went back", "error": ERROR, "waiting": None, "health": "healthy", "drift": [],
    "components": [], "since": AT,
}  # fmt: skip
STEP = {
    "at": AT, "deployment": ONE, "node": "harbor-1", "incarnation": 1, "from": "UPDATING",
    "to": "FAILED", "actor": "node", "reason": "never got healthy", "operation": REQUEST,
    "attempt": 2, "revision": REVISION, "version": "1.1.0", "commit": COMMIT, "error": ERROR,
}  # fmt: skip
OPERATION = {
    "id": "o1", "deployment": ONE, "site": "harbor", "node": "harbor-1", "kind": "update",
    "state": "failed", "phase": "health", "attempt": 2, "started_at": AT, "ended_at": AT,
    "error": ERROR,
}  # fmt: skip
SITE = {
    "name": "harbor", "labels": {"zone": "shop"}, "timezone": "Europe/Oslo", "freshness": "fresh",
    "last_seen": AT, "wanted_commit": COMMIT, "applied_commit": COMMIT,
    "paused": {"reason": "stocktaking", "until": None}, "locked": None, "halted": None, "nodes": 1,
    "deployments": {"INSTALLED": 1},
}  # fmt: skip
NODE = {
    "site": "harbor", "name": "harbor-1", "address": "192.0.2.17", "status": "active",
    "drain": False, "last_seen": AT, "labels": {"zone": "shop"},
    "capabilities": {"architecture": "amd64", "cpus": 4, "memory": 8589934592},
}  # fmt: skip
APP = {
    "id": "storefront", "name": "Storefront", "version": "1.1.0", "versions": ["1.1.0", "1.0.0"],
    "description": "A shop window.", "source": "apps",
    "profiles": [{"id": "compose", "type": "compose", "description": "", "components": []}],
    "parameters": [{"name": "greeting", "default": "hello", "schema": {"dataType": "string"}}],
    "findings": [],
}  # fmt: skip
SOURCE = {
    "name": "apps", "url": "https://git.example/apps.git", "ref": "main", "path": None,
    "commit": COMMIT, "synced_at": AT, "error": None,
}  # fmt: skip
ACCEPTED = {
    "id": REQUEST, "deployments": [{"id": ONE, "site": "harbor"}], "position": 1, "eta": AT,
    "plan": {"hash": REVISION, "sites": [], "findings": []},
}  # fmt: skip
PLANNED = {
    "site": "harbor", "deployment": ONE, "name": "storefront", "app": "storefront",
    "action": "update", "changes": True, "why": "version 1.0.0 becomes 1.1.0", "batches": [],
    "duration": None,
    "nodes": [{
        "node": "harbor-1", "action": "update", "from": "1.0.0", "to": "1.1.0", "images": [],
        "bytes": 1048576, "why": "version 1.0.0 becomes 1.1.0",
        "strategy": {"update": "auto", "batch": "canary", "why": "holds port 8000"},
        "waiting": None,
    }],
}  # fmt: skip
TOKEN = {
    "id": "t1", "name": "ci", "role": "operator", "sites": {"matchLabels": {"zone": "shop"}},
    "user": None, "created_by": "ann", "created_at": AT, "expires_at": None, "last_used_at": AT,
}  # fmt: skip
NEED = {
    "app": "storefront", "version": "1.1.0", "profile": "compose", "component": "storefront",
    "path": "services.web.volumes[0].source", "reason": "/srv/shop is not in host_paths",
    "opens": "host_paths", "allowed": False, "deployment": ONE, "name": "storefront",
}  # fmt: skip
USER = {"name": "ann", "role": "admin", "sites": None, "created_at": AT, "disabled": False}
ENTRY = {
    "id": 7, "at": AT, "actor": "ann", "address": "192.0.2.9", "action": "site.pause",
    "target": "harbor", "outcome": "done", "hash": "ab" * 8, "detail": {},
}  # fmt: skip


LISTS: Final[dict[str, tuple[dict[str, Any], ...]]] = {
    "deployments": (STOREFRONT, KIOSK),
    f"deployments/{ONE}/placements": (PLACEMENT,),
    f"deployments/{ONE}/history": (STEP,),
    "sites": (SITE,), "sites/harbor/nodes": (NODE,), "nodes": (NODE,),
    "sites/harbor/policy": (NEED,),
    "sites/harbor/tokens": (TOKEN,), "apps": (APP,), "app-sources": (SOURCE,),
    "tokens": (TOKEN,), "users": (USER,), "audit": (ENTRY,), "operations": (OPERATION,),
    "meta/settings": ({"key": "http.bind", "value": "0.0.0.0:8800", "default": False,
                       "about": "host:port to listen on"},),
}  # fmt: skip
READ: Final[dict[str, Any]] = {
    f"deployments/{ONE}": STOREFRONT,
    f"deployments/{ONE}/explain": {
        "state": "INSTALLED", "outcome": "rolled-back", "answer": ERROR["message"],
        "steps": [
            {"step": "request", "ok": True, "detail": "published", "at": AT, "trace": "ticket-7"},
            {"step": "placement", "ok": False, "detail": "harbor-1", "at": AT},
            {"step": "operation", "ok": True, "detail": "back", "at": AT, "trace": "ticket-7"},
            {"step": "operation", "ok": True, "detail": "back", "at": AT, "trace": "ticket-7"},
        ],
    },
    "operations/o1/log": "switched, waiting for health\nnever got healthy\n",
    "apps/storefront": APP, "apps/storefront/versions/1.1.0": APP, "sites/harbor": SITE,
    "sites/harbor/nodes/harbor-1": NODE,
    "audit/verify": {"entries": 7, "newest": "ab" * 8, "broken_at": None},
    "repository": {
        "own": False, "mode": "branch", "head": COMMIT, "problem": None, "halted": None,
        "waiting": [{"branch": "margrave/9", "request": REQUEST, "site": None, "commit": COMMIT}],
    },
}  # fmt: skip
DONE: Final[dict[str, Any]] = {
    "plans": {"plan": {"hash": REVISION, "sites": [PLANNED], "findings": []}},
    "deployments": ACCEPTED, "deployments/actions": ACCEPTED, "app-sources": SOURCE, "users": USER,
    "sites": {"site": {**SITE, "name": "yard"}, "token": "mgs_shown-once"},
    "sites/harbor/tokens": {"id": "t2", "token": "mgs_shown-once"},
    "app-sources/apps/sync": {
        "name": "apps", "commit": COMMIT, "apps": ["storefront"], "findings": [],
    },
    "tokens": {**TOKEN, "token": "mgt_shown-once"},
    "repository/accept": {"head": COMMIT, "halted": None, "waiting": []},
    **{f"sites/harbor/{verb}": SITE for verb in ("pause", "resume", "drain", "undrain")},
    **{f"sites/harbor/{verb}": {"id": "c1"} for verb in ("reload", "accept")},
    **{f"sites/harbor/nodes/harbor-1/{verb}": NODE for verb in ("drain", "undrain")},
}  # fmt: skip
GONE: Final = (
    "sites/harbor/tokens/t1", "sites/harbor", "app-sources/apps", "tokens/t1", "users/ann",
)  # fmt: skip


def told(controller: FakeController) -> None:
    """Everything that the command asks for."""
    for path, items in LISTS.items():
        controller.lists(f"{API}/{path}", *items)
    answers = {
        **{("GET", path): answer for path, answer in READ.items()},
        **{("POST", path): answer for path, answer in DONE.items()},
        **dict.fromkeys((("DELETE", path) for path in GONE), None),
        ("PATCH", "users/ann"): USER,
    }
    for (method, path), answer in answers.items():
        controller.on(method, f"{API}/{path}", 200, answer)
