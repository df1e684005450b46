"""What is particular about the verbs of a few experiments: before measuring, and after it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tautochrone.base.errors import UsageError
from tautochrone.command.options import open_store
from tautochrone.command.probe import AskedExperiment, measure
from tautochrone.command.told import see_that_it_can_be_written

if TYPE_CHECKING:
    from tautochrone.run.folder import StoredRun

_BOTH = "both"


def interrupt(asked: AskedExperiment) -> None:
    """With `--load both` two runs, shown side by side; with `--bins` their counts as CSV."""
    loads = _several_loads(asked.beside.load)
    bins = Path(str(asked.options["bins"])) if "bins" in asked.options else None
    _see_bins(bins, len(loads), asked)
    for one in loads:
        title = f"{asked.title}, {'+'.join(one)}" if asked.title and len(loads) > 1 else asked.title
        measure(replace(asked, title=title, beside=replace(asked.beside, load=one)))
    runs = _just_measured(len(loads), asked.store)
    if len(runs) > 1:
        _show_together(runs)
    if bins is not None:
        _write_bins(runs, bins)


def _see_bins(bins: Path | None, loads: int, asked: AskedExperiment) -> None:

    if loads > 1 and asked.as_json:
        raise UsageError(
            "--json describes one run, and --load both makes two",
            "Leave it out, and then type: tauto show latest --json, and the same with latest~1.",
        )
    if bins is not None and asked.options.get("record") == "histogram":
        raise UsageError("--bins counts samples, and --record histogram keeps none", "Leave one of them out.")
    see_that_it_can_be_written(bins, "the counts", "--bins")


def _several_loads(given: list[str] | None) -> list[list[str]]:
    """Return one list of specs for each run."""
    if given is None or _BOTH not in given:
        return [given or []]
    others = [one for one in given if one not in (_BOTH, "idle")]
    return [["idle"], others or ["cpu+memory"]]


def _just_measured(count: int, store: Path | None) -> list[StoredRun]:
    """The last runs of this very command, in the order in which they were measured."""
    command = ("tauto", *sys.argv[1:])
    own = [one for one in open_store(store).runs() if one.manifest.command == command]
    return own[-count:]


def _show_together(runs: list[StoredRun]) -> None:
    from tautochrone.answer import evidence
    from tautochrone.answer.console import make_console
    from tautochrone.answer.render import terminal

    console = make_console()
    console.print("\nBoth together", style="bold")
    for presented in evidence.gather(runs).presented.values():
        for table in presented.tables():
            for part in terminal.show_table(console, table):
                console.print(part)


def _write_bins(runs: list[StoredRun], out: Path) -> None:
    """One line per bin: load, measure, low_ns, high_ns (not included), count; what lies outside last."""
    from tautochrone.judge.interrupt import INTERRUPT, PREEMPTION, judge_interrupt
    from tautochrone.run.output import output

    lines = ["load,measure,low_ns,high_ns,count"]
    for run in runs:
        judged = judge_interrupt(run)
        for name, latency in ((INTERRUPT, judged.interrupt), (PREEMPTION, judged.preemption)):
            if latency is None or latency.bins is None:
                continue
            held = latency.bins
            edges = range(0, held.end_ns, held.width_ns)
            lines += [
                f"{judged.load},{name},{low},{low + held.width_ns},{count}"
                for low, count in zip(edges, held.count.tolist(), strict=True)
            ]
            lines.append(f"{judged.load},{name},{held.end_ns},,{held.past}")
            if held.below:
                lines.append(f"{judged.load},{name},,0,{held.below}")
    with output(out, option="--bins") as file:
        file.write(("\n".join(lines) + "\n").encode())
    print(f"Counts in the paper's bins: {out}", file=sys.stderr)


def rhealstone(asked: AskedExperiment) -> None:
    """Weights and interrupt latency are read again from the stored command, whenever the run is shown."""
    from tautochrone.judge.rhealstone import read_weights

    if "weights" in asked.options:
        read_weights(str(asked.options["weights"]))
    if "interrupt" in asked.options:
        _see_run(str(asked.options["interrupt"]), asked.store)
    measure(asked)


def _see_run(interrupt: str, store: Path | None) -> None:
    from tautochrone.judge.rhealstone import INTERRUPT_MEASURE

    run = open_store(store).open(interrupt)
    if INTERRUPT_MEASURE not in run.measures:
        raise UsageError(
            f"--interrupt {interrupt}: this is a run of {run.manifest.experiment}",
            "Give the id of a run of tauto probe interrupt.",
        )
    if run.id != interrupt:
        raise UsageError(
            f"--interrupt {interrupt}: the name is kept with the new run, and must mean the same run later",
            f"Give its whole id: {run.id}.",
        )


def taskset(asked: AskedExperiment) -> None:
    """Say before measuring what the analysis says, where that is not the best."""
    from tautochrone.analyse.answer import headline
    from tautochrone.schedulability.analysis import analyse
    from tautochrone.schedulability.read import read

    analysis = analyse(read(Path(str(asked.options["tasks"]))))
    if not analysis.schedulable:
        typer.echo(f"By analysis: {headline(analysis)}", err=True)
    measure(asked)
