"""From a raw stream to a sealed run: nothing lost, nothing invented, books checked."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streams
from tautochrone.base.errors import DamagedError, StoreError, UsageError
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Books, Extremes, Manifest
from tautochrone.run.store import Store

HUGE = 2**62


def sealed(store: Path, stream: bytes, **about: Any) -> StoredRun:
    with Store(store).create("cyclic", "scheduling latency", **about) as writer:
        writer.append(stream)
        return writer.seal()


def files_of(run: StoredRun) -> list[str]:
    return sorted(path.name for path in run.path.iterdir())


def test_a_complete_stream_becomes_a_sealed_run(tmp_path: Path) -> None:
    run = sealed(
        tmp_path,
        streams.make_stream([[5_000, 7_000, 2_300_000, 1], [900]]),
        conditions={"load": "idle"},
        facts={"machine": {"model": "bench"}},
    )
    manifest = run.manifest
    assert files_of(run) == ["run.json", "samples.parquet"]
    assert (manifest.state, manifest.ended, manifest.damage) == ("sealed", "complete", None)
    assert manifest.conditions.stored == {"load": "idle"}
    assert manifest.facts == {"machine": {"model": "bench"}}
    assert manifest.parameters["priority"] == 90
    assert manifest.books[0] == Books(
        0, "cpu0", 4, 4, released=6, missed=2, dropped=0, overruns=1, warmup=0, cpu_time_ns=20_000
    )
    assert manifest.extremes[0] == Extremes(0, "latency_ns", 4, 1, 2_300_000, streams.START_NS + 2_000_000)
    assert [event.event for event in manifest.events] == ["started"]
    assert manifest.warnings == ()
    assert StoredRun.read(run.path).manifest == manifest


def test_the_samples_come_back_as_they_were_taken(tmp_path: Path) -> None:
    latencies = [np.arange(1_000) * 7 % 5_000, np.full(300, 2_000_000), np.array([3])]
    run = sealed(tmp_path, streams.make_stream(latencies))
    assert run.measures == ("latency_ns",)
    assert run.sources == {0: "cpu0", 1: "cpu1", 2: "cpu2"}
    for source, expected in enumerate(latencies):
        assert run.values(source=source).tolist() == expected.tolist()
        assert run.count(source=source) == len(expected)
    assert run.values().tolist() == np.concatenate(latencies).tolist()
    assert (np.diff(run.instants(1)) == 3_000_000).all()  # two releases slept through after each
    whole, parts = run.values_by_source(narrow=True)
    assert whole.dtype == np.uint32
    assert parts[1].base is whole


def test_columns_of_the_file_say_what_they_are(tmp_path: Path) -> None:
    run = sealed(tmp_path, streams.make_stream([[1]]))
    schema = pq.read_schema(run.path / "samples.parquet")
    assert schema.names == ["source", "scheduled_ns", "latency_ns"]
    assert schema.field("latency_ns").metadata == {b"unit": b"ns", b"meaning": b"scheduling latency"}


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.lists(st.lists(st.integers(-HUGE, HUGE) | st.integers(0, 10_000), max_size=40), min_size=1, max_size=4)
)
def test_any_value_survives(tmp_path_factory: pytest.TempPathFactory, latencies: list[list[int]]) -> None:
    stream = streams.make_stream(latencies, overrun="replay", rows_per_frame=7)
    run = sealed(tmp_path_factory.mktemp("store"), stream)
    for source, expected in enumerate(latencies):
        assert run.values(source=source).tolist() == expected
        assert run.values(source=source, narrow=True).tolist() == expected
        assert run.instants(source).tolist() == [
            streams.START_NS + k * 1_000_000 for k in range(len(expected))
        ]
    assert [(one.minimum_ns, one.maximum_ns) for one in run.manifest.extremes] == [
        (min(values), max(values)) for values in latencies if values
    ]


@pytest.mark.slow
def test_more_rows_than_a_row_group_holds_are_split_and_counted_across_it(tmp_path: Path) -> None:
    latencies = [np.arange(1_200_000) % 1_000, np.arange(30_000)]
    latencies[0][1_100_000] = 5_000
    run = sealed(tmp_path, streams.make_stream(latencies, rows_per_frame=50_000))
    metadata = pq.read_metadata(run.path / "samples.parquet")
    assert (metadata.num_rows, metadata.num_row_groups) == (1_230_000, 2)
    assert (run.values(source=0) == latencies[0]).all()
    assert run.manifest.extremes[0].maximum_at_ns == streams.START_NS + 1_100_000 * 1_000_000
    assert run.manifest.extremes[0].count == 1_200_000


def test_small_frames_of_many_sources_do_not_make_many_row_groups(tmp_path: Path) -> None:
    run = sealed(tmp_path, streams.make_stream([[1_000] * 200] * 40, rows_per_frame=2))
    assert pq.read_metadata(run.path / "samples.parquet").num_row_groups == 1


def test_a_histogram_keeps_its_bins_and_the_exact_maximum(tmp_path: Path) -> None:
    stream = streams.make_stream([[1, 2, 3_500_001, 4, HUGE], [-5, 70_000]], overrun="replay", histogram=True)
    run = sealed(tmp_path, stream)
    assert run.is_histogram
    low, high, count = run.histogram(0)
    assert int(count.sum()) == 5
    assert low[-1] <= HUGE <= high[-1]
    instants, maxima = run.running_maxima(0)
    assert maxima.tolist() == [1, 2, 3_500_001, HUGE]
    assert instants.tolist() == [streams.START_NS + k * 1_000_000 for k in (0, 1, 2, 4)]
    assert run.manifest.extremes == (
        Extremes(0, "latency_ns", 5, 1, HUGE, streams.START_NS + 4_000_000),
        Extremes(1, "latency_ns", 2, -5, 70_000, streams.START_NS + 1_000_000),
    )
    assert int(run.histogram()[2].sum()) == 7
    with pytest.raises(UsageError, match="histogram"):
        run.values()


def test_an_experiment_without_a_schedule_has_no_releases(tmp_path: Path) -> None:
    run = sealed(tmp_path, streams.make_stream([[20, 21, 22]], period_ns=None, experiment="clock"))
    assert (run.manifest.books[0].released, run.manifest.books[0].missed) == (None, None)
    assert run.values().tolist() == [20, 21, 22]


def test_a_column_that_begins_one_measure_and_ends_another_is_kept(tmp_path: Path) -> None:
    columns = [{"name": name, "type": "i64"} for name in ("release_ns", "wake_ns", "end_ns")]
    measures = [
        {"name": "latency_ns", "table": "samples", "from": "release_ns", "to": "wake_ns"},
        {"name": "work_ns", "table": "samples", "from": "wake_ns", "to": "end_ns"},
    ]
    extra = {"tables": [{"name": "samples", "columns": columns}], "measures": measures}
    header, *_, footer = streams.frames([[1, 2]], header_extra=extra)
    rows = np.array([(100, 110, 190), (200, 230, 250)], dtype=np.int64)
    stream = [header, streams.frame(streams.ROWS, 1, rows.tobytes()), with_sequence(footer, 2)]
    run = sealed(tmp_path, b"".join(stream))
    assert run.measures == ("latency_ns", "work_ns")
    assert run.values("latency_ns").tolist() == [10, 30]
    assert run.values("work_ns").tolist() == [80, 20]
    assert run.instants(0, "work_ns").tolist() == [110, 230]


def test_dropped_samples_are_counted_and_warned_about(tmp_path: Path) -> None:
    run = sealed(tmp_path, streams.make_stream([[1, 2, 3]], dropped={0: 12}))
    assert (run.manifest.books[0].completed, run.manifest.books[0].dropped) == (15, 12)
    assert [warning.code for warning in run.manifest.warnings] == ["dropped"]
    assert "12 samples of cpu0" in run.manifest.warnings[0].text


@pytest.mark.parametrize(("dropped", "codes"), [(5, ["voided"]), (12, ["voided", "dropped"])])
def test_samples_taken_outside_the_real_time_domain_are_told_apart(
    tmp_path: Path, dropped: int, codes: list[str]
) -> None:
    book = {"voided": 5, "inband_switches": 6}
    run = sealed(tmp_path, streams.make_stream([[1, 2, 3]], dropped={0: dropped}, books_extra={0: book}))
    warnings = run.manifest.warnings
    assert [warning.code for warning in warnings] == codes
    assert "5 samples of cpu0" in warnings[0].text
    assert "6 in-band switches" in warnings[0].text
    assert all("7 samples" in warning.text for warning in warnings[1:])


@pytest.mark.parametrize(
    ("book", "told"),
    [
        ({"missed": 3}, "cpu1: released 4, but completed 4 and missed 3 (-3)"),
        ({"completed": 5, "released": 5}, "cpu1: completed 5, but recorded 4 and dropped 0 (+1)"),
        (
            {"recorded": 3, "completed": 3, "released": 3},
            "recorded 3 by the footer, but the stream has 4 (+1)",
        ),
        ({"missed": None}, "releases and misses are not counted"),
        ({"source": 0}, "cpu0: has 2 accounts"),
        ({"source": 7}, "cpu1: has 0 accounts"),
        ({"dropped": -1, "completed": 3, "released": 3}, "cpu1: dropped is -1"),
    ],
)
@pytest.mark.parametrize("histogram", [False, True])
def test_books_that_do_not_balance_are_refused_and_the_stream_is_kept(
    tmp_path: Path, book: dict[str, int], told: str, histogram: bool
) -> None:
    stream = streams.make_stream([[1, 2], [3, 4, 5, 6]], histogram=histogram, books_extra={1: book})
    writer = Store(tmp_path).create("cyclic", "unbalanced")
    writer.append(stream)
    with pytest.raises(DamagedError, match="does not balance") as refused:
        writer.seal()
    assert told in str(refused.value)
    assert (writer.path / "stream.tauto").read_bytes() == stream
    assert json.loads((writer.path / "run.json").read_text())["state"] == "measuring"
    assert sorted(path.name for path in writer.path.iterdir()) == ["run.json", "stream.tauto"]


def test_a_difference_that_does_not_fit_is_not_stored_as_something_else(tmp_path: Path) -> None:
    frames = list(streams.frames([[1], [2]], footer=False))
    rows = np.array([(-(2**63), 2**63 - 1)], dtype=np.int64)
    stream = b"".join([*frames, streams.frame(streams.ROWS, len(frames), rows.tobytes())])
    run = sealed(tmp_path, stream)
    assert run.values().tolist() == [1, 2]
    assert run.manifest.state == "recovered"
    assert "a value of latency_ns does not fit 64 bits" in (run.manifest.damage or "")


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (streams.frame(streams.ROWS, 2, bytes(16), source=9), "rows of source 9"),
        (streams.frame(streams.ROWS, 2, bytes(16), table=1), "rows of table 1"),
        (streams.frame(streams.ROWS, 2, bytes(24)), "not a multiple of 16"),
        (streams.frame(streams.EVENT, 2, b"not json"), "is not JSON"),
        (streams.json_frame(streams.EVENT, 2, {"event": "dropped", "source": 0}), "required field `rows`"),
        (streams.json_frame(streams.FOOTER, 2, {"ended": "complete"}), "the footer has no accounting"),
        (streams.json_frame(streams.FOOTER, 2, {"books": [{"source": 0}]}), "a book of the footer lacks"),
        (streams.json_frame(streams.FOOTER, 2, {"books": [{"source": "0"}]}), "Expected `int`"),
        (streams.json_frame(streams.FOOTER, 2, {"books": {"source": 0}}), "Expected `array"),
    ],
)
def test_a_whole_frame_that_makes_no_sense_ends_the_run_before_it(
    tmp_path: Path, bad: bytes, told: str
) -> None:
    header, _, rows, *_ = streams.frames([[11, 12]])
    run = sealed(tmp_path, header + with_sequence(rows, 1) + bad)
    assert run.values().tolist() == [11, 12]
    assert run.manifest.state == "recovered"
    assert told in (run.manifest.damage or "")
    assert f"at byte {len(header) + len(rows):,}" in (run.manifest.damage or "")


@pytest.mark.parametrize(
    "extra",
    [
        {"stream": 2},
        {"sources": None},
        {"sources": [{"source": 0, "name": "cpu0"}, {"source": 0, "name": "cpu1"}]},
        {"sources": [{"source": 0, "name": "cpu0", "obtained": []}]},
        {"clock": 7},
        {"tables": []},
        {"tables": [{"name": "../up", "columns": [{"name": "a", "type": "i64"}]}]},
        {"tables": [{"name": "samples", "columns": [{"name": "source", "type": "i64"}]}], "measures": []},
        {"measures": [{"name": "m", "table": "elsewhere", "from": "scheduled_ns", "to": "wake_ns"}]},
        {"measures": [{"name": "m", "table": "samples", "from": "nowhere", "to": "wake_ns"}]},
    ],
)
def test_a_header_that_is_not_understood_is_refused_and_kept(tmp_path: Path, extra: dict[str, Any]) -> None:
    writer = Store(tmp_path).create("cyclic", "from another time")
    writer.append(streams.make_stream([[1]], header_extra=extra))
    with pytest.raises(DamagedError):
        writer.seal()
    assert sorted(path.name for path in writer.path.iterdir()) == ["run.json", "stream.tauto"]


def test_run_json_is_for_people_and_survives_newer_versions(tmp_path: Path) -> None:
    run = sealed(tmp_path, streams.make_stream([[1]]))
    text = (run.path / "run.json").read_text()
    assert text.startswith('{\n  "schema": 2,\n  "id": "')
    newer = json.loads(text)
    newer["added_later"] = 1
    newer["books"][0]["added_later"] = 2
    assert Manifest.from_json(json.dumps(newer)) == run.manifest


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema": 3}', '{"schema": 2, "state": "sealed"}', '{"schema": 1, "state": "?"}'],
)
def test_a_manifest_that_is_none_is_damage(text: str) -> None:
    with pytest.raises(DamagedError):
        Manifest.from_json(text)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("books", [{"source": 0, "name": "cpu0", "completed": "4", "recorded": 4}]),
        ("books", 7),
        ("books", []),
        ("books", [{"source": 1, "name": "cpu1", "completed": 1, "recorded": 1}]),
        ("books", [{"source": 0, "name": "cpu0", "completed": True, "recorded": None}]),
        ("header", []),
        ("facts", {"machine": "a text"}),
        ("facts", []),
        ("footer", []),
        ("footer", {"books": [{}]}),
        ("conditions", None),
        ("events", ["started"]),
        ("warnings", [{"code": 1, "text": "x"}]),
        ("ended", 5),
        ("extremes", {}),
        (
            "extremes",
            [
                {
                    "source": 4, "measure": "latency_ns", "count": 1,
                    "minimum_ns": 1, "maximum_ns": 1, "maximum_at_ns": 1,
                }
            ],
        ),
    ],
)  # fmt: skip
def test_a_manifest_with_a_malformed_part_is_damage(tmp_path: Path, part: str, value: object) -> None:
    run = sealed(tmp_path, streams.make_stream([[1]]))
    content = json.loads((run.path / "run.json").read_text()) | {part: value}
    (run.path / "run.json").write_text(json.dumps(content))
    with pytest.raises(DamagedError, match="is damaged"):
        StoredRun.read(run.path)


HEADER_PARTS: list[tuple[tuple[str | int, ...], object]] = [
    (("sources", 0), {"name": "cpu0"}),
    (("sources", 0, "start_ns"), "soon"),
    (("sources", 0, "obtained", "cpu"), "0"),
    (("sources",), {}),
    (("tables",), "samples"),
    (("tables", 0, "columns"), [7]),
    (("measures",), []),
    (("measures", 0), None),
    (("clock",), {"name": "monotonic"}),
    (("epoch", "realtime_ns"), "now"),
    (("schedule", "period_ns"), "1ms"),
    (("process",), []),
]


@pytest.mark.parametrize(("place", "value"), HEADER_PARTS)
def test_a_manifest_with_a_malformed_header_is_damage(
    tmp_path: Path, place: tuple[str | int, ...], value: object
) -> None:
    run = sealed(tmp_path, streams.make_stream([[1]]))
    content = json.loads((run.path / "run.json").read_text())
    part = content["header"]
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    (run.path / "run.json").write_text(json.dumps(content))
    with pytest.raises(DamagedError, match="is damaged"):
        StoredRun.read(run.path)


def test_a_manifest_that_counts_more_than_there_is_does_not_take_all_memory(tmp_path: Path) -> None:
    run = sealed(tmp_path, streams.make_stream([[1, 2, 3]]))
    text = (run.path / "run.json").read_text()
    (run.path / "run.json").write_text(text.replace('"count": 3', '"count": 1000000000000000'))
    with pytest.raises(DamagedError, match="fewer samples"):
        StoredRun.read(run.path).values()


def test_a_damaged_samples_file_is_told_and_nothing_is_made_up(tmp_path: Path) -> None:
    run = sealed(tmp_path, streams.make_stream([[1, 2, 3]]))
    path = run.path / "samples.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DamagedError, match="is damaged"):
        run.values()
    path.unlink()
    with pytest.raises(DamagedError, match="is missing"):
        run.values()


def test_samples_that_contradict_the_manifest_are_damage(tmp_path: Path) -> None:
    small = sealed(tmp_path, streams.make_stream([[1, 2, 3]]))
    large = sealed(tmp_path, streams.make_stream([[1, 2, HUGE]], overrun="replay"))
    longer = sealed(tmp_path, streams.make_stream([[1, 2, 3, 4]]))
    for other, told in ((large, "its manifest excludes"), (longer, "more samples of source 0")):
        (small.path / "samples.parquet").write_bytes((other.path / "samples.parquet").read_bytes())
        with pytest.raises(DamagedError, match=told):
            small.values(narrow=True)


def test_what_a_run_does_not_have_is_refused_with_what_it_has(tmp_path: Path) -> None:
    run = sealed(tmp_path, streams.make_stream([[1]]))
    with pytest.raises(UsageError, match="no measure 'period_ns'") as refused:
        run.values("period_ns")
    assert "latency_ns" in refused.value.advice
    with pytest.raises(UsageError, match="no source 5"):
        run.values(source=5)


def test_a_writer_that_let_go_writes_no_more(tmp_path: Path) -> None:
    writer = Store(tmp_path).create("cyclic", "let go")
    writer.close()
    with pytest.raises(StoreError, match="no longer being written"):
        writer.append(b"x")


def test_a_run_that_never_began_can_be_discarded(tmp_path: Path) -> None:
    writer = Store(tmp_path).create("cyclic", "not permitted")
    writer.discard()
    assert list(tmp_path.iterdir()) == []


def with_sequence(frame: bytes, sequence: int) -> bytes:
    """The same frame at another place of the stream."""
    return streams.frame(frame[4], sequence, frame[24:], table=frame[5], source=frame[6])
