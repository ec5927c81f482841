"""People: who may sign in, and as what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from controller.access import passwords
from controller.access.identity import USER_NAME, Role
from controller.api import bodies, paging
from controller.api.call import Call, Reply
from controller.api.problems import Problem, not_found
from controller.api.routes import Route
from controller.api.tokens import RoleName, Sites, check_sites, must_give, stored_sites
from controller.store import access
from controller.store.words import Role as StoredRole

if TYPE_CHECKING:
    from controller.store import Session

_ASKED: Final = 1000  # people among whom the nearest name is looked for
Password = Annotated[str, Field(min_length=passwords.LEAST, max_length=passwords.MOST)]


class NewUser(bodies.Body):
    """A person to be added."""

    name: Annotated[str, Field(pattern=f"^{USER_NAME}$")]
    password: Password
    role: RoleName
    sites: Sites = None


class UserChange(bodies.Body):
    """What is to be different about a person."""

    password: Password | None = None
    role: RoleName | None = None
    sites: Sites = None
    disabled: bool | None = None


def listed(call: Call) -> dict[str, Any]:
    """GET /users: those who reach no further than who asks."""
    page = call.page()
    with call.parts.store.session() as session:
        rows = paging.within_reach(
            page,
            lambda after, limit: access.users(session, after=after, limit=limit),
            lambda person: call.who.may_give(person["sites"]),
        )
    return paging.listing(page, rows)


def added(call: Call, body: NewUser) -> dict[str, Any]:
    """POST /users."""
    hashed = passwords.hash_password(body.password)
    with call.parts.store.write() as session:
        if access.user(session, body.name) is not None:
            raise Problem(409, f'the name "{body.name}" is taken', cure="take another")
        check_sites(session, body.sites)
        must_give(call, stored_sites(body.sites))
        access.add_user(
            session,
            {
                "name": body.name,
                "password_hash": hashed,
                "role": StoredRole(body.role),
                "sites": stored_sites(body.sites),
                "created_at": call.parts.clock(),
            },
        )
        call.write_down(session, "user.create", body.name, {"role": body.role})
        return _shown(session, body.name)


def changed(call: Call, user: str, body: UserChange) -> dict[str, Any]:
    """PATCH /users/{name}."""
    values = {name: getattr(body, name) for name in body.model_fields_set}
    if values.get("password"):
        values["password_hash"] = passwords.hash_password(values["password"])
    values.pop("password", None)
    values = {name: value for name, value in values.items() if value is not None or name == "sites"}
    if "sites" in values:
        values["sites"] = stored_sites(body.sites)
    if "role" in values:
        values["role"] = StoredRole(values["role"])
    with call.parts.store.write() as session:
        before = _shown(session, user)
        check_sites(session, body.sites)
        must_give(call, before["sites"])
        must_give(call, values.get("sites", before["sites"]))
        access.change_user(session, user, values)
        _keep_an_admin(access.admins(session), before)
        call.write_down(session, "user.change", user, {"changed": sorted(values)})
        session.flush()
        return _shown(session, user)


def removed(call: Call, user: str) -> Reply:
    """DELETE /users/{name}."""
    with call.parts.store.write() as session:
        before = _shown(session, user)
        must_give(call, before["sites"])
        access.remove_user(session, user)
        _keep_an_admin(access.admins(session), before)
        call.write_down(session, "user.remove", user)
    return Reply(None)


def _keep_an_admin(left: int, before: dict[str, Any]) -> None:
    if before["role"] == Role.ADMIN and not before["disabled"] and not left:
        raise Problem(
            409, "the last admin cannot be lost", cure="make somebody else an admin first"
        )


def _shown(session: Session, name: str) -> dict[str, Any]:
    found = access.user(session, name)
    if found is None:
        known = [one for (one,), _ in access.users(session, after=None, limit=_ASKED)]
        raise not_found("user", name, known)
    return {key: value for key, value in found.items() if key != "password_hash"}


ROUTES: Final = (
    Route("GET", "/users", listed, Role.ADMIN, "People"),
    Route("POST", "/users", added, Role.ADMIN, "Add somebody", NewUser, 201),
    Route("PATCH", "/users/<user>", changed, Role.ADMIN, "Change somebody", UserChange),
    Route("DELETE", "/users/<user>", removed, Role.ADMIN, "Remove somebody"),
)
