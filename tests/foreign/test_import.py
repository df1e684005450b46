"""Files of other tools become runs: their numbers are those that the tool says, and the rest is unknown."""

import json
import os
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

from imported import MILLISECOND, SAMPLES, brought, written
from streams import make_stream
from tautochrone.base import stream
from tautochrone.base.errors import DamagedError, StoreError, TautoError, UsageError
from tautochrone.foreign.formats import ImportOptions, formats
from tautochrone.foreign.read import bring_in
from tautochrone.judge.reduced import reduce_run
from tautochrone.run.recover import recover
from tautochrone.run.store import Store
from tautochrone.run.writer import RunWriter
from tautochrone.trend.judge import trend
from tautochrone.trend.record import records
from tautochrone.trend.values import parse_metric


@pytest.mark.parametrize(
    ("name", "format_name", "experiment", "samples", "worst_ns"),
    [
        ("cyclictest.json", "cyclictest-json", "cyclic", [1_000, 1_000], [58_985_999, 59_411_999]),
        ("cyclictest-histogram.txt", "cyclictest-histogram", "cyclic", [40, 40], [32_999, 151_999]),
        ("cyclictest-clipped.txt", "cyclictest-histogram", "cyclic", [500, 495], [59_237_999, 58_239_999]),
        ("cyclictest-verbose.txt", "cyclictest-verbose", "cyclic", [300, 219], [58_282_000, 51_366_000]),
        ("rtla-timerlat.txt", "rtla", "rtla-timerlat", [600_001, 600_000, 600_000], [16_999, 12_999, 12_999]),
        ("jitterdebugger.json", "jitterdebugger", "cyclic", [3_901, 3_886], [11_999, 18_999]),
        ("jitterdebugger-samples.csv", "jitterdebugger-samples", "cyclic", [10], [9_000]),
        ("jitterdebugger-samples.raw", "jitterdebugger-samples", "cyclic", [10], [9_000]),
        ("hwlatdetect-quiet.txt", "hwlatdetect", "hwlat", [120], [10_999]),
        ("hwlatdetect-gaps.txt", "hwlatdetect", "hwlat", [200], [18_999]),
        ("windows-on-wine.tauto", "probe-stream", "cyclic", [58, 57], [7_315_800, 7_353_700]),
    ],
)
def test_a_file_of_each_tool_is_recognised_and_keeps_its_numbers(
    store: Store, name: str, format_name: str, experiment: str, samples: list[int], worst_ns: list[int]
) -> None:
    run = brought(store, SAMPLES / name)
    assert run.manifest.conditions.stored["imported"]["format"] == format_name  # type: ignore[index]
    assert (run.manifest.experiment, run.manifest.state) == (experiment, "sealed")
    assert [book.recorded for book in run.manifest.books] == samples
    first = run.measures[0]
    assert [one.maximum_ns for one in run.manifest.extremes if one.measure == first] == worst_ns
    assert any(warning.code == "imported" for warning in run.manifest.warnings)


def test_osnoise_has_buckets_as_wide_as_its_command_says(store: Store) -> None:
    run = brought(store, SAMPLES / "rtla-osnoise.txt")
    low, high, count = run.histogram(0)
    assert (low.tolist(), high.tolist()) == ([0, 10_000, 20_000, 30_000], [9_999, 19_999, 29_999, 39_999])
    assert int(count.sum()) == 55_215
    # The tool says 30 and means the bucket from 30 to 40.
    assert run.manifest.extremes[0].maximum_ns == 39_999


def test_timerlat_has_a_histogram_of_each_context(store: Store) -> None:
    run = brought(store, SAMPLES / "rtla-timerlat.txt")
    worst = {
        measure: [one.maximum_ns for one in run.manifest.extremes if one.measure == measure]
        for measure in run.measures
    }
    assert worst == {
        "preemption_latency_ns": [16_999, 12_999, 12_999],
        "interrupt_latency_ns": [4_999, 4_999, 7_999],
        "return_latency_ns": [19_999, 14_999, 15_999],
    }
    assert int(run.histogram(0, "interrupt_latency_ns")[2][0]) == 477_555


def test_a_stream_of_the_probe_is_kept_as_it_is(store: Store) -> None:
    run = brought(store, SAMPLES / "windows-on-wine.tauto")
    manifest = run.manifest
    assert manifest.header.system.words == "Windows 6.1.7601 by Wine 8.0"
    assert manifest.created.startswith("2026-11-28T15:36:51")
    assert [one.missed for one in manifest.books] == [2, 3]
    assert {"emulated", "not-obtained"} <= {warning.code for warning in manifest.warnings}
    assert manifest.header.sources[0].obtained.priority == 22


@pytest.mark.parametrize("other", [{"program": "another"}, {"program": "tauto-probe", "measures": []}])
def test_a_stream_that_no_probe_wrote_is_refused(
    store: Store, tmp_path: Path, other: dict[str, object]
) -> None:
    path = tmp_path / "other.tauto"
    path.write_bytes(make_stream([[5_000, 9_000]], header_extra=other))
    with pytest.raises(DamagedError, match="can't be imported"):
        brought(store, path)
    assert store.folders() == []


# What is known of conditions, and what is not.


def test_json_tells_command_machine_kernel_and_when(store: Store) -> None:
    run = brought(store, SAMPLES / "cyclictest.json")
    manifest = run.manifest
    assert manifest.created.startswith("2026-11-24T19:29:27")
    assert manifest.conditions.target == "vm"
    assert manifest.kernel.release == "6.18.44-fc-v509"
    assert manifest.header.periods_ns == {0: MILLISECOND, 1: MILLISECOND}
    assert {"policy": "fifo", "priority": 80}.items() <= manifest.header.parameters.items()


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.[tjcr]*")), ids=lambda path: path.name)
def test_what_is_unknown_is_said(store: Store, path: Path) -> None:
    told = brought(store, path).manifest.conditions.stored["imported"]
    assert isinstance(told, dict)
    assert told["unknown"]


def test_what_a_person_says_is_known(store: Store) -> None:
    (one,) = bring_in([SAMPLES / "jitterdebugger.json"], store, ImportOptions(period_ns=250_000), load="idle")
    told = one.run.manifest.conditions.stored["imported"]
    assert isinstance(told, dict)
    assert not [word for word in told["unknown"] if word.startswith(("load", "period"))]
    assert one.run.manifest.conditions.load == "idle"


def test_a_load_that_nobody_tells_is_not_taken_for_none(store: Store) -> None:
    from tautochrone.judge.requirement.evidence import groups_of

    run = brought(store, SAMPLES / "cyclictest-histogram.txt", period_ns=100 * MILLISECOND)
    assert {group.where for group in groups_of([run], "latency_ns")} == {"load not known, elsewhere"}


def test_a_loop_that_was_never_a_period_late_missed_nothing(store: Store) -> None:
    run = brought(store, SAMPLES / "cyclictest-histogram.txt", period_ns=100 * MILLISECOND)
    assert [(book.released, book.missed, book.overruns) for book in run.manifest.books] == [(40, 0, 0)] * 2
    told = run.manifest.conditions.stored["imported"]
    assert isinstance(told, dict)
    assert "releases that were skipped" not in told["unknown"]


@pytest.mark.parametrize("name", ["cyclictest.json", "cyclictest-verbose.txt"])
def test_what_a_loop_missed_that_was_later_is_unknown_and_not_zero(store: Store, name: str) -> None:
    run = brought(store, SAMPLES / name)
    assert run.manifest.header.periods_ns
    assert [(book.released, book.missed) for book in run.manifest.books] == [(None, None)] * 2
    assert all(one.lost is None for one in reduce_run(run))


def test_a_run_whose_tool_counts_no_misses_is_not_said_to_be_cut_off(store: Store, tmp_path: Path) -> None:
    from tautochrone.answer.phrasing import requirement as words
    from tautochrone.answer.phrasing import verdict as verdicts
    from tautochrone.experiments.requirement import parse
    from tautochrone.judge.requirement.judge import judge
    from tautochrone.judge.verdict import judge_runs

    values = ["latency_us", *["10"] * 4_999, "3500"]
    run = brought(store, written(tmp_path, "log.csv", "\n".join(values)), MILLISECOND)
    for text in ("latency p99 < 5ms", "latency max < 5ms", "latency mean < 5ms"):
        found = judge(parse(text), [run])
        assert found.standing == "not shown"
        assert "does not count misses" in words.why(found)
        assert "to the end" not in words.to_settle(found)
    verdict = judge_runs([run])
    assert verdict is not None
    (line,) = verdict.loops
    assert "does not count them" in verdicts.sentence(line)


def test_what_one_thread_of_a_loop_missed_is_not_told_as_that_of_all(store: Store, tmp_path: Path) -> None:
    from tautochrone.campaign.results import _repetitions
    from tautochrone.run.catalogue import catalogue

    told = json.loads((SAMPLES / "cyclictest.json").read_text())
    told["thread"]["0"] |= {"histogram": {"5": 1_000}, "min": 5, "max": 5}
    run = brought(store, written(tmp_path, "cj.json", json.dumps(told)))
    assert [book.missed for book in run.manifest.books] == [0, None]
    found = trend(records(store), parse_metric("misses", run.measures))
    assert (found.lines, found.without) == ((), 1)
    (line,) = trend(records(store), parse_metric("latency median", run.measures)).lines
    assert [point.value.certain for point in line.points] == [False]
    ((_, repetition),) = _repetitions(run, "latency_ns")
    assert repetition.missed is None
    (entry,) = catalogue(store)
    assert entry.missed is None


def test_histograms_have_no_time(store: Store) -> None:
    from tautochrone.answer.evidence import gather

    (measured,) = gather([brought(store, SAMPLES / "cyclictest.json")]).measured
    assert [(one.worst_at_s, one.worst_at_utc, one.maxima) for one in measured.series] == [(None,) * 3] * 2
    assert [found.dated for _, found in measured.courses] == [False]


def test_binary_and_text_samples_are_the_same(store: Store) -> None:
    text, binary = (
        brought(store, SAMPLES / f"jitterdebugger-samples.{kind}").values() for kind in ("csv", "raw")
    )
    assert text.tolist() == binary.tolist() == [9_000] + [3_000] * 9


def test_samples_with_gaps_in_their_structure_are_read_too(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "samples.raw"
    path.write_bytes(b"".join(struct.pack("<I4xqqQ", 1, 5, k * 250_000, 7 + k) for k in range(21)))
    run = brought(store, path)
    assert run.sources == {0: "thread1"}
    assert run.values().tolist() == [(7 + k) * 1_000 for k in range(21)]


def test_when_it_was_measured_is_kept_in_utc(store: Store, tmp_path: Path) -> None:
    """As lists show it and trends sort by it; cyclictest writes local time with its offset."""
    text = (SAMPLES / "cyclictest.json").read_text().replace("19:29:27 +0000", "00:29:27 +0530")
    run = brought(store, written(tmp_path, "india.json", text))
    assert run.manifest.created == "2026-11-23T18:59:27.000+00:00"


# Files that are something else, damaged, or hostile.


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("cyclictest.json", '"cycles": 1000', '"cycles": 10'),
        ("cyclictest.json", '"12": 14', '"12": -14'),
        ("cyclictest.json", '"max": 58985', '"max": 3'),
        ("cyclictest.json", "cyclictest -q", "oslat -q"),
        ("cyclictest-histogram.txt", "# Total: 000000040", "# Total: 000000041"),
        ("rtla-timerlat.txt", "count:   600001", "count:   600009"),
        ("rtla-timerlat.txt", "IRQ-001", "XYZ-001"),
        ("jitterdebugger.json", '"count": 3901', '"count": 1'),
        ("jitterdebugger-samples.csv", "0;1114.936950838;9", "0;1114.936950838;9\nnonsense"),
        ("hwlatdetect-gaps.txt", "Samples recorded: 8", "Samples recorded: 9"),
        ("hwlatdetect-gaps.txt", "Max Latency: 18us", "Max Latency: 12us"),
        ("hwlatdetect-quiet.txt", "Starting test\n", "Starting test\ninterrupted\n"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(
    store: Store, tmp_path: Path, name: str, old: str, new: str
) -> None:
    text = (SAMPLES / name).read_text()
    assert old in text
    with pytest.raises(DamagedError, match="can't be imported"):
        brought(store, written(tmp_path, name, text.replace(old, new, 1)))
    assert store.folders() == []


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.[tjcr]*")))
def test_a_file_cut_off_anywhere_is_read_or_refused(store: Store, tmp_path: Path, name: str) -> None:
    whole = (SAMPLES / name).read_bytes()
    for at in np.linspace(0, len(whole) - 1, 12, dtype=int).tolist():
        path = tmp_path / name
        path.write_bytes(whole[:at])
        try:
            brought(store, path)
        except TautoError:
            continue


def test_what_to_do_is_said_of_a_file_that_is_not_there(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read") as refusal:
        brought(store, tmp_path / "none.json")
    assert refusal.value.advice == "Name a result file of another tool."


def test_a_pipe_is_refused_which_can_be_read_once_only(store: Store) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading), pytest.raises(UsageError, match="is a pipe"):
        brought(store, Path(f"/dev/fd/{reading}"))


def test_what_no_tool_wrote_is_refused_with_what_is_read(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refusal:
        brought(store, written(tmp_path, "notes.txt", "hello\n"))
    assert all(one.what in refusal.value.advice for one in formats().values())


def test_one_bad_file_among_several_imports_none(store: Store, tmp_path: Path) -> None:
    bad = written(tmp_path, "bad.json", "{}")
    with pytest.raises(TautoError):
        bring_in([SAMPLES / "cyclictest.json", bad], store, ImportOptions())
    assert store.folders() == []


def test_a_file_is_imported_once_and_anew_with_other_options(store: Store) -> None:
    path = SAMPLES / "jitterdebugger.json"
    first, again = brought(store, path), brought(store, path)
    other = brought(store, path, period_ns=250_000)
    assert first.id == again.id != other.id
    assert len(store.folders()) == 2


@pytest.mark.parametrize("kills", [False, True])
def test_a_part_that_a_full_disk_or_a_kill_left_is_not_taken_for_the_whole(
    store: Store, monkeypatch: pytest.MonkeyPatch, *, kills: bool
) -> None:
    append = RunWriter.append

    def until_full(writer: RunWriter, data: bytes) -> None:
        if len(data) and data[4] == stream.FOOTER:
            raise StoreError("The disk is full")
        append(writer, data)

    with monkeypatch.context() as broken:
        broken.setattr(RunWriter, "append", until_full)
        if kills:
            broken.setattr(shutil, "rmtree", lambda *_, **_known: None)
        with pytest.raises(StoreError):
            brought(store, SAMPLES / "jitterdebugger.json")
    assert len(store.folders()) == kills
    recover(store)
    assert brought(store, SAMPLES / "jitterdebugger.json").manifest.state == "sealed"


# Everything that reads runs reads these.


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of every sample."""
    place = tmp_path_factory.mktemp("imported")
    bring_in(sorted(SAMPLES.glob("*.[tjcr]*")), Store(place), ImportOptions())
    return place


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["show", "{}", "--json"],
        ["tail", "{}", "--json"],
        ["export", "{}", "--csv"],
        ["export", "{}", "--json"],
        ["report", "{}", "-o", "{out}.html"],
        ["figure", "{}", "-o", "{out}.svg"],
    ],
    ids=" ".join,
)
def test_verbs_read_imported_runs(everything: Path, tmp_path: Path, words: list[str]) -> None:
    from typer.testing import CliRunner

    from tautochrone.cli.app import app

    for run in Store(everything).runs():
        said = [one.replace("{out}", str(tmp_path / "out")).replace("{}", run.id) for one in words]
        result = CliRunner().invoke(app, ["--store", str(everything), *said])
        assert result.exit_code == 0, (run.id, result.output)
        assert "fault" not in result.stderr
        if "--json" in words:
            json.loads(result.stdout)


def test_the_verb_lists_runs_as_json(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from tautochrone.cli.app import app

    words = ["--store", str(tmp_path), "import", str(SAMPLES / "cyclictest.json"), "--json"]
    answer = json.loads(CliRunner().invoke(app, words).stdout)
    (one,) = answer["imported"]
    assert (one["tool"], one["samples"], one["new"]) == ("cyclictest", 2_000, True)
    assert "clipped" in one["warnings"]


@pytest.mark.slow
def test_a_single_row_is_told_as_one_and_has_no_rare_quantile(tmp_path: Path) -> None:
    from real import tauto

    store, file = tmp_path / "store", written(tmp_path, "one.csv", "latency_us\n7\n")
    assert tauto("import", str(file), "--rate", "1kHz", store=store).returncode == 0
    shown = tauto("show", "latest", store=store).stdout
    assert "\n1 sample is too few to search" in shown
    assert "order: 1 row." in shown
    checked = tauto("check", "--runs", "latest", "--deadline", "100us", store=store)
    assert checked.returncode == 7
    assert "None of 1 release was later than 100 us" in checked.stdout
    assert "99.9 %" not in checked.stdout
