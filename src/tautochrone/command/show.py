"""``tauto show``: one run in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.command.options import JsonOption, RunArgument, StoreOption, open_store
from tautochrone.command.told import tell_json

if TYPE_CHECKING:
    from tautochrone.answer.document import TypedTable
    from tautochrone.answer.evidence import Evidence
    from tautochrone.judge.course import Courses


def show(
    run: RunArgument = "latest",
    intervals: Annotated[
        bool, typer.Option("--intervals", "-i", help="Show the confidence interval of each quantile.")
    ] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show one run: latencies per source, what stands out over time, conditions, the accounting, warnings.

    RUN may also be latest~1, the run before the latest, latest~2, and so on. After `tauto` alone, latest is
    its whole answer: the verdict, and the runs that it consists of. Times are in microseconds. A
    quantile for which there are too few samples is not shown, but how many it would need.

    Examples:
        tauto show
        tauto show latest~1 --intervals
    """
    from tautochrone.answer import evidence
    from tautochrone.answer import show as shown
    from tautochrone.answer.console import make_console
    from tautochrone.answer.render import terminal

    place = open_store(store)
    opened = place.open(run)
    if run == "latest" and not as_json and not intervals and (answered := place.answered_with(opened)):
        from tautochrone.command.answer import show_again

        show_again(make_console(), answered)
        return
    seen = evidence.gather([opened])
    if as_json:
        tell_json("show", lambda: as_table(seen))
        return
    console = make_console()
    whole = not console.is_terminal
    terminal.show(console, shown.document(seen, intervals=intervals, whole=whole))


def as_table(seen: Evidence) -> dict[str, object]:
    """Return one run as programs read it; times in nanoseconds unless the name says otherwise."""
    from dataclasses import asdict

    from tautochrone.run.manifest import MEASURING

    manifest = seen.manifests[0]
    return {
        "id": manifest.id,
        "title": manifest.title,
        **asdict(seen.remarks[0]),
        "experiment": manifest.experiment,
        "state": MEASURING if manifest.told_state == MEASURING else manifest.state,
        "ended": manifest.ended,
        "created": manifest.created,
        "conditions": manifest.conditions.stored,
        "parameters": manifest.header.parameters,
        "books": [asdict(book) | {"problems": book.problems()} for book in manifest.books],
        "measures": [
            {
                "name": measured.measure,
                "meaning": measured.meaning,
                "unit": "ns",
                "sources": [
                    {
                        "name": one.source,
                        **({"what": one.what} if one.what else {}),
                        "summary": one.summary.as_json(),
                        "worst_at_s": one.worst_at_s,
                    }
                    for one in measured.series
                    if one.summary is not None
                ],
                "over_time": [_over_time(found) for _, found in measured.courses],
            }
            for measured in seen.measured
        ],
        "absent": [{"name": one.name, "why": one.why} for one in manifest.header.absent],
        "tables": [_table(one) for presented in seen.presented.values() for one in presented.tables()],
        "events": [event.stored for event in manifest.events],
        "warnings": [asdict(warning) for warning in manifest.warnings],
        "damage": manifest.damage,
    }


def _table(shown: TypedTable) -> dict[str, object]:
    """Return what the cells of a table say, and which of its columns are of words."""
    heads = [one.head for one in shown.columns]
    return {
        "title": shown.title,
        "columns": heads,
        "rows": [[cell.shown for cell in row] for row in shown.rows],
        "notes": list(shown.notes),
        "words": [head for head, right in zip(heads[1:], shown.right[1:], strict=True) if not right],
    }


def _over_time(found: Courses) -> dict[str, object]:
    """Return what stands out in the course of a run; instants are nanoseconds since its start."""
    from dataclasses import asdict

    from tautochrone.answer.phrasing.course import sentences

    def since(at_ns: float) -> float:
        return float(at_ns - found.start_ns)

    return {
        "sentences": sentences(found),
        "sources": [
            {
                "name": one.name,
                "searched": one.searched,
                "least_change_of_median": one.least_change,
                "changes": [asdict(change) | {"at_ns": since(change.at_ns)} for change in one.changes],
                "periods": [asdict(period) | {"first_ns": since(period.first_ns)} for period in one.periods],
                "apart": None if one.apart is None else asdict(one.apart),
            }
            for one in found.sources
        ],
        "together": [
            asdict(pair)
            | {"first": found.sources[pair.first].name, "second": found.sources[pair.second].name}
            for pair in found.pairs
            if pair.shown
        ],
    }
