"""The probe's interrupt experiment on the real machine, and what the lab makes of it."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from read_tables import read
from real import (
    PATIENCE_S,
    a_cpu,
    is_one_refusal,
    measuring,
    policy_options,
    probe,
    sealed,
    skip_or_fail,
    stopped_half_way,
    tauto,
)
from streams import RESPONSE, make_stream
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.experiments.interrupt import InterruptPresentation, sentence
from tautochrone.judge.interrupt import INTERRUPT, PREEMPTION, SWITCH, StartRequirement, judge_interrupt
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe

NOBODY = 65534


@pytest.fixture(scope="module")
def handler() -> None:
    """The handler's time stamp can be had here."""
    ended = probe("interrupt", "--cpus", a_cpu(), *policy_options(), "--period", "1ms", "--count", "5")
    if ended.returncode:
        skip_or_fail(f"the timer's handler can't be seen here: {ended.stderr.strip()}")


def command(*arguments: str) -> list[str]:
    return [str(find_probe()), "interrupt", "--cpus", a_cpu(), *policy_options(), *arguments]


def measure(store: Path, *arguments: str) -> StoredRun:
    with measuring(*command(*arguments)) as probe:
        probe.end()
        return sealed(probe.stream, store)


def check_books(run: StoredRun) -> None:
    (books,) = run.manifest.books
    assert books.released == books.completed + (books.missed or 0)
    assert books.completed == books.recorded + (books.dropped or 0)
    assert len(run.values(PREEMPTION)) == books.recorded
    for measure in set(run.measures) - {PREEMPTION}:
        known = run.count(measure)
        assert known == len(run.values(measure))
        # Those whose handler was not seen are counted also where their row was dropped.
        assert 0 <= unseen(run) - (books.recorded - known) <= (books.dropped or 0)


def unseen(run: StoredRun) -> int:
    """How often the kernel did not tell when the handler began; it has its reasons."""
    assert run.manifest.footer is not None
    assert run.manifest.footer.books is not None
    return run.manifest.footer.books[0].unseen or 0


def as_nobody(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The probe as a user who may nothing: another one, where the tests run as root."""
    other = NOBODY if os.geteuid() == 0 else None
    groups: list[int] | None = [] if other is not None else None
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        Path(folder).chmod(0o755)
        copy = shutil.copy(find_probe(), folder)
        Path(copy).chmod(0o755)
        command = [copy, "interrupt", "--policy", "other", "--no-memory-lock", *arguments]
        return subprocess.run(
            command, capture_output=True, timeout=PATIENCE_S, check=False, user=other, group=other,
            extra_groups=groups,
        )  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("handler")
def test_the_handler_runs_between_the_timer_and_the_task(tmp_path: Path) -> None:
    run = measure(tmp_path, "--rate", "1000", "--count", "500", "--warmup", "7")
    check_books(run)
    (books,) = run.manifest.books
    assert books.released == 500
    assert 0 <= books.warmup <= 7  # those of them that were served
    served = 500 - (books.missed or 0)
    assert books.recorded == served
    assert run.count(INTERRUPT) > 0.5 * served  # a kernel may keep some handlers to itself, not most
    interrupt, preemption = run.values(INTERRUPT), run.values(PREEMPTION)
    seen = run.column("handler_ns", 0) != np.iinfo(np.int64).min
    assert interrupt.min() >= 0
    assert (interrupt <= preemption[seen]).all()
    assert (run.values(SWITCH) == preemption[seen] - interrupt).all()
    scheduled = run.column("scheduled_ns", 0)
    assert (np.diff(scheduled) % 1_000_000 == 0).all()
    assert (run.column("handler_ns", 0)[seen] == scheduled[seen] + interrupt).all()
    assert (run.column("wake_ns", 0) == scheduled + preemption).all()


@pytest.mark.slow
@pytest.mark.usefixtures("handler")
def test_the_preemption_latency_is_of_the_size_of_the_scheduling_latency(tmp_path: Path) -> None:
    """Both are from a release to the first stamp of its thread; lower quartiles of several short runs."""
    ours: list[float] = []
    cyclic: list[float] = []
    for k in range(20):
        ours += measure(tmp_path / f"i{k}", "--rate", "1000", "--count", "400").values(PREEMPTION).tolist()
        command = [
            str(find_probe()),
            "cyclic",
            "--cpus",
            a_cpu(),
            *policy_options(),
            "--count",
            "400",
            "--out",
            "-",
        ]
        stream = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=True).stdout
        cyclic += sealed(stream, tmp_path / f"c{k}").values().tolist()
        if min(len(ours), len(cyclic)) > 200:  # on a busy machine most releases of a run may be missed
            break
    assert 0.1 < np.quantile(ours, 0.25) / np.quantile(cyclic, 0.25) < 10


SPIN = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(95))
for _ in range(25):
    until = time.monotonic() + 0.006
    while time.monotonic() < until: pass
    time.sleep(0.03)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("handler")
def test_a_more_urgent_task_shows_in_the_preemption_latency_and_not_in_the_interrupt_latency(
    tmp_path: Path,
) -> None:
    if "fifo" not in policy_options():
        skip_or_fail("needs real-time priority, which this user may not have")
    with measuring(*command("--rate", "500", "--duration", "60s")) as probe:
        probe.wait_for_rows()
        spin = [sys.executable, "-c", SPIN, a_cpu()]
        burst = subprocess.run(spin, timeout=PATIENCE_S, check=False, capture_output=True, text=True)
        probe.process.send_signal(signal.SIGINT)
        probe.end()
    assert burst.returncode == 0, burst.stderr
    run = sealed(probe.stream, tmp_path)
    check_books(run)
    interrupt, preemption = run.values(INTERRUPT), run.values(PREEMPTION)
    held_up = preemption > 2_000_000  # a third of what a burst lasts, and a whole period
    assert held_up.sum() >= 8
    late = held_up[run.column("handler_ns", 0) != np.iinfo(np.int64).min]
    assert np.median(interrupt[late]) < 0.25 * np.median(preemption[held_up])
    assert (run.manifest.books[0].missed or 0) >= 8  # releases during a burst are passed over


@pytest.mark.slow
@pytest.mark.usefixtures("handler")
def test_a_full_ring_drops_and_counts(tmp_path: Path) -> None:
    run = measure(tmp_path, "--rate", "5000", "--count", "3000", "--ring", "8")
    check_books(run)
    (books,) = run.manifest.books
    assert (books.dropped or 0) > 0
    told = sum(event.stored["rows"] for event in run.manifest.events if event.event == "dropped")
    assert told == books.dropped


@pytest.mark.slow
@pytest.mark.usefixtures("handler")
def test_a_signal_ends_the_run_early_and_keeps_what_was_measured(tmp_path: Path) -> None:
    run = stopped_half_way(tmp_path, *command("--rate", "500", "--duration", "60s"))
    check_books(run)
    assert run.manifest.ended == "interrupted"
    assert 0 < run.manifest.books[0].completed < 10_000


@pytest.mark.slow
@pytest.mark.usefixtures("handler")
def test_nothing_is_mounted_for_anybody_to_see() -> None:
    before = Path("/proc/self/mountinfo").read_text()
    with measuring(*command("--rate", "100", "--duration", "60s")) as running:
        running.wait_for_rows()
        process = running.process
        assert process.poll() is None
        assert Path("/proc/self/mountinfo").read_text() == before
        assert Path(f"/proc/{process.pid}/mountinfo").read_text() == before
        names = [path.read_text().strip() for path in Path(f"/proc/{process.pid}/task").glob("*/comm")]
        assert "tauto-actor" in names
        assert "tauto-tracefs" not in names
    assert Path("/proc/self/mountinfo").read_text() == before


def test_who_may_not_is_told_what_to_enable() -> None:
    if os.geteuid() != 0 and probe("interrupt", "--policy", "other", "--count", "3").returncode == 0:
        pytest.skip("this user may see the handler, and has nobody else to be")
    ended = as_nobody("--count", "3")
    assert ended.returncode == 3, ended.stderr
    said = ended.stderr.decode()
    assert is_one_refusal(said)
    for words in ("CAP_PERFMON", "CAP_BPF", "tracefs", "--without-handler"):
        assert words in said
    assert ended.stdout == b""


def test_without_the_handler_anybody_may_measure_the_preemption_latency(tmp_path: Path) -> None:
    ended = as_nobody("--without-handler", "--count", "60", "--period", "20ms", "--out", "-")
    assert ended.returncode == 0, ended.stderr
    run = sealed(ended.stdout, tmp_path)
    check_books(run)
    assert run.measures == (PREEMPTION,)
    assert run.values().min() >= 0
    judged = judge_interrupt(run)
    assert judged.interrupt is None
    assert judged.switch is None
    assert set(judged.absent) == {"interrupt latency (t1)", "context switch (t2 - t1)"}
    preemption, requirement = read(InterruptPresentation().tables([run], [""]))
    assert "t2" in preemption.title
    assert any(note.startswith("N/A, interrupt latency") for note in requirement.notes)


REFUSALS = {
    "two rates": (["--rate", "100", "--period", "10ms"], "contradict"),
    "two lengths": (["--count", "5", "--duration", "1s"], "contradict"),
    "no rate": (["--rate", "0"], "--period"),
    "faster than there is": (["--rate", "200kHz"], "10us"),
    "no period": (["--period", "0s"], "10us"),
    "shorter than a period": (["--duration", "1ms"], "Lengthen"),
    "unknown option": (["--fast"], "--help"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_one_line_that_says_what_to_do(name: str) -> None:
    arguments, words = REFUSALS[name]
    ended = probe("interrupt", *policy_options(), *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert is_one_refusal(ended.stderr)
    assert ended.stdout == ""


def test_a_requirement_is_met_as_surely_as_the_samples_allow() -> None:
    met = StartRequirement(500_000, samples=299, late=0, missed=0, dropped=0, largest_ns=95_600)
    assert met.standing == "met"
    # 1 - 0.05 ** (1 / 299) = 0.00997: the rule of three
    assert sentence(met) == (
        "Less than 500 us: met in all 299 samples; the latest start was 95.6 us late. "
        "With 95 % confidence at most 1 start in 100 comes too late."
    )
    few = StartRequirement(500_000, samples=3, late=0, missed=0, dropped=0, largest_ns=1_000)
    assert few.standing == "met"
    assert "say next to nothing" in sentence(few)


def test_dropped_samples_weaken_what_is_said() -> None:
    whole = StartRequirement(500_000, samples=1000, late=0, missed=0, dropped=0, largest_ns=1_000)
    lacking = StartRequirement(500_000, samples=997, late=0, missed=0, dropped=3, largest_ns=1_000)
    assert lacking.standing == "met"
    assert whole.share is not None
    assert lacking.share is not None
    assert 2 * whole.share < lacking.share < 0.01
    assert "3 samples were dropped, here taken for late." in sentence(lacking)


def test_a_requirement_is_not_met_by_one_late_start_or_one_that_was_passed_over() -> None:
    late = StartRequirement(500_000, samples=1000, late=2, missed=0, dropped=0, largest_ns=612_000)
    assert late.standing == "not met"
    assert "2 of 1,000 starts came too late, the latest by 612 us" in sentence(late)
    missed = StartRequirement(500_000, samples=1000, late=0, missed=1, dropped=0, largest_ns=4_000)
    assert missed.standing == "not met"
    assert "1 release was passed over" in sentence(missed)


@pytest.mark.slow
def test_the_largest_of_a_histogram_is_that_of_all_cpus(tmp_path: Path) -> None:
    measure = {**RESPONSE["measures"][0], "name": PREEMPTION, "table": "extremes"}
    sources = [np.array([20_000, 30_000]), np.array([20_000, 612_345])]
    with Store(tmp_path).create("timerlat", "two CPUs", {"load": "idle"}, {}) as writer:
        writer.append(
            make_stream(sources, experiment="timerlat", histogram=True, header_extra={"measures": [measure]})
        )
        run = writer.seal()
    assert judge_interrupt(run).requirement == StartRequirement(500_000, 4, 1, 0, 0, 612_345)
    (figure,) = InterruptPresentation().figures([run], [""], "x")
    drawn = (layer.values or () for layer in figure.panels[0].chart.layers)
    assert max(one["at"] for values in drawn for one in values if "share" in one) == 612_345


def test_what_is_not_known_is_not_shown_to_hold() -> None:
    assert StartRequirement(500_000, 0, 0, 0, 0, None).standing == "not shown"
    cut_off = StartRequirement(500_000, 1000, 0, None, 0, 4_000)
    assert cut_off.standing == "not shown"
    assert "missed is not known" in sentence(cut_off)


def test_misses_that_are_not_counted_are_not_taken_for_none(tmp_path: Path) -> None:
    run = sealed(make_stream([[1_000] * 100], None, experiment="interrupt"), tmp_path)
    assert judge_interrupt(run).requirement.missed is None


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """`--load both`, once for all that look at it."""
    folder = tmp_path_factory.mktemp("both")
    permitted = policy_options()
    ended = tauto(
        "probe", "interrupt", "--rate", "500", "--duration", "700ms", "--load", "both", "--limit", "20ms",
        "--cpus", a_cpu(), *permitted, "--bins", str(folder / "bins.csv"), store=folder / "store",
    )  # fmt: skip
    if ended.returncode == 3:
        skip_or_fail(ended.stderr)
    assert ended.returncode == 0, ended.stderr
    return folder, ended.stdout


@pytest.mark.slow
def test_idle_and_loaded_stand_side_by_side_as_in_the_paper(both: tuple[Path, str]) -> None:
    folder, said = both
    runs = Store(folder / "store").runs()
    assert [run.manifest.conditions.stored["load"] for run in runs] == ["idle", "cpu+memory"]
    assert all(run.manifest.conditions.stored["limit_ns"] == 20_000_000 for run in runs)
    together = said.partition("Both together")[2]
    assert "maximum, unloaded" in together
    assert "maximum, loaded" in together
    assert together.count("Less than 20 ms: ") == 2
    interrupt, preemption, switch, requirement = read(
        InterruptPresentation().tables(runs, ["idle", "loaded"])
    )
    assert len(interrupt.rows) == len(preemption.rows) == 1  # one system, one loop
    for grid, measure in ((interrupt, INTERRUPT), (preemption, PREEMPTION)):
        maxima = [f"{run.values(measure).max() / 1e3:,.3f}" for run in runs]
        assert grid.rows[0][1:] == (*maxima, "too few", "too few")
    assert len(switch.rows) == len(requirement.rows) == 2


@pytest.mark.slow
def test_the_papers_bins_hold_every_sample(both: tuple[Path, str]) -> None:
    folder, _ = both
    counted: dict[tuple[str, str], int] = defaultdict(int)
    lines: dict[tuple[str, str], int] = defaultdict(int)
    with (folder / "bins.csv").open() as file:
        for row in csv.DictReader(file):
            counted[row["load"], row["measure"]] += int(row["count"])
            lines[row["load"], row["measure"]] += 1
    for run in Store(folder / "store").runs():
        load = run.manifest.conditions.stored["load"]
        for measure, bins in ((INTERRUPT, 2_000), (PREEMPTION, 2_500)):
            assert counted[load, measure] == len(run.values(measure))
            assert lines[load, measure] == bins + 1  # and one for what lies past the last


@pytest.mark.slow
def test_the_curves_of_both_runs_are_on_one_chart(both: tuple[Path, str]) -> None:
    folder, _ = both
    runs = Store(folder / "store").runs()
    (figure,) = InterruptPresentation().figures(runs, ["idle", "loaded"], "x")
    assert [panel.id for panel in figure.panels] == ["x-curves", "x-top"]
    text = json.dumps(figure.panels[0].chart.specification(PAGE))
    for words in ("idle", "loaded", "interrupt latency (t1)", "preemption latency (t2)", "requirement 20"):
        assert words in text


@pytest.mark.slow
def test_a_requirement_of_nothing_is_refused_before_measuring(tmp_path: Path) -> None:
    for arguments, words in (
        (["--limit", "0ns"], "--limit"),
        (["--limit", "soon"], "not a duration"),
        (["--load", "both", "--json"], "two"),
        (["--bins", str(tmp_path / "none" / "bins.csv")], "no folder"),
    ):
        ended = tauto("probe", "interrupt", *arguments, store=tmp_path)
        assert ended.returncode in (2, 4), ended.stderr
        assert words in ended.stderr
    assert Store(tmp_path).runs() == []
