"""`margrave init` and `margrave controller …`: the controller of this machine."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from margrave import settings_file
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.settings import ControllerSettings

# The heavy parts are imported where they are used: `margrave --help` loads this module too.

config_option = click.option(
    "--config", metavar="FILE", help="The configuration; ./margrave.toml when left out."
)
format_option = click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True
)


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option(
    "--database", metavar="URL", default="", help="An empty PostgreSQL database, instead of SQLite."
)
@format_option
def init(folder: Path, database: str, output: str) -> None:
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
    if output == "json":
        click.echo(json.dumps(answer))
        return
    click.echo(f"A controller is ready in {folder.resolve()}\n")
    _table({key: value for key, value in answer.items() if value})
    click.echo("\nPassword and token are shown this once.")
    if not made.signing_key:
        click.echo("Commits are not signed: ssh-keygen is missing (install openssh-client).")
    click.echo(f"Next: margrave controller serve --config {made.config}")


@click.group()
def controller() -> None:
    """The controller of this machine."""


@controller.command()
@config_option
def serve(config: str | None) -> None:
    """Serve until stopped."""
    loaded = _settings(config)
    settings_file.forget(os.environ)
    from controller.serve import serve as run

    run(loaded)


@controller.command()
@config_option
def migrate(config: str | None) -> None:
    """Bring the database to this version's schema."""
    from controller.store import Store

    logging.basicConfig(level=logging.WARNING)
    store = Store(_settings(config).database_url)
    try:
        before = store.schema_problem()
        store.migrate()
    finally:
        store.close()
    click.echo("The schema is up to date." if before else "Nothing to do.")


@controller.command()
@click.argument("file", type=click.Path(path_type=Path))
@config_option
def backup(file: Path, config: str | None) -> None:
    """Write database and repository into FILE; the controller may go on running."""
    from controller.keeping.backup import backup as run

    about = run(_settings(config), file)
    click.echo(f"{file}: database" + (f", repository at {about['head']}" if about["head"] else ""))


@controller.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@config_option
def restore(file: Path, yes: bool, config: str | None) -> None:
    """Put a backup in place of what is there; that is kept beside it."""
    from controller.keeping.backup import restore as run

    settings = _settings(config)
    if not yes:
        click.confirm(f"Replace the state in {settings.state.dir}?", abort=True)
    done = run(settings, file)
    click.echo(f"Restored what was backed up at {done['made_at']}.")
    if done["must_accept"]:
        names = ", ".join(done["must_accept"])
        click.echo(f"These sites are ahead of it and have to accept: {names}")
        click.echo("  margrave site accept SITE --commit COMMIT")
    for line in done["findings"]:
        click.echo(line)


@controller.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@config_option
def rebuild(yes: bool, config: str | None) -> None:
    """Make the database anew from Git and the sources; the old one is kept beside it."""
    from controller.keeping.rebuild import rebuild as run

    settings = _settings(config)
    if not yes:
        click.confirm(f"Make the database in {settings.state.dir} anew?", abort=True)
    done = run(settings)
    click.echo(f"Rebuilt from Git at {done['head']}.")
    for line in done["findings"]:
        click.echo(line)
    if done["without_token"]:
        click.echo(f"These sites need a new token: {', '.join(done['without_token'])}")


@controller.command()
@click.option("--commit", required=True, metavar="COMMIT", help="Where main stands now.")
@config_option
def accept(commit: str, config: str | None) -> None:
    """Take a main that was rewritten as it stands; without that nothing is read or published.

    What stood before is kept in the controller's copy as refs/kept/COMMIT. Each site has its own
    say: margrave site accept SITE --commit COMMIT.
    """
    from controller.keeping.accepting import accept as run

    settings = _settings(config)
    whole = run(settings, commit)
    within = settings.git.poll_interval
    click.echo(f"Main is taken at {whole}; a controller that runs does it within {within}.")


def _settings(config: str | None) -> ControllerSettings:
    from controller import settings

    path = settings.find(config)
    if not path.is_file():
        raise MargraveError(f"{path}: is not there", "make a controller with margrave init")
    return settings.load(path)


def _table(values: Mapping[str, Any]) -> None:
    width = max(len(name) for name in values)
    for name, value in values.items():
        click.echo(f"  {name.replace('_', ' ').ljust(width)}  {value}")
