"""The command `margrave`: its nouns, loaded only when named; errors become exit codes here."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, Final

import click

from margrave import __version__
from margrave.cli import complaints, exits
from margrave.cli.contexts import CONTEXT
from margrave.cli.exits import Exit
from margrave.errors import MargraveError
from margrave.terminal.asking import Misuse

# noun: (module below margrave.cli.commands, what `margrave --help` says of it). The words stand
# here so that help and start-up import nothing that is not used.
NOUNS: Final = {
    "app": ("app", "applications in the catalogue"),
    "audit": ("audit", "who did what, and whether that record is whole"),
    "completion": ("completion", "completion of words and names for a shell"),
    "context": ("context", "the controllers one has signed in at"),
    "deploy": ("deploy", "bring an application to sites: create or update"),
    "deployment": ("deployment", "what runs where, and how it came to that"),
    "doctor": ("doctor", "look for what is wrong here, and how to mend it"),
    "lint": ("lint", "check packages, documents and repositories"),
    "login": ("login", "keep a token for a controller"),
    "node": ("node", "edge nodes"),
    "policy": ("policy", "what applications need from a site's policy"),
    "repository": ("repository", "the deployments repository, and what waits to be merged"),
    "settings": ("settings", "the configuration that a controller runs with"),
    "site": ("site", "sites and their runners"),
    "source": ("source", "registries the catalogue is read from"),
    "token": ("token", "tokens for people and programs"),
    "user": ("user", "people who may sign in"),
    "version": ("version", "the version of this command"),
}
ROOMS: Final = "margrave.commands"


class Nouns(click.Group):
    """Finds its commands by name, and other rooms' through entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted({*NOUNS, *_rooms()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name in NOUNS:
            module = import_module(f"margrave.cli.commands.{NOUNS[cmd_name][0]}")
            command: click.Command = getattr(module, cmd_name)
            return command
        return _rooms()[cmd_name]() if cmd_name in _rooms() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            near = self.list_commands(ctx)
            raise click.NoSuchCommand(error.command_name, possibilities=near, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = []
        for name in self.list_commands(ctx):
            if name in NOUNS:
                rows.append((name, NOUNS[name][1]))
            elif (command := self.get_command(ctx, name)) is not None:
                text = command.get_short_help_str(70).rstrip(".")
                rows.append((name, text[:1].lower() + text[1:]))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MargraveError as error:
            told = error
        except BrokenPipeError:
            raise
        except OSError as error:
            # A path that somebody typed or configured, where something stands in the way: that is
            # theirs to mend. What names no path is a fault of ours, and is told whole.
            if error.filename is None:
                raise
            where = error.filename2 or error.filename
            told = MargraveError(f"{where}: {error.strerror}", "mend that path, or name another")
        complaints.tell(told)
        return int(exits.of(told))


def _rooms() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {entry.name: lambda entry=entry: _load(entry) for entry in entry_points(group=ROOMS)}


def _load(entry: Any) -> click.Command:
    try:
        command = entry.load()
    except Exception as error:  # noqa: BLE001 - a room that cannot start must not take the others along
        return _broken(entry.name, error)
    assert isinstance(command, click.Command)
    return command


def _broken(name: str, error: Exception) -> click.Command:
    reason = f"{type(error).__name__}: {error}"

    def complain() -> None:
        raise MargraveError(f"`margrave {name}` cannot be loaded: {reason}", "install it anew")

    return click.Command(
        name,
        callback=complain,
        help=f"cannot be loaded: {reason}",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )


@click.group(cls=Nouns, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="margrave", message="%(prog)s %(version)s")
@click.option("--context", help="the controller to speak to, by the name that login kept")
@click.pass_context
def root(ctx: click.Context, context: str | None) -> None:
    """Applications on edge sites, told by Git and done by Ansible.

    MARGRAVE_URL and MARGRAVE_TOKEN name the controller, or `margrave login URL` keeps them; and so
    with MARGRAVE_CERT and MARGRAVE_KEY, where it asks for a certificate.
    """
    ctx.meta[CONTEXT] = context or ""


def main() -> int:
    """What the console script runs; the answer is the exit code."""
    try:
        result = root.main(prog_name="margrave", standalone_mode=False)
        sys.stdout.flush()
    except click.Abort as abort:
        return _aborted(abort)
    except click.ClickException as error:
        complaints.tell_usage(error)
        return error.exit_code
    except BrokenPipeError:
        # Whoever read us has had enough (`| head`); a second complaint at exit helps nobody.
        # The answer did not arrive whole, so it is no success: click ends the same way.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.FAILED
    return result if isinstance(result, int) else Exit.DONE


def _aborted(abort: click.Abort) -> Exit:
    """Ctrl-C, nobody there to answer, or a plain "no": click says all three with one word."""
    reason = abort.__cause__ or abort.__context__
    if isinstance(reason, KeyboardInterrupt):
        complaints.tell(MargraveError("interrupted"))
        return Exit.INTERRUPTED
    if isinstance(reason, EOFError):
        complaints.tell(Misuse("nobody is there to answer", "give it as an option, see --help"))
        return Exit.USAGE
    complaints.tell(MargraveError("nothing was changed: not confirmed"))
    return Exit.FAILED


if __name__ == "__main__":
    sys.exit(main())
