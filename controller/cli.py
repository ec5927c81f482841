"""`margrave init` and `margrave controller …`: the controller of this machine."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from margrave import settings_file
from margrave.errors import MargraveError
from margrave.terminal.asking import asks, confirm
from margrave.terminal.options import configured, shows
from margrave.terminal.shape import Noun, Verb

if TYPE_CHECKING:
    from controller.settings import ControllerSettings
    from margrave.terminal.output import Output

# The heavy parts are imported where they are used: `margrave --help` loads this module too.


@click.command(cls=Verb)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option(
    "--database", metavar="URL", default="", help="an empty PostgreSQL database, instead of SQLite"
)
@shows
def init(out: Output, folder: Path, database: str) -> None:
    """Make a controller in a folder of its own: configuration, database, keys, repository, admin.

    Password and token are shown this once; only their hashes are kept.
    """
    from controller.keeping.initial import make

    made = make(folder, database)
    answer = {
        "config": str(made.config),
        "user": made.user,
        "password": made.password,
        "token": made.token,
        "signing_key": made.signing_key,
    }
    if not out.for_eyes:
        out.answer(answer)
        return
    click.echo(f"A controller is ready in {folder.resolve()}\n")
    shown = {key: value for key, value in answer.items() if value}
    out.card(shown, shown)
    click.echo("\nPassword and token are shown this once.")
    if not made.signing_key:
        click.echo("Commits are not signed: ssh-keygen is missing (install openssh-client).")
    click.echo(f"Next: margrave controller serve --config {made.config}")


@click.group(cls=Noun)
def controller() -> None:
    """The controller of this machine."""


@controller.command()
@configured
def serve(config: str | None) -> None:
    """Serve until stopped."""
    loaded = _settings(config)
    settings_file.forget(os.environ)
    from controller.serve import serve as run

    run(loaded, click.echo)


@controller.command()
@configured
@shows
def migrate(out: Output, config: str | None) -> None:
    """Bring the database to this version's schema."""
    from controller.store import Store

    logging.basicConfig(level=logging.WARNING)
    store = Store(_settings(config).database_url)
    try:
        before = store.schema_problem()
        out.step("bringing the database to this version's schema")
        store.migrate()
    finally:
        store.close()
    text = "The schema is up to date." if before else "Nothing to do."
    out.done(text, {"changed": bool(before)})


@controller.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="overwrite FILE")
@configured
@shows
def backup(out: Output, file: Path, force: bool, config: str | None) -> None:
    """Write database, repository, signing key and configuration into FILE.

    The controller may go on running. FILE is readable for its owner alone.
    """
    from controller.keeping.backup import backup as run

    about = run(_settings(config), file, out.step, config=_file(config), force=force)
    text = f"{file}: database" + (f", repository at {about['head']}" if about["head"] else "")
    out.done(text, {"file": str(file), **about})


@controller.command()
@click.argument("file", type=click.Path(path_type=Path))
@asks
@configured
@shows
def restore(out: Output, file: Path, yes: bool, config: str | None) -> None:
    """Put a backup in place of what is there; that is kept beside it."""
    from controller.keeping.restore import restore as run

    settings = _settings(config)
    confirm(f"Replace the state in {settings.state.dir}?", yes=yes)
    done = run(settings, file, out.step, config=_file(config))
    lines = [f"Restored what was backed up at {done['made_at']}.", *done["findings"]]
    if done["accept"]:
        lines += _told_to_accept(done)
    out.done("\n".join(lines), done)


def _told_to_accept(done: dict[str, Any]) -> list[str]:
    """Return lines with the sites that a restored repository halts, and a command for each."""
    must, may = len(done["must_accept"]), len(done["may_have_to_accept"])
    certain = "These sites have applied later commits. They run on and halt until you accept:"
    possible = "These sites halt too if they have fetched later commits than the restored one:"
    commands = [f"  {command}" for command in done["accept"]]
    lines = [certain, *commands[:must]] if must else []
    return [*lines, *([possible, *commands[must:]] if may else [])]


@controller.command()
@asks
@configured
@shows
def rebuild(out: Output, yes: bool, config: str | None) -> None:
    """Make the database anew from Git and the sources; the old one is kept beside it."""
    from controller.keeping.rebuild import rebuild as run

    settings = _settings(config)
    confirm(f"Make the database in {settings.state.dir} anew?", yes=yes)
    done = run(settings, out.step)
    lines = [f"Rebuilt from Git at {done['head']}.", *done["findings"]]
    if done["without_token"]:
        lines.append(f"These sites need a new token: {', '.join(done['without_token'])}")
    if done["without_admin"]:
        lines.append("Nobody can sign in: make an admin with margrave controller add-admin")
    if done["without_sources"]:
        lines.append("No application source is known: add each with margrave source add")
    out.done("\n".join(lines), done)


@controller.command("add-admin")
@click.argument("name", default="admin", metavar="[NAME]")
@click.option("--reset", is_flag=True, help="a user who exists: new password, admin of all sites")
@configured
@shows
def add_admin(out: Output, name: str, reset: bool, config: str | None) -> None:
    """Make an admin on this machine, for whom there is no other way in.

    Password and token are shown this once; only their hashes are kept. The controller may run.
    """
    from controller.keeping.admins import add_admin as run

    made = run(_settings(config), name, reset=reset)
    answer = {"user": made.user, "password": made.password, "token": made.token}
    if not out.for_eyes:
        out.answer(answer)
        return
    out.card(answer, answer)
    click.echo("\nPassword and token are shown this once.")


@controller.command()
@click.option("--commit", required=True, metavar="COMMIT", help="where main stands now")
@asks
@configured
@shows
def accept(out: Output, commit: str, yes: bool, config: str | None) -> None:
    """Take a main that was rewritten as it stands; without that nothing is read or published.

    What stood before is kept in the controller's copy as refs/kept/COMMIT. Each site has its own
    say: margrave site accept SITE --commit COMMIT.
    """
    from controller.keeping.accepting import accept as run

    settings = _settings(config)
    confirm(f"Take main at {commit}, whatever it said before?", yes=yes)
    whole = run(settings, commit)
    within = settings.git.poll_interval
    text = f"Main is taken at {whole}; a controller that runs does it within {within}."
    out.done(text, {"commit": whole, "within": str(within)})


def _settings(config: str | None) -> ControllerSettings:
    from controller import settings

    return settings.load(_file(config))


def _file(config: str | None) -> Path:
    """Return the configuration file that a command works with."""
    from controller import settings

    path = settings.find(config)
    if not path.is_file():
        raise MargraveError(f"{path}: is not there", "make a controller with margrave init")
    return path
