"""Histograms that end before the largest sample: what lies beyond is bounded, and never lost."""

import json
from pathlib import Path

import pytest

import tautochrone as tc
from imported import MILLISECOND, SAMPLES, brought, summary, written
from tautochrone.base.errors import UsageError
from tautochrone.judge.reduced import reduce_run
from tautochrone.judge.tail.source import SourceTail
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.trend import words
from tautochrone.trend.judge import trend
from tautochrone.trend.record import records
from tautochrone.trend.values import parse_metric


def test_quantiles_beyond_the_end_of_a_histogram_are_bounds(store: Store) -> None:
    found = summary(brought(store, SAMPLES / "cyclictest.json"))
    median, p99 = found.quantiles[:2]
    assert median.value == 16_999
    assert (p99.value, p99.low, p99.high) == (None, 60_000, 58_985_999)
    assert found.bounded == 105


def test_a_quantile_beyond_the_end_of_a_histogram_has_an_interval_from_there_on(store: Store) -> None:
    run = brought(store, SAMPLES / "cyclictest.json")
    source = next(iter(run.sources))
    found = tc.open(run.path).quantile(0.99, source=source)
    assert (found.low_ns, found.high_ns) == (60_000, 58_985_999)


def test_a_single_sample_lies_beyond_the_end(store: Store, tmp_path: Path) -> None:
    lines = ("# Histogram", "0 1", "# Total: 1", "# Max Latencies: 9", "# Histogram Overflows: 1")
    text = "\n".join(lines)
    run = brought(store, written(tmp_path, "clipped.txt", text))
    (clipped,) = (one.text for one in run.manifest.warnings if one.code == "clipped")
    assert clipped.startswith("Of thread0, 1 of 2 samples of latency_ns lies beyond")


def all_beyond(store: Store, folder: Path) -> StoredRun:
    lines = ("# Histogram", "3 0", "# Total: 0", "# Max Latencies: 50", "# Histogram Overflows: 1000")
    return brought(store, written(folder, "beyond.txt", "\n".join(lines)))


def test_where_all_lie_beyond_the_end_no_quantile_is_the_largest(store: Store, tmp_path: Path) -> None:
    run = all_beyond(store, tmp_path)
    one = reduce_run(run)[0]
    (limit,) = SourceTail(one, (20_000,)).limits
    assert (limit.later, limit.at_most) == (1_000, True)
    assert (one.as_source().counts.total, one.as_source().missing) == (1, 999)
    known = parse_metric("latency p99", run.measures)
    (line,) = trend(records(store), known).lines
    (point,) = line.points
    assert (point.value.value, point.value.high, point.value.beyond) == (4_000, None, True)
    said = " ".join(words.sentences(line, known))
    assert "it lies beyond the end of a histogram or" in said
    assert "the largest sample" not in said


def test_windows_that_are_all_below_the_threshold_are_not_beyond_an_end(store: Store) -> None:
    run = brought(store, SAMPLES / "hwlatdetect-quiet.txt")
    (one,) = reduce_run(run)
    assert one.clipped is None
    (said,) = (one.text for one in run.manifest.warnings if one.code == "imported")
    assert "Not known: when it was measured; kernel; machine; load; hardware" in said


def test_limits_beyond_the_end_are_told_as_at_most(store: Store) -> None:
    one = SourceTail(reduce_run(brought(store, SAMPLES / "cyclictest.json"))[0], (30_000, MILLISECOND, 10**9))
    told = [(limit.later, limit.at_most) for limit in one.limits]
    inside = sum(1 for limit in one.limits if limit.at_most)
    assert inside == 1
    assert told[1:] == [(105, True), (0, False)]


def test_comparisons_take_what_is_beyond_for_later_than_all_else(store: Store) -> None:
    one = reduce_run(brought(store, SAMPLES / "cyclictest.json"))[0].as_source()
    assert (one.counts.total, one.missing, one.largest_ns) == (895, 105, 58_985_999)
    assert int(one.counts.value[-1]) < 60_000


def test_a_comparison_counts_what_is_beyond_as_samples_and_not_as_lost(store: Store, tmp_path: Path) -> None:
    from tautochrone.judge.comparison.compare import compare
    from tautochrone.judge.comparison.side import ComparedSide

    told = json.loads((SAMPLES / "cyclictest.json").read_text())
    told["cmdline:"] = "cyclictest -h 60 -i 100000 -t2"  # no latency is so long, so that none was missed
    runs = [
        brought(store, written(tmp_path, f"{number}.json", json.dumps({**told, "run": number})))
        for number in range(2)
    ]
    found = compare([ComparedSide("A", (runs[0],)), ComparedSide("B", (runs[1],))])
    (pair,) = found.pairs
    for part in pair.measures[0].parts:
        assert (part.samples, part.lost) == ((1_000, 1_000), (0, 0))
        assert part.metric("p99").notes == ("among clipped",)


def test_an_overflow_without_a_maximum_is_lost(store: Store, tmp_path: Path) -> None:
    text = "# Histogram\n000000 000001\n000001 000010\n# Total: 000000011\n# Histogram Overflows: 00004\n"
    run = brought(store, written(tmp_path, "clipped.txt", text))
    (book,) = run.manifest.books
    assert (book.completed, book.recorded, book.dropped) == (15, 11, 4)


def test_windows_without_a_gap_are_known_to_lie_below_the_threshold(store: Store) -> None:
    found = summary(brought(store, SAMPLES / "hwlatdetect-gaps.txt"))
    median = found.quantiles[0]
    assert (median.value, median.low, median.high) == (None, 0, 10_999)
    assert found.maximum == 18_999


def test_a_selection_among_clipped_histograms_is_refused(store: Store, tmp_path: Path) -> None:
    from tautochrone.selection.candidates import draw_up, read

    text = (SAMPLES / "cyclictest.json").read_text()
    other = written(
        tmp_path, "other.json", text.replace('"12": 14', '"12": 13').replace('"13": 138', '"13": 139')
    )
    runs = [brought(store, path) for path in (SAMPLES / "cyclictest.json", other)]
    with pytest.raises(UsageError, match="is clipped"):
        [list(read(contest)) for contest in draw_up(runs).contests]
