"""Signals end the runner, whenever they come and whichever of its threads they meet."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import signal, threading, time
from runner.serve import noted_signals, until_asked_to_stop

signals = noted_signals()

def meet(number):
    signal.pthread_kill(threading.get_ident(), number)

for number in {numbers}:
    thread = threading.Thread(target=meet, args=(number,))
    thread.start()
    if {before}:
        thread.join()
until_asked_to_stop(signals, lambda: print("hinted"))
"""


@pytest.mark.parametrize("before", [True, False], ids=["before it waits", "meanwhile"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_another_thread_gets_ends_it_too(
    number: signal.Signals, before: bool
) -> None:
    """Asked to look at Git, and then to stop: both are done, though the main thread slept."""
    program = PROGRAM.format(numbers=[int(signal.SIGUSR1), int(number)], before=before)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "hinted\n" or not before
