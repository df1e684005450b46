"""Soaks as they lie in a store: pieces, cuts, a full disk, and what is read while they are measured."""

import errno
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from in_process import tauto
from real import skip_or_fail
from schemas import valid
from soaks import MS, S, Soak, begin_soak, soak_frames
from tautochrone.answer.soak import _sentences
from tautochrone.base import stream
from tautochrone.base.errors import DamagedError, StoreError, UsageError
from tautochrone.cli import list as listing
from tautochrone.cli import runs
from tautochrone.judge.reduced import reduce_run, summary_in
from tautochrone.judge.soak import SoakSource, soak_of
from tautochrone.measure.soak import Soak as Keeping
from tautochrone.measure.soak import name_of, parse_schedule
from tautochrone.run import files, pieces
from tautochrone.run.conditions import SOAK
from tautochrone.run.export import export
from tautochrone.run.folder import StoredRun
from tautochrone.run.held import HELD, Held
from tautochrone.run.intervals import Following, Interval
from tautochrone.run.recover import recover
from tautochrone.run.remarks import seen_remarks
from tautochrone.run.so_far import run_so_far
from tautochrone.run.store import Store
from tautochrone.run.writer import RunWriter

SMALL = Soak(intervals=6, cpus=2, every_ns=60 * S, period_ns=600 * MS, missed=3)
EACH = 100  # releases of an interval of a source


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def frames_of(soak: Soak) -> list[bytes]:
    return [data for _, data in soak_frames(soak)]


def balanced(run: StoredRun) -> int:
    """Return how many samples a run has, in books that agree with its bins and its intervals."""
    for book in run.manifest.books:
        told = run.intervals(book.source)
        if book.released is None:  # it was cut off in its first interval, or before
            assert not len(told["completed"])
        else:
            assert book.released == book.completed + (book.missed or 0)
        assert book.completed == book.recorded + (book.dropped or 0)
        assert run.histogram(book.source)[2].sum() == book.recorded
        assert told["completed"].sum() <= book.completed
        assert run.interval_bins(book.source)[3].sum() == (told["completed"] - told["dropped"]).sum()
    return sum(book.recorded for book in run.manifest.books)


@pytest.mark.slow
@settings(max_examples=25)
@given(share=st.floats(0.0, 1.0), hour=st.sampled_from((None, 1, 2, 5)))
def test_a_cut_at_any_byte_costs_at_most_the_interval_that_was_open(
    tmp_path_factory: pytest.TempPathFactory, share: float, hour: int | None
) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    with begin_soak(store, SMALL, hour=hour) as writer:
        raw = writer.path / files.RAW_STREAM
        data = raw.read_bytes()
        header = 0 if hour else len(frames_of(SMALL)[0])
        raw.write_bytes(data[: header + int((len(data) - header) * share)])
        whole = Following(writer.path).new()
    (outcome,) = recover(store)
    run = StoredRun.read(outcome.path)
    assert run.manifest.state == "recovered"
    kept = sum(one.recorded for one in whole)
    assert kept <= balanced(run) <= kept + SMALL.cpus * EACH
    assert not (run.path / pieces.FOLDER).exists()


def test_intervals_can_be_followed_while_the_run_is_written_and_none_comes_twice(store: Store) -> None:
    seen: list[Interval] = []
    frames = frames_of(SMALL)
    with store.create("cyclic", "soak", {}, {}) as writer:
        for at, data in enumerate(frames):
            writer.append(data)
            if at == 0:
                following = Following(writer.path)
            if at % 7 == 0:
                seen += following.new()
            if at % 11 == 0:
                writer.end_piece()
        seen += following.new()
        assert following.missing is None
        run = writer.seal()
    assert [(one.source, one.number) for one in seen] == [(k % 2, k // 2) for k in range(12)]
    for one in seen:
        assert (one.released, one.missed, one.recorded) == (EACH, 3, EACH - 3)
        assert one.histogram()[2].sum() == one.recorded
        first = one.largest[0]
        assert first["wake_ns"] - first["scheduled_ns"] == one.worst_ns
    assert run.manifest.state == "sealed"
    assert balanced(run) == sum(one.recorded for one in seen)
    summary = summary_in(reduce_run(run))
    assert summary is not None
    assert summary.count == balanced(run) / 2


def test_what_a_kill_between_the_steps_of_sealing_a_piece_leaves_is_read_once(store: Store) -> None:
    with begin_soak(store, SMALL) as writer:
        raw = writer.path / files.RAW_STREAM
        before = raw.read_bytes()
        writer.end_piece()
        assert raw.read_bytes() == b""
        raw.write_bytes(before)  # the piece is in the index, and the raw stream was not cut yet
        (writer.path / pieces.FOLDER / "000001.zst.part").write_bytes(b"half")
        assert len(Following(writer.path).new()) == 12
    (outcome,) = recover(store)
    assert balanced(StoredRun.read(outcome.path)) == 12 * (EACH - 3)


@pytest.mark.parametrize("before", [0, 1], ids=["the first piece", "a later piece"])
@pytest.mark.parametrize("when", [files.MANIFEST, files.RAW_STREAM])
def test_a_piece_that_is_made_while_a_soak_is_looked_at_costs_no_interval(
    store: Store, monkeypatch: pytest.MonkeyPatch, before: int, when: str
) -> None:
    with begin_soak(store, SMALL, intervals=5, hour=3 if before else None) as writer:
        seen, copy = list[str](), shutil.copyfile

        def copy_late(source: Path, target: Path) -> object:
            name = Path(source).name
            if name == when and name not in seen:
                seen.append(name)
                writer.end_piece()
            return copy(source, target)

        monkeypatch.setattr(shutil, "copyfile", copy_late)
        run = run_so_far(writer.path)
        assert len(pieces.pieces_of(writer.path)) == before + 1
    assert balanced(run) == 5 * SMALL.cpus * (EACH - 3)


def test_a_damaged_piece_is_told_and_what_came_before_it_is_kept(store: Store) -> None:
    with begin_soak(store, SMALL, hour=2) as writer:
        piece = writer.path / pieces.FOLDER / "000001.zst"
        piece.write_bytes(damaged := piece.read_bytes()[:-1] + b"x")
        with pytest.raises(DamagedError, match=r"checksum of the piece 000001\.zst"):
            Following(writer.path).new()
    (outcome,) = recover(store)
    assert "checksum of the piece 000001.zst does not match" in outcome.text
    assert balanced(StoredRun.read(outcome.path)) == 2 * 2 * (EACH - 3)
    assert piece.read_bytes() == damaged
    assert (outcome.path / pieces.FOLDER / "rest.tauto").stat().st_size > 0
    assert not recover(store)


def test_a_piece_that_is_made_while_somebody_reads_is_read_first(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begin_soak(store, SMALL, intervals=4, hour=3) as writer:
        following = Following(writer.path)
        seen = following.new()
        rest = [data for at, data in soak_frames(SMALL) if at >= 4]
        made = pieces.pieces_of(writer.path)
        (writer.path / pieces.FOLDER / "index.jsonl").open("ab").write(b'{"file":"half a li')

        def before(_folder: Path) -> list[pieces.Piece]:
            monkeypatch.undo()
            for data in rest[:3]:
                writer.append(data)
            writer.end_piece()
            for data in rest[3:]:
                writer.append(data)
            return made

        monkeypatch.setattr(pieces, "pieces_of", before)
        assert len(seen + following.new()) == 12
        assert following.missing is None


def test_a_soak_that_is_measured_is_read_as_a_run_and_goes_on(store: Store) -> None:
    with begin_soak(store, SMALL, intervals=4, hour=3) as writer:
        with pytest.raises(Exception, match="still being measured"):
            store.open(writer.manifest.id)  # nothing says that it is a soak
        writer.add_condition(SOAK, {"for_s": 360.0})
        run = store.open(writer.manifest.id)
        assert run.manifest.told_state == "measuring"
        assert run.id == writer.manifest.id
        assert balanced(run) == 8 * (EACH - 3)
        assert store.open("latest").id == run.id
        assert store.folder_of("latest") == writer.path != run.path
        for _, data in [(at, data) for at, data in soak_frames(SMALL) if at >= 4]:
            writer.append(data)
        whole = writer.seal()
    assert balanced(whole) == 12 * (EACH - 3)
    assert whole.manifest.told_state == "complete"


@pytest.mark.slow
def test_intervals_are_exported_and_remarks_on_a_soak_that_is_measured_stay(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    with begin_soak(store, SMALL, hour=3) as writer:
        writer.add_condition(SOAK, {"for_s": 360.0})
        runs.note("latest", "cold room", store=store.path)
        assert "cold room" in capsys.readouterr().out
        assert seen_remarks(store.open("latest").path).note == "cold room"
        out = writer.path.parent / "intervals.csv"
        listing.export(writer.path.name, csv=True, intervals=True, out=out, store=store.path)
        told = StoredRun(writer.path, writer.seal().manifest)
    assert seen_remarks(told.path).note == "cold room"
    head, *lines = out.read_text().splitlines()
    assert head.split(",")[:3] == ["source", "from_ns", "until_ns"]
    assert len(lines) == 12
    content = io.BytesIO()
    export(told, "json", content)
    found = valid(content.getvalue().decode())
    assert [one["missed"] for one in found["intervals"]] == [3] * 12


def kept(
    store: Store, soak: Soak, of: Callable[[Keeping], Any], **more: Any
) -> tuple[RunWriter, Keeping, bool]:
    """Let a soak be kept frame by frame; `of` may change how, after the second interval."""
    reader = stream.FrameReader()
    keeping = Keeping(360.0, parse_schedule([]), **more)
    writer = store.create("cyclic", "soak", {}, {})
    ended = False
    for at, data in soak_frames(soak):
        if at == 2:
            of(keeping)
        ended = keeping.keep(writer, reader.feed(data)) or ended
    return writer, keeping, ended


def test_a_soak_whose_folder_is_gone_ends_with_a_sentence(store: Store) -> None:
    def remove(_: Keeping) -> None:
        for folder in store.folders():
            shutil.rmtree(folder)

    with pytest.raises(StoreError, match="Keeping the run in"):
        kept(store, SMALL, remove)


def test_a_full_disk_costs_samples_and_no_count(store: Store) -> None:
    def fill(keeping: Keeping) -> None:
        keeping.least_free_bytes = 1 << 62

    writer, _, _ = kept(store, SMALL, fill)
    with writer:
        run = writer.seal()
    assert run.manifest.state == "sealed"
    codes = [one.code for one in run.manifest.warnings]
    assert codes.count("disk-full") == 1
    for book in run.manifest.books:
        told = run.intervals(book.source)
        assert told["completed"].tolist() == [EACH - 3] * 6
        assert told["missed"].tolist() == [3] * 6
        assert book.released == 6 * EACH
        assert 0 < book.recorded < book.completed
        assert book.dropped == told["dropped"].sum() == book.completed - book.recorded
    balanced(run)


@pytest.mark.slow
@settings(max_examples=30)
@given(share=st.floats(0.0, 1.0), back=st.integers(0, 5_000), full=st.booleans(), half=st.booleans())
def test_another_process_goes_on_where_one_was_killed(
    tmp_path_factory: pytest.TempPathFactory, share: float, back: int, full: bool, half: bool
) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    frames = frames_of(SMALL)
    kept_frames = int(share * len(frames))
    before = Keeping(360.0, parse_schedule([]), least_free_bytes=1 << 62 if full else 0)
    with store.create("cyclic", "soak", {}, {}) as writer:
        reader = stream.FrameReader()
        for data in frames[:kept_frames]:
            before.keep(writer, reader.feed(data))
        if half and kept_frames < len(frames):
            writer.append(frames[kept_frames][:30])
    after = Keeping(360.0, parse_schedule([]), resumes=writer.manifest.id, least_free_bytes=0)
    rest = max(0, sum(map(len, frames[:kept_frames])) - back)
    with after.resumed(store) as again:
        later, whole = after.reader(), b"".join(frames)
        for at in range(rest, len(whole), 777):
            after.keep(again, later.feed(whole[at : at + 777]), later.pending_bytes)
        run = again.seal()
    assert run.manifest.state == "sealed"
    for book in run.manifest.books:
        assert book.completed == 6 * (EACH - 3)
    assert balanced(run) <= 12 * (EACH - 3)
    if not full:
        assert balanced(run) == 12 * (EACH - 3)


def test_frames_that_are_lost_between_two_processes_are_a_damage(store: Store) -> None:
    frames = frames_of(SMALL)
    later = stream.LaterReader(3)
    assert later.feed(b"".join(frames[5:])) == []
    assert "the frames 3 to 4 are lost" in str(later.missing())


def test_a_rule_and_a_file_end_a_soak(store: Store) -> None:
    asked: list[int] = []

    def ask(header: Any, new: Any) -> str | None:
        assert header.experiment == "cyclic"
        asked.extend(one.number for one in new)
        return "1 per day is refuted" if new[-1].number == 3 else None

    writer, _, ended = kept(store, SMALL, lambda _: None, ask=ask)
    with writer:
        assert ended
        assert asked == [0, 0, 1, 1, 2, 2, 3]
        assert writer.manifest.conditions.stored[SOAK]["ended_because"] == "1 per day is refuted"  # type: ignore[index]
    writer, keeping, ended = kept(store, SMALL, lambda _: None)
    with writer:
        assert not ended
        (writer.path / "stop").touch()
        assert keeping.keep(writer, [])


def test_a_disk_without_any_room_ends_no_soak_and_is_told_of_when_there_is_room(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = False

    def refused(_path: Path, _text: str) -> None:
        raise OSError(errno.ENOSPC, "full")

    reader, keeping = stream.FrameReader(), Keeping(360.0, parse_schedule([]))
    with store.create("cyclic", "soak", {}, {}) as writer:
        for at, data in soak_frames(SMALL):
            if full != (at in (2, 3)):
                full = not full
                keeping.least_free_bytes = 1 << 62 if full else 0
                if full:
                    monkeypatch.setattr(files, "write_text", refused)
                else:
                    monkeypatch.undo()
            keeping.keep(writer, reader.feed(data))
        (warning,) = writer.manifest.warnings
        assert (warning.code, "after interval 3" in warning.text) == ("disk-full", True)
        balanced(writer.seal())


@pytest.mark.parametrize(
    ("specs", "name"),
    [
        ([], "idle"),
        (["cpu+memory"], "cpu+memory"),
        (["cpu", "memory:bytes=64MB,cpus=0,1"], "cpu+memory:bytes=64MB,cpus=0,1"),
        (["8h:cpu,8h:memory+storage"], "8h:cpu,8h:memory+storage"),
        (["90s:memory:bytes=64MB,cpus=0,1,2h:idle"], "90s:memory:bytes=64MB,cpus=0,1,2h:idle"),
        (["1h:cpu", "60min:idle"], "1h:cpu,1h:idle"),
        (["7d:cpu,36h:idle"], "7d:cpu,36h:idle"),
        (["140min:cpu,1234.5s:idle"], "140min:cpu,1234.5s:idle"),
        (["8h:cpu,memory"], None),
        (["8h:cpu", "memory"], None),
        (["0.5s:cpu,1h:idle"], None),
        (["8h:nonsense"], None),
    ],
)
def test_a_schedule_is_loads_with_lengths(specs: list[str], name: str | None) -> None:
    if name is None:
        with pytest.raises(UsageError):
            parse_schedule(specs)
        return
    phases = parse_schedule(specs)
    assert name_of(phases) == name
    assert parse_schedule([name]) == phases or len(phases) == 1


@pytest.mark.slow
def test_clock_steps_suspends_loads_and_the_worst_are_found(store: Store) -> None:
    soak = Soak(
        intervals=120,
        cpus=1,
        wall_steps_ns=((30, 5 * S), (60, -2 * S)),
        suspended_ns=((100, 3600 * S),),
        latencies=lambda random, at, source, count: (
            random.gamma(4.0, 2_000.0 if at < 60 else 4_000.0, count) + 2_000
        ).astype("int64"),
    )
    with begin_soak(store, soak) as writer:
        writer.add_condition(SOAK, {"loads": [[0, "idle"], [60, "cpu"]]})
        writer.append(frames_of(soak)[-1])
        run = writer.seal()
    found = soak_of(run)
    assert found is not None
    (one,) = found.sources
    assert [(event.interval, event.what, round(event.by_s)) for event in one.clock] == [
        (30, "set", 5),
        (60, "set", -2),
        (100, "suspended", 3600),
    ]
    idle, loaded = found.turns
    assert (idle.load, idle.intervals, loaded.load, loaded.intervals) == ("idle", 60, "cpu", 60)
    assert 1.5 < loaded.counts.quantile(0.5) / idle.counts.quantile(0.5) < 2
    assert idle.counts.total + loaded.counts.total == sum(book.recorded for book in run.manifest.books)
    worst = max(one.worst_ns.tolist())
    assert worst == run.manifest.extremes[0].maximum_ns
    assert one.level(7_200.0, 0.95) is None  # its hours are not alike


@pytest.mark.slow
def test_what_is_said_of_each_load_rests_on_samples_enough_and_is_not_above_the_worst(store: Store) -> None:
    with begin_soak(store, SMALL) as writer:
        writer.add_condition(SOAK, {"loads": [[0, "idle"], [3, "cpu"]]})
        writer.append(frames_of(SMALL)[-1])
        run = writer.seal()
    found = soak_of(run)
    assert found is not None
    assert [turn.counts.quantile(0.999) for turn in found.turns] == [turn.worst_ns for turn in found.turns]
    row = next(one for one in tauto("show", "latest", store=store.path).out.splitlines() if "idle  " in one)
    assert " too few " in row  # for 99.9 %: there are 582 samples


def test_misses_of_a_source_without_a_sample_are_told(store: Store) -> None:
    soak = Soak(intervals=2, period_ns=600 * MS, missed=EACH)
    with begin_soak(store, soak) as writer:
        writer.append(frames_of(soak)[-1])
        found = soak_of(writer.seal())
    assert found is not None
    assert "Intervals with missed cycles: 2 on cpu0." in _sentences(found)


@pytest.mark.slow
@pytest.mark.parametrize("left_out", [range(6, 12), range(12)], ids=["one load", "all"])
def test_a_disk_without_room_leaves_counts_of_which_every_answer_is_made(
    store: Store, left_out: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where the report is written
    soak = Soak(intervals=12, missed=3, left_out=left_out)
    with begin_soak(store, soak) as writer:
        writer.add_condition(SOAK, {"loads": [[0, "idle"], [6, "cpu"]]})
        writer.append(frames_of(soak)[-1])
        run = writer.seal()
    balanced(run)
    found = soak_of(run)
    assert found is not None
    _, loaded = found.turns
    assert (loaded.intervals, loaded.missed, loaded.counts.total) == (6, 18, 0)
    for words in (
        ("show", "latest"),
        ("show", "latest", "--json"),
        ("tail", "latest"),
        ("compare", "latest", "latest"),
        ("report", "latest"),
        ("export", "latest", "--csv", "--intervals"),
    ):
        ended = tauto(*words, store=store.path)
        assert (ended.fault, ended.code != 70) == ("", True), ended


@pytest.mark.slow
def test_the_level_of_a_long_time_reckons_with_minutes_that_are_alike_and_with_a_stall(store: Store) -> None:
    def source_of(alike: int, stalled: bool = False) -> SoakSource:
        def latencies(random: Any, at: int, source: int, count: int) -> Any:
            of_times = np.random.default_rng(at // alike).gamma(4.0, 4_000.0)
            return (random.gamma(4.0, 2_000.0, count) + of_times).astype("int64")

        with begin_soak(store, Soak(intervals=240, latencies=latencies)) as writer:
            found = soak_of(writer.seal())
        assert found is not None
        (one,) = found.sources
        if stalled:  # most of an interval was missed
            one.missed[100], one.completed[100], one.worst_ns[100] = 900, 100, 54_000_000_000
        return one

    apart, together, stalled = source_of(1), source_of(4), source_of(1, stalled=True)
    assert apart.maxima is not None
    assert together.maxima is not None
    assert stalled.maxima is not None
    assert (apart.maxima.blocks, together.maxima.blocks < 120) == (240, True)
    assert stalled.maxima.maximum_ns.max() == 54_000_000_000
    level, low, high = apart.level(14_400.0, 0.95) or (0.0, 0.0, 0.0)
    assert low < level < high
    assert low < apart.worst_ns.max() < high


def test_the_command_of_another_user_is_not_run(store: Store, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        skip_or_fail("only root can give a file away")
    with begin_soak(store, SMALL, intervals=3) as writer:
        writer.add_condition(SOAK, {})
        ran = tmp_path / "ran"
        Held(
            "ssh:nowhere", 600.0, ["tauto", "export", "--out", str(ran)], "/", programs={"probe": "/x"}
        ).write(writer.path)
        os.chown(writer.path / HELD, 65534, 65534)
    for verb in ("resume", "stop"):
        ended = tauto("soak", verb, store=store.path)
        assert (ended.code, "begun by another user" in ended.err) == (3, True), ended
    assert not ran.exists()


def test_a_store_without_room_keeps_what_it_has(tmp_path: Path, store: Store) -> None:
    """A write that fails in the middle leaves no half of a frame."""
    with begin_soak(store, SMALL, intervals=3) as writer:
        raw = writer.path / files.RAW_STREAM
        before = raw.stat().st_size
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        import signal

        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (before + 100, hard))
            assert not writer.append_whole(b"x" * 4096)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, handler)
        assert raw.stat().st_size == before
    shutil.rmtree(tmp_path, ignore_errors=True)
