"""`margrave deployment plan`: what a create, an update or a deploy would do; writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from margrave.cli import changing, resolve, tables
from margrave.cli.commands.deployment.change import update_body
from margrave.cli.commands.deployment.group import deployment
from margrave.cli.exits import Exit
from margrave.cli.options import calls, extras, naming, sets, sites, versions
from margrave.errors import NotFound
from margrave.terminal.options import shows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from margrave.cli.api import Api
    from margrave.cli.values import Values
    from margrave.terminal.output import Output


@deployment.command()
@naming("plannable", "wanted", "APP[@VERSION]|D")
@sites()
@versions("--version", help_="of an update: the version to go to")
@click.option("--name", help="the deployment's name; APP if not given")
@sets
@extras("profile", "priority", "reason")
@shows
@calls
def plan(
    api: Api,
    out: Output,
    wanted: str,
    sites: tuple[str, ...],
    version: str | None,
    name: str | None,
    values: Values,
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
        found = _standing(api, name or wanted)
        body = update_body(api, found, version, values) | extra
        update = {"action": "update", "select": changing.select(found), **body}
        asked = [(changing.ACTIONS, update)]
    answers = [api.post(changing.PLANS, body) for _, body in asked]
    return _judge(out, answers)


def _standing(api: Api, wanted: str) -> list[dict[str, Any]]:
    try:
        return resolve.deployments(api, wanted)
    except NotFound as error:
        cure = f"{error.cure}; what is not deployed yet is planned with --site"
        raise NotFound(error.message, cure) from None


def _judge(out: Output, answers: Sequence[dict[str, Any]]) -> Exit:
    plans = [answer.get("plan", answer) for answer in answers]
    planned = [site for one in plans for site in one["sites"]]
    findings = [finding for one in plans for finding in one.get("findings") or []]
    if out.for_eyes:
        _tell(out, planned, findings)
    else:
        out.answer(answers[0] if len(answers) == 1 else {"items": list(answers), "next": None})
    if errors := [one for one in findings if one.get("severity", "error") == "error"]:
        unknown = all(one.get("code") == "unknown" for one in errors)
        return Exit.NOT_FOUND if unknown else Exit.FAILED
    return Exit.WOULD_CHANGE if any(_changes(site) for site in planned) else Exit.DONE


def _changes(site: Mapping[str, Any]) -> bool:
    """Whether its document in Git would be another, or something be done on a node."""
    actions = [site["action"], *(node["action"] for node in site["nodes"])]
    return bool(site["changes"]) or any(one not in (None, "none") for one in actions)


def _tell(
    out: Output, planned: Sequence[Mapping[str, Any]], findings: Sequence[Mapping[str, Any]]
) -> None:
    rows = [
        {"name": site["name"], "site": site["site"], **node}
        for site in planned
        for node in site["nodes"]
    ]
    # What no row of a node tells: that a site has none, or that its document alone is changed.
    apart = [
        site
        for site in planned
        if _changes(site) and site["why"] not in [node["why"] for node in site["nodes"]]
    ]
    if rows or not (apart or findings):
        out.rows(tables.PLAN, rows, "nothing would change")
    for site in apart:
        click.echo(f"{site['name']} at {site['site']}: {site['why']}")
    if findings:
        out.rows(tables.FINDINGS, findings)
