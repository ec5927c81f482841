"""Admins made on the controller's own machine: the first one, and one who lost the way in."""

from __future__ import annotations

import getpass
import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from controller.access import passwords
from controller.access.identity import USER_NAME
from controller.store import Store, access, audit
from controller.store.audit import Deed
from controller.store.words import Role
from margrave.errors import Conflict, MargraveError, Refused

if TYPE_CHECKING:
    from controller.settings import ControllerSettings
    from controller.store import Session


@dataclass(frozen=True)
class NewAdmin:
    """An admin with password and token, which are known here and nowhere else."""

    user: str
    password: str
    token: str


def add_admin(settings: ControllerSettings, name: str, *, reset: bool = False) -> NewAdmin:
    """Make an admin of all sites; `reset` gives a user who exists that role and a new password."""
    if re.fullmatch(USER_NAME, name) is None:
        raise MargraveError(f'"{name}" is no name of a user', "lower case letters, digits, . _ -")
    store = Store(settings.database_url)
    try:
        problem = store.schema_problem()
        if problem:
            raise Refused(problem)
        with store.write() as session:
            by = f"local:{getpass.getuser()}"
            known = access.user(session, name) is not None
            if known and not reset:
                cure = "choose another name, or give them a new password with --reset"
                raise Conflict(f'there is a user "{name}" already', cure)
            made = put_admin(session, name, by, reset=known)
            action = "user.reset" if known else "user.create"
            deed = Deed(by, action, name, "done", detail={"role": Role.ADMIN.value})
            audit.add(session, deed, datetime.now(UTC))
    finally:
        store.close()
    return made


def put_admin(session: Session, name: str, by: str, *, reset: bool = False) -> NewAdmin:
    """Store the user with a new password, and a token that speaks for them."""
    now = datetime.now(UTC)
    made = NewAdmin(name, passwords.new_password(), passwords.new_token("mgt"))
    person = {
        "password_hash": passwords.hash_password(made.password),
        "role": Role.ADMIN,
        "sites": None,
    }
    if reset:
        access.change_user(session, name, {**person, "disabled": False})
    else:
        access.add_user(session, {"name": name, **person, "created_at": now})
    token = {
        "id": str(uuid.uuid4()),
        "name": f"made by {by}",
        "digest": passwords.token_hash(made.token),
        "role": Role.ADMIN,
        "sites": None,
        "user": name,
        "created_by": by,
        "created_at": now,
    }
    access.add_token(session, token)
    return made
