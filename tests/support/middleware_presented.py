"""What tests of the middleware's presentations share."""

import subprocess
from pathlib import Path

import middleware_runs as made
from middleware_servers import needs
from real import PATIENCE_S, policy_options, sealed
from tautochrone.answer.blocks import Grid
from tautochrone.answer.experiments import presentation_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe


def shown(*runs: StoredRun) -> list[Grid]:
    presentation = presentation_of(runs[0].manifest.experiment)
    assert presentation is not None
    return presentation.grids(runs, [str(at) for at in range(len(runs))])


def cell(grid: Grid, row: str, column: str) -> str:
    found = next(cells for cells in grid.rows if cells[0] == row)
    return found[grid.columns.index(column)]


def notes(grids: list[Grid]) -> str:
    return " ".join(note for grid in grids for note in grid.notes)


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
