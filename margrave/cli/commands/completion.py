"""`margrave completion SHELL`: what a shell needs to complete our words and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from margrave.terminal.shape import Verb

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "margrave"
VARIABLE = "_MARGRAVE_COMPLETE"


@click.command(cls=Verb)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion for a shell: commands, options, and names from the controller.

    \b
    bash:  margrave completion bash >~/.local/share/bash-completion/completions/margrave
    zsh:   margrave completion zsh >"${fpath[1]}/_margrave"
    fish:  margrave completion fish >~/.config/fish/completions/margrave.fish
    """
    made = get_completion_class(shell)
    assert made is not None, shell
    root = ctx.find_root().command
    # Not `made.source()`: for bash that looks for a bash on the machine that prints the text.
    one = made(root, {}, PROGRAM, VARIABLE)
    click.echo(one.source_template % one.source_vars())
