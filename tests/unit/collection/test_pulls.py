"""Images are fetched a few at a time, taken up again, and never into a full disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _pulls
from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    ConflictError,
    DiskError,
    ImageError,
    InternalError,
    RegistryError,
)

Pull = Callable[[str, Callable[[bytes], None]], None]


class Store:
    """An engine that pulls as the test says, and notes what it was asked for."""

    def __init__(self, folder: Path, pull: Pull) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.logins: list[Any] = []
        self._pull = pull

    def store(self) -> str:
        """Where images lie."""
        return str(self.folder)

    def pull(self, reference: str, login: Any, heard: Callable[[bytes], None]) -> None:
        """Pull as the test says."""
        self.asked.append(reference)
        self.logins.append(login)
        self._pull(reference, heard)


def _fetch(store: Store, *references: str, safe_point: Callable[[], None] = lambda: None) -> None:
    request = SimpleNamespace(logins={"registry.site": {"host": "registry.site"}})
    call: Any = SimpleNamespace(request=request, safe_point=safe_point)
    engine: Any = store
    _pulls.fetch(call, engine, list(references))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause between attempts, and a disk with room."""
    monkeypatch.setattr(_pulls, "PAUSE", 0.0)
    monkeypatch.setattr(_pulls, "RESERVE", 0)


def test_a_few_at_a_time(tmp_path: Path) -> None:
    """As many as are allowed run beside each other, and no more."""
    together = threading.Barrier(_pulls.AT_ONCE, timeout=30)
    running: list[str] = []
    most: list[int] = []

    def pull(reference: str, _heard: Callable[[bytes], None]) -> None:
        running.append(reference)
        most.append(len(running))
        together.wait()
        running.remove(reference)

    names = [f"registry.site/{number}" for number in range(_pulls.AT_ONCE * 2)]
    store = Store(tmp_path, pull)

    _fetch(store, *names)

    assert sorted(store.asked) == names
    assert max(most) == _pulls.AT_ONCE
    assert store.logins[0] == {"host": "registry.site"}


def test_a_broken_line_is_taken_up_again(tmp_path: Path) -> None:
    """While each attempt brings layers, another one follows; the finished ones are kept."""
    left = [3]

    def pull(_reference: str, heard: Callable[[bytes], None]) -> None:
        heard(b'{"status": "Download complete", "id": "layer"}')
        left[0] -= 1
        if left[0]:
            raise RegistryError("registry-unreachable", "unexpected EOF")

    store = Store(tmp_path, pull)
    _fetch(store, "registry.site/web")

    assert store.asked == ["registry.site/web"] * 3


def test_a_registry_that_is_away_is_told_at_once(tmp_path: Path) -> None:
    """Nothing came, so nothing is tried again: the runner knows when."""

    def pull(_reference: str, heard: Callable[[bytes], None]) -> None:
        heard(b"")
        raise RegistryError("registry-unreachable", "connection refused")

    store = Store(tmp_path, pull)
    with pytest.raises(RegistryError):
        _fetch(store, "registry.site/web")

    assert store.asked == ["registry.site/web"]


def test_the_first_error_ends_the_others(tmp_path: Path) -> None:
    """What went wrong first is told, and nobody waits for the rest."""
    failed = threading.Event()

    def pull(reference: str, heard: Callable[[bytes], None]) -> None:
        if reference == "bad":
            failed.set()
            raise ImageError("image-not-found", "manifest unknown")
        assert failed.wait(30)
        while True:  # as long as it is not told to stop
            heard(b"")

    store = Store(tmp_path, pull)
    with pytest.raises(ImageError):
        _fetch(store, "slow", "bad", "other", "never", "asked")


def test_a_newer_call_stops_all_of_them(tmp_path: Path) -> None:
    """Between lines of progress a pull looks for a newer call."""
    asked = [0]

    def newer() -> None:
        asked[0] += 1
        if asked[0] > 3:
            raise ConflictError("superseded", "a newer call took over")

    def pull(_reference: str, heard: Callable[[bytes], None]) -> None:
        while True:
            heard(b"")

    with pytest.raises(ConflictError, match="newer"):
        _fetch(Store(tmp_path, pull), "a", "b", safe_point=newer)


def test_nothing_is_begun_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first byte the free space is looked at; the finding names folder and room."""
    found = os.statvfs(tmp_path)
    monkeypatch.setattr(_pulls, "RESERVE", found.f_blocks * found.f_frsize)
    store = Store(tmp_path, lambda _reference, _heard: None)

    with pytest.raises(DiskError, match=f"{tmp_path}: .* MiB are free") as refused:
        _fetch(store, "registry.site/web")

    assert store.asked == []
    assert refused.value.cure


def test_a_pull_stops_before_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs needs room too: the pull that would take the last of it is given up."""
    found = os.statvfs(tmp_path)

    def pull(_reference: str, heard: Callable[[bytes], None]) -> None:
        heard(b'{"id": "layer"}')
        monkeypatch.setattr(_pulls, "RESERVE", found.f_blocks * found.f_frsize)
        heard(b'{"id": "layer"}')

    with pytest.raises(DiskError):
        _fetch(Store(tmp_path, pull), "registry.site/web")


def test_a_store_that_cannot_be_looked_at_is_told(tmp_path: Path) -> None:
    """Trouble in one of the threads is trouble of the call, not lost with the thread."""

    def pull(_reference: str, heard: Callable[[bytes], None]) -> None:
        tmp_path.joinpath("store").rmdir()
        heard(b"")

    (tmp_path / "store").mkdir()
    with pytest.raises(InternalError, match="No such file"):
        _fetch(Store(tmp_path / "store", pull), "registry.site/web")
