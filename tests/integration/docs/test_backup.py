"""`docs/howto/backup.md`: backed up while it serves, restored, and made anew from Git."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.integration.docs import box
from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from lab import Lab
    from tests.integration.docs.reader import Reader

pytestmark = [pytest.mark.lab, pytest.mark.full]

PAGE = Page("backup")


@pytest.fixture(scope="module")
def backed_up(shop: Reader) -> Reader:
    """Return a reader with a backup; storefront was updated after it."""
    shop.words["/backup/"] = f"{shop.folder}/backup/"
    line = PAGE.line(" backup ")
    assert "make it" in shop.type(line, 3)  # there is no such folder
    (shop.folder / "backup").mkdir()
    shop.type(line)
    return shop


def test_a_backup_is_not_overwritten(backed_up: Reader) -> None:
    """Unless it is asked for."""
    file = backed_up.folder / "backup/margrave-2030-01-31.tar"
    before = file.read_bytes()
    assert "--force" in backed_up.type(PAGE.line(" backup "), 5)
    assert file.read_bytes() == before
    backed_up.type(PAGE.line(" backup "), more="--force")


def test_restore(backed_up: Reader, lab: Lab) -> None:
    """Refused while it serves and without a backup; then it names the sites that must accept."""
    reader = backed_up
    reader.type("margrave deployment update storefront --version 1.1.0 --wait")
    restore, serve = PAGE.block("$ margrave controller restore").lines
    assert "stop the controller" in reader.type(restore, 5, more="--yes")
    reader.stop("controller")
    gone = restore.replace("2030-01-31", "2030-01-30")
    assert "margrave-2030-01-30.tar" in reader.type(gone, 3, more="--yes")
    (reader.folder / "backup/none.tar").write_text("not a backup")
    none = restore.replace("margrave-2030-01-31", "none")
    assert "none.tar" in reader.type(none, 5, more="--yes")
    assert "--yes" in reader.type(restore, 2, answer="")
    assert "not confirmed" in reader.type(restore, 1, answer="n\n")

    restored = reader.type(restore, answer="y\n")
    assert "margrave site accept harbor --commit " in restored, restored
    reader.type(serve)
    eventually(
        lambda: "halted" in reader.type("margrave site show harbor -o json"), 120, "it halts"
    )
    assert box.version(lab) == "1.1.0"
    [accept] = (line.strip() for line in restored.splitlines() if "margrave site accept" in line)
    reader.type(accept, more="--yes")
    eventually(lambda: box.version(lab) == "1.0.0", 180, "the site follows the restored commit")


def test_rebuild(backed_up: Reader, lab: Lab) -> None:
    """From Git and the sources; without a database nobody can sign in, and an admin is made."""
    reader = backed_up
    rebuild, add_admin = PAGE.block("$ margrave controller rebuild").lines
    assert "stop the controller" in reader.type(rebuild, 5, more="--yes")
    reader.stop("controller")
    for file in (reader.folder / "srv/state").glob("margrave.db*"):
        file.unlink()
    rebuilt = reader.type(rebuild, answer="y\n")
    for words in ("need a new token: harbor", "add-admin", "margrave source add"):
        assert words in rebuilt, rebuilt
    made = reader.type(add_admin, more="-o json")
    assert "--reset" in reader.type(add_admin, 5)
    reader.start("controller")
    reader.password = json.loads(made)["password"]
    reader.type("margrave login http://127.0.0.1:8800 --user grace")
    assert "storefront" in reader.type("margrave deployment list")
    assert box.version(lab) == "1.0.0"
    reader.type("margrave source add mine https://git.example/apps.git")
    reader.type("margrave app sync")

    token = reader.type("margrave site token create harbor -o json")
    reader.configure(reader.runner_file, _tokens(json.loads(token)["token"]))
    reader.restart("runner")
    eventually(lambda: "fresh" in reader.type("margrave site list"), 120, "the site reports again")
    assert unexecuted("backup", reader.executed) == []


def _tokens(token: str) -> str:
    return f'[controller]\ntoken = "{token}"\n[git]\npassword = "{token}"\n'


def test_a_runners_folder_is_put_back(backed_up: Reader, lab: Lab) -> None:
    """The restored runner stands down, takes the site over, and does nothing twice."""
    reader = backed_up
    reader.stop("runner")
    state = reader.folder / "state"
    shutil.copytree(state, reader.folder / "kept", symlinks=True)
    reader.start("runner")
    reader.type("margrave deployment update storefront --version 1.1.0 --wait")
    reader.stop("runner")
    shutil.rmtree(state)
    (reader.folder / "kept").rename(state)

    reader.start("runner")
    eventually(lambda: "stood down" in reader.type("margrave runner status"), 120, "it yields")
    assert not reader.is_ready("runner")
    assert "--yes" in reader.type("margrave runner takeover", 2, answer="")
    reader.type("margrave runner takeover", answer="y\n")
    eventually(lambda: reader.is_ready("runner"), 120, "the runner has taken over")
    reader.type("margrave deployment update storefront --version 1.0.0 --wait")
    assert box.version(lab) == "1.0.0"
