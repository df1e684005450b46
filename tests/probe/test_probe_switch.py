"""Context switches, measured by the real probe: every row is what it says it is."""

import os
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from preload import environment_with
from read_tables import read
from real import PATIENCE_S, a_cpu, needs_priorities, probe, sealed, stopped_half_way, two_cpus
from report_runs import store_run
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.experiments.switch import SwitchPresentation
from tautochrone.judge.rows import DURATION, rows_of
from tautochrone.judge.switching import judge_switching
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe

SUSPEND_ABSENT = {"suspend-resume": "POSIX has no call that suspends another thread"}


@pytest.fixture(autouse=True)
def _with_priorities() -> None:
    needs_priorities("context switches between priorities")


def measured(store: Path, *arguments: str) -> StoredRun:
    ended = subprocess.run(
        [str(find_probe()), "switch", *arguments, "--out", "-"],
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return sealed(ended.stdout, store)


def by_name(run: StoredRun) -> dict[str, int]:
    return {row.label: row.source for row in rows_of(run)}


@pytest.mark.slow
def test_every_row_has_its_samples_and_none_runs_beside_another(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "600", "--cpus", two_cpus())
    assert list(by_name(run)) == [
        "yield",
        "hand-over none",
        "mutex alone none",
        "hand-over inherit",
        "mutex alone inherit",
        "clock alone",
        "hand-over none, across CPUs",
        "hand-over inherit, across CPUs",
    ]
    assert all((book.completed, book.recorded, book.dropped) == (600, 600, 0) for book in run.manifest.books)
    assert {one["name"]: one["why"] for one in run.manifest.header.stored["absent"]} == SUSPEND_ABSENT
    spans = [(run.instants(source).min(), run.column("after_ns", source).max()) for source in run.sources]
    assert all(before[1] < after[0] for before, after in pairwise(spans))


@pytest.mark.slow
def test_a_hand_over_is_never_negative_and_takes_longer_than_the_mutex_alone(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "1500", "--cpus", two_cpus())
    source = by_name(run)
    assert run.values().min() >= 0
    for protocol in ("none", "inherit"):
        alone = np.median(run.values(DURATION, source[f"mutex alone {protocol}"]))
        for where in ("", ", across CPUs"):
            handed = np.median(run.values(DURATION, source[f"hand-over {protocol}{where}"]))
            assert handed > 4 * alone
    clock = np.median(run.values(DURATION, source["clock alone"]))
    assert clock <= np.median(run.values(DURATION, source["mutex alone none"]))


@pytest.mark.slow
def test_the_two_of_a_pair_take_turns(tmp_path: Path) -> None:
    """Each interval begins after the one before it has ended, and no `before` serves two samples."""
    run = measured(tmp_path, "--count", "1000", "--cpus", two_cpus())
    for source in run.sources:
        before, after = run.column("before_ns", source), run.column("after_ns", source)
        assert (before[1:] >= after[:-1]).all()
        assert (run.column("attempts", source) >= 1).all()
    attempts = run.column("attempts", by_name(run)["hand-over none"])
    assert np.median(attempts) == 1


@pytest.mark.slow
def test_every_thread_is_where_it_was_asked_to_be(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "50", "--cpus", two_cpus(), "--priority", "42")
    near, far = map(int, two_cpus().split(","))
    for source in run.manifest.header.stored["sources"]:
        across = " to cpu" in source["name"]
        assert source["obtained"]["cpu"] == (far if across else near)
        assert source["obtained"]["priority"] == 42
        for partner in source["partners"]:
            assert partner["obtained"]["cpu"] == near
            assert partner["obtained"]["priority"] == (42 if partner["role"] == "second" else 41)
            assert partner["obtained"]["policy"] == "fifo"


def test_round_robin_takes_turns_as_well(tmp_path: Path) -> None:
    run = measured(tmp_path, "--policy", "rr", "--place", "same", "--cpus", a_cpu(), "--count", "500")
    assert all(book.recorded == 500 for book in run.manifest.books)
    assert run.manifest.header.stored["sources"][0]["obtained"]["policy"] == "rr"


def test_one_cpu_leaves_out_what_needs_two_and_says_so(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "50", "--cpus", a_cpu(), "--mutex", "none")
    assert list(by_name(run)) == ["yield", "hand-over none", "mutex alone none", "clock alone"]
    absent = {one["name"]: one["why"] for one in run.manifest.header.stored["absent"]}
    assert "second CPU" in absent["hand-over across CPUs"]


def test_rows_across_cpus_can_be_asked_for_alone(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "50", "--place", "different", "--cpus", two_cpus())
    assert list(by_name(run)) == ["hand-over none, across CPUs", "hand-over inherit, across CPUs"]
    (table, how) = read(SwitchPresentation().tables([run], [""]))
    assert table.rows == (("this run", "N/A", "N/A"),)
    assert len(how.rows) == 2


REFUSALS = {
    "no priorities": (["--policy", "other"], "Use fifo or rr"),
    "no such mutex": (["--mutex", "ceiling"], "none|inherit|both"),
    "no room below": (["--priority", "1"], "2 priorities"),
    "two places on one CPU": (["--place", "different", "--cpus", a_cpu()], "--cpus 0,1"),
    "any CPU": (["--cpus", "any"], "always pinned"),
    "nothing to measure": (["--count", "0"], "--count"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_says_what_to_do(name: str) -> None:
    arguments, words = REFUSALS[name]
    ended = probe("switch", *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert ended.stdout == ""


def test_without_permission_it_says_how_to_get_it(tmp_path: Path) -> None:
    out = tmp_path / "stream"
    command = [str(find_probe()), "switch", "--count", "50", "--no-memory-lock", "--out", str(out)]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice", *command]
    limited = ["prlimit", "--rtprio=0", *command]
    ended = subprocess.run(limited, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ended.returncode == 3, ended.stderr
    assert "policy fifo with priority 90 is not permitted" in ended.stderr
    assert "cap_sys_nice" in ended.stderr
    assert not out.exists()


def test_a_yield_that_does_not_yield_is_given_up_and_the_stream_says_so(tmp_path: Path) -> None:
    ended = subprocess.run(
        [str(find_probe()), "switch", "--place", "same", "--count", "300", "--out", "-"],
        env=environment_with("int sched_yield(void) { return 0; }\n", tmp_path),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert b"given up" in ended.stderr
    run = sealed(ended.stdout, tmp_path / "store")
    (event,) = [event.stored for event in run.manifest.events if event.event == "given-up"]
    assert event["source"] == by_name(run)["yield"]
    assert (event["samples"], event["attempts"]) == (0, 1000)
    recorded = [book.recorded for book in run.manifest.books]
    assert recorded == [0] + [300] * (len(recorded) - 1)


@pytest.mark.slow
def test_a_stop_half_way_keeps_what_was_measured(tmp_path: Path) -> None:
    run = stopped_half_way(tmp_path, str(find_probe()), "switch", "--count", "20000", "--cpus", two_cpus())
    counts = [book.recorded for book in run.manifest.books]
    assert run.manifest.ended == "interrupted"
    assert counts[0] > 0
    assert counts[-1] < 20_000
    assert all(book.completed == book.recorded for book in run.manifest.books)
    read(SwitchPresentation().tables([run], [""]))
    SwitchPresentation().figures([run], [""], "x")


def test_a_histogram_keeps_every_sample_of_every_row(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "700", "--place", "same", "--record", "histogram")
    for source in run.sources:
        assert int(run.histogram(source)[2].sum()) == 700
    judged = judge_switching(run)
    assert [one.protocol for one in judged.synchronized] == ["none", "inherit"]
    assert all(one.switch.value > 0 and one.switch.low is None for one in judged.synchronized)


def test_the_table_subtracts_the_mutex_and_names_what_is_missing(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "900", "--place", "same", "--cpus", a_cpu(), "--mutex", "none")
    source = by_name(run)
    handed = run.values(DURATION, source["hand-over none"])
    alone = run.values(DURATION, source["mutex alone none"])
    (table, how) = read(SwitchPresentation().tables([run], [""]))
    assert table.columns == ("", "suspend-resume", "yield", "synchronized, mutex none")
    ((_, suspend, yielding, synchronized),) = table.rows
    assert suspend == "N/A"
    assert any("POSIX has no call" in note for note in table.notes)
    yields = run.values(DURATION, source["yield"])
    assert yielding == f"{yields.mean() / 1e3:,.3f} ({yields.std() / 1e3:,.3f})"
    assert synchronized == f"{(handed.mean() - alone.mean()) / 1e3:,.3f} ({handed.std() / 1e3:,.3f})"
    low, high = map(float, how.rows[0][4].split(" to "))
    assert low <= float(how.rows[0][3]) <= high


def test_the_figure_sets_each_row_beside_the_published_ones(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "400", "--place", "same", "--cpus", a_cpu())
    (figure,) = SwitchPresentation().figures([run, run], ["idle", "loaded"], "switch")
    assert [panel.title for panel in figure.panels][:2] == ["yield", "hand-over"]
    assert len({panel.id for panel in figure.panels}) == len(figure.panels)
    drawn = str(figure.panels[0].chart.specification(PAGE))
    for words in ("yield\\nidle", "yield\\nloaded", "VxWorks 5.4 (2002)", "Pentium III, 866 MHz"):
        assert words in drawn
    assert "866 MHz" in figure.caption[0]


def test_suspend_and_resume_is_half_of_two_switches(tmp_path: Path) -> None:
    """As a system has it that can suspend another thread: 9 us, less 3 us for the calls, are two switches."""
    names = ["suspend-resume, cpu0", "suspend-resume alone, cpu0", "yield, cpu0"]
    duration = {
        "name": "duration_ns",
        "table": "samples",
        "from": "scheduled_ns",
        "to": "wake_ns",
        "meaning": "a",
    }
    generator = np.random.default_rng(5)
    samples = [generator.normal(mean, mean / 50, 900).astype(np.int64) for mean in (9_000, 3_000, 700)]
    extra = {"measures": [duration]}
    run = store_run(
        Store(tmp_path), samples, experiment="switch", period_ns=None, names=names, header_extra=extra
    )
    held = judge_switching(run).suspended
    assert held is not None
    assert held.switch.value == pytest.approx(3_000, rel=0.01)
    assert held.switch.low is not None
    assert held.switch.low < held.switch.value
    (table,) = read(SwitchPresentation().tables([run], [""]))
    assert table.rows[0][1] == f"{held.switch.value / 1e3:.3f} ({held.jitter_ns / 1e3:.3f})"
    assert not any("N/A" in note for note in table.notes)
