"""`tauto probe all`: every experiment once; what can't be measured is told, what fails is an exit code."""

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import in_process
from cells import given, worded
from real import PATIENCE_S, a_cpu, policy_options, probe, skip_or_fail, start_tauto, wait_until
from schemas import valid
from tautochrone.answer.experiments import presentation_of
from tautochrone.base.errors import TautoError
from tautochrone.cli.app import app
from tautochrone.cli.probe import all as probe_all
from tautochrone.first.suite import suite
from tautochrone.measure.cell import Cell
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe

QUICK_S = 90.0
NO_OUTPUT = "/dev/null/no-output"
EXPERIMENTS = (
    "clock", "cyclic", "switch", "interrupt", "rhealstone", "inversion", "period", "response", "taskset",
)  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """How `tauto probe all` ended."""

    code: int
    said: str
    error: BaseException | None


def run_all(store: Path, cells: Sequence[Cell], monkeypatch: pytest.MonkeyPatch, *options: str) -> Ended:
    """The verb with these cells in the place of its own."""
    monkeypatch.setattr(probe_all, "_cells", lambda *_: tuple(cells))
    monkeypatch.setenv("COLUMNS", "200")
    result = CliRunner().invoke(app, ["probe", "all", "--store", str(store), *options])
    return Ended(result.exit_code, result.output, result.exception)


def short() -> Cell:
    arguments = ("--cpus", a_cpu(), "--period", "1ms", "--count", "50", *policy_options())
    return worded("cyclic", arguments, "a loop", expected_s=0.1)


REFUSED = worded("cyclic", ("--period", "5"), "a period without a unit", expected_s=0.1)


def test_every_experiment_is_measured_once_in_an_order_that_rhealstone_can_use() -> None:
    for quick in (True, False):
        cells = suite(quick)
        assert tuple(cell.experiment for cell in cells) == EXPERIMENTS
        assert all(cell.expected_s for cell in cells)
        assert all("idle" in cell.title for cell in cells)


def test_everything_that_has_a_presentation_is_in_the_suite() -> None:
    listed = probe("--help").stdout
    presented = [name for name in EXPERIMENTS if presentation_of(name) is not None]

    assert len(presented) == len(EXPERIMENTS) - 2
    assert all(name in listed for name in EXPERIMENTS)


def test_the_quick_suite_is_planned_for_less_than_its_limit_and_the_whole_is_longer() -> None:
    def seconds(cells: Sequence[Cell]) -> float:
        return sum(cell.expected_s or 0 for cell in cells)

    starts_and_sealing_s = len(EXPERIMENTS) * 2.0
    assert seconds(suite(True)) + starts_and_sealing_s < QUICK_S
    assert seconds(suite(False)) > 2 * seconds(suite(True))


def test_a_load_runs_beside_every_experiment() -> None:
    from tautochrone.measure.loads.spec import parse_load

    load = parse_load(["cpu+memory"])

    assert all(cell.load == load and load.name in cell.title for cell in suite(True, load))


@pytest.mark.slow
@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("memory_lock", [True, False])
def test_the_probe_takes_every_cell(quick: bool, memory_lock: bool) -> None:
    """Its output is opened last: whoever gets as far as that was refused nothing else."""
    if policy_options() != ["--policy", "fifo"]:
        skip_or_fail("needs real-time priority")
    cpus = tuple(range(int(a_cpu()) + 1))
    for cell in suite(quick, cpus=cpus, memory_lock=memory_lock):
        tried = probe(cell.experiment, *cell.options.words, "--out", NO_OUTPUT)
        if NO_OUTPUT not in tried.stderr and cell.instead is not None:
            tried = probe(cell.instead.experiment, *cell.instead.options.words, "--out", NO_OUTPUT)
        assert NO_OUTPUT in tried.stderr, tried.stderr


@pytest.mark.slow
def test_under_json_the_answer_is_as_its_schema_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = worded("clock", ("--count", "200", "--no-memory-lock"), "the clocks", expected_s=0.1)
    monkeypatch.setattr(probe_all, "_cells", lambda *_: (short(), clock, REFUSED))
    ended = in_process.tauto("probe", "all", "--json", store=tmp_path / "store")
    assert ended.code == 0, ended.err + ended.fault
    told = valid(ended.out)
    assert told["schema"]["name"] == "probe-all"
    assert [run["experiment"] for run in told["runs"]] == ["cyclic", "clock"]
    assert [one["what"] for one in told["not_measured"]] == ["a period without a unit"]
    assert [loop["rate_hz"] for loop in told["loops"]] == [1000]


@pytest.mark.slow
def test_what_is_refused_is_skipped_and_told_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "r.html"
    ended = run_all(tmp_path / "store", (short(), REFUSED, short()), monkeypatch, "--out", str(page))

    assert ended.code == 0, ended.said
    assert len(Store(tmp_path / "store").runs()) == 2
    told = ended.said[ended.said.index("Not measured") :]
    row = next(line for line in told.splitlines() if line.startswith("a period without a unit"))
    assert "N/A" in row
    assert "not a duration" in row
    html = page.read_text()
    assert "What was not measured" in html
    assert "not a duration" in html


@pytest.mark.slow
def test_what_can_be_measured_instead_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = run_all(tmp_path, (replace(REFUSED, instead=replace(short(), title="instead")),), monkeypatch)

    assert ended.code == 0, ended.said
    assert [run.manifest.title for run in Store(tmp_path).runs()] == ["instead"]
    assert "Measured in its place" in ended.said


def test_where_nothing_can_be_measured_the_exit_code_is_that_of_the_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = run_all(tmp_path, (REFUSED,), monkeypatch)

    assert isinstance(ended.error, TautoError)
    assert ended.error.exit_code == 2
    assert list(tmp_path.glob("*.html")) == []


@pytest.mark.slow
def test_what_goes_wrong_while_measuring_is_an_exit_code_and_the_rest_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ordinary = short()
    broken = tmp_path / "probe"
    broken.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *"--count 77"*) {find_probe()} "$@" | head -c -8; exit 1;; esac\n'
        f'exec {find_probe()} "$@"\n'
    )
    broken.chmod(0o755)
    monkeypatch.setenv("TAUTO_PROBE", str(broken))
    words = ("--cpus", a_cpu(), "--period", "1ms", "--count", "77", *policy_options())
    failing = replace(ordinary, options=given("cyclic", words), title="breaks")
    ended = run_all(tmp_path / "store", (failing, ordinary), monkeypatch)

    assert ended.code == 1, ended.said
    states = [run.manifest.state for run in Store(tmp_path / "store").runs()]
    assert states == ["recovered", "sealed"]
    assert "breaks" in ended.said[ended.said.index("Not measured") :]
    assert "Report: " in ended.said


def test_a_report_that_can_not_be_written_is_told_before_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = tmp_path / "no" / "r.html"
    ended = run_all(tmp_path / "store", (short(),), monkeypatch, "--out", str(nowhere))

    assert isinstance(ended.error, TautoError)
    assert "there is no folder" in str(ended.error)
    assert not (tmp_path / "store").exists()


@pytest.mark.slow
def test_an_unknown_load_is_refused() -> None:
    ended = CliRunner().invoke(app, ["probe", "all", "--load", "gravity"])

    assert isinstance(ended.exception, TautoError)
    assert "cpu+memory" in ended.exception.advice


@pytest.mark.slow
def test_a_stop_keeps_what_was_measured_and_says_what_was_not(tmp_path: Path) -> None:
    if policy_options() != ["--policy", "fifo"]:
        skip_or_fail("needs real-time priority")
    lab = start_tauto("probe", "all", "--quick", store=tmp_path)
    wait_until(
        lambda: any(path.stat().st_size > 3000 for path in tmp_path.glob("*-cyclic-*/stream.tauto")),
        "samples of the second experiment reach the store",
    )
    lab.send_signal(signal.SIGINT)
    try:
        out, complaint = lab.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        lab.kill()
        raise
    assert lab.returncode == 130, complaint
    runs = Store(tmp_path).runs()
    assert [run.manifest.experiment for run in runs] == ["clock", "cyclic"]
    assert runs[1].manifest.ended == "interrupted"
    assert all(not book.problems() for run in runs for book in run.manifest.books)
    told = out[out.index("Not measured") :]
    assert "task set of delgado2020, idle" in told
    assert "It was stopped before this." in told
    assert Path(out.partition("Report: ")[2].splitlines()[0]).exists()
