"""Counters and histograms as Prometheus reads them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from runner.instruments import FAMILIES, OPERATION_SECONDS, OPERATIONS, SECONDS, Instruments


def test_counts_are_told_by_their_labels() -> None:
    """Two kinds are two series, and nothing else is in them."""
    made = Instruments()
    made.count(OPERATIONS, "update", "failed", "health")
    made.count(OPERATIONS, "update", "failed", "health")
    made.count(OPERATIONS, "install", "succeeded", "")
    text = "\n".join(made.lines())
    assert (
        'margrave_runner_operations_total{kind="update",result="failed",error_class="health"} 2'
        in text
    )
    assert text.count("margrave_runner_operations_total{") == 2
    assert "margrave_runner_drift_detected_total 0" in text


def test_a_histogram_counts_into_every_limit_above() -> None:
    """As Prometheus defines it: cumulative, with a sum and a count."""
    made = Instruments()
    for seconds in (0.05, 2.0, 9999.0):
        made.observe(OPERATION_SECONDS, seconds, "update")
    text = "\n".join(made.lines())
    name = "margrave_runner_operation_duration_seconds"
    assert f'{name}_bucket{{kind="update",le="0.01"}} 0' in text
    assert f'{name}_bucket{{kind="update",le="0.1"}} 1' in text
    assert f'{name}_bucket{{kind="update",le="{SECONDS[-1]:g}"}} 2' in text
    assert f'{name}_bucket{{kind="update",le="+Inf"}} 3' in text
    assert f'{name}_count{{kind="update"}} 3' in text


def test_every_family_has_a_kind_and_a_help_and_a_name_of_its_own() -> None:
    """Two lines above each, whether anything was counted or not."""
    lines = list(Instruments().lines())
    assert len({one.name for one in FAMILIES}) == len(FAMILIES)
    for one in FAMILIES:
        kind = "histogram" if one.histogram else "counter"
        assert f"# TYPE margrave_runner_{one.name} {kind}" in lines
        assert one.name.endswith("_seconds" if one.histogram else "_total")


def test_many_threads_lose_nothing() -> None:
    """Results come from as many threads as there are runs."""
    made = Instruments()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: made.count(OPERATIONS, "a", "b", "c"), range(2000)))
    assert 'error_class="c"} 2000' in "\n".join(made.lines())
