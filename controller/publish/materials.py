"""Versions from the catalogue, made ready for Git: images resolved, contents addressed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from controller import chart, compose
from controller.publish.rendering import Material
from controller.store import catalog as rows
from margrave import digest
from margrave.chart_files import ROOT as CHART
from margrave.chart_files import VALUES
from margrave.digest import File
from margrave.documents.description import read_description

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from controller.publish.pins import Pinning
    from controller.store import Store

COMPOSE = "compose.yaml"


class Materials:
    """Looks versions up for one request; what it resolved is the same for all its documents."""

    def __init__(self, store: Store, images: Pinning | None) -> None:
        self._store = store
        self._images = images
        self._found: dict[tuple[str, str], Material | None] = {}
        self._files: dict[tuple[str, str], dict[str, dict[str, File]]] = {}
        self.contents: dict[str, dict[str, File]] = {}  # components/<hex> to files

    def __call__(self, app: str, version: str) -> Material | None:
        """The version, or None when the catalogue has no such one that can be deployed.

        Without `images` nothing is asked of a registry: good for a plan, not for a commit.
        """
        key = (app, version)
        if key not in self._found:
            self._found[key] = self._look_up(app, version)
        return self._found[key]

    def files(self, app: str, version: str) -> dict[str, dict[str, File]]:
        """The components' files as the author wrote them, by path."""
        key = (app, version)
        if key not in self._files:
            self._files[key] = self._unpacked(app, version)
        return self._files[key]

    def _unpacked(self, app: str, version: str) -> dict[str, dict[str, File]]:
        with self._store.session() as session:
            known = rows.version_content(session, app, version)
            if known is None:
                return {}
            return {
                path: digest.unpack(rows.component(session, name) or b"")
                for path, name in known["components"].items()
            }

    def _look_up(self, app: str, version: str) -> Material | None:
        with self._store.session() as session:
            known = rows.version_content(session, app, version)
        if known is None:
            return None
        sources = _Sources(self.files(app, version), self._source)
        return Material(read_description(known["text"]), sources)

    def _source(self, files: dict[str, File]) -> str:
        ready = self._resolved(files) if self._images else files
        address = f"components/{digest.of_files(ready).removeprefix('sha256:')}"
        self.contents[address] = ready
        return address

    def _resolved(self, files: dict[str, File]) -> dict[str, File]:
        """The files with each image tag replaced by the digest that it stands for: in compose.yaml,
        or where a chart's values hold a whole reference."""
        if COMPOSE in files:
            text = _text(files[COMPOSE])
            found = compose.with_images(text, self._pinned(compose.images(text)))
            return _with(files, COMPOSE, found)
        if CHART in files and VALUES in files:
            text = _text(files[VALUES])
            found = chart.with_images(text, self._pinned(chart.images(text, {})))
            return _with(files, VALUES, found)
        return files

    def _pinned(self, images: Iterable[str]) -> dict[str, str]:
        assert self._images is not None, "without registries nothing is resolved"
        return {image: self._images.pinned(image) for image in images}


def _text(file: File) -> str:
    return file.data.decode("utf-8-sig")


def _with(files: Mapping[str, File], name: str, text: str) -> dict[str, File]:
    return {**files, name: File(text.encode(), files[name].executable)}


class _Sources(Mapping[str, str]):
    """Addresses by path, found when they are asked for: a change of one parameter asks for none,
    and so it asks no registry either."""

    def __init__(
        self, files: dict[str, dict[str, File]], address: Callable[[dict[str, File]], str]
    ) -> None:
        self._files = files
        self._address = address
        self._known: dict[str, str] = {}

    def __getitem__(self, path: str) -> str:
        if path not in self._known:
            self._known[path] = self._address(self._files[path])
        return self._known[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)
