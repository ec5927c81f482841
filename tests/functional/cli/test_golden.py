"""What each command prints, held against what was looked at: `tests/golden/cli`.

`GOLDEN=write python -m pytest tests/functional/cli/test_golden.py` writes them anew; read
the difference before it is kept.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.functional.cli import fleet
from tests.functional.cli.test_golden_rooms import GOLDEN, ROOMS, held_against
from tests.unit.cli.test_help import VERBS

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run

WIDTH: Final = "100"
ALL: Final = ("table", "json", "yaml", "name")
EYES: Final = ("table", "json")

# How each command is called here, and in which forms it is looked at.
CASES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "app list": ("", ALL),
    "app show": ("storefront@1.1.0", ALL),
    "app sync": ("apps", EYES),
    "audit list": ("", ALL),
    "audit verify": ("", EYES),
    "deploy": ("storefront@1.1.0 --site harbor --set greeting=hi", ALL),
    "deployment cancel": ("storefront", EYES),
    "deployment create": ("storefront@1.1.0 --site yard --name shop", EYES),
    "deployment delete": ("storefront --yes", EYES),
    "deployment explain": ("storefront", EYES),
    "deployment history": ("storefront", ALL),
    "deployment list": ("", ALL),
    "deployment logs": ("storefront", ("table",)),
    "deployment plan": ("storefront --version 1.1.0", EYES),
    "deployment release": ("storefront", EYES),
    "deployment retry": ("storefront", EYES),
    "deployment rollback": ("storefront --to 1.0.0", EYES),
    "deployment show": ("storefront", ALL),
    "deployment update": ("storefront --version 1.1.0", EYES),
    "node drain": ("harbor-1 --yes", EYES),
    "node list": ("", ALL),
    "node show": ("harbor/harbor-1", ALL),
    "node undrain": ("harbor-1", EYES),
    "policy check": ("--site harbor", ALL),
    "policy explain": ("storefront@1.1.0 --site harbor", ALL),
    "repository accept": ("--commit 3f9c2d41e5a0 --yes", EYES),
    "repository show": ("", EYES),
    "settings": ("", ALL),
    "site accept": ("harbor --commit 3f9c2d41e5a0 --yes", EYES),
    "site add": ("yard", EYES),
    "site drain": ("harbor --yes", EYES),
    "site list": ("", ALL),
    "site pause": ("harbor --reason stocktaking", EYES),
    "site reload": ("harbor", EYES),
    "site remove": ("harbor --yes", EYES),
    "site resume": ("harbor", EYES),
    "site show": ("harbor", ALL),
    "site token create": ("harbor", EYES),
    "site token list": ("harbor", ALL),
    "site token revoke": ("harbor t1 --yes", EYES),
    "site undrain": ("harbor", EYES),
    "source add": ("apps https://git.example/apps.git", EYES),
    "source list": ("", ALL),
    "source remove": ("apps --yes", EYES),
    "token create": ("ci --where zone=shop", EYES),
    "token list": ("", ALL),
    "token revoke": ("t1 --yes", EYES),
    "user add": ("ann", EYES),
    "user change": ("ann --role admin", EYES),
    "user list": ("", ALL),
    "user remove": ("ann --yes", EYES),
}
# What makes or takes down what no fake can stand for.
MACHINE: Final = (
    "controller accept", "controller add-admin", "controller backup", "controller migrate",
    "controller rebuild", "controller restore", "controller serve", "demo down", "demo up", "init",
    "lab down", "lab fail", "lab heal", "lab ssh", "lab up", "runner beacon", "runner serve",
)  # fmt: skip
# What prints what only this machine or this moment knows, and where it is shown instead.
ELSEWHERE: Final = {
    "app digest": "test_golden.py",
    "app lint": "test_lint.py",
    "completion": "test_completion.py",
    "context list": "test_contexts.py",
    "context remove": "test_contexts.py",
    "context use": "test_contexts.py",
    "deployment watch": "test_watch.py",
    "doctor": "test_doctor.py",
    "lint": "test_lint.py",
    "login": "test_contexts.py",
    "node add": "test_node.py",
    "node remove": "test_node.py",
    "version": "test_golden.py",
    **dict.fromkeys((*ROOMS, "lab list", "demo status"), "test_golden_rooms.py"),
    **dict.fromkeys(MACHINE, "test_codes_of_each.py"),
}  # fmt: skip
# A plan that would change something says so with its exit code.
ENDS: Final = {"deployment plan": 4, "policy check": 1, "policy explain": 1}


def test_each_command_is_looked_at() -> None:
    """A new command needs its line above, in one table or the other."""
    assert set(CASES) | set(ELSEWHERE) == set(VERBS)
    assert not set(CASES) & set(ELSEWHERE)
    for verb, file in ELSEWHERE.items():
        words = [f'"{word}"' for word in verb.split()]
        text = (Path(__file__).parent / file).read_text()
        assert ", ".join(words) in text or verb in text, f"{file} does not call {verb}"


def test_the_version_is_one_line(run: Run) -> None:
    """`margrave version` needs no controller."""
    assert run("version").out.count("\n") == 1


def test_a_folders_digest_is_that_of_its_content(run: Run, tmp_path: Path) -> None:
    """`margrave app digest` says the same of a copy, and another of a changed one."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "compose.yaml").write_text("services: {}\n")
    first, second = (run("app", "digest", str(tmp_path / name)).out for name in ("one", "two"))
    assert first == second
    (tmp_path / "two/compose.yaml").write_text("services: {web: {}}\n")
    assert run("app", "digest", str(tmp_path / "two")).out != first


@pytest.mark.parametrize("verb", sorted(CASES))
def test_a_command_prints_what_was_looked_at(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """In a terminal of a fixed width without colours, and in each form for programs."""
    fleet.told(controller)
    monkeypatch.setenv("COLUMNS", WIDTH)
    monkeypatch.setenv("NO_COLOR", "1")
    words, forms = CASES[verb]
    shown = []
    for form in forms:
        monkeypatch.setattr(sys, "stdin", io.StringIO("a long password\n"))
        monkeypatch.setattr(sys.stdout, "isatty", lambda form=form: form == "table")
        ran = run(*verb.split(), *words.split(), "-o", form)
        assert ran.code == ENDS.get(verb, 0), ran.err
        line = f"$ margrave {verb} {words}".rstrip() + f" -o {form}"
        shown.append(f"{line}\n{ran.out}{ran.err}")
    held_against(verb, shown)


def test_no_golden_is_left_over() -> None:
    """A file without its command would be read by nobody."""
    known = {*CASES, *ROOMS, "lab list", "demo status"}
    assert {one.stem for one in GOLDEN.glob("*.txt")} == {one.replace(" ", "-") for one in known}


@pytest.mark.parametrize("verb", sorted({*VERBS} - {"lab ssh"}))
def test_a_word_that_is_none_is_wrong_usage(run: Run, verb: str) -> None:
    """Each command ends with 2, and says what is wrong; what `lab ssh` does not know is the
    other program's."""
    ran = run(*verb.split(), "--no-such-option")

    assert ran.code == 2
    assert "--no-such-option" in ran.err
