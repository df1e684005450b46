"""The verbs that show runs: list, show, export, report, figure, on a terminal and in a pipe."""

import json
import os
import pty
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import streams
from real import PATIENCE_S
from report_runs import SAMPLES, idle_and_loaded, latencies, store_run
from tautochrone.answer import evidence, show
from tautochrone.answer.document import TypedTable
from tautochrone.answer.render.terminal import show_blocks
from tautochrone.cli.app import app
from tautochrone.cli.list import run_list
from tautochrone.command.ending import run_to_exit_code
from tautochrone.run.catalogue import CUT_OFF, DAMAGED, CatalogueEntry
from tautochrone.run.place import shortest_ids
from tautochrone.run.recover import recover
from tautochrone.run.store import Store

COMMAND = [sys.executable, "-c", "from tautochrone.cli.app import main; main()"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    idle_and_loaded(folder)
    return folder


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def tauto(store: Path, *arguments: str) -> Said:
    """Run a verb as in a pipe."""
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setenv("TAUTO_STORE", str(store))
        patch.delenv("FORCE_COLOR", raising=False)
        code = run_to_exit_code(lambda: app(args=list(arguments), prog_name="tauto"))
    return Said(code, out.getvalue(), err.getvalue())


def tauto_bytes(store: Path, *arguments: str) -> bytes:
    """What a verb writes to its standard output."""
    out = store / "out"
    assert tauto(store, *arguments, "--out", str(out)).returncode == 0
    return out.read_bytes()


def on_terminal(store: Path, *arguments: str, columns: int = 80) -> str:
    """What a terminal of this width shows, without its control sequences."""
    own, other = pty.openpty()
    environment = {**os.environ, "TAUTO_STORE": str(store), "COLUMNS": str(columns), "TERM": "dumb"}
    with subprocess.Popen(
        [*COMMAND, *arguments], env=environment, stdout=other, stderr=other, stdin=other
    ) as process:
        os.close(other)
        shown = b""
        while True:
            try:
                data = os.read(own, 65_536)
            except OSError:
                break
            if not data:
                break
            shown += data
        process.wait(timeout=PATIENCE_S)
    os.close(own)
    return shown.decode()


@pytest.mark.slow
def test_list_in_a_pipe_has_one_whole_line_per_run_newest_first(store: Path) -> None:
    said = tauto(store, "list")

    lines = said.stdout.splitlines()
    assert said.returncode == 0
    assert len(lines) == 3
    assert lines[0].split()[0] == "id"
    assert "cpu+memory" in lines[1]
    assert "310 us" in lines[1]
    assert "idle" in lines[2]
    assert "\x1b" not in said.stdout


@pytest.mark.slow
def test_list_fits_a_terminal_of_80_columns_with_usable_ids(store: Path) -> None:
    shown = on_terminal(store, "list").splitlines()

    assert len(shown) == 3
    assert all(len(line.rstrip()) <= 80 for line in shown)
    assert "complete" in shown[1]
    assert tauto(store, "show", shown[1].split()[0]).returncode == 0


@pytest.mark.slow
def test_list_says_on_which_machine_where_there_are_several(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store_run(store, [latencies(1, 9000, 30_000)], around={"target": "local"})
    assert "target" not in tauto(tmp_path, "list").stdout
    store_run(store, [latencies(2, 9000, 30_000)], around={"target": "ssh:board"})

    lines = tauto(tmp_path, "list").stdout.splitlines()
    assert "target" in lines[0]
    assert "ssh:board" in lines[1]
    assert "local" in lines[2]
    shown = on_terminal(tmp_path, "list").splitlines()
    assert "ssh:board" in shown[1]
    assert all(len(line.rstrip()) <= 80 for line in shown)


def test_list_as_json_is_complete(store: Path) -> None:
    entries = json.loads(tauto(store, "list", "--json").stdout)["runs"]

    assert [entry["samples"] for entry in entries] == [2 * SAMPLES, 2 * SAMPLES]
    assert entries[0]["worst_ns"] == 310_000


@pytest.mark.parametrize(("folder", "words"), [("none", "does not exist yet"), (".", "There is no run in")])
def test_list_of_no_runs_says_why_and_what_to_do(tmp_path: Path, folder: str, words: str) -> None:
    said = tauto(tmp_path / folder, "list")

    assert said.returncode == 0
    assert words in said.stdout
    assert "Type tauto" in said.stdout


def test_list_shows_a_run_of_a_newer_version_as_such(tmp_path: Path) -> None:
    folder = tmp_path / "20261121T030405Z-cyclic-3f9a"
    folder.mkdir()
    (folder / "run.json").write_text('{"schema": 3, "state": "sealed"}')

    shown = tauto(tmp_path, "list").stdout

    assert "written by a newer tauto" in shown
    assert "damaged" not in shown


def test_list_shows_runs_that_are_not_whole_and_what_to_do(tmp_path: Path) -> None:
    console = Console(file=StringIO(), width=200)
    entries = [
        CatalogueEntry(
            "20261121T030405Z-cyclic-3f9a", str(tmp_path), CUT_OFF, title="scheduling latency, idle"
        ),
        CatalogueEntry(
            "20261121T030406Z-cyclic-77aa", str(tmp_path), DAMAGED, damage="run.json can't be read"
        ),
    ]

    with console.capture() as captured:
        show_blocks(console, tuple(run_list(entries)))

    assert "cut off" in captured.get()
    assert "tauto recover" in captured.get()
    assert "run.json can't be read" in captured.get()


@pytest.mark.slow
def test_list_shows_a_recovered_run(tmp_path: Path) -> None:
    with Store(tmp_path).create("cyclic", "cut", {"load": "idle"}) as writer:
        writer.append(streams.make_stream([np.array([5_000])], footer=False))
    recover(Store(tmp_path))

    assert "recovered" in tauto(tmp_path, "list").stdout
    assert "was cut off and recovered" in tauto(tmp_path, "show", "latest").stdout


@pytest.mark.slow
def test_show_in_a_pipe_has_one_line_per_source(store: Path) -> None:
    said = tauto(store, "show", "latest").stdout

    line = next(line for line in said.splitlines() if line.startswith("cpu0"))
    assert line.split()[1:4] == ["3,000", "3,000", "0"]
    assert line.split()[-1] == "310.000"
    assert "too few" in line
    assert "needs 368,887 samples" in said
    assert "The accounting balances" in said
    assert "warning: RT throttling can bite." in said
    assert "Worst of cpu0: 310 us, 1.500 s after the start." in said
    assert "\x1b" not in said


@pytest.mark.slow
@pytest.mark.parametrize("title", ["µ ∞", "x of mine"])
def test_show_leaves_a_title_that_a_person_gave_as_it_is(tmp_path: Path, title: str) -> None:
    typed = {"command": ["tauto", "probe", "cyclic", "--title", title]}
    run = store_run(Store(tmp_path), [np.array([1_000, 2_000])], title=title, around=typed)
    assert show.document(evidence.gather([run])).heading()[1] == title


@pytest.mark.slow
def test_show_on_a_terminal_has_one_column_per_source_and_a_sketch(store: Path) -> None:
    shown = on_terminal(store, "show", "latest", "--intervals")

    assert all(len(line.rstrip()) <= 80 for line in shown.splitlines())
    assert "99 % interval" in shown
    assert "█" in shown


@pytest.mark.slow
def test_show_as_json_has_numbers_and_intervals(store: Path) -> None:
    shown = json.loads(tauto(store, "show", "latest", "--json").stdout)

    summary = shown["measures"][0]["sources"][0]["summary"]
    assert summary["count"] == SAMPLES
    assert summary["maximum"] == 310_000
    assert (
        summary["quantiles"][0]["low"] <= summary["quantiles"][0]["value"] <= summary["quantiles"][0]["high"]
    )
    assert summary["quantiles"][-1]["value"] is None
    assert shown["books"][0]["problems"] == []


def test_show_says_what_missed_releases_do_to_the_numbers(tmp_path: Path) -> None:
    store_run(Store(tmp_path), [np.array([5_000] * 500 + [3_200_000] + [5_000] * 500)])

    shown = tauto(tmp_path, "show").stdout

    assert "cpu0: 3 of 1,004 releases were missed and have no sample here." in shown
    assert "look too good" in shown


def test_show_tells_parameters_after_the_numbers_with_units_and_without_noise(tmp_path: Path) -> None:
    store_run(Store(tmp_path), [np.array([5_000] * 10)], parameters={"stagger_ns": 0, "ring_rows": 4096})

    shown = tauto(tmp_path, "show").stdout

    assert shown.index("std dev") < shown.index("Measured with: period 1 ms, policy fifo, priority 90")
    assert "stagger" not in shown
    assert "ring" not in shown


@pytest.mark.slow
def test_a_figure_says_which_run_it_leaves_out(tmp_path: Path) -> None:
    store = Store(tmp_path)
    clock = store_run(store, [np.array([40, 50])], experiment="clock", period_ns=None, title="clocks")
    store_run(store, [np.array([5_000] * 10)])

    said = tauto(tmp_path, "figure", "latest", "latest~1", "-k", "cpus", "--out", str(tmp_path / "f.svg"))

    assert f"Not in the figure: clocks ({clock.manifest.id})" in said.stderr
    assert said.returncode == 0


@pytest.mark.slow
def test_export_of_a_histogram_run_has_bins_and_extremes_by_name(tmp_path: Path) -> None:
    store_run(Store(tmp_path), [np.array([5, 9, 7])], histogram=True)

    exported = json.loads(tauto_bytes(tmp_path, "export", "latest", "--json"))
    extremes = tauto_bytes(tmp_path, "export", "latest", "--csv", "--extremes").decode()

    assert set(exported) == {"schema", "run", "histogram", "extremes"}
    assert sum(one["count"] for one in exported["histogram"]) == 3
    assert [one["latency_ns"] for one in exported["extremes"]] == [5, 9]
    assert extremes.splitlines()[0] == "source,scheduled_ns,latency_ns"


def test_extremes_of_a_run_with_samples_are_refused(store: Path, tmp_path: Path) -> None:
    said = tauto(store, "export", "latest", "--csv", "--extremes", "--out", str(tmp_path / "e.csv"))

    assert said.returncode == 2
    assert "Leave --extremes out" in said.stderr


def test_show_of_a_run_without_samples_says_so(tmp_path: Path) -> None:
    store_run(Store(tmp_path), [np.array([], dtype=np.int64)])

    assert "No sample was recorded." in tauto(tmp_path, "show", "latest").stdout


def test_show_of_a_run_that_missed_every_release_and_failed_says_both(tmp_path: Path) -> None:
    failed = {"ended": "failed", "reason": "it crashed.", "books_extra": {0: {"released": 7, "missed": 7}}}
    store_run(Store(tmp_path), [np.array([], dtype=np.int64)], **failed)

    said = tauto(tmp_path, "show", "latest").stdout
    assert "No sample was recorded; 7 releases were missed." in said
    assert "failed while measuring: it crashed.\n" in said


def test_export_needs_exactly_one_format(store: Path) -> None:
    for options in ((), ("--csv", "--json")):
        said = tauto(store, "export", "latest", *options)
        assert said.returncode == 2
        assert "--csv, --parquet, --json and --perfetto" in said.stderr


@pytest.mark.slow
def test_export_to_csv_ends_quietly_when_the_reader_goes(store: Path) -> None:
    said = subprocess.run(
        ["sh", "-c", '"$0" "$@" | head -n 1', *COMMAND, "export", "latest", "--csv"],
        env={**os.environ, "TAUTO_STORE": str(store)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )

    assert "latency_ns" in said.stdout
    assert said.stderr == ""


@pytest.mark.slow
def test_show_ends_quietly_when_the_reader_goes_before_the_first_line(store: Path) -> None:
    said = subprocess.run(
        ["bash", "-c", '"$0" "$@" | true; echo ${PIPESTATUS[0]}', *COMMAND, "show", "latest"],
        env={**os.environ, "TAUTO_STORE": str(store)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )

    assert said.stdout.strip() == "141"
    assert said.stderr == ""


@pytest.mark.slow
def test_parquet_is_not_written_to_a_terminal(store: Path) -> None:
    assert "Name a file with --out" in on_terminal(store, "export", "latest", "--parquet")


@pytest.mark.slow
def test_report_and_figure_write_where_they_are_told_and_say_where(store: Path, tmp_path: Path) -> None:
    ids = [entry["id"] for entry in json.loads(tauto(store, "list", "--json").stdout)["runs"]]

    said = tauto(store, "report", *ids, "--out", str(tmp_path / "r.html"))
    drawn = tauto(store, "figure", *ids, "--kind", "cpus", "--out", str(tmp_path / "f.svg"))

    assert said.stdout.strip() == str(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert drawn.stdout.strip() == str(tmp_path / "f.svg")
    assert (tmp_path / "f.svg").read_text().startswith("<svg")


def test_a_run_named_twice_is_refused(store: Path, tmp_path: Path) -> None:
    said = tauto(store, "report", "latest", "latest", "--out", str(tmp_path / "r.html"))

    assert said.returncode == 2
    assert "named twice" in said.stderr


def test_shortest_ids_tell_runs_of_one_second_apart() -> None:
    ids = ["20261121T030405Z-cyclic-3f9a", "20261121T030405Z-clock-11aa", "20261121T030406Z-cyclic-0000"]

    assert shortest_ids(ids) == ["20261121T030405Z-cy", "20261121T030405Z-cl", "20261121T030406Z"]
    table = next(run_list([CatalogueEntry(ids[0], "", CUT_OFF)], ids))  # a filter leaves one of them
    assert isinstance(table, TypedTable)
    assert table.rows[0][0].brief == "20261121T030405Z-cy"


@pytest.mark.slow
def test_a_pipe_gets_no_spaces_at_the_end_of_a_line(store: Path) -> None:
    for verb in (("show",), ("list",), ("load", "list"), ("tune", "show"), ("tune", "list")):
        said = tauto(store, *verb)
        assert said.returncode == 0, said.stderr
        assert said.stdout
        assert not [line for line in said.stdout.splitlines() if line != line.rstrip()], verb


def test_what_a_deployment_leaves_alone_is_not_in_its_table(store: Path) -> None:
    text = tauto(store, "tune", "show", "M").stdout
    table, _, after = text.partition("Stays as it is: ")
    assert "c-states" in table
    assert "numa-balancing" not in table
    assert "numa-balancing" in after.splitlines()[0]
    assert "To measure under it: tauto probe cyclic --deployment M" in text
