"""What tests of the middleware's presentations share."""

import subprocess
from pathlib import Path

import middleware_runs as made
from middleware_servers import needs
from real import PATIENCE_S, policy_options, sealed
from tautochrone.answer.document import TypedTable
from tautochrone.answer.experiments import presentation_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe


def shown(*runs: StoredRun) -> list[TypedTable]:
    presentation = presentation_of(runs[0].manifest.experiment)
    assert presentation is not None
    return presentation.tables(runs, [str(at) for at in range(len(runs))])


def cell(table: TypedTable, row: str, column: str) -> str:
    found = next(cells for cells in table.rows if cells[0].shown == row)
    return found[heads(table).index(column)].shown


def said(table: TypedTable) -> list[tuple[str, ...]]:
    """The rows of a table as they are read."""
    return [tuple(cell.shown for cell in row) for row in table.rows]


def heads(table: TypedTable) -> list[str]:
    return [one.head for one in table.columns]


def notes(tables: list[TypedTable]) -> str:
    return " ".join(note for table in tables for note in table.notes)


def over_clients(store: Store, rise_ns: float, **more: object) -> list[StoredRun]:
    return [
        made.latency(store, clients=clients, calls=300, high_rise_ns=rise_ns, seed=clients, **more)  # type: ignore[arg-type]
        for clients in (0, 1, 2, 5, 9, 20)
    ]


def recorded(folder: Path, experiment: str, transport: str, *options: str) -> StoredRun:
    """A run of the real thing."""
    needs(transport)
    words = [f"middleware-{experiment}", "--transport", transport, *options, *policy_options(), "--out", "-"]
    ended = subprocess.run(
        [str(find_probe()), *words],
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return sealed(ended.stdout, folder)
