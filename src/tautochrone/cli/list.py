"""The runs of the store: `tauto list`, `tauto recover` and `tauto export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.answer import document as doc
from tautochrone.base.errors import UsageError
from tautochrone.base.words import plural
from tautochrone.command.options import LATEST, JsonOption, RunArgument, StoreOption, open_store
from tautochrone.command.told import tell_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tautochrone.answer.blocks import Mark
    from tautochrone.run.catalogue import CatalogueEntry


# ``tauto recover``: seals what a kill, a full disk or a power cut left behind.


def recover(as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Complete runs that were cut off.

    Every whole frame of them is kept. A run that is still being measured is not touched. Exit code 5: at
    least one run could not be completed; it stays as it is, and the reason is shown.

    Examples:
        tauto recover
    """
    from tautochrone.base.errors import DamagedError
    from tautochrone.run.recover import REFUSED
    from tautochrone.run.recover import recover as recover_runs

    outcomes = recover_runs(open_store(store, mend=False))
    if as_json:
        tell_json(
            "recover",
            lambda: {
                "runs": [
                    {"id": one.id, "state": one.state, "text": one.text, "advice": one.advice}
                    for one in outcomes
                ]
            },
        )
    elif not outcomes:
        typer.echo("Nothing to recover: no run was cut off.")
    for outcome in () if as_json else outcomes:
        is_refused = outcome.state == REFUSED
        typer.echo(f"{outcome.id}: {outcome.text}", err=is_refused)
        if outcome.advice:
            typer.echo(f"  {outcome.advice}", err=is_refused)
    if any(outcome.state == REFUSED for outcome in outcomes):
        raise typer.Exit(DamagedError.exit_code)


# ``tauto export``: the samples of one run for other programs.


def export(
    run: RunArgument = LATEST,
    csv: Annotated[
        bool, typer.Option("--csv", help="Write CSV: a header, then a line per sample or bin.")
    ] = False,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Write Parquet, for pandas, R, DuckDB, ...")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Write one JSON object: the run, and its samples, or bins, extremes and kept rows."
        ),
    ] = False,
    perfetto: Annotated[
        bool,
        typer.Option(
            "--perfetto", help="Its late cycles and what happened meanwhile, for ui.perfetto.dev or Chrome."
        ),
    ] = False,
    extremes: Annotated[
        bool,
        typer.Option("--extremes", help="Write each new maximum of a histogram run instead of its bins."),
    ] = False,
    kept: Annotated[
        bool, typer.Option("--kept", help="Write the rows that --keep-above kept instead of the bins.")
    ] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Write the counts and the worst of each interval of a soak.")
    ] = False,
    late: Annotated[
        bool,
        typer.Option(
            "--late", help="Write the parts of its late cycles, with what made each, as a row each."
        ),
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write. [standard output]")] = None,
    store: StoreOption = None,
) -> None:
    """Write one run as CSV, Parquet or JSON: its samples or, if it kept a histogram, its bins.

    RUN may also be latest~1, the run before the latest. Times are whole nanoseconds. The column source
    is a number; the sources' names are in the manifest, which JSON has under run. Bins are low_ns to
    high_ns, both included, with their count; the counts of a bin that comes more than once add up. The
    column measure is the place of the bin's measure in the manifest's header, from 0.
    Of a run with --blame, --perfetto writes its late cycles with the threads and interrupts of their CPUs,
    and --late the parts that they consist of, a row each: docs/blame.md has the columns.

    Examples:
        tauto export --csv --out samples.csv
        tauto export --perfetto --out late.json
    """
    from tautochrone.run.export import export as write
    from tautochrone.run.layout import EXTREMES, KEPT, SAMPLES
    from tautochrone.run.records import INTERVALS

    formats = (("csv", csv), ("parquet", parquet), ("json", as_json), ("perfetto", perfetto))
    chosen = [kind for kind, wanted in formats if wanted]
    if len(chosen) != 1:
        raise UsageError(
            "Exactly one format is needed", "Choose one of --csv, --parquet, --json and --perfetto."
        )
    if perfetto:
        if extremes or kept or intervals or late:
            raise UsageError("--perfetto has late cycles alone", "Leave the names of other tables out.")
        from tautochrone.blame.export import export_trace

        export_trace(open_store(store).open(run), out)
        return
    if chosen == ["parquet"] and out is None and sys.stdout.isatty():
        raise UsageError("Parquet is no text for a terminal", "Name a file with --out, or use a pipe.")
    if extremes + kept + intervals + late > 1:
        raise UsageError(
            "--extremes, --kept, --intervals and --late are different tables",
            "Choose one of them for each file.",
        )
    if late:
        from tautochrone.blame.export import export_parts

        export_parts(open_store(store).open(run), chosen[0], out)
        return
    table = EXTREMES if extremes else KEPT if kept else INTERVALS if intervals else SAMPLES
    write(open_store(store).open(run), chosen[0], out, table=table)


def list_runs(
    experiment: Annotated[
        str | None, typer.Option("--experiment", metavar="NAME", help="Only runs of this experiment.")
    ] = None,
    load: Annotated[
        str | None,
        typer.Option("--load", metavar="LOAD", help="Only runs beside this load, alone or with others."),
    ] = None,
    tag: Annotated[str | None, typer.Option("--tag", metavar="TAG", help="Only runs with this tag.")] = None,
    plan: Annotated[
        str | None, typer.Option("--plan", metavar="ID", help="Only runs of this plan run: plan-latest, ...")
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option("--machine", metavar="NAME", help="Only runs on this host, or as --on names it."),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            "--kernel", metavar="RELEASE", help="Only runs on this kernel: 6.12, 6.1.0-25-rt-amd64."
        ),
    ] = None,
    deployment: Annotated[
        str | None,
        typer.Option("--deployment", metavar="NAME", help="Only runs under this deployment, or 'as-is'."),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="STATE", help="Only runs that are complete, recovered, cut-off, ..."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="WHEN", help="Only runs since then, in UTC: 2026-11-24, 2h, 7d."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="WHEN", help="Only runs until then, written the same way."),
    ] = None,
    number: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="COUNT", help="Show only the newest COUNT runs.")
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List the runs, newest first. All filters that are given must hold.

    Examples:
        tauto list --limit 10
        tauto list --experiment cyclic --machine board7 --kernel 6.12 --since 7d
    """
    from tautochrone.run.catalogue import CUT_OFF, catalogue
    from tautochrone.run.selecting import parse_instant, parse_state, selected

    if number is not None and number < 1:
        raise UsageError(f"--limit {number}: there is nothing to show", "Give 1 or more.")
    place = open_store(store, mend=False)
    first = None if since is None else parse_instant(since, "--since")
    last = None if until is None else parse_instant(until, "--until", end_of_day=True)
    every = catalogue(place)
    if any(one.state == CUT_OFF for one in every):
        open_store(store)  # completes what it can
        every = catalogue(place)
    ids = [one.id for one in every]
    if plan is not None:
        from tautochrone.measure.campaign.campaign import open_campaign

        every = list(open_campaign(place, plan).entries)
    found = selected(
        every,
        experiment=experiment,
        load=load,
        tag=tag,
        machine=machine,
        kernel=kernel,
        deployment=deployment,
        state=None if state is None else parse_state(state),
        since=first,
        until=last,
    )
    entries = found[::-1][: number or (None if as_json else _MOST_SHOWN)]
    if as_json:
        tell_json("list", lambda: {"runs": [_as_json(entry) for entry in entries]})
    elif not entries and every:
        typer.echo(f"None of {plural(len(every), 'run')} in {place.path} is of that kind.")
        known = sorted({one.experiment for one in every if one.experiment})
        if experiment is not None and experiment not in known:
            typer.echo(f"Their experiments: {', '.join(known)}.")
    elif not entries:
        typer.echo(_nothing(place.path))
    else:
        from tautochrone.answer.console import make_console
        from tautochrone.answer.render.terminal import show_blocks

        show_blocks(make_console(), tuple(run_list(entries, ids)))
        if number is None and (rest := len(found) - len(entries)):
            typer.echo(f"{plural(rest, 'older run')} not listed: --limit {len(found)} lists all.")


_HEADS = (
    doc.TableColumn("id"),
    doc.TableColumn("when (UTC)", spare=True),
    doc.TableColumn("experiment", spare=True),
    doc.TableColumn("what", cut=True),
    doc.TableColumn("tags"),
    doc.TableColumn("note", cut=True),
    doc.TableColumn("target"),
    doc.TableColumn("sources", spare=True),
    doc.TableColumn("samples"),
    doc.TableColumn("missed"),
    doc.TableColumn("worst"),
    doc.TableColumn("state"),
)


def run_list(entries: Sequence[CatalogueEntry], every: Sequence[str] = ()) -> Iterator[doc.Block]:
    """Yield a line for each run, and what to do about some. Columns are there if needed.

    Args:
        every: the ids of all runs of the store, from which a shortened one tells its run apart.
    """
    from tautochrone.run.catalogue import CUT_OFF, NEWER, REFUSED
    from tautochrone.run.place import shortest_ids

    several = len({entry.remote for entry in entries}) > 1
    brief = shortest_ids([one.id for one in entries], every)
    rows = [_row(entry, one) for entry, one in zip(entries, brief, strict=True)]
    lacking = {
        *(["target"] if not several else []),
        *(["tags"] if not any(entry.tags for entry in entries) else []),
        *(["note"] if not any(entry.note for entry in entries) else []),
    }
    shown = [at for at, column in enumerate(_HEADS) if column.head not in lacking]
    yield doc.TypedTable(
        "", tuple(_HEADS[at] for at in shown), tuple(tuple(row[at] for at in shown) for row in rows)
    )
    for state, told in (
        (CUT_OFF, "A run that was cut off can be saved: tauto recover"),
        (REFUSED, "The accounting of a refused run does not balance; tauto recover says by how much."),
        (NEWER, "A newer run is whole; read it with the version of tauto that wrote it, or a later one."),
    ):
        if any(entry.state == state for entry in entries):
            yield doc.Sentence(told)


def _row(entry: CatalogueEntry, brief: str) -> tuple[doc.TypedCell, ...]:
    from tautochrone.run.catalogue import CUT_OFF, DAMAGED, NEWER, REFUSED
    from tautochrone.run.conditions import LOCAL
    from tautochrone.run.manifest import RECOVERED, STATE_WORDS

    marks: dict[str, Mark] = dict.fromkeys((RECOVERED, CUT_OFF, NEWER), "not-shown")
    marks |= dict.fromkeys((REFUSED, DAMAGED), "missed")
    title = " ".join(entry.title.split()) or entry.damage or None
    short = title.split(", ", 1)[-1] if title else ""  # the measure's name is alike in most of them
    return (
        doc.TypedCell(entry.id, "code", brief=brief),
        doc.TypedCell(entry.created[:19].replace("T", " ") or None),
        doc.TypedCell(entry.experiment or None),
        doc.TypedCell(title, brief=short),
        doc.words(", ".join(entry.tags)),
        doc.words(" ".join(entry.note.split())),
        doc.words(entry.remote or LOCAL),
        doc.count(entry.sources),
        doc.count(entry.samples),
        doc.count(entry.missed),
        doc.time(entry.worst_ns),
        doc.TypedCell(STATE_WORDS.get(entry.state, entry.state), mark=marks.get(entry.state, "")),
    )


def _nothing(place: Path) -> str:
    if not place.exists():
        return f"The store {place} does not exist yet. Type tauto to measure this machine, which makes it."
    return f"There is no run in {place}. Type tauto to measure this machine."


_MOST_SHOWN = 1_000
"""Lines that a table has unless more are asked for."""

_TOLD = (
    *("id", "path", "state", "created", "experiment", "title", "conditions", "sources", "samples", "missed"),
    *("worst_ns", "warnings", "ended", "damage", "machine", "tags", "note", "kernel"),
)


def _as_json(entry: CatalogueEntry) -> dict[str, object]:
    known = {"path": entry.folder, "conditions": entry.conditions.stored, "tags": list(entry.tags)}
    return {name: known[name] if name in known else getattr(entry, name) for name in _TOLD}
