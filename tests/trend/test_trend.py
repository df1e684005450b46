"""`tauto trend`: comparable runs in one line, changes with what changed, lost releases later than all."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streams
from real import tauto
from report_runs import FACTS
from tautochrone.answer.render import page
from tautochrone.base.errors import UsageError
from tautochrone.run.store import Store
from tautochrone.statistics.quantiles import interval_ranks
from tautochrone.trend import answer, words
from tautochrone.trend.answer import sparkline
from tautochrone.trend.judge import FEWEST, Trend, TrendLine, trend
from tautochrone.trend.record import TRAITS, chosen, measures, records
from tautochrone.trend.values import parse_metric
from tire_runs import real_time

KNOWN = ("latency_ns", "response_ns", "period_error_ns")


def measure(
    store: Store,
    day: int,
    values: Any,
    *,
    kernel: str = "6.1.0-25",
    load: str = "idle",
    conditions: dict[str, Any] | None = None,
    governor: str = "performance",
    **options: Any,
) -> str:
    """A run that began on that day of a month."""
    facts = copy.deepcopy(FACTS)
    facts["kernel"] |= {"release": kernel, "version": "#1 SMP"}
    facts["power"] = {"governors": [governor]}
    sources = values if isinstance(values, list) else [values]
    with store.create("cyclic", "a test", {"load": load, **(conditions or {})}, facts) as writer:
        writer.append(streams.make_stream(sources, **options))
        run = writer.seal()
    path = run.path / "run.json"
    manifest = json.loads(path.read_text())
    manifest["created"] = f"2026-11-{day:02d}T08:00:00.000+00:00"
    path.write_text(json.dumps(manifest))
    return run.id


def latencies(median_ns: int, seed: int, count: int = 2_000) -> Any:
    scattered = median_ns * np.exp(np.random.default_rng(seed).normal(0, 0.03))
    return np.random.default_rng(seed + 1_000).lognormal(np.log(scattered), 0.2, count).astype(np.int64)


def seen(store: Store, metric: str = "latency median", by: tuple[str, ...] = TRAITS, **more: Any) -> Trend:
    found = records(store)
    return trend(found, parse_metric(metric, measures(found)), by, **more)


def only(found: Trend) -> TrendLine:
    (line,) = found.lines
    return line


@pytest.mark.parametrize(
    ("text", "kind", "measure_name", "q", "shown"),
    [
        ("latency p99.9", "quantile", "latency_ns", 0.999, "latency p99.9"),
        ("latency_ns median", "quantile", "latency_ns", 0.5, "latency median"),
        ("period-error max", "max", "period_error_ns", None, "period_error max"),
        ("p99.99", "quantile", "", 0.9999, "p99.99"),
        ("Misses", "misses", "", None, "misses"),
    ],
)
def test_metrics_are_read(text: str, kind: str, measure_name: str, q: float | None, shown: str) -> None:
    found = parse_metric(text, KNOWN)
    assert (found.kind, found.measure, found.q, found.text) == (kind, measure_name, q, shown)


@pytest.mark.parametrize("text", ["", "latency", "latncy max", "latency quick", "latency p99 p99"])
def test_what_is_no_metric_is_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_metric(text, KNOWN)
    assert "latency" in refused.value.advice


@pytest.mark.slow
def test_runs_are_in_one_line_only_where_they_may_be_compared(tmp_path: Path) -> None:
    store, values = Store(tmp_path), latencies(10_000, 1, 200)
    measure(store, 1, values)
    measure(store, 2, values, kernel="6.1.0-27")
    measure(store, 3, values, load="cpu")
    measure(store, 4, values, period_ns=2_000_000, parameters={"period_ns": 2_000_000})
    measure(store, 5, values, parameters={"policy": "rr"})
    measure(store, 6, values, conditions={"virtual": {"cpus": 1}})
    measure(store, 7, values, parameters={"count": 17})  # how long is measured makes no other question
    assert sorted(len(line.points) for line in seen(store).lines) == [1, 1, 1, 1, 1, 2]
    found = seen(store, by=("machine", "deployment", "load"))
    assert sorted(len(line.points) for line in found.lines) == [1, 1, 1, 1, 3]
    assert sum(line.virtual for line in found.lines) == 1
    assert any("virtual lab" in words.describe(line, found) for line in found.lines)


@pytest.mark.slow
def test_instances_of_a_step_have_a_line_each(tmp_path: Path) -> None:
    store, late = Store(tmp_path), latencies(700_000, 2)
    for day in (1, 2):
        measure(
            store, day, [latencies(10_000, 1), late], experiment="step", names=["first", "second"],
            header_extra=streams.RESPONSE,
        )  # fmt: skip
    largest = {line.source: line.points[-1].value.value for line in seen(store, "response max").lines}
    assert largest["second"] == late.max()
    assert sorted(largest) == ["first", "second"]
    missed = {line.source: line.points[-1].value.missed for line in seen(store, "misses").lines}
    assert missed["first"] == 0 < (missed["second"] or 0)


@pytest.mark.slow
def test_threads_that_meet_after_each_step_miss_a_release_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = real_time(store, threads=4, slow={300: 25_000_000})
    value = only(seen(store, "misses")).points[-1].value
    book = run.manifest.books[0]
    assert (value.missed, value.released) == (book.missed, book.released)
    assert book.missed


@pytest.mark.slow
def test_a_new_kernel_is_a_step_where_kernels_share_a_line(tmp_path: Path) -> None:
    store = Store(tmp_path)
    ids = [
        measure(
            store,
            day,
            latencies(10_000 if day <= 8 else 14_000, day, 400),
            kernel="6.1.0-25" if day <= 8 else "6.1.0-27",
            governor="powersave" if day == 4 else "performance",
        )
        for day in range(1, 17)
    ]
    line = only(seen(store, by=("machine", "deployment", "load")))
    assert line.steps is not None
    (step,) = line.steps
    assert line.points[step.index].run == ids[8]
    assert (step.runs_before, step.runs_after) == (8, 8)
    assert 1.3 < step.after / step.before < 1.5
    assert [change.name for change in step.changed] == ["kernel.release"]
    said = words.sentences(line, parse_metric("latency median", KNOWN))
    assert said[0].startswith("Median rose from ")
    assert "kernel.release 6.1.0-25 -> 6.1.0-27" in said[0]
    assert "power.governors performance -> powersave (2026-11-04)" in said[1]
    apart = seen(store)
    assert [len(one.points) for one in apart.lines] == [8, 8]
    assert all(one.steps is None for one in apart.lines)  # too few to look for any
    assert apart.kernels == 2


@pytest.mark.slow
def test_lines_without_a_change_are_seldom_said_to_have_one(tmp_path: Path) -> None:
    from tautochrone.statistics.course.change_points import change_points_of
    from tautochrone.trend.judge import ALPHA, LEAST_EFFECT, SHORTEST

    rng = np.random.default_rng(5)
    found = sum(
        bool(
            change_points_of(
                rng.lognormal(10, 0.1, 24),
                least_length=SHORTEST,
                least_effect=LEAST_EFFECT,
                alpha=ALPHA,
                rounds=499,
            )
        )
        for _ in range(200)
    )
    assert found <= 8  # 2 are expected; more than 8 of 200 come in 1 of 4,000 cases


def test_values_and_intervals_are_those_order_statistics(tmp_path: Path) -> None:
    store, values = Store(tmp_path), latencies(10_000, 3, 4_001)
    measure(store, 1, [values[:2_000], values[2_000:]])
    value = only(seen(store, "latency p99")).points[0].value
    ordered, ranks = np.sort(values), interval_ranks(4_001, 0.99)
    assert ranks is not None
    assert value.value == ordered[3_961 - 1]  # ceil(4,001 x 0.99)
    assert (value.low, value.high) == (ordered[ranks[0] - 1], ordered[ranks[1] - 1])
    assert value.samples == 4_001


def test_releases_without_a_sample_are_later_than_every_sample(tmp_path: Path) -> None:
    store = Store(tmp_path)
    values = latencies(10_000, 3, 2_000)
    measure(store, 1, values)
    late = values.copy()
    late[1_000] = 30_500_000  # 30 releases are slept through: 1.5 % of them
    measure(store, 2, late)
    first, second = (point.value for point in only(seen(store, "latency p99")).points)
    assert (first.lost, second.lost) == (0, 30)
    assert first.value is not None
    assert second.value == 30_500_000
    assert second.beyond
    assert second.high is None
    middle = only(seen(store, "latency median")).points[1].value
    assert not middle.beyond
    said = words.sentences(only(seen(store, "latency p99")), parse_metric("latency p99", KNOWN))
    assert any("at least that" in one for one in said)


def test_messages_without_an_answer_are_later_than_every_round_trip(tmp_path: Path) -> None:
    store = Store(tmp_path)
    of_trip = {"measures": [{**streams.RESPONSE["measures"][0], "name": "round_trip_ns"}]}
    told = {"event": "step", "time_ns": streams.START_NS, "exchange": {"sent": 2_060, "lost": 60}}
    measure(store, 1, latencies(10_000, 3), experiment="step", header_extra=of_trip, events=[told])
    value = only(seen(store, "round trip p99")).points[0].value
    assert (value.lost, value.beyond) == (60, True)  # 2.9 % of them


@pytest.mark.slow
@pytest.mark.parametrize("lose_at_last", [True, False])
def test_a_level_among_lost_releases_is_above_larger_samples(tmp_path: Path, lose_at_last: bool) -> None:
    store = Store(tmp_path)
    for day in range(1, 17):
        loses = (day > 8) == lose_at_last
        values = latencies(5_000 if loses else 20_000, day, 400)
        measure(store, day, values, dropped={0: 20} if loses else {})
    found = seen(store, "latency p99")
    said = words.sentences(only(found), found.metric)[0]
    if lose_at_last:
        assert said.startswith("p99 rose from ")
        assert " to above every sample (at least " in said
    else:
        assert said.startswith("p99 fell from above every sample (at least ")


def test_no_more_than_all_releases_are_expected_to_be_missed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for day, late_ns in enumerate((9_500_000, 3_500_000, 1_500_000), start=1):
        measure(store, day, np.full(20, late_ns))  # 9, 3 and 1 of 10, 4 and 2 releases
    expected = only(seen(store, "misses")).expected
    assert expected is not None
    assert expected[1] == 1.0


def test_misses_are_shares_with_their_interval(tmp_path: Path) -> None:
    store, values = Store(tmp_path), latencies(10_000, 3, 1_000)
    measure(store, 1, values)
    values[500] = 4_500_000
    measure(store, 2, values)
    first, second = (point.value for point in only(seen(store, "misses")).points)
    assert (first.value, first.low) == (0.0, 0.0)
    assert first.high == pytest.approx(1 - 0.025 ** (1 / 1_000), rel=1e-6)  # Clopper and Pearson of none
    assert (second.missed, second.released, second.samples) == (4, 1_004, 1_000)
    assert second.low is not None
    assert second.high is not None
    assert second.low < 4 / 1_004 < second.high


def test_a_quantile_needs_samples_enough(tmp_path: Path) -> None:
    store = Store(tmp_path)
    measure(store, 1, latencies(10_000, 3, 300))
    found = seen(store, "latency p99.9")
    line = only(found)
    assert (len(line.points), line.too_few, found.runs) == (0, 1, 0)
    assert "it needs 3,688" in words.sentences(line, found.metric)[0]


def test_histograms_cut_off_and_unreadable_runs_are_told(tmp_path: Path) -> None:
    store, values = Store(tmp_path), latencies(10_000, 3, 1_000)
    measure(store, 1, values)
    kept = measure(store, 2, values, histogram=True)
    (store.open(measure(store, 3, values)).path / "samples.parquet").write_bytes(b"no")
    line = only(seen(store))
    exact, binned = (point.value for point in line.points)
    assert exact.value is not None
    assert binned.value is not None
    assert exact.value <= binned.value <= exact.value * 1.001
    low, high, _ = store.open(kept).histogram()
    assert binned.low in low
    assert binned.high in high
    assert (exact.exact, binned.exact, line.unread) == (True, False, 1)
    said = " ".join(words.sentences(line, parse_metric("latency median", KNOWN)))
    assert "histogram" in said
    assert "can't be read" in said
    assert "2 runs: a lasting change is searched for from" in said


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "is_expected"), [(1, True), (-1, False)])
def test_the_next_of_numbers_below_zero_is_not_expected_anywhere(
    tmp_path: Path, sign: int, is_expected: bool
) -> None:
    """As errors of a period are: they have no logarithm."""
    store = Store(tmp_path)
    for day in range(1, FEWEST + 1):
        measure(store, day, sign * latencies(10_000, day, 100))
    found = seen(store)
    line = only(found)
    assert (line.expected is not None) == is_expected
    assert ("next run is expected" in " ".join(words.sentences(line, found.metric))) == is_expected


def test_runs_are_chosen_by_date_experiment_and_number(tmp_path: Path) -> None:
    store, values = Store(tmp_path), latencies(10_000, 3, 200)
    ids = [measure(store, day, values) for day in (3, 1, 2)]
    found = records(store)
    assert [one.run.id for one in found] == [ids[1], ids[2], ids[0]]
    assert [one.run.id for one in chosen(found, since="2026-11-02")] == [ids[2], ids[0]]
    assert chosen(found, "switch") == []
    assert [point.run for point in only(seen(store, last=2)).points] == [ids[2], ids[0]]
    explained = measure(store, 4, values, parameters={"explain": True})
    found = records(store)
    assert explained in [one.run.id for one in found]
    assert explained not in [one.run.id for one in chosen(found)]
    with pytest.raises(UsageError, match="explains its steps"):
        chosen(found, since="2026-11-04")


@pytest.mark.slow
def test_a_fact_that_changes_all_the_time_is_told_once(tmp_path: Path) -> None:
    store, values = Store(tmp_path), latencies(10_000, 3, 100)
    for day in range(1, FEWEST):
        measure(store, day, values, load=("idle", "cpu")[day % 2])
    line = only(seen(store, by=("machine",)))
    assert line.restless == ("load",)
    assert not any(point.changed for point in line.points)


def test_a_sparkline_has_a_character_for_each_value_and_loses_no_peak() -> None:
    assert sparkline([1, 2, 3], 10) == "▁▅█"
    assert sparkline([5, 5], 10) == "▅▅"
    assert sparkline([0.0] * 50 + [9.0] + [0.0] * 49, 20).count("█") == 1
    assert sparkline([], 5) == ""


@pytest.mark.slow
def test_the_page_has_a_chart_for_each_line_and_names_what_changed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for day in range(1, 13):
        kernel = "6.1.0-25" if day <= 6 else "6.1.0-27"
        measure(store, day, latencies(10_000 if day <= 6 else 20_000, day, 300), kernel=kernel)
        measure(store, day, latencies(30_000, day + 50, 300), kernel=kernel, load="cpu")
    found = seen(store, by=("machine", "load"))
    text = page.text(answer.document(found, [one.manifest for one in records(store)]))
    assert text.count('class="chart"') == 2
    assert "1 lasting change found" in text
    assert "kernel.release 6.1.0-25 \u2192 6.1.0-27" in text
    assert answer.as_table(found)["lines"][0]["searched"]


@pytest.mark.slow
def test_the_command_says_what_there_is_and_what_is_missing(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    empty = tauto("trend", "misses", store=store.path)
    assert empty.returncode == 4
    assert "There are no runs" in empty.stderr
    run = measure(store, 1, latencies(10_000, 3, 1_000))
    one = tauto("trend", "latency", "median", store=store.path)
    assert one.returncode == 0, one.stderr
    assert "nothing to compare it with" in one.stdout
    assert run in one.stdout
    told = json.loads(tauto("trend", "latency median", "--json", store=store.path).stdout)
    assert told["lines"][0]["points"][0]["run"] == run
    wrong = tauto("trend", "respnse max", store=store.path)
    assert wrong.returncode == 2
    assert "There are: latency" in wrong.stderr


@pytest.mark.slow
def test_runs_alone_have_a_column_of_intervals_only_where_a_value_has_one(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    measure(store, 1, latencies(10_000, 3))
    assert "95 % interval" not in tauto("trend", "latency max", store=store.path).stdout
    assert "95 % interval" in tauto("trend", "latency median", store=store.path).stdout


def test_lines_without_any_value_have_a_page(tmp_path: Path) -> None:
    store = Store(tmp_path)
    measure(store, 1, latencies(10_000, 3, 20))
    found = seen(store, "latency p99.9")
    assert found.lines
    assert not any(line.points for line in found.lines)
    text = page.text(answer.document(found, [one.manifest for one in records(store)]))
    assert "2026-11-01" in text
