"""Two controllers on one PostgreSQL, and how to say what was measured with them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.functional.postgres.pair import Pair, fill, served, settings_of
from tests.support import postgres
from tests.support.registry import FakeRegistry

Tell = Callable[[str], None]


@pytest.fixture(scope="module")
def lasting() -> Iterator[postgres.Postgres]:
    """A server that is stopped in the middle: what was committed has to be there afterwards."""
    found = postgres.Postgres(synchronous_commit="on").start()
    yield found
    found.stop()


@pytest.fixture
def images() -> Iterator[FakeRegistry]:
    registry = FakeRegistry().start()
    yield registry
    registry.stop()


@pytest.fixture
def pair(tmp_path: Path, lasting: postgres.Postgres, images: FakeRegistry) -> Iterator[Pair]:
    forge, marker = tmp_path / "forge.git", tmp_path / "slow"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", forge], check=True)
    hook = forge / "hooks" / "pre-receive"
    # A push takes as long as the file is there: time to be killed in its middle.
    hook.write_text(f"#!/bin/sh\nn=0\nwhile [ -e '{marker}' ] && [ $n -lt 600 ]; do\n"
                    f"touch '{marker}.reached'; sleep 0.1; n=$((n+1)); done\n")  # fmt: skip
    hook.chmod(0o755)
    url = lasting.create()
    git = {"remote": str(forge)}
    with ExitStack() as stack:
        settings = [settings_of(tmp_path / name, url, git, images) for name in ("one", "two")]
        fill(settings[0])
        processes = [stack.enter_context(served(one)) for one in settings]
        urls = [f"http://{one.http.bind}" for one in settings]
        yield Pair(urls, processes, forge, marker, url)
        marker.unlink(missing_ok=True)


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Tell:
    """Say what was measured, also where the test passes."""

    def told(words: str) -> None:
        with capsys.disabled():
            print(f"\n  {words}", end=" ")  # noqa: T201

    return told
