"""What a kill, a cut or a crash leaves behind is finished; what is being written is left alone."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import streams
from real import PATIENCE_S
from tautochrone.base.errors import StoreError
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Extremes
from tautochrone.run.recover import recover
from tautochrone.run.store import Store
from where import ROOT

LATENCIES = [np.arange(1, 41) * 100, np.arange(1, 11) * 300]
FRAMES = list(streams.frames(LATENCIES, rows_per_frame=8))
WHOLE = b"".join(FRAMES)


def left_behind(store: Store, stream: bytes) -> Path:
    """A run as a killed lab leaves it: the raw stream, and nobody who holds it."""
    writer = store.create("cyclic", "killed", conditions={"load": "idle"})
    if stream:
        writer.append(stream)
    writer.close()
    return writer.path


def samples_before(cut: int) -> list[int]:
    """How many samples of each source lie in whole frames before a byte."""
    counts = [0, 0]
    for frame, end in zip(FRAMES, np.cumsum([len(one) for one in FRAMES]), strict=True):
        if frame[4] == streams.ROWS and end <= cut:
            counts[frame[6]] += (len(frame) - 24) // 16
    return counts


def test_a_complete_stream_that_was_not_sealed_is_sealed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = left_behind(store, WHOLE)
    (outcome,) = recover(store)
    assert (outcome.id, outcome.state, outcome.text) == (folder.name, "sealed", "50 samples recovered.")
    run = store.open("latest")
    left_behind(store, b"".join(streams.frames([np.array([100])])))
    assert "1 sample recovered." in {one.text for one in recover(store)}
    assert run.manifest.state == "sealed"
    assert run.manifest.conditions.stored == {"load": "idle"}
    assert recover(store) == []


@pytest.mark.slow
def test_a_stream_cut_anywhere_is_recovered_up_to_its_last_whole_frame(tmp_path: Path) -> None:
    header = len(FRAMES[0])
    cuts = [*range(header, len(WHOLE), 97), len(WHOLE) - 1]
    for number, cut in enumerate(cuts):
        store = Store(tmp_path / str(number))
        left_behind(store, WHOLE[:cut])
        (outcome,) = recover(store)
        run = store.open("latest")
        assert outcome.state == run.manifest.state == "recovered"
        for source, count in enumerate(samples_before(cut)):
            assert run.values(source=source).tolist() == LATENCIES[source][:count].tolist()
            assert run.manifest.books[source].recorded == count
        assert [warning.code for warning in run.manifest.warnings] == ["cut-off"]
        assert f"at byte {cut:,}" in (run.manifest.damage or "")
        assert (run.manifest.footer, run.manifest.ended) == (None, None)


def test_books_are_rebuilt_from_the_rows(tmp_path: Path) -> None:
    store = Store(tmp_path)
    left_behind(store, streams.make_stream([[100, 3_200_000, 100, 1_000_000, 999_999], []], footer=False))
    recover(store)
    cpu0, cpu1 = store.open("latest").manifest.books
    assert (cpu0.released, cpu0.completed, cpu0.missed, cpu0.recorded) == (9, 5, 4, 5)
    assert (cpu0.overruns, cpu0.warmup) == (2, None)
    assert (cpu1.released, cpu1.completed, cpu1.missed, cpu1.recorded) == (None, 0, None, 0)
    assert cpu1.overruns is None
    assert "there may have been more" in store.open("latest").manifest.warnings[0].text


def test_an_experiment_without_a_schedule_has_no_overruns_after_a_cut_either(tmp_path: Path) -> None:
    store = Store(tmp_path)
    left_behind(store, streams.make_stream([[5_000_000]], period_ns=None, experiment="clock", footer=False))
    recover(store)
    (book,) = store.open("latest").manifest.books
    assert (book.released, book.missed, book.overruns) == (None, None, None)


def test_misses_that_only_the_last_progress_tells_of_are_counted(tmp_path: Path) -> None:
    store = Store(tmp_path)
    stalled = {"source": 0, "completed": 4, "missed": 300, "worst_ns": 100, "last_ns": 100}
    event = {"event": "progress", "sources": [stalled]}
    left_behind(store, streams.make_stream([[100] * 4], footer=False, events=[event]))
    recover(store)
    (book,) = store.open("latest").manifest.books
    assert (book.completed, book.missed) == (4, 300)
    assert book.released is None  # the rows that would tell were lost
    assert book.problems() == []


def test_rows_that_were_dropped_before_the_cut_stay_counted(tmp_path: Path) -> None:
    store = Store(tmp_path)
    left_behind(store, streams.make_stream([[100] * 10], footer=False, dropped={0: 4}))
    recover(store)
    (book,) = store.open("latest").manifest.books
    assert (book.completed, book.recorded, book.dropped) == (14, 10, 4)
    # The rows span ten releases only, so how many there were in all can't be told.
    assert (book.released, book.missed) == (None, None)
    assert book.problems() == []


def test_a_histogram_cut_off_before_its_first_part_keeps_its_maxima(tmp_path: Path) -> None:
    progress = {
        "event": "progress",
        "sources": [{"source": 0, "completed": 900, "missed": 1, "worst_ns": 4_000, "last_ns": 2}],
    }
    whole = list(streams.frames([[1_000, 4_000, 2]], histogram=True))
    store = Store(tmp_path)
    left_behind(store, b"".join([*whole[:3], streams.json_frame(streams.EVENT, 3, progress)]))
    recover(store)
    run = store.open("latest")
    assert run.running_maxima(0)[1].tolist() == [1_000, 4_000]
    at_ns = streams.START_NS + 1_000_000
    assert run.manifest.extremes == (Extremes(0, "latency_ns", 2, 1_000, 4_000, at_ns),)
    (book,) = run.manifest.books
    assert (book.recorded, book.missed, book.released) == (0, 1, None)
    assert "cpu0 was last seen at 900 completed, 1 missed, worst 4 us" in run.manifest.warnings[0].text


def test_late_samples_of_a_histogram_that_was_cut_off_are_overruns(tmp_path: Path) -> None:
    latencies = [7, 2_500_000, 2_500_000, 1_100_000]
    store = Store(tmp_path)
    left_behind(store, streams.make_stream([latencies], histogram=True, footer=False))
    recover(store)
    assert store.open("latest").manifest.books[0].overruns == 3
    store = Store(tmp_path / "before its first part")
    left_behind(store, b"".join(list(streams.frames([latencies], histogram=True))[:3]))
    recover(store)
    assert store.open("latest").manifest.books[0].overruns == 1  # of these only the maximum is known


def test_damage_in_the_middle_keeps_what_came_before(tmp_path: Path) -> None:
    damaged = bytearray(WHOLE)
    damaged[sum(map(len, FRAMES[:4])) + 30] ^= 1
    store = Store(tmp_path)
    left_behind(store, bytes(damaged))
    recover(store)
    run = store.open("latest")
    assert len(run.values()) == 16
    assert "the checksum of the frame's payload does not match" in (run.manifest.damage or "")


def test_a_run_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.create("cyclic", "live") as writer:
        writer.append(WHOLE[:1_000])
        assert recover(store) == []
        with pytest.raises(StoreError, match="still being measured"):
            store.open(writer.path.name)
        writer.append(WHOLE[1_000:])
        assert len(writer.seal().values()) == 50


def test_books_that_do_not_balance_are_refused_each_time_and_the_list_can_say_why(tmp_path: Path) -> None:
    store = Store(tmp_path)
    stream = streams.make_stream([[1, 2]], books_extra={0: {"missed": 5}})
    folder = left_behind(store, stream)
    for _ in range(2):
        (outcome,) = recover(store)
        assert outcome.state == "refused"
        assert "released 2, but completed 2 and missed 5 (-5)" in outcome.text
        assert (folder / "stream.tauto").read_bytes() == stream
    with pytest.raises(StoreError, match="can't be completed"):
        store.open(folder.name)


def test_one_run_that_is_refused_does_not_stop_the_others(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for stream in (WHOLE[:10], b"no stream at all" * 20, WHOLE):
        left_behind(store, stream)
    assert [outcome.state for outcome in recover(store)] == ["refused", "refused", "sealed"]


def test_a_run_that_was_stopped_before_anything_was_measured_is_removed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = left_behind(store, b"")
    (outcome,) = recover(store)
    assert outcome.state == "removed"
    assert not folder.exists()


@pytest.mark.parametrize("manifest", [None, "{", "\udcff"])
def test_a_run_that_lost_its_manifest_is_described_by_its_stream(
    tmp_path: Path, manifest: str | None
) -> None:
    store = Store(tmp_path)
    folder = left_behind(store, WHOLE)
    (folder / "run.json").unlink()
    if manifest is not None:
        (folder / "run.json").write_text(manifest, errors="surrogateescape")
    recover(store)
    run = store.open(folder.name)
    assert (run.manifest.experiment, run.manifest.created) == ("cyclic", "2026-09-21T14:13:20+00:00")
    assert len(run.values()) == 50


@pytest.mark.slow
def test_a_killed_writer_leaves_a_run_that_can_be_recovered(tmp_path: Path) -> None:
    script = """
        import os, signal, sys
        from pathlib import Path
        from tautochrone.run.store import Store
        writer = Store(Path(sys.argv[1])).create("cyclic", "killed", facts={"machine": {"model": "m"}})
        writer.append(sys.stdin.buffer.read())
        os.kill(os.getpid(), signal.SIGKILL)
    """
    child = run_python(script, str(tmp_path), stdin=WHOLE[:-5])
    assert child.returncode == -9
    store = Store(tmp_path)
    (outcome,) = recover(store)
    assert outcome.state == "recovered"
    run = store.open("latest")
    assert len(run.values()) == 50
    assert run.manifest.facts == {"machine": {"model": "m"}}


@pytest.mark.parametrize("name", ["run.json", "samples.parquet"])
def test_a_link_where_a_file_is_written_leads_nobody_elsewhere(tmp_path: Path, name: str) -> None:
    """As somebody may lay it in a folder of theirs, which root recovers."""
    store, other = Store(tmp_path / "store"), tmp_path / "other"
    other.write_text("precious")
    (left_behind(store, WHOLE) / f"{name}.part").symlink_to(other)
    (outcome,) = recover(store)
    assert (outcome.state, other.read_text()) == ("sealed", "precious")
    assert not (outcome.path / name).is_symlink()


@pytest.mark.slow
def test_sealing_that_is_killed_at_any_step_is_finished_by_recover(tmp_path: Path) -> None:
    # The child seals one copy of the run after the other, each time killed before a later step of the
    # file system: every opening, renaming and removing in the run's folder.
    script = """
        import os, signal, sys
        from pathlib import Path
        from tautochrone.run.seal import seal

        def seal_until(step, folder):
            left = [step]
            def count(event, arguments):
                if event not in ("open", "os.rename", "os.remove") or str(folder) not in str(arguments[0]):
                    return
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            sys.addaudithook(count)
            seal(folder)
            os._exit(0)

        for folder in sorted(Path(sys.argv[1]).iterdir(), key=lambda path: int(path.name)):
            child = os.fork()
            if not child:
                seal_until(int(folder.name), folder / "run")
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
                print(folder.name)
                break
    """
    for step in range(1, 40):
        folder = left_behind(Store(tmp_path / str(step)), WHOLE)
        folder.rename(folder.with_name("run"))
    child = run_python(script, str(tmp_path))
    assert child.returncode == 0, child.stderr.decode()
    steps = int(child.stdout)
    assert steps > 8
    for step in range(1, steps + 1):
        store = Store(tmp_path / str(step))
        recover(store)
        run = StoredRun.read(store.path / "run")
        assert run.manifest.state == "sealed"
        assert sorted(path.name for path in run.path.iterdir()) == ["run.json", "samples.parquet"]
        for source, expected in enumerate(LATENCIES):
            assert run.values(source=source).tolist() == expected.tolist()
        assert recover(store) == []


def test_the_facts_are_there_from_the_beginning(tmp_path: Path) -> None:
    with Store(tmp_path).create("cyclic", "live", facts={"cpu": {"count": 2}}) as writer:
        writer.add_warning("noisy", "Something else is running.", "Stop it.")
        written = json.loads((writer.path / "run.json").read_text())
    assert written["state"] == "measuring"
    assert written["facts"] == {"cpu": {"count": 2}}
    assert written["warnings"] == [
        {"code": "noisy", "text": "Something else is running.", "advice": "Stop it."}
    ]


def run_python(script: str, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    source = ROOT / "src"
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(source)},
        check=False,
        timeout=PATIENCE_S,
    )
