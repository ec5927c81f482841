"""`margrave app …`: the catalogue, and packages before they get there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from margrave.cli import complete, tables
from margrave.cli.commands.lint import lint as lint_command
from margrave.cli.exits import Exit
from margrave.cli.options import calls, naming
from margrave.cli.paths import at
from margrave.errors import NotFound
from margrave.terminal.cells import Columns, Resource, pick
from margrave.terminal.options import shows
from margrave.terminal.shape import Noun

if TYPE_CHECKING:
    from margrave.cli.api import Api
    from margrave.terminal.output import Output


@click.group(cls=Noun)
def app() -> None:
    """Applications in the catalogue."""


@app.command("list")
@click.option("-q", "--search", help="only those with this in their id or name")
@shows
@calls
def list_(api: Api, out: Output, search: str | None) -> None:
    """The newest version of each application."""
    page = api.page(at("apps"), q=search)
    out.list(page, tables.APPS, "no applications yet: margrave source add, then margrave app sync")


@app.command()
@naming("apps", "app", "APP[@VERSION]")
@shows
@calls
def show(api: Api, out: Output, app: str) -> None:
    """One application (APP) or one of its versions (APP@VERSION)."""
    name, _, version = app.partition("@")
    found = api.get(at("apps", name, *(("versions", version) if version else ())))
    if not out.for_eyes:
        out.answer(found)
        return
    out.card(found, ("id", "name", "version", "versions", "description", "source"))
    _section(out, "profiles", found, pick("id", "type", "description"))
    _section(out, "parameters", found, pick("name", "default", "description"))
    _section(out, "findings", found, tables.FINDINGS)


def _section(out: Output, name: str, found: dict[str, Any], columns: Columns) -> None:
    if found.get(name):
        click.echo(f"\n{name}")
        out.rows(columns, found[name])


@app.command()
@click.argument("sources", nargs=-1, metavar="[SOURCE]…", shell_complete=complete.sources)
@shows
@calls
def sync(api: Api, out: Output, sources: tuple[str, ...]) -> Exit:
    """Read the sources anew (all of them when none is named)."""
    names = sources or tuple(str(one["name"]) for one in api.items(at("app-sources")))
    answers = []
    for name in names:
        out.step(f"reading {name}")
        answers.append({"name": name, **api.post(at("app-sources", name, "sync"))})
    findings = [one for answer in answers for one in answer.get("findings") or []]
    if out.for_eyes:
        columns = [*pick("name", "commit"), ("APPS", _count)]
        out.rows(columns, answers, "no sources yet: margrave source add NAME URL")
        if findings:
            click.echo()
            out.rows(tables.FINDINGS, findings)
    else:
        out.answer(answers[0] if len(answers) == 1 else {"items": answers, "next": None})
    bad = any(one.get("severity", "error") == "error" for one in findings)
    return Exit.FAILED if bad else Exit.DONE


def _count(row: Resource) -> object:
    apps = row.get("apps")
    return len(apps) if isinstance(apps, list) else apps


app.add_command(lint_command, "lint")


@app.command()
@click.argument("path", type=click.Path(path_type=Path))
@shows
def digest(out: Output, path: Path) -> None:
    """The digest of a folder, and of the components of the package it holds.

    A folder's digest is the SHA-256 of its canonical archive. Published components have one of
    their own, because their images are resolved to digests first.
    """
    from margrave.cli.lint.package import component_digests, folder_digest

    if not path.is_dir():
        raise NotFound(f"{path}: is no folder", "name the folder of a package, or of a component")
    value = {
        "path": str(path),
        "digest": folder_digest(path),
        "components": component_digests(path),
    }
    if not out.for_eyes:
        out.answer(value)
        return
    click.echo(value["digest"])
    if value["components"]:
        out.rows(pick("name", "path", "digest"), component_digests(path))
