"""Who this runner is, its counters, and what holds the whole site. One row each."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, update

from runner.store.engine import Transaction
from runner.store.rows import columns, value_of
from runner.store.schema import commands, identity
from runner.store.schema import site as site_table
from runner.store.values import Identity, SiteState


def identity_of(tx: Transaction) -> Identity:
    """This runner; made with a UUID of its own when the state folder is new."""
    fields = ("runner", "epoch", "fence_seq", "report_seq")
    row = tx.connection.execute(select(*identity.c[fields])).one_or_none()
    if row is not None:
        return value_of(Identity, row)
    made = Identity(str(uuid.uuid4()), epoch=1, fence_seq=0, report_seq=0)
    tx.connection.execute(identity.insert().values(id=1, **columns(made)))
    return made


def take_fence_seq(tx: Transaction) -> int:
    """The next number of an attempt: never given twice, not even after a crash."""
    following = identity_of(tx).fence_seq + 1
    tx.connection.execute(update(identity).values(fence_seq=following))
    return following


def take_report_seq(tx: Transaction) -> int:
    """The next number of an event."""
    following = identity_of(tx).report_seq + 1
    tx.connection.execute(update(identity).values(report_seq=following))
    return following


def skip_reports(tx: Transaction, last: int) -> None:
    """Go on after this number: the controller has seen more of us than we remember."""
    tx.connection.execute(update(identity).values(report_seq=last))


def raise_epoch(tx: Transaction, epoch: int) -> None:
    """Take the site over: numbers of reports begin anew with the new epoch."""
    identity_of(tx)
    tx.connection.execute(update(identity).values(epoch=epoch, report_seq=0))


def site_state(tx: Transaction) -> SiteState:
    """What holds the site; nothing does when it is new."""
    fields = (
        "locked", "halted", "stood_down", "known_epoch", "accepted_commit", "applied_commit",
    )  # fmt: skip
    row = tx.connection.execute(select(*site_table.c[fields])).one_or_none()
    return SiteState() if row is None else value_of(SiteState, row)


def change_site(tx: Transaction, **changes: Any) -> SiteState:
    """Set some of the site's fields; the whole state after it."""
    before = site_state(tx)
    if any(getattr(before, name) != value for name, value in changes.items()):
        done = tx.connection.execute(update(site_table).values(**changes))
        if done.rowcount == 0:
            tx.connection.execute(site_table.insert().values(id=1, **changes))
    return site_state(tx)


def hear_of_epoch(tx: Transaction, epoch: int) -> None:
    """Somebody knows this epoch: a take-over has to go beyond it."""
    if epoch > site_state(tx).known_epoch:
        change_site(tx, known_epoch=epoch)


def handled(tx: Transaction, command: str) -> Mapping[str, Any] | None:
    """What a command came to, or None when it is new."""
    row = tx.connection.execute(
        select(*commands.c["id", "result", "detail"]).where(commands.c.id == command)
    ).one_or_none()
    return None if row is None else dict(row._mapping)


def note_command(tx: Transaction, command: str, result: str, detail: str) -> None:
    """A command is handled once."""
    tx.connection.execute(
        commands.insert().values(id=command, result=result, detail=detail, handled_at=tx.now)
    )


def forget_commands_before(tx: Transaction, moment: datetime) -> int:
    """Drop what older commands came to; how many."""
    done = tx.connection.execute(delete(commands).where(commands.c.handled_at < moment))
    return int(done.rowcount)
