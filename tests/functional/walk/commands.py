"""The command against the same controller: each exit code that scripts rely on."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
from subprocess import PIPE

import pytest

from margrave.cli.main import main
from tests.functional.walk.world import World
from tests.support.served import MARGRAVE


def _run(w: World, *words: str, token: str = "", url: str = "") -> tuple[int, str]:
    """The exit code, and what stands on standard output."""
    said = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        patch.setenv("MARGRAVE_URL", url or w.served.url)
        patch.setenv("MARGRAVE_TOKEN", token or w.served.token)
        patch.setenv("XDG_CONFIG_HOME", str(w.site.folder / "config"))
        patch.setattr("sys.argv", ["margrave", *words])
        return int(main()), said.getvalue()


def exit_codes(w: World) -> None:
    """0 done, 1 failed, 2 usage, 3 not found, 4 would change, 5 refused, 6 unreachable."""
    deploy = ("deploy", "--site", "harbor", "--wait", "--timeout", "60s")
    plan = ("deployment", "plan", "--site", "harbor")
    broken = w.site.folder / "broken.yaml"
    broken.write_text("id: [\n")
    for code, words in (
        (0, ("site", "list")),
        (0, (*deploy, "storefront@1.1.0")),
        (0, (*plan, "storefront@1.1.0")),
        (4, (*plan, "storefront@1.0.0")),
        (1, (*deploy, "storefront@1.2.0")),  # rolled back is no success
        (1, ("deploy", "storefront", "--site", "harbor", "--set", f"greeting={'x' * 99}")),
        (1, ("lint", str(broken))),
        (2, ("nonsense",)),
        (3, ("site", "show", "nowhere")),
        (3, ("deploy", "nothing", "--site", "harbor")),
        (5, ("site", "add", "harbor")),
    ):
        assert (_run(w, *words)[0], words) == (code, words)
    pause = ("site", "pause", "harbor", "--reason", "x")
    assert _run(w, *pause, token=w.ids["viewer"])[0] == 5
    assert _run(w, *pause, token="mgt_nobodys")[0] == 5
    assert _run(w, "site", "list", url="http://127.0.0.1:1")[0] == 6
    code, said = _run(w, "deployment", "list", "-o", "json")
    listed = w.items("/deployments", "deployment")
    assert (code, {one["id"] for one in json.loads(said)["items"]}) == (
        0,
        {one["id"] for one in listed},
    )


def a_private_source(w: World) -> None:
    """The command names a file of credentials that is on the controller's machine; Git uses it."""
    folder = w.site.folder.parent / "controller/state/credentials"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "forge").write_text(f"anybody:{w.served.token}\n")
    private = f"{w.served.url}/git/deployments.git"  # lets nobody in without a token
    for name, more, code in (("closed", (), 6), ("open", ("--credentials", "forge"), 0)):
        assert _run(w, "source", "add", name, private, *more)[0] == 0
        assert (name, _run(w, "app", "sync", name)[0]) == (name, code)
        assert _run(w, "source", "remove", name, "--yes")[0] == 0
    assert _run(w, "source", "add", "x", private, "--credentials", "/etc/shadow")[0] == 1


def a_wait_that_is_over(w: World) -> None:
    """124 when the time is up; what was asked goes on."""
    w.site.may_go_on.clear()
    words = ("deploy", "storefront@1.0.0", "--site", "harbor", "--wait", "--timeout", "1s")
    assert _run(w, *words)[0] == 124
    w.site.may_go_on.set()
    w.until(w.ids["shop"], "INSTALLED", "succeeded")
    assert w.deployment(w.ids["shop"])["version"] == "1.0.0"


def _as_on_a_terminal() -> None:
    """Ctrl-C is heard, also where the tests themselves were started to ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def an_interruption(w: World) -> None:
    """130 when somebody presses Ctrl-C, while it watches or waits; nothing else is touched."""
    w.site.may_go_on.clear()
    shop = w.ids["shop"]
    before = w.deployment(shop)["updated_at"]
    for words in (("deployment", "watch", shop), ("deployment", "list", "--watch")):
        here = {**os.environ, **w.served.environment, "PYTHONUNBUFFERED": "1"}
        watching = subprocess.Popen(
            [MARGRAVE, *words], env=here, stdout=PIPE, stderr=PIPE, preexec_fn=_as_on_a_terminal
        )
        try:
            assert watching.stdout is not None
            assert watching.stdout.readline()  # it shows what there is: now it waits for more
            watching.send_signal(signal.SIGINT)
            assert (words, watching.wait(30)) == (words, 130)
        finally:
            watching.kill()
            watching.communicate()
    w.site.may_go_on.set()
    assert w.deployment(shop)["updated_at"] == before
