"""What is seen of a measurement as metrics: OpenMetrics 1.0, or the text format of Prometheus before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from tautochrone.live.picture import Gathering
    from tautochrone.statistics.counts import Counts

_PREFIX = "tautochrone"

BUCKETS_NS = tuple(edge - 1 for k in range(10, 31) for edge in (1 << k, 3 << (k - 1)))
"""Upper edges, from 1 us to 1.6 s, two for each doubling. Each is an edge of the probe's bins too, so that
counts are exact."""


def metrics(gathering: Gathering, accept: str = "") -> tuple[str, bytes]:
    """Return the type of the content, and the content.

    Args:
        accept: the header of the request, which says what it understands.
    """
    from prometheus_client.exposition import choose_encoder
    from prometheus_client.registry import CollectorRegistry

    class _Now:
        def collect(self) -> Iterator[Metric]:
            return _families(gathering)

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Now())
    try:
        encode, kind = choose_encoder(accept)
    except (TypeError, ValueError):  # a version that is no number
        encode, kind = choose_encoder("")
    return kind, encode(registry)


def _families(gathering: Gathering) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

    about = gathering.about
    names = {one.number: one for one in about.sources}
    of_run, of_source = ["run"], ["run", "source", "cpu"]

    def labels(source: int) -> list[str]:
        one = names.get(source)
        cpu = "" if one is None or one.cpu is None else str(one.cpu)
        return [about.run, str(source) if one is None else one.name, cpu]

    def gauge(name: str, text: str, value: float | None) -> Iterator[Metric]:
        if value is not None:
            family = GaugeMetricFamily(f"{_PREFIX}_{name}", text, labels=of_run)
            family.add_metric([about.run], value)
            yield family

    info = GaugeMetricFamily(
        f"{_PREFIX}_run", "What is measured; always 1.",
        labels=["run", "title", "experiment", "machine", "load", "state"],
    )  # fmt: skip
    told = (about.title, about.experiment, about.machine, about.load, gathering.state)
    info.add_metric([about.run, *told], 1)
    yield info
    totals = gathering.totals
    for name, text, values in (
        ("cycles_released", "Cycles that were due.", {at: one.released for at, one in totals.items()}),
        ("cycles_missed", "Cycles that were passed over.", {at: one.missed for at, one in totals.items()}),
        ("cycles_late", "Cycles that passed the deadline.", {at: one.late for at, one in totals.items()}),
        (
            "cycles_unknown",
            "Cycles whose sample was lost, or lies in the bin of the deadline.",
            {at: one.unknown for at, one in totals.items()},
        ),
    ):
        family = CounterMetricFamily(f"{_PREFIX}_{name}", text, labels=of_source)
        for source, value in values.items():
            family.add_metric(labels(source), value)
        yield family
    for name, text, times in (
        ("latency_worst_seconds", "Largest latency so far.",
         {at: one.worst_ns for at, one in totals.items()}),
        ("latency_recent_worst_seconds", "Largest latency of the last step, a second or a minute.",
         {at: one.now_ns for at, one in totals.items()}),
    ):  # fmt: skip
        worst = GaugeMetricFamily(f"{_PREFIX}_{name}", text, labels=of_source)
        for source, ns in times.items():
            if ns is not None:
                worst.add_metric(labels(source), ns / 1e9)
        yield worst
    histogram = HistogramMetricFamily(f"{_PREFIX}_latency_seconds", "Latencies.", labels=of_source)
    for source, counts in gathering.counts.items():
        histogram.add_metric(labels(source), buckets=_buckets(counts), sum_value=_sum_s(counts))
    yield histogram
    if events := gathering.events_per_day():
        begun, low, high = events
        family = CounterMetricFamily(
            f"{_PREFIX}_late_events", "Groups of late cycles in neighbouring minutes.", labels=of_run
        )
        family.add_metric([about.run], begun)
        yield family
        yield from gauge("late_events_per_day_low", "Lower limit of late events a day, at any time.", low)
        yield from gauge("late_events_per_day_high", "Upper limit of late events a day, at any time.", high)
    yield from gauge("deadline_seconds", "Latency past which a cycle is late.", _seconds(about.limit_ns))
    yield from gauge("period_seconds", "Period of the cycles.", _seconds(about.period_ns))
    yield from gauge("newest_timestamp_seconds", "Unix time of the newest data.", gathering.newest_s)
    yield from gauge("temperature_celsius", "Hottest thermal zone.", gathering.temperature_c)
    frequency = GaugeMetricFamily(
        f"{_PREFIX}_cpu_frequency_hertz", "Current frequency of a CPU.", labels=["run", "cpu"]
    )
    for cpu, khz in gathering.frequency_khz.items():
        frequency.add_metric([about.run, str(cpu)], khz * 1e3)
    yield frequency


def _seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / 1e9


def _buckets(counts: Counts) -> list[tuple[str, float]]:
    reached = np.concatenate([[0], counts.reached])
    held = reached[np.searchsorted(counts.value, np.array(BUCKETS_NS), side="right")]
    named = [
        (f"{edge / 1e9:.9g}", float(count)) for edge, count in zip(BUCKETS_NS, held.tolist(), strict=True)
    ]
    return [*named, ("+Inf", float(counts.total))]


def _sum_s(counts: Counts) -> float:
    """Return the sum of all, of bins by their upper edges: at most a 64th too much."""
    return float(counts.value.astype(np.float64) @ counts.count) / 1e9
