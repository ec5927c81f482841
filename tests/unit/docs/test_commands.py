"""What the documents tell people to type is something that can be typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from margrave.cli.main import root

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WISHES = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.M))
# Programs of the system; what they are told is theirs to judge.
KNOWN = {
    "age", "age-keygen", "ansible-doc", "ansible-galaxy", "ansible-inventory", "apt-get", "cat",
    "cd", "cp", "createdb", "createuser", "curl", "docker", "echo", "export", "git", "helm",
    "install", "journalctl", "kubectl", "molecule", "openssl", "pip", "podman", "printf", "psql",
    "pytest", "python3", "scp", "sed", "set", "skopeo", "sops", "source", "ssh", "ssh-keygen",
    "sudo", "systemctl", "tar", "umask", "useradd",
}  # fmt: skip


# What is shown as it was typed: a session, or lines to type.
SHOWN = {"console", "text"}
INNER = re.compile(r"\$\(([^()]*)\)")
FENCE = re.compile(r"^ *```(.*)$")


def fences() -> Iterator[tuple[str, str, str, str]]:
    """Page, section, language and content of every fence."""
    for page in PAGES:
        section, language, inside = "", None, []
        for line in page.read_text().splitlines():
            fence = FENCE.match(line)
            if fence and language is not None:
                yield str(page.relative_to(ROOT)), section, language, "\n".join(inside)
                language, inside = None, []
            elif fence:
                language = fence[1].strip()
            elif language is not None:
                inside.append(line)
            elif line.startswith("## "):
                section = line[3:]


def typed() -> Iterator[tuple[str, str, str]]:
    """Page, section and command of every `$ …` line; continued lines are joined."""
    for page, section, language, block in fences():
        if language in SHOWN:
            for line in re.sub(r"\\\n", " ", block).splitlines():
                if line.lstrip().startswith("$ "):
                    yield page, section, line.lstrip()[2:]


def test_what_is_to_be_typed_is_shown_with_its_sign() -> None:
    """A fence of another kind that begins with a program would be typed, and checked by nobody."""
    programs = {"margrave", "make", "ansible-playbook", *KNOWN}
    hidden = [
        (page, line)
        for page, _, language, block in fences()
        if language in {"", "sh", "bash", "shell", "text", "console"}
        for line in block.strip().splitlines()[:1]
        if (words := words_of(line)) and words[0][0] in programs
    ]
    assert hidden == []


def words_of(command: str) -> list[list[str]]:
    """The words of each program in the line; variables set before it and comments left out."""
    plain = re.sub(r"\s+#\s.*$", "", command)
    whole = [INNER.sub("x", plain), *INNER.findall(plain)]
    parts = [part for one in whole for part in re.split(r"\s(?:\||&&|;)\s|;\s", one)]
    found = []
    for part in parts:
        words = shlex.split(part)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0], re.S):
            words.pop(0)
        if words and words[0] == "sudo":
            words = [word for word in words[1:] if word not in {"-u", "postgres"}] or words
        if words:
            found.append([words[0].rpartition("bin/")[2], *words[1:]])
    return found


@pytest.mark.parametrize(("page", "command"), sorted({(page, line) for page, _, line in typed()}))
def test_a_command_in_the_docs_can_be_typed(page: str, command: str) -> None:
    """Verbs and options exist, wishes stand in the Makefile, files of the checkout are there."""
    for program, *words in words_of(command):
        if program == "margrave":
            _parse(words)
        elif program == "make":
            assert {word for word in words if "=" not in word} <= WISHES, command
        elif program == "ansible-playbook":
            # Behind -i stands the reader's own inventory, and what is played is no option's word.
            playbook = next(word for word in words if word.startswith(("playbooks/", "margrave.")))
            assert (ROOT / playbook).is_file() or playbook.startswith("margrave.edge."), command
        else:
            assert program in KNOWN or program.startswith((".", "<")), f"{page}: {program}"


def _parse(words: list[str]) -> None:
    command: click.Command = root
    context = click.Context(root, info_name="margrave")
    rest = list(words)
    while True:
        _, left, _ = command.make_parser(context).parse_args(list(rest))
        if not isinstance(command, click.Group):
            # Of what is no option, each argument takes its part, and nothing may be left over.
            assert not left, f"{command.name}: {left} is too much"
            return
        if not left:
            return
        inner = command.get_command(context, left[0])
        assert inner is not None, f"{command.name} has no {left[0]}"
        command, rest = inner, left[1:]
        context = click.Context(command, parent=context, info_name=inner.name)
