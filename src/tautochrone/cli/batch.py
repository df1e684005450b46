"""Measures several cells one after the other, with one bar; what can't be measured is told, not fatal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.errors import MeasuringError, NotPermittedError, TautoError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from tautochrone.cli.live import Watch
    from tautochrone.plan.cell import Cell
    from tautochrone.run.folder import Run
    from tautochrone.run.store import Store
    from tautochrone.target.target import Target


@dataclass(frozen=True)
class Lacking:
    """A cell that was not measured, or in part only.

    Attributes:
        error: what stood in the way.
        failed: whether it went wrong while measuring; otherwise it is not permitted or not to be had here.
        instead: the cell that was measured in its place, if one was.
    """

    cell: Cell
    error: TautoError
    failed: bool
    instead: Cell | None = None

    @property
    def what(self) -> str:
        """What stood in the way, as a sentence, without what to do about it."""
        text = str(self.error).removeprefix("the probe failed: ").rstrip(".")
        return f"{text[:1].upper()}{text[1:]}."


@dataclass(frozen=True)
class Batch:
    """What came of it: runs in the order of their cells, and what is lacking."""

    runs: tuple[Run, ...]
    lacking: tuple[Lacking, ...]
    stopped: bool
    not_begun: tuple[Cell, ...]


def run_batch(
    cells: Sequence[Cell],
    store: Store,
    facts: Mapping[str, Any],
    may_lack: Callable[[Cell], bool] = lambda _: True,
    adapt: Callable[[Cell, Sequence[Run]], Cell] = lambda cell, _: cell,
) -> Batch:
    """Measure the cells in their order. Ctrl-C ends it; what was measured until then is kept.

    Args:
        facts: about this machine, stored with each run.
        may_lack: whether the others go on when this cell can't be measured.
        adapt: makes of a cell what it becomes after the runs before it.

    Raises:
        TautoError: a cell that may not lack was refused or failed; the store can't be written.
    """
    from tautochrone.cli.live import watching
    from tautochrone.target.local import LocalTarget

    target = LocalTarget()
    runs: list[Run] = []
    lacking: list[Lacking] = []
    with watching(tuple(cells)) as begin:
        for at, cell in enumerate(cells):
            try:
                excused = lacking if may_lack(cell) else None
                run = _run(adapt(cell, runs), store, target, facts, begin(cell), excused)
            except KeyboardInterrupt:  # between two runs; within one it ends the probe, and the run is kept
                return Batch(tuple(runs), tuple(lacking), True, tuple(cells[at:]))
            if run is None:
                continue
            runs.append(run)
            if run.manifest.ended == "interrupted":
                return Batch(tuple(runs), tuple(lacking), True, tuple(cells[at + 1 :]))
    return Batch(tuple(runs), tuple(lacking), False, ())


def _run(
    cell: Cell,
    store: Store,
    target: Target,
    facts: Mapping[str, Any],
    watch: Watch,
    lacking: list[Lacking] | None,
) -> Run | None:
    from tautochrone.plan.execute import NothingMeasuredError, run_cell

    try:
        return run_cell(cell, store, target, facts, watch)
    except (NotPermittedError, UsageError, MeasuringError) as error:
        if lacking is None:
            raise
        refused = not isinstance(error, MeasuringError) or isinstance(error, NothingMeasuredError)
        instead = cell.instead if refused else None
        lacking.append(Lacking(cell, error, not refused, instead))
        return _run(instead, store, target, facts, watch, lacking) if instead is not None else None
