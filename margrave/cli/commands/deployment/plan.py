"""`margrave deployment plan`: what a create, an update or a deploy would do; writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from margrave.cli import changing, resolve, tables
from margrave.cli.commands.deployment.change import update_body
from margrave.cli.commands.deployment.group import deployment
from margrave.cli.exits import Exit
from margrave.cli.options import calls, extras, naming, sets, shows, sites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from margrave.cli.api import Api
    from margrave.cli.output import Output


@deployment.command()
@naming("plannable", "wanted", "APP[@VERSION]|D")
@sites()
@click.option("--version", help="of an update: the version to go to")
@click.option("--name", help="the deployment's name; APP if not given")
@sets
@extras
@shows
@calls
def plan(
    api: Api,
    out: Output,
    wanted: str,
    sites: tuple[str, ...],
    version: str | None,
    name: str | None,
    values: tuple[tuple[str, str], ...],
    extra: dict[str, Any],
) -> Exit:
    """What would happen on which node; nothing is written.

    With --site it plans what `margrave deploy` would do, else an update of D. The exit code is
    4 when something would change, 0 when nothing would.
    """
    if sites:
        words = f"{wanted}@{version}" if version and "@" not in wanted else wanted
        asked = changing.bodies(api, changing.wish(api, words, name, sites, values, extra))
    else:
        found = resolve.deployments(api, name or wanted)
        body = update_body(api, found, version, values) | extra
        select = {"ids": [one["id"] for one in found]}
        asked = [(changing.ACTIONS, {"action": "update", "select": select, **body})]
    answers = [api.post(changing.PLANS, body) for _, body in asked]
    return _judge(out, answers)


def _judge(out: Output, answers: Sequence[dict[str, Any]]) -> Exit:
    plans = [answer.get("plan", answer) for answer in answers]
    rows = [
        {"name": site.get("name"), "site": site["site"], **node}
        for one in plans
        for site in one["sites"]
        for node in site["nodes"]
    ]
    waiting = [site for one in plans for site in one["sites"] if not site["nodes"]]
    findings = [finding for one in plans for finding in one.get("findings") or []]
    if out.for_eyes:
        out.rows(tables.PLAN, rows, "" if waiting or findings else "nothing would change")
        for site in waiting:
            click.echo(f"{site['site']}: no node yet; it would wait there as PENDING")
        if findings:
            out.rows(tables.FINDINGS, findings)
    else:
        out.answer(answers[0] if len(answers) == 1 else {"items": list(answers), "next": None})
    if errors := [one for one in findings if one.get("severity", "error") == "error"]:
        unknown = all(one.get("code") == "unknown" for one in errors)
        return Exit.NOT_FOUND if unknown else Exit.FAILED
    changes = any(row["action"] not in (None, "none") for row in rows) or bool(waiting)
    return Exit.WOULD_CHANGE if changes else Exit.DONE
