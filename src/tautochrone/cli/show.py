"""``tauto show``: one run in the terminal."""

import json
from typing import Annotated, Any

import typer

from tautochrone.cli.options import JsonOption, RunArgument, StoreOption, open_store


def show(
    run: RunArgument = "latest",
    intervals: Annotated[
        bool, typer.Option("--intervals", "-i", help="Show the confidence interval of each quantile.")
    ] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show one run: latencies per source, conditions, the books, warnings.

    RUN may also be latest~1, the run before the latest, latest~2, and so on. Times are in microseconds. A
    quantile for which there are too few samples is not shown, but how many it would need.
    """
    from tautochrone.report import evidence, terminal
    from tautochrone.report.console import make_console

    opened = open_store(store).open(run)
    seen = evidence.gather([opened])
    if as_json:
        typer.echo(json.dumps(_as_json(seen), indent=2, ensure_ascii=False))
        return
    terminal.show_run(make_console(), opened.manifest, seen, intervals=intervals)


def _as_json(seen: Any) -> dict[str, Any]:
    from dataclasses import asdict

    manifest = seen.manifests[0]
    return {
        "schema": manifest.schema,
        "id": manifest.id,
        "title": manifest.title,
        "experiment": manifest.experiment,
        "state": manifest.state,
        "ended": manifest.ended,
        "created": manifest.created,
        "conditions": manifest.conditions,
        "parameters": manifest.header.get("parameters") or manifest.parameters,
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
                        "summary": asdict(one.summary),
                        "worst_at_s": one.worst_at_s,
                    }
                    for one in measured.series
                    if one.summary is not None
                ],
            }
            for measured in seen.measured
        ],
        "absent": manifest.header.get("absent", []),
        "tables": [asdict(grid) for presented in seen.presented.values() for grid in presented.grids()],
        "events": list(manifest.events),
        "warnings": [asdict(warning) for warning in manifest.warnings],
        "damage": manifest.damage,
    }
