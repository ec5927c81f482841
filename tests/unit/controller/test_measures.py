"""What the process counts and times."""

from __future__ import annotations

import pytest

from controller.measures import Times


def test_times_are_counted_by_their_end() -> None:
    """What fails is counted as failed; buckets add up to the count."""
    times = Times(("op", "result"))
    with times.of("fetch"):
        pass
    with pytest.raises(ValueError, match="no"), times.of("fetch"):
        raise ValueError("no")
    times.add(("fetch", "ok"), 600.0)
    assert times.counts() == [
        ({"op": "fetch", "result": "failed"}, 1.0),
        ({"op": "fetch", "result": "ok"}, 2.0),
    ]
    good = [(end, labels.get("le"), value) for end, labels, value in times.buckets()
            if labels["result"] == "ok"]  # fmt: skip
    assert good[0] == ("_bucket", "0.05", 1.0)
    assert ("_bucket", "+Inf", 2.0) in good
    assert good[-1] == ("_count", None, 2.0)
