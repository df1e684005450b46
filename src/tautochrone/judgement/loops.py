"""From runs to what the verdict rests on."""

from collections.abc import Iterable

from tautochrone.judgement.verdict import MeasuredLoop, Verdict, judge
from tautochrone.run.folder import Run


def judge_runs(runs: Iterable[Run]) -> Verdict | None:
    """The verdict over all periodic runs, or None if there is none among them."""
    loops = [loop for run in runs for loop in measured_loops(run)]
    return judge(loops) if loops else None


def measured_loops(run: Run) -> list[MeasuredLoop]:
    """Each source of a periodic run; empty for an experiment that has no period."""
    manifest = run.manifest
    period_ns = manifest.header.get("schedule", {}).get("period_ns")
    if not period_ns:
        return []
    worst_ns = {one.source: one.maximum_ns for one in manifest.extremes if one.measure == run.measures[0]}
    cpus = {
        source["source"]: source.get("obtained", {}).get("cpu")
        for source in manifest.header.get("sources", ())
    }
    rested = {book["source"]: book.get("rested", 0) for book in (manifest.footer or {}).get("books", ())}
    return [
        MeasuredLoop(
            period_ns=period_ns,
            source=book.name,
            cpu=cpus.get(book.source),
            load=str(manifest.conditions.get("load", "not known")),
            completed=book.completed,
            missed=book.missed or 0,
            dropped=book.dropped or 0,
            overruns=book.overruns or 0,
            worst_ns=worst_ns.get(book.source),
            rested=rested.get(book.source, 0),
        )
        for book in manifest.books
    ]
