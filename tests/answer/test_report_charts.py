"""Charts keep what they show: totals, extremes, and a unit on every axis."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from report_runs import SAMPLES, idle_and_loaded, latencies, store_run
from tautochrone.answer import composition, evidence
from tautochrone.answer.charts import course, cumulative, histogram, scales
from tautochrone.answer.charts.theme import PAGE, PAPER
from tautochrone.answer.evidence import MeasuredEvidence
from tautochrone.answer.series import Bins, Envelope, Marks, Series, merge
from tautochrone.foreign.formats import ImportOptions
from tautochrone.foreign.read import bring_in
from tautochrone.run.store import Store


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> MeasuredEvidence:
    return evidence.gather(idle_and_loaded(tmp_path_factory.mktemp("store"))).measured[0]


def rows_of(chart: Any, layer: int) -> list[dict[str, Any]]:
    drawn = chart.specification(PAPER)
    return list(drawn["datasets"][drawn["layer"][layer]["data"]["name"]])


@pytest.mark.slow
def test_display_bins_keep_every_count_and_the_maximum(measured: MeasuredEvidence) -> None:
    edges = histogram.display_edges(measured.series)

    for one in measured.series:
        bins = histogram.display_bins(one.bins, edges)

        assert bins.count.sum() == one.count == SAMPLES
        assert bins.low_ns[-1] <= one.maximum_ns <= bins.high_ns[-1]
        assert (bins.low_ns[1:] > bins.high_ns[:-1]).all()


@pytest.mark.parametrize("values", [[0], [-5, 3], [1, 2**62], [7, 7, 7], [2**62, 2**62 + 1]])
def test_display_bins_keep_extraordinary_values(tmp_path: Path, values: list[int]) -> None:
    run = store_run(Store(tmp_path), [np.array(values, dtype=np.int64)], overrun="replay")
    series = evidence.gather([run]).measured[0].series

    bins = histogram.display_bins(series[0].bins, histogram.display_edges(series))

    assert bins.count.sum() == len(values)
    assert json.dumps(histogram.chart(series).specification(PAPER))


def test_bins_that_are_wider_than_those_of_the_chart_are_drawn_to_their_ends(tmp_path: Path) -> None:
    """Those of cyclictest, of 1 us each; the last one holds what lies beyond, 9 us to 251 us."""
    lines = ("# Histogram", "5 10", "6 30", "8 5", "# Total: 45", "# Max Latencies: 250")
    path = tmp_path / "clipped.txt"
    path.write_text("\n".join((*lines, "# Histogram Overflows: 2")))
    (brought,) = bring_in([path], Store(tmp_path / "store"), ImportOptions())
    series = evidence.gather([brought.run]).measured[0].series

    bins = histogram.display_bins(series[0].bins, histogram.display_edges(series))

    assert bins.count.tolist() == [10, 30, 5, 2]
    assert bins.high_ns.tolist() == [5_999, 6_999, 8_999, 250_999]
    ends = [at for at, count in histogram.outline(bins) if not count]
    assert ends == [5_000, 7_000, 251_000]


def test_the_outline_falls_to_zero_where_bins_are_missing() -> None:
    bins = Bins(np.array([10, 11, 50]), np.array([10, 19, 59]), np.array([3, 4, 1]))

    assert histogram.outline(bins) == [(10, 0), (10, 3), (11, 4), (20, 0), (50, 1), (60, 0)]


def test_merging_sources_keeps_counts_and_the_worst(measured: MeasuredEvidence) -> None:
    together = merge(measured.series, "all")

    assert [one.run for one in together] == ["idle", "cpu+memory"]
    assert [one.count for one in together] == [2 * SAMPLES, 2 * SAMPLES]
    assert [int(one.bins.count.sum()) for one in together] == [2 * SAMPLES, 2 * SAMPLES]
    assert [one.maximum_ns for one in together] == [61_000, 310_000]
    assert together[0].curve.share[-1] == pytest.approx(1)
    assert together[0].curve.value_ns[-1] == 61_000


def test_a_merged_curve_counts_a_bin_where_it_ends(measured: MeasuredEvidence) -> None:
    bins = (
        Bins(np.array([10, 40]), np.array([39, 99]), np.array([4, 1])),
        Bins(np.array([20, 30]), np.array([24, 34]), np.array([2, 3])),
    )
    parts = [replace(measured.series[0], count=5, maximum_ns=int(one.high_ns[-1]), bins=one) for one in bins]

    (together,) = merge(parts, "all")

    assert together.curve.value_ns.tolist() == [24, 34, 39, 99]
    assert together.curve.share.tolist() == pytest.approx([0.2, 0.5, 0.9, 1])


def test_merged_envelopes_keep_every_extreme(measured: MeasuredEvidence) -> None:
    for one in merge(measured.series, "all"):
        parts = [part for part in measured.series if part.run == one.run]
        assert one.envelope is not None
        assert one.envelope.high_ns.max() == max(part.maximum_ns for part in parts)
        assert one.envelope.low_ns.min() == min(part.envelope.low_ns.min() for part in parts if part.envelope)


def test_a_merged_envelope_is_a_band_and_no_comb(measured: MeasuredEvidence) -> None:
    """Sources that differ: where one of them lacked a stretch, the band would jump."""
    base = measured.series[0]
    times = np.arange(400) * 0.01
    low = np.full(400, 1_000)
    early = replace(base, envelope=Envelope(times, low, low + 10))
    late = replace(base, source="cpu1", envelope=Envelope(times * 1.003 + 0.004, low * 90, low * 99))

    (together,) = merge([early, late], "all")

    assert together.envelope is not None
    assert (together.envelope.low_ns == 1_000).all()
    assert (together.envelope.high_ns == 99_000).all()
    assert len(together.envelope.time_s) >= 150


@pytest.mark.slow
def test_a_polling_run_does_not_flatten_the_others(tmp_path: Path) -> None:
    store = Store(tmp_path)
    polling = store_run(store, [latencies(1, 60, 900)], parameters={"wait": "spin"})
    sleeping = store_run(store, [latencies(2, 4_000, 40_000)], parameters={"wait": "sleep"})
    series = evidence.gather([polling, sleeping]).measured[0].series

    assert [len(one) for one in course.ranges(series).values()] == [1, 1]
    alike = evidence.gather(idle_and_loaded(tmp_path / "alike")).measured[0].series
    assert [len(one) for one in course.ranges(alike).values()] == [4, 4]


def test_a_histogram_says_the_maximum_and_no_name(measured: MeasuredEvidence) -> None:
    text = json.dumps(histogram.chart(measured.series, legend=False).specification(PAPER), ensure_ascii=False)

    assert '"max 310\u00a0µs"' in text
    assert "idle: max" not in text


def test_the_enlarged_curve_ends_at_the_worst_with_the_share_of_one_cycle(measured: MeasuredEvidence) -> None:
    rows = rows_of(cumulative.top(measured.series), layer=0)

    ends = [row for row in rows if row["last"]]
    assert {row["at"] for row in ends} == {one.maximum_ns for one in measured.series}
    assert all(row["later"] == pytest.approx(1 / SAMPLES, rel=1e-4) for row in ends)


def test_the_curves_hold_the_true_quantiles(tmp_path: Path) -> None:
    values = latencies(5, 10_000, 400_000)
    run = store_run(Store(tmp_path), [values])
    rows = rows_of(cumulative.top(evidence.gather([run]).measured[0].series), layer=0)

    ordered = np.sort(values)
    for row in rows:
        later = (ordered > row["at"]).mean()
        assert row["last"] or row["later"] == pytest.approx(min(later, 0.1), rel=1e-3)


@pytest.mark.slow
def test_the_chart_over_time_shows_every_worst_and_when(measured: MeasuredEvidence) -> None:
    for one in measured.series:
        chart = course.envelope([one], within=measured.series)

        assert max(row["high"] for row in rows_of(chart, layer=0)) == one.maximum_ns
        label = rows_of(chart, layer=3)[0]["label"]
        assert "at 1.50 s" in label


def test_the_words_at_the_worst_have_room_below_marks_at_the_upper_edge(measured: MeasuredEvidence) -> None:
    one = replace(measured.series[0], marks=Marks(spike_s=(0.5, 1.5)))
    high = course.envelope([one]).specification(PAGE)["layer"][-1]["encoding"]["y"]["scale"]["domain"][1]
    assert high > 4 * one.maximum_ns


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1_200, 45_000, [1_000, 2_000, 5_000, 10_000, 20_000, 50_000]),
        (1_200, 4_500_000, [1_000, 10_000, 100_000, 1_000_000, 10_000_000]),
        (3, 3, [2, 5]),
    ],
)
def test_time_ticks_are_round_and_enclose_the_values(low: int, high: int, expected: list[int]) -> None:
    ticks = scales.time_ticks(low, high)

    assert ticks[0] <= low
    assert ticks[-1] >= high
    if len(expected) == len(ticks):
        assert ticks == expected


@pytest.mark.slow
def test_every_figure_of_the_page_has_charts_and_words(measured: MeasuredEvidence) -> None:
    figures = composition.compose(measured, "m0")

    assert [figure.title for figure in figures] == [
        "How often each value occurred",
        "How late the completed cycles began",
        "When it was late",
        "Side by side",
    ]
    ids = [panel.id for figure in figures for panel in figure.panels]
    assert len(set(ids)) == len(ids)
    for figure in figures:
        assert figure.caption
        assert all(panel.chart.specification(PAGE)["description"] for panel in figure.panels)


def test_many_sources_are_put_together(measured: MeasuredEvidence) -> None:
    few: list[Series] = list(measured.series)
    assert composition.few(few) == few
    many = [Series(**{**vars(one), "source": f"cpu{i}"}) for i in range(5) for one in few[:1]]

    assert [one.source for one in composition.few(many)] == [composition.TOGETHER]


def test_the_errors_of_a_period_have_the_colour_of_their_run() -> None:
    points = course.thin_errors(np.array([-5_000, 0, 7_000]), 10)
    assert points is not None
    chart = course.errors(points, reach_ns=points.reach_ns, rank=1).specification(PAGE)
    drawn = json.dumps(chart["layer"])
    assert PAGE.colours.series[1] in drawn
    assert PAGE.colours.series[0] not in drawn
