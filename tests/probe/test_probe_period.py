"""The error of the period, measured by the real probe."""

import json
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from read_tables import read
from real import PATIENCE_S, a_cpu, is_one_refusal, policy_options, probe, sealed, stopped_half_way, tauto
from tautochrone.answer.experiments.period import PeriodPresentation
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.summary import periodicity
from tautochrone.target.local import find_probe


def measured(store: Path, *arguments: str) -> StoredRun:
    ended = subprocess.run(
        [str(find_probe()), "period", *arguments, *policy_options(), "--cpus", a_cpu(), "--out", "-"],
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return sealed(ended.stdout, store)


def test_every_period_has_its_row_and_its_books(tmp_path: Path) -> None:
    run = measured(tmp_path, "--periods", "2ms,5ms", "--count", "60")
    assert list(run.sources.values()) == [f"2 ms, cpu{a_cpu()}", f"5 ms, cpu{a_cpu()}"]
    assert [one["period_ns"] for one in run.manifest.header.stored["sources"]] == [2_000_000, 5_000_000]
    for book in run.manifest.books:
        assert book.released == 60
        assert book.completed + (book.missed or 0) == 60
        assert book.recorded == book.completed
        assert 0 <= book.warmup <= 1  # those of them that were served


def test_an_error_is_the_difference_of_two_starts_and_the_period(tmp_path: Path) -> None:
    run = measured(tmp_path, "--periods", "3ms", "--count", "80")
    error_ns = run.values("period_error_ns", 0)
    wake_ns = run.instants(0, "latency_ns") + run.values("latency_ns", 0)
    assert (np.diff(wake_ns) - 3_000_000 == error_ns[1:]).all()
    assert run.values("latency_ns", 0).min() >= 0


@pytest.mark.slow
def test_rows_of_different_periods_never_overlap_in_time(tmp_path: Path) -> None:
    run = measured(tmp_path, "--periods", "4ms,2ms,3ms", "--count", "60")
    served = [instants for source in run.sources if (instants := run.instants(source)).size]
    spans = [(instants.min(), instants.max()) for instants in served]
    assert spans
    assert all(before[1] < after[0] for before, after in pairwise(spans))


@pytest.mark.slow
def test_a_stop_half_way_keeps_what_was_measured(tmp_path: Path) -> None:
    run = stopped_half_way(
        tmp_path,
        *(str(find_probe()), "period", "--periods", "5ms,400ms", "--count", "20"),
        *(*policy_options(), "--cpus", a_cpu()),
        source=1,
    )
    assert run.manifest.ended == "interrupted"
    first, second = run.manifest.books
    assert first.released == first.completed + (first.missed or 0) == 20
    assert second.completed < 20
    assert second.released == second.completed + (second.missed or 0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--periods", "10ms,10"], "10ms,30ms,50ms"),
        (["--periods", ""], "--periods needs a value: an empty one was given."),
        (["--periods", "10ms,"], "between 10us and 1h"),
        (["--periods", "1ms,5ms,1000us"], "named twice"),
        (["--periods", "1ns"], "between 10us and 1h"),
        (["--count", "0"], "--count"),
        (["--policy", "other", "--priority", "5"], "contradicts"),
        (["--keep-above", "1ms"], "--keep-above keeps rows beside bins"),
        (["--keep-above", "1ms", "--record", "histogram"], "it needs --record histogram and --out"),
        (["--housekeeping", "0,0"], "--housekeeping names CPU 0 twice"),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments: list[str], says: str) -> None:
    ended = probe("period", "--no-memory-lock", *arguments)
    assert ended.returncode == 2
    assert says in ended.stderr
    assert is_one_refusal(ended.stderr)


def test_a_period_that_leaves_no_time_to_others_is_warned_of() -> None:
    if policy_options()[1] == "other":
        pytest.skip("only a real-time thread can be throttled: policy fifo is not permitted to this user")
    short = probe("period", "--periods", "10us", "--count", "100", "--cpus", a_cpu())
    assert "can be stopped by the system" in short.stderr
    long = probe("period", "--periods", "1ms", "--count", "10", "--cpus", a_cpu())
    assert long.stderr == ""


def test_the_table_gives_the_mean_of_the_sizes_and_the_worst_of_both_sides(tmp_path: Path) -> None:
    run = measured(tmp_path, "--periods", "2ms", "--count", "100")
    (grid,) = read(PeriodPresentation().tables([run], [""]))
    (row,) = grid.rows
    error_ns = run.values("period_error_ns", 0)
    cells = dict(zip(grid.columns, row, strict=True))
    assert cells["samples"] == str(len(error_ns))
    assert float(cells["mean error (us)"].replace(",", "")) == pytest.approx(
        np.abs(error_ns).mean() / 1e3, abs=6e-4
    )
    assert float(cells["too long by (us)"].replace(",", "")) == pytest.approx(
        max(error_ns.max(), 0) / 1e3, abs=6e-4
    )


@pytest.mark.slow
def test_the_verb_stores_a_run_that_show_and_json_know(tmp_path: Path) -> None:
    options = [option for option in policy_options() if option not in ("--policy", "fifo")]
    ended = tauto(
        *("probe", "period", "--periods", "2ms", "--count", "30", "--cpus", a_cpu(), "--json"),
        *(["--policy", *options] if options else []),
        store=tmp_path,
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["experiment"] == "period"


def test_alternating_lateness_is_worst_on_both_sides_and_the_mean_is_a_size() -> None:
    seen = periodicity(np.array([10, -10, 30, -30]))
    assert seen is not None
    assert (seen.mean_size_ns, seen.earliest_ns, seen.latest_ns, seen.worst_ns) == (20, -30, 30, 30)
    assert periodicity(np.array([], dtype=np.int64)) is None
    lone = periodicity(np.array([5]))
    assert lone is not None
    assert lone.deviation_ns is None
    assert (lone.earliest_ns, lone.latest_ns) == (0, 5)
