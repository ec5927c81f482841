"""`margrave deployment logs`: logs of operations, once or as they grow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from margrave.cli import resolve, tables, watching
from margrave.cli.commands.deployment.group import deployment
from margrave.cli.options import calls, naming, sites
from margrave.cli.paths import at
from margrave.errors import MargraveError, NotFound
from margrave.terminal.cells import words
from margrave.terminal.options import shows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from margrave.cli.api import Api
    from margrave.terminal.output import Output

Row = dict[str, Any]

# Operations among which the newest of each node is found: more nodes than a site has.
LATEST: Final = 1000
ENDED: Final = {"succeeded", "failed", "cancelled"}
NONE: Final = "no operation yet"


@deployment.command()
@naming("deployments", "wanted", "D")
@sites()
@click.option("-f", "--follow", is_flag=True, help="go on until what is under way has ended")
@click.option("--all", "every", is_flag=True, help="every operation that is kept, oldest first")
@click.option("--operation", metavar="ID", help="this operation; the beginning of its id is enough")
@shows
@calls
def logs(
    api: Api,
    out: Output,
    wanted: str,
    sites: tuple[str, ...],
    follow: bool,
    every: bool,
    operation: str | None,
) -> None:
    """Logs of the newest operation on each node.

    After a rollback the attempt that failed comes first, then the rollback. With -f all nodes are
    followed at once, a line for each line, from the first operation on.
    """
    if sum((follow, every, operation is not None)) > 1:
        raise click.UsageError("give one of --follow, --all and --operation")
    meant = resolve.deployments(api, wanted, sites, deleted=True)
    if follow:
        _follow(Tail(api, replace(out, stream=True), meant))
        return
    rows = _operations(api, meant)
    if operation is not None:
        rows = [_named(rows, operation, wanted)]
    elif every:
        rows = sorted(rows, key=lambda row: str(row["started_at"]))
    else:
        rows = latest_change(rows)
    entries = [(row, _log(api, row)) for row in rows]
    if not out.for_eyes:
        items = [{"operation": row, "log": text} for row, text in entries]
        out.answer({"items": items, "next": None})
        return
    if not entries:
        out.say(NONE)
    for row, text in entries:
        title = f"{tables.where(row)}  {row['kind']} {row['state']}  {words(row['started_at'])}"
        click.echo("\n  ".join([f"{title}  {row['id']}", *text.splitlines()]))


def _named(operations: Sequence[Row], wanted: str, deployment: str) -> Row:
    """Return the operation with this id or beginning of one."""
    found = [row for row in operations if str(row["id"]).startswith(wanted.lower())]
    if not found:
        cure = f"margrave deployment logs {deployment} --all shows those that are kept"
        raise NotFound(f"{deployment} has no operation {wanted}", cure)
    if len(found) > 1:
        ids = ", ".join(str(row["id"]) for row in found)
        raise click.UsageError(f"{wanted} is ambiguous: {ids}")
    return found[0]


def latest_change(operations: Sequence[Row]) -> list[Row]:
    """Return the newest operation of each node; before a rollback the attempt that failed."""
    shown = []
    for row in newest(operations):
        if row["kind"] == "rollback" and (failed := _failed_before(operations, row)):
            shown.append(failed)
        shown.append(row)
    return shown


def _failed_before(operations: Sequence[Row], rollback: Row) -> Row | None:
    """Return the operation that a rollback undid, or None when it undid no failure."""
    earlier = [
        row
        for row in operations
        if (row["site"], row["node"]) == (rollback["site"], rollback["node"])
        and str(row["started_at"]) < str(rollback["started_at"])
    ]
    before = max(earlier, key=lambda row: str(row["started_at"]), default=None)
    return before if before is not None and before["state"] in {"failed", "cancelled"} else None


def newest(operations: Sequence[Row]) -> list[Row]:
    """The last one on each node, by site and node."""
    found: dict[tuple[str, str], Row] = {}
    for row in operations:
        place = (str(row["site"]), str(row["node"]))
        known = found.get(place)
        if known is None or str(row["started_at"]) > str(known["started_at"]):
            found[place] = row
    return [found[place] for place in sorted(found)]


def _operations(api: Api, meant: Sequence[Row]) -> list[Row]:
    return [
        row
        for one in meant
        for row in api.page(at("operations"), LATEST, deployment=one["id"], site=one["site"])[
            "items"
        ]
    ]


def _log(api: Api, row: Mapping[str, Any]) -> str:
    return str(api.get(at("operations", row["id"], "log")) or "")


class Tail:
    """What was said so far of each operation, and what is new each time one looks."""

    def __init__(self, api: Api, out: Output, meant: Sequence[Row]) -> None:
        self.api, self.out, self.meant = api, out, meant
        self._followed: dict[str, Row] = {}  # as they were last seen
        self._told: dict[str, int] = {}  # lines
        self._passed: set[str] = set()  # ended before anybody followed
        self._waits = False  # for the first one, and it was said

    def look(self) -> bool:
        """Tells what is new; whether more may come."""
        rows = _operations(self.api, self.meant)
        if not self._followed:
            chosen = newest(rows)
            self._passed = {str(row["id"]) for row in rows if row not in chosen}
        for row in reversed(rows):
            if row["id"] not in self._passed and not self._over(row):
                self._tell(row)
        if not rows and not self._waits:
            self._waits = True
            click.echo(NONE, err=True)
        busy = any(row["state"] not in ENDED for row in self._followed.values())
        return busy or self._pending()

    def _over(self, row: Row) -> bool:
        return bool(self._followed.get(str(row["id"]), {}).get("state") in ENDED)

    def _tell(self, row: Row) -> None:
        name = str(row["id"])
        new = _log(self.api, row).splitlines()[self._told.get(name, 0) :]
        before = self._followed.get(name, {}).get("state")
        self._told[name] = self._told.get(name, 0) + len(new)
        self._followed[name] = row
        if not self.out.for_eyes:
            if new or row["state"] != before:
                self.out.answer({"operation": row, "lines": new})
            return
        turn = f"{row['kind']} {row['state']}"
        ends = [turn] if before is not None and row["state"] in ENDED else []
        for line in [*([turn] if before is None else []), *new, *ends]:
            click.echo(f"{tables.where(row)} | {line}")

    def _pending(self) -> bool:
        """Whether one of them is still on its way to what is wanted."""
        return any(
            self.api.get(at("deployments", one["id"]), site=one["site"])["outcome"] == "pending"
            for one in self.meant
        )


def _follow(tail: Tail) -> None:
    meant = tail.meant
    which = {"deployment": meant[0]["id"], "site": meant[0]["site"]} if len(meant) == 1 else {}
    with watching.listening(tail.api, **which) as bell:
        first = True
        while True:
            bell.wait()
            try:
                if not tail.look():
                    return
            except MargraveError as error:
                if first or not watching.passes(error):
                    raise
            first = False
