"""One run of Ansible: many errands, each settled the moment its own event comes."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ansible_runner import Runner, RunnerConfig

from runner.execute import meaning, processes
from runner.execute.environment import OF_ANSIBLE_RUNNER
from runner.execute.errand import Errand, Outcome
from runner.execute.masking import Masking
from runner.execute.rundir import RunFolder, host
from runner.ports import Status

LOG: Final = logging.getLogger(__name__)

ENDINGS: Final = frozenset({"runner_on_ok", "runner_on_failed", "runner_on_unreachable"})
LAUNCHER: Final = Path(__file__).parent / "warm" / "launch.py"
POLL: Final = 1  # seconds between two looks at the deadlines; results don't wait for them
GRACE: Final = 10  # seconds that Ansible's own time-out may take beyond an errand's deadline


class _Config(RunnerConfig):  # type: ignore[misc]  # ansible_runner has no types
    """ansible-runner's settings, with our command and nothing of the process environment."""

    def __init__(
        self, folder: RunFolder, environment: Mapping[str, str], command: list[str]
    ) -> None:
        super().__init__(
            private_data_dir=str(folder.path),
            ident="events",
            envvars=dict(environment),
            fact_cache_type="memory",  # anything but jsonfile: no facts, no files of them
            quiet=True,
            suppress_env_files=True,
        )
        self._whole, self._command = dict(environment), command

    def prepare_env(self) -> None:
        """Keep our environment and the few variables of ansible-runner's event stream."""
        super().prepare_env()
        seen: dict[str, str] = self.env  # type: ignore[has-type]  # of the untyped base
        added = {str(name): seen[name] for name in OF_ANSIBLE_RUNNER if name in seen}
        self.env = {**self._whole, **added}
        self.suppress_output_file = True
        self.suppress_ansible_output = True
        self.pexpect_timeout = POLL

    def generate_ansible_command(self) -> list[str]:
        """Our launcher, which takes the warm process where it is there."""
        self.execution_mode = 3  # RAW: the command is ready as it stands
        return self._command


class Run:
    """Carries errands of one module to their nodes; every errand gets exactly one outcome."""

    def __init__(
        self,
        folder: RunFolder,
        errands: Sequence[Errand],
        on_outcome: Callable[[Outcome], None],
        on_line: Callable[[str, str], None],
    ) -> None:
        self._folder = folder
        self._module = errands[0].module
        self._by_host = {host(number): errand for number, errand in enumerate(errands)}
        self._open = {errand.key: errand for errand in errands}
        # Of all errands: what Ansible says to none of them goes to each.
        self._mask = Masking(text for errand in errands for text in errand.hidden)
        self._on_outcome = on_outcome
        self._on_line = on_line
        self._lock = threading.Lock()
        self._given_up = False
        self._started = datetime.now(UTC)
        self._clock = time.monotonic()
        self._said = ""
        self._waves = 1

    def carry_out(
        self,
        environment: Mapping[str, str],
        warm_socket: Path,
        forks: int,
        reach: Callable[[Sequence[Errand]], Mapping[str, str]] = lambda _: {},
    ) -> None:
        """Run to the end; returns when every errand is settled and every process gone.

        `reach` opens the connections; what ssh said of one that failed is that errand's end.
        """
        trouble, found = meaning.RUN_ENDED, ""
        try:
            for key, said in reach(list(self._open.values())).items():
                self._end(self._open.get(key), "runner_on_unreachable", {"msg": said})
            self._play(environment, warm_socket, forks)
            found = self._said
        except Exception as broken:  # noqa: BLE001 - whatever it was, each errand must get its end
            found = self._mask(str(broken))
        finally:
            self.kill()
            self._settle_rest(trouble, found)
            self._folder.remove()

    def _play(self, environment: Mapping[str, str], warm_socket: Path, forks: int) -> None:
        with self._lock:
            left = list(self._open.values())
        if not left:
            return
        self._by_host = {host(number): errand for number, errand in enumerate(left)}
        # Errands beyond the number of forks wait for a free one, and their time counts from there.
        self._waves = -(-len(left) // forks)
        self._clock = time.monotonic()
        self._folder.write(self._module, left)
        command = self._command(warm_socket, min(len(left), forks))
        config = _Config(self._folder, environment, command)
        config.prepare()
        Runner(config, cancel_callback=self._overdue, event_handler=self._event).run()

    def give_up(self, key: str | None = None) -> None:
        """Settle one errand (or all) as lost; with the last one the processes end too."""
        with self._lock:
            keys = [key] if key is not None else list(self._open)
        for one in keys:
            self._settle(one, Status.LOST, meaning.lost(meaning.STOPPED))
        if not self._open:
            self._given_up = True
            self.kill()

    def kill(self) -> None:
        """End what runs, workers and their ssh included."""
        for pid, ticks in processes.noted(self._folder.pids):
            processes.kill_tree(pid, ticks)

    def _command(self, warm_socket: Path, forks: int) -> list[str]:
        inventory, play = str(self._folder.inventory), str(self._folder.play)
        ours = [sys.executable, "-I", "-S", str(LAUNCHER), str(warm_socket), str(self._folder.pids)]
        return [*ours, "ansible-playbook", "-i", inventory, "--forks", str(forks), play]

    def _event(self, event: Mapping[str, Any]) -> bool:
        """One event of Ansible's stream; False, because nobody reads the files made of them."""
        kind = str(event.get("event", ""))
        details = event.get("event_data") or {}
        errand = self._by_host.get(str(details.get("host", "")))
        if kind in ENDINGS:
            self._end(errand, kind, details.get("res") or {})
        elif errand is not None and kind == "runner_on_start":
            self._tell(errand.key, errand.words)
        elif kind == "verbose" and (line := str(event.get("stdout", "")).strip()):
            self._tell_all(line)
        return False

    def _end(self, errand: Errand | None, kind: str, res: Mapping[str, Any]) -> None:
        if errand is None:
            return
        # Before anything is read from it: what is shortened may end within a secret.
        answer = self._mask(res)
        status, data = meaning.read(kind, answer)
        if status is not Status.OK and (said := meaning.raw(answer)):
            self._tell(errand.key, said)
        self._tell(errand.key, meaning.told(status, data))
        self._settle(errand.key, status, data)

    def _tell_all(self, line: str) -> None:
        """What Ansible says to no host in particular: a warning, or why it could not begin."""
        line = self._mask(line)
        self._said = f"{self._said} {line}"[-1000:]
        for key in list(self._open):
            self._tell(key, line)

    def _tell(self, key: str, line: str) -> None:
        """A line is worth less than any result: one that cannot be kept takes none along."""
        try:
            self._on_line(key, line)
        except Exception:
            LOG.exception("%s: a line of its log could not be kept", key)

    def _settle(self, key: str, status: Status, data: Mapping[str, Any]) -> None:
        with self._lock:
            if self._open.pop(key, None) is None:
                return
        try:
            self._on_outcome(Outcome(key, status, data, self._started, datetime.now(UTC)))
        except Exception:
            # Whoever listens to one errand must not take the others of the run down with it.
            LOG.exception("%s: its result (%s) could not be taken in", key, status.value)

    def _settle_rest(self, trouble: meaning.Trouble, found: str) -> None:
        for key in list(self._open):
            self._settle(key, Status.LOST, meaning.lost(trouble, found))

    def _overdue(self) -> bool:
        """Settle what is far beyond its deadline; True ends a run that has nothing to wait for."""
        gone = time.monotonic() - self._clock
        for errand in list(self._open.values()):
            if gone > (errand.deadline + GRACE) * self._waves:
                self._settle(errand.key, Status.LOST, meaning.lost(meaning.DEADLINE))
                self._given_up = not self._open
        return self._given_up
