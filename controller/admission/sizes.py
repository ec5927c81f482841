"""How much a node has to fetch: sizes of image layers, as their registries tell them."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Final

from controller.publish.images import NOT_REACHED, parse
from margrave.errors import MargraveError
from margrave.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from controller.publish.images import Images

LOG = logging.getLogger(__name__)
PATIENCE: Final = 1.0  # seconds a plan waits for registries; what comes later helps the next plan
# A registry that said nothing in that time is left alone for a while: no plan waits for it, and no
# thread hangs on it. What it does answer, however late, ends that.
LEFT_ALONE: Final = 60.0
AT_ONCE: Final = 4
MOST_ASKED: Final = 24  # images of one plan that are asked for
KEPT: Final = 2000  # images whose layers are remembered
Layers = dict[str, int]  # bytes by digest


class Sizes:
    """Remembers the layers of images; asks registries only while somebody looks at a plan."""

    def __init__(self, images: Images, clock: Callable[[], float] = time.monotonic) -> None:
        self._images = images
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], Layers | None] = OrderedDict()
        self._silent: dict[str, float] = {}  # host to when it is asked again
        self._trouble: dict[str, MargraveError] = {}  # image to what its registry answered

    def ask(self, sites: Iterable[Mapping[str, Any]]) -> None:
        """Get to know the images of a plan, as far as their registries answer in time."""
        unknown = self._worth_asking(dict.fromkeys(_images(sites)))
        if not unknown:
            return
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="sizes")
        asked = {pool.submit(self._look, *one): one for one in unknown}
        wait(asked, PATIENCE)
        pool.shutdown(wait=False, cancel_futures=True)
        for future, (image, _) in asked.items():
            if future.running():
                LOG.info("%s does not tell sizes within %g s", _host(image), PATIENCE)
                with self._lock:
                    self._silent[_host(image)] = self._clock() + LEFT_ALONE

    def _worth_asking(self, wanted: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        with self._lock:
            now = self._clock()
            self._silent = {host: until for host, until in self._silent.items() if until > now}
            unknown = [
                one
                for one in wanted
                if self._known.get(one) is None and _host(one[0]) not in self._silent
            ]
        return unknown[:MOST_ASKED]

    def warnings(self, sites: Iterable[Mapping[str, Any]]) -> list[Finding]:
        """Return a warning for each registry that did not give the digest of a tagged image.

        A tag is resolved when the request is published, and that waits until its registry answers;
        an image that is written with its digest needs none.
        """
        tagged = dict.fromkeys(image for image, _ in _images(sites) if "@" not in image)
        with self._lock:
            silent = {_host(image) for image in tagged} & self._silent.keys()
            by_host = {
                host: (f"registry {host} does not answer the controller within {PATIENCE:g} s", "")
                for host in sorted(silent)
            }
            for image in tagged:
                if (error := self._trouble.get(image)) and _host(image) not in by_host:
                    by_host[_host(image)] = (error.message, error.cure)
        return [
            Finding(
                "", f"{message}; the request waits until it does", cure or NOT_REACHED
            ).as_warning("registry")
            for message, cure in by_host.values()
        ]

    def fill(self, sites: Iterable[dict[str, Any]]) -> None:
        """Write `bytes` into a plan: what is not on the node already; None where not known."""
        for site in sites:
            for node in site["nodes"]:
                node["bytes"] = self._missing(node)

    def _missing(self, node: Mapping[str, Any]) -> int | None:
        if node["action"] in ("none", "delete"):
            return 0
        architecture = node["architecture"]
        wanted = [self._layers(image, architecture) for image in node["images"]]
        if not wanted or any(one is None for one in wanted):
            return None
        there: Layers = {}
        for image in node["present"]:
            there |= self._layers(image, architecture) or {}
        whole = {digest: size for one in wanted for digest, size in (one or {}).items()}
        return sum(size for digest, size in whole.items() if digest not in there)

    def _layers(self, image: str, architecture: str) -> Layers | None:
        with self._lock:
            return self._known.get((image, architecture))

    def _look(self, image: str, architecture: str) -> None:
        trouble: MargraveError | None = None
        try:
            found: Layers | None = self._images.layers(image, architecture)
        except MargraveError as error:
            LOG.info("size of %s: %s", image, error)
            found, trouble = None, error
        with self._lock:
            if trouble is None:
                self._trouble.pop(image, None)
            else:
                self._trouble[image] = trouble
            while len(self._trouble) > KEPT:
                del self._trouble[next(iter(self._trouble))]
            if found is not None:
                self._silent.pop(_host(image), None)
            self._known[image, architecture] = found
            self._known.move_to_end((image, architecture))
            while len(self._known) > KEPT:
                self._known.popitem(last=False)


def _images(sites: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    for site in sites:
        for node in site["nodes"]:
            for image in (*node["images"], *node["present"]):
                yield image, node["architecture"]


def _host(image: str) -> str:
    """The registry that an image is asked of; what is no reference is a host of its own."""
    try:
        return parse(image).host
    except MargraveError:
        return image
