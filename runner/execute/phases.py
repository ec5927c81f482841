"""How far calls have come while they work: the journals on the nodes, read now and then.

A module answers once, at its end. What it is at stands in its journal, which it writes before each
step; reading that costs a command over a connection that is open anyway.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from runner.execute.direct import Direct, output
from runner.execute.errand import Errand
from runner.ports import Progress

LOG: Final = logging.getLogger(__name__)
EVERY: Final = 1.5  # seconds; most calls are over before the first look, and then there is none
# Seconds for each node that is looked at, so that looks at many never take more than a fiftieth of
# a core here, and nothing to speak of from the work that they tell of.
EACH: Final = 0.5
PATIENCE: Final = 5.0  # seconds that a node may take to answer
FOLDER: Final = "/var/lib/margrave/deployments"
NAME: Final = re.compile(r"[0-9a-f-]{36}")
OVER: Final = "done"


Listener = Callable[[Progress], None]
AtWork = Mapping[str, tuple[Errand, Listener]]


class Phases:
    """A thread that tells of each call at work when it begins another step."""

    def __init__(self, direct: Direct, at_work: Callable[[], AtWork]) -> None:
        self._direct = direct
        self._at_work = at_work
        self._busy = threading.Event()  # set while there may be calls at work
        self._stopped = threading.Event()
        self._known: dict[str, str] = {}
        self._thread = threading.Thread(target=self._run, daemon=True, name="phases")

    def start(self) -> None:
        """Begin; nothing is asked while nothing is at work."""
        self._thread.start()

    def wake(self) -> None:
        """Calls have begun."""
        self._busy.set()

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
        self._busy.set()
        if self._thread.is_alive():
            self._thread.join(timeout=PATIENCE + 1)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._busy.wait()
            # Before the look: who begins meanwhile sets it again, and is looked at next time.
            self._busy.clear()
            if self._stopped.wait(pause(self._at_work())):
                return
            at_work = self._at_work()
            self._known = {key: one for key, one in self._known.items() if key in at_work}
            if not at_work:
                continue
            self._busy.set()
            try:
                self._look(at_work)
            except Exception:
                # Without this thread no operation would tell how far it is, until a restart.
                LOG.exception("phases of running operations cannot be read")

    def _look(self, at_work: AtWork) -> None:
        by_node: dict[str, list[Errand]] = defaultdict(list)
        for errand, _ in at_work.values():
            if NAME.fullmatch(str(errand.arguments.get("deployment", ""))):
                by_node[errand.node.name].append(errand)
        asked = [
            (self._direct.begin(some[0].node, _script(some)), some) for some in by_node.values()
        ]
        for process, some in asked:
            for notes in journals(output(process, PATIENCE)):
                key = str(notes.get("request_id") or "")
                # Another request's notes are those of the call before: ours has written none yet.
                if any(one.key == key for one in some):
                    self._tell(key, str(notes.get("phase") or ""), at_work[key][1])

    def _tell(self, key: str, phase: str, listener: Listener) -> None:
        if phase in ("", OVER, self._known.get(key)):
            return
        try:
            listener(Progress(key, datetime.now(UTC), f"phase {phase}", phase))
            self._known[key] = phase
        except Exception:
            # Told again with the next look, and the other operations are told now.
            LOG.exception("%s: its phase %s could not be taken in", key, phase)


def pause(at_work: AtWork) -> float:
    """Seconds until the next look."""
    return max(EVERY, EACH * len({errand.node.name for errand, _ in at_work.values()}))


def journals(said: bytes) -> list[Mapping[str, Any]]:
    """The journals in an answer; what is no journal (a file that is just being made) is none."""
    found: list[Mapping[str, Any]] = []
    for text in said.split(b"\0"):
        try:
            value = json.loads(text)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _script(some: Iterable[Errand]) -> str:
    names = " ".join(sorted({str(one.arguments["deployment"]) for one in some}))
    read = f'cat "{FOLDER}/$d/journal.json" 2>/dev/null; printf "\\0"'
    return f"for d in {names}; do {read}; done"
