"""What is seen of runs while they are measured: of a made-up soak, and of a real run."""

import errno
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import in_process
from late_runs import CASES, stream_of
from live_runs import BEGUN_S, feed, gathering
from real import PATIENCE_S, policy_options, start_tauto, tauto, wait_until
from schemas import valid
from soaks import Soak, begin_soak, soak_frames
from streams import ROWS, START_NS
from streams import frame as made_frame
from streams import frames as made_frames
from tautochrone.answer.phrasing.blame import name_of
from tautochrone.base.errors import StoreError, UsageError
from tautochrone.base.schemas import with_schema
from tautochrone.base.stream import FrameReader
from tautochrone.judge.blame import blame_of
from tautochrone.judge.late_causes import main_cause
from tautochrone.judge.requirement.until import RuleWatcher, parse_rule
from tautochrone.live.following import Followed, binned
from tautochrone.live.picture import BLOCKS, COLUMNS, COURSE, LATE, Step
from tautochrone.run.held import Held, boot_here
from tautochrone.run.intervals import IntervalReader
from tautochrone.run.store import Store

S = 1_000_000_000


def late_twice(
    random: np.random.Generator, at: int, source: int, count: int
) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """The second source has a cycle past its period of 60 ms in the fourth and the fifth minute."""
    values = random.integers(2_000, 40_000, count)
    if source == 1 and at in (3, 4):
        values[7] = 80_000_000 + at
    return values


LATE_TWICE = Soak(intervals=20, cpus=2, latencies=late_twice, missed=1)


def test_a_soak_is_seen_while_it_is_measured_and_nothing_twice(tmp_path: Path) -> None:
    writer = begin_soak(Store(tmp_path), LATE_TWICE, intervals=12, hour=5)
    followed = Followed(writer.path)
    shown = followed.look()
    assert (shown.state, len(shown.course), shown.heard) == ("measuring", 12, 24)
    assert followed.look().heard == 24
    for at, data in soak_frames(LATE_TWICE):
        if at >= 12:
            writer.append(data)
    shown = followed.look()
    totals = shown.totals[1]
    assert (totals.released, totals.missed, totals.late, totals.unknown) == (20_000, 20, 2, 0)
    assert (totals.worst_ns, shown.totals[0].late) == (80_000_004, 0)
    assert [one.latency_ns for _, one in shown.late] == [80_000_003, 80_000_004]
    assert shown.events_per_day() is not None
    assert shown.events_per_day()[0] == 1  # type: ignore[index]  # missed cycles in every minute are one event
    assert sum(one.total for one in shown.counts.values()) == 2 * 20 * 999
    of_all = {one.q: one.value for one in shown.quantiles()}
    assert of_all[0.999] == 80_000_004  # and not the upper edge of its bin
    assert of_all[0.9999] == "among lost"  # as 1 of 1,000 releases was missed
    table = valid(json.dumps(with_schema("live", shown.as_table())))
    assert [one["value_ns"] for one in table["quantiles"]][-2:] == [None, None]
    writer.seal()
    assert followed.look().state == "complete"
    with pytest.raises(UsageError, match="complete"):
        Followed(writer.path)


def test_a_soak_that_goes_on_while_nobody_keeps_it_is_not_cut_off(tmp_path: Path) -> None:
    with begin_soak(Store(tmp_path), LATE_TWICE, intervals=3) as writer:
        followed = Followed(writer.path)
        followed.look()
        (apart := tmp_path / "apart").mkdir()
        Held("local", 600.0, [], "/", boot_here(), {"probe": str(apart)}).write(writer.path)
    assert followed.look().state == "measuring"
    apart.rmdir()
    assert followed.look().state == "cut off"


def test_lost_samples_are_unknown_and_widen_what_is_known_of_late_events(tmp_path: Path) -> None:
    lost = {"event": "dropped", "time_ns": START_NS, "source": 0, "rows": 7}
    with Store(tmp_path).create("cyclic", "some are lost", {}, {}) as writer:
        parts = [*made_frames([np.full(1_500, 9_000)], footer=False, events=[lost])]
        next_second = np.array([START_NS + 3 * S, START_NS + 3 * S + 9_000])
        writer.append(b"".join([*parts, made_frame(ROWS, len(parts), next_second.tobytes())]))
        totals = Followed(writer.path).look().totals[0]
    assert (totals.released, totals.unknown) == (1_500 + 7, 7)
    highs = []
    for unknown in (0, 1):
        shown = gathering(1, step_s=60)
        for at in range(200):
            shown.add([Step(0, BEGUN_S + 60 * at, at, 1_000, unknown=unknown * (at == 50))])
        events = shown.events_per_day()
        assert events is not None
        assert events[0] == 0
        highs.append(events[2])
    assert highs[0] < highs[1]


def test_a_soak_that_is_cut_off_is_told_and_another_folder_refused(tmp_path: Path) -> None:
    writer = begin_soak(Store(tmp_path), LATE_TWICE, intervals=3)
    followed = Followed(writer.path)
    assert followed.look().state == "measuring"
    writer.close()
    assert followed.look().state == "cut off"
    with pytest.raises(StoreError):
        Followed(tmp_path / "none")
    nothing = tauto("live", store=tmp_path / "empty")
    assert (nothing.returncode, nothing.stdout) == (4, "")


@pytest.mark.slow
def test_a_rule_judges_the_intervals_as_they_come() -> None:
    reader, frames = IntervalReader(), FrameReader()
    intervals = []
    for _, data in soak_frames(Soak(intervals=20, cpus=2, latencies=late_twice)):
        for frame in frames.feed(data):
            intervals.append(reader.take(frame))  # noqa: PERF401 - the reader goes on
    assert reader.header is not None

    def ends(text: str) -> int | None:
        assert reader.header is not None
        watcher = RuleWatcher(parse_rule(text))
        each = enumerate(one for one in intervals if one)
        return next((at for at, some in each if watcher.ask(reader.header, some)), None)

    # Both sources end each minute one after the other.
    assert ends("misses = 0 refuted") == 2 * 3 + 1
    assert ends("latency above 100ms < 1 per 3 min shown") is not None
    assert ends("latency above 100ms < 1 per day shown") is None
    assert ends("1 per 2 min refuted") is None
    with pytest.raises(UsageError, match="not measured"):
        ends("response above 1ms < 1 per day shown")


def test_causes_of_late_cycles_are_those_of_the_complete_run_as_they_come(tmp_path: Path) -> None:
    """But for the names of the kernel's functions, which are told when it is over."""
    late = [CASES[at % 4](100 + 40 * at) for at in range(40)]
    data = stream_of(late)
    writer = Store(tmp_path).create("cyclic", "cyclic", {"load": "idle"}, {})
    writer.append(data[: len(data) // 3])
    followed = Followed(writer.path)
    some = len(followed.look().late)
    writer.append(data[len(data) // 3 :])
    shown = followed.look()
    assert 0 <= some <= len(shown.late) == len(late)
    found = blame_of(writer.seal())
    assert found is not None
    expected = [(one.latency_ns, name_of(*main_cause(one))) for one in found.blame.cycles]
    assert sorted((one.latency_ns, one.cause) for _, one in shown.late) == sorted(expected)
    assert {"irq/34-eth0", "kworker"} <= {one.cause for _, one in shown.late}


def test_what_came_after_the_last_look_is_told_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The raw stream is gone as soon as the run is complete."""
    writer = begin_soak(Store(tmp_path), LATE_TWICE, intervals=3)
    monkeypatch.setattr("tautochrone.live.verb.time.sleep", lambda _: writer.seal())
    ended = in_process.tauto("live", store=tmp_path)
    assert "complete" in ended.out.splitlines()[-1]
    assert (
        f"What came last may not be in these numbers. The whole run: tauto show {writer.path.name}"
        in ended.err
    )


def test_a_run_that_this_user_may_not_see_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden, seen = (begin_soak(Store(tmp_path), LATE_TWICE, intervals=3) for _ in range(2))
    stat = Path.stat

    def refused(self: Path, **more: bool) -> os.stat_result:
        if self.parent == hidden.path:
            raise PermissionError(errno.EACCES, "Permission denied")
        return stat(self, **more)

    monkeypatch.setattr(Path, "stat", refused)
    ended = in_process.tauto("live", "--json", store=tmp_path)
    assert (ended.code, seen.path.name in ended.out) == (0, True), ended.err


@pytest.mark.parametrize("intervals", [0, 3])
def test_a_run_that_is_gone_is_not_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, intervals: int
) -> None:
    store = Store(tmp_path)
    writer = (
        begin_soak(store, LATE_TWICE, intervals=intervals) if intervals else store.create("cyclic", "refused")
    )
    monkeypatch.setattr("tautochrone.live.verb.time.sleep", lambda _: writer.discard())
    ended = in_process.tauto("live", store=tmp_path)
    assert (ended.code, "is not there any more" in ended.err) == (4, True)
    assert "complete" not in ended.out


@pytest.mark.slow
def test_a_real_run_is_seen_second_by_second_at_a_pipe(tmp_path: Path) -> None:
    measuring = start_tauto(
        "probe", "cyclic", "--period", "2ms", "--duration", "600s", "--cpus", "0", *policy_options(),
        store=tmp_path,
    )  # fmt: skip
    try:
        wait_until(lambda: Store(tmp_path).has_raw_streams(), PATIENCE_S)
        watching = start_tauto("live", store=tmp_path)
        assert watching.stdout is not None
        lines = []
        while len([one for one in lines if "worst" in one and "N/A" not in one]) < 2:
            lines.append(watching.stdout.readline())
            assert watching.poll() is None
        watching.send_signal(signal.SIGINT)
        assert watching.wait(PATIENCE_S) == 130
        assert measuring.poll() is None  # the run goes on
    finally:
        measuring.send_signal(signal.SIGINT)
        measuring.wait(PATIENCE_S)


@pytest.mark.slow
def test_memory_is_bounded_and_totals_are_not() -> None:
    shown, steps = gathering(step_s=60), COURSE + COURSE // 2
    feed(shown, steps, late_every=10)
    assert (len(shown.course), len(shown.late)) == (COURSE, LATE)
    assert len(shown.columns) <= COLUMNS
    assert len(shown._blocks) <= BLOCKS
    assert shown.totals[0].released == steps * 1_000
    assert shown.totals[0].late == steps // 10
    assert shown.course[-1].begin_s == BEGUN_S + (steps - 1) * 60
    assert shown.events_per_day()[0] == steps // 10 - 1  # type: ignore[index]  # the last minute goes on


def test_bins_of_samples_hold_them_and_no_edge_is_lower() -> None:
    values = np.array([0, 1, 255, 256, 1_000, 999_999, 5 * S, 5 * S])
    counts = binned(values)
    assert counts.total == len(values)
    for value in values.tolist():
        edge = counts.value[np.searchsorted(counts.value, value)]
        assert value <= edge <= value * (1 + 1 / 128)
