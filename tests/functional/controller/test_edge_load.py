"""The siege of `python -m bench.edge`, in small: everybody else is served."""

from __future__ import annotations

from bench.edge import Size, measured


def test_slow_idle_and_guessing_clients_disturb_nobody_else():
    """Health and reads are answered, and a storm of wrong passwords stops its own source only."""
    found = measured(Size(half_open=500, slow_bodies=100, streams=60, seconds=4))
    assert found["sign-in"] == {"storm": 429, "elsewhere": 201}
    assert found["guesses"]["told to wait"] > 0
    assert found["log"] == 0
    for figures in found["besieged"].values():
        assert figures["answers"] > 10
        assert figures["p99 in milliseconds"] < 2000  # the bars are for the command to hold
