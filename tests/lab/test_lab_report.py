"""A report of runs of the virtual lab says what they are, where nobody can overlook it."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from rich.console import Console

import streams
from report_runs import FACTS, latencies
from tautochrone.answer import evidence, report, show
from tautochrone.answer.render import page as document_page
from tautochrone.answer.render import terminal
from tautochrone.answer.warnings import band_of
from tautochrone.machine.tree import LocalFiles
from tautochrone.measure.virtual import (
    FUNCTIONAL,
    NEARLY_REPEATABLE,
    NOT_REPEATABLE,
    SHARED,
    VIRTUAL,
    BusyCpus,
    cautions_of_busy_cpus,
    cautions_of_virtual,
)
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import Header
from tautochrone.run.store import Store
from tautochrone.target.target import Virtual

ONE = Virtual(
    "0123456789abcdef", "debian:rt", "6.1.0-rt", None, "7.2.22 (Debian)", "qemu …", "ab", 1, 1, True
)
FOUR = replace(ONE, machine="f" * 16, kernel="debian:rt/arm64", cpus=4, repeatable=False)
TURNS = replace(ONE, machine="e" * 16, qemu="10.0.2 (Debian)", cpus=4, turn_us=10)

UNCOUNTED = replace(ONE, cpus=4, shift=None, repeatable=False)


def measured_on(*cpus: int) -> Header:
    """The header of a stream with a thread on each of these CPUs."""
    return Header.of({"sources": [{"source": at, "obtained": {"cpu": cpu}} for at, cpu in enumerate(cpus)]})


def a_run(
    folder: Path,
    virtual: Virtual | None,
    busy: Sequence[float] | None = None,
    ended: str = "complete",
) -> StoredRun:
    around = {"target": "lab:debian:rt", VIRTUAL: asdict(virtual)} if virtual is not None else {}
    with Store(folder).create("cyclic", "a loop", {"load": "idle", **around}, FACTS) as writer:
        writer.append(streams.make_stream([latencies(1, 5_000, 9_000)], ended=ended))
        for caution in (*cautions_of_virtual(virtual), *cautions_of_busy_cpus(busy, measured_on(1), virtual)):
            writer.add_warning(caution.code, caution.text, caution.advice)
        return writer.seal()


def printed(run: StoredRun) -> str:
    console = Console(width=200, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        terminal.show(console, show.document(evidence.gather([run]), whole=not console.is_terminal))
    return captured.get()


@pytest.mark.parametrize(
    ("virtual", "busy", "codes", "title"),
    [
        (ONE, None, [VIRTUAL], "Virtual lab: repeats to the bit"),
        (
            FOUR,
            [0.04, 0.9, 0.01, 0.02],
            [VIRTUAL, NEARLY_REPEATABLE],
            "Virtual lab: usually repeats, not surely",
        ),
        (
            FOUR,
            [1.0, 0.85, 0.0, 0.0],
            [VIRTUAL, NEARLY_REPEATABLE, FUNCTIONAL],
            "Virtual lab: a functional run that usually repeats, not surely",
        ),
        (TURNS, [1.0, 0.85, 0.0, 0.0], [VIRTUAL, SHARED], "Virtual lab: repeats to the bit"),
        (TURNS, [0.04, 0.01, 0.01, 0.02], [VIRTUAL], "Virtual lab: repeats to the bit"),
        (UNCOUNTED, None, [VIRTUAL, NOT_REPEATABLE], "Virtual lab: a functional run, not repeatable"),
    ],
)
def test_a_terminal_is_told_what_it_is_and_once(
    virtual: Virtual, busy: Sequence[float] | None, codes: list[str], title: str, tmp_path: Path
) -> None:
    run = a_run(tmp_path, virtual, busy)
    assert [warning.code for warning in run.manifest.warnings if warning.code.startswith(VIRTUAL)] == codes
    said = printed(run)
    assert said.count(title) == said.count("easured on a virtual machine") == 1


def test_on_a_page_what_it_is_stands_above_all_else_and_only_there(tmp_path: Path) -> None:
    written = document_page.text(
        report.of_evidence(evidence.gather([a_run(tmp_path, FOUR, [1.0, 0.85, 0.0, 0.0])]))
    )
    assert "<title>In the virtual lab: " in written
    title = "Virtual lab: a functional run that usually repeats, not surely"
    assert written.index(title) < written.index("<h1>")
    assert written.count(f"Machine {FOUR.machine}") == 1
    assert written.count("easured on a virtual machine") == 1


@pytest.mark.slow
def test_a_run_on_hardware_has_no_band_and_beside_others_it_is_told_apart(tmp_path: Path) -> None:
    real, lab = a_run(tmp_path, None), a_run(tmp_path, ONE)
    written = document_page.text(report.of_evidence(evidence.gather([real])))
    assert 'class="band"' not in written
    assert "In the virtual lab" not in written
    band = band_of([real.manifest, lab.manifest])
    assert band is not None
    assert band.sentences[0] == "This is about 1 run of 2; the others were measured on hardware."


def test_how_busy_each_cpu_was_is_read_from_its_times(tmp_path: Path) -> None:
    stat = tmp_path / "proc" / "stat"
    stat.parent.mkdir()
    stat.write_text(
        "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 0 10 100 0 0 0 0 0 0\ncpu1 0 0 0 200 0 0 0 0 0 0\nintr 1\n"
    )
    assert BusyCpus(LocalFiles(tmp_path), ONE).since() is None
    busy = BusyCpus(LocalFiles(tmp_path), FOUR)
    stat.write_text("cpu0 40 0 30 150 0 0 0 0 0 0\ncpu1 5 0 0 285 10 0 0 0 0 0\n")
    assert busy.since() == [0.5, 0.05]
    stat.write_text("cpu0 70 0 50 200 0 0 0 0 0 0\ncpu2 10 0 0 10 0 0 0 0 0 0\n")
    assert busy.since() == [0.5, 0.0, 0.5]  # CPU 1 is off line


@pytest.mark.parametrize(
    ("busy", "measured", "told"),
    [
        ([0.5, 0.06, 0.0], (), "2 CPUs were measured or busy (CPU 0 50% busy, CPU 1 6% busy)"),
        ([1.0, 0.0, 0.0, 0.0], (3,), "2 CPUs were measured or busy (CPU 0 100% busy, CPU 3 measured)"),
        ([0.02, 0.0], (0, 1), "(CPU 0 measured, CPU 1 measured)"),
        ([], (0, 1), "(CPU 0 measured, CPU 1 measured)"),
        ([0.5, 0.05], (), None),
        ([0.9, 0.0], (0, 0), None),
        (None, (0, 1), None),
    ],
)
def test_several_cpus_that_are_measured_or_busy_make_a_functional_run(
    busy: Sequence[float] | None, measured: tuple[int, ...], told: str | None
) -> None:
    cautions = list(cautions_of_busy_cpus(busy, measured_on(*measured), FOUR))
    assert [told is not None and told in caution.text for caution in cautions] == [True] * (told is not None)


def test_the_partners_of_a_thread_are_measured_too() -> None:
    thread = {
        "source": 0,
        "obtained": {"cpu": 0},
        "partners": [{"obtained": {"cpu": 2}}, {"obtained": {"cpu": None}}],
    }
    (caution,) = cautions_of_busy_cpus([0.0] * 4, Header.of({"sources": [thread]}), FOUR)
    assert "(CPU 0 measured, CPU 2 measured)" in caution.text


def test_a_run_that_the_host_ended_does_not_repeat(tmp_path: Path) -> None:
    whole, stopped = (a_run(tmp_path, ONE, ended=ended).manifest for ended in ("complete", "interrupted"))
    overrun, unknown = replace(whole, ended="overrun"), replace(whole, ended=None)
    chosen = "ended at an instant that the host chose"
    for runs, title in (
        ([stopped], f"{chosen}, so it does not repeat"),
        ([unknown], f"{chosen}, so it does not repeat"),
        ([whole, stopped], f"repeats to the bit, but for 1 run that {chosen}"),
        ([whole, overrun], "repeats to the bit"),
    ):
        band = band_of(runs)
        assert band is not None
        assert band.title == f"Virtual lab: {title}"
