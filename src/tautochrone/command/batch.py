"""Measures several cases one after the other, with one bar; what can't be measured is told, not fatal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tautochrone.base.errors import StoreError, TautoError
from tautochrone.base.faults import of_a_case
from tautochrone.base.words import plural
from tautochrone.run.facts import FactTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from tautochrone.command.live import Watch
    from tautochrone.machine.settings import NotPutBackError
    from tautochrone.measure.cell import Cell
    from tautochrone.measure.conditions import Conditions
    from tautochrone.run.facts import Facts
    from tautochrone.run.folder import StoredRun
    from tautochrone.run.store import Store
    from tautochrone.target.target import Target


# Before measuring: on what.


def introduce(console: Console, facts: Facts) -> None:
    """Say what is going to be measured on."""
    cpu, kernel, confinement = facts.cpu, facts.kernel, facts.confinement
    if kernel.release is None:
        console.print("A machine of which nothing is known but what the probe tells", style="dim")
        return
    places = (confinement.hypervisor, confinement.container)
    place = next((name for name in places if name not in (None, "none")), None)
    online = "N/A CPUs" if cpu.online_count is None else plural(cpu.online_count, "CPU")
    parts = [
        f"{cpu.model or 'CPU of unknown model'}, {online} online",
        f"Linux {kernel.release}, preemption {kernel.preemption or 'not known'}",
        f"clock source {facts.clock.source or 'not known'}",
    ]
    if place:
        parts.append(f"inside {place}")
    console.print("\n".join(parts), highlight=False, style="dim")


@dataclass(frozen=True)
class Lacking:
    """A case that was not measured, or in part only.

    Attributes:
        error: what stood in the way.
        failed: whether it went wrong while measuring; otherwise it is not permitted or not to be had here.
        instead: the case that was measured in its place, if one was.
    """

    cell: Cell
    error: TautoError
    failed: bool
    instead: Cell | None = None

    @property
    def what(self) -> str:
        """Return what stood in the way, as a sentence, without what to do about it."""
        from tautochrone.measure.execute import what_stood_in_the_way

        return what_stood_in_the_way(self.error)


@dataclass(frozen=True)
class Batch:
    """What came of it: runs in the order of their cases, and what is lacking.

    Attributes:
        not_put_back: a setting of the deployment that could not be put back.
    """

    runs: tuple[StoredRun, ...]
    lacking: tuple[Lacking, ...]
    stopped: bool
    not_begun: tuple[Cell, ...]
    not_put_back: NotPutBackError | None = None


def run_batch(
    cells: Sequence[Cell],
    store: Store,
    target: Target,
    facts: FactTable,
    may_lack: Callable[[Cell], bool] = lambda _: True,
    adapt: Callable[[Cell, Sequence[StoredRun]], Cell] = lambda cell, _: cell,
) -> Batch:
    """Measure the cases in their order. Ctrl-C ends it; what was measured until then is kept.

    Args:
        cells: all of them under the same deployment, which is applied once, around them all.
        target: the machine under test.
        facts: about it, stored with each run.
        may_lack: whether the others go on when this case can't be measured.
        adapt: makes of a case what it becomes after the runs before it.

    Raises:
        TautoError: a case that may not lack was refused or failed, or the deployment was; the store can't be
            written.
    """
    from tautochrone.machine.settings import NotPutBackError
    from tautochrone.measure.conditions import conditions_of
    from tautochrone.target.middleware import provide_before_boot

    batch: Batch | None = None
    deployment = cells[0].deployment if cells else None
    if deployment is not None:  # a guest is booted once, around all cases; otherwise `run_cell` does it
        provide_before_boot(target, cells[0].experiment, cells[0].options)
    try:
        with conditions_of(deployment, target, facts) as under:
            batch = _run_all(cells, store, target, under, may_lack, adapt)
    except NotPutBackError as error:
        if batch is None:
            raise
        batch = replace(batch, not_put_back=error)
    return batch


def _run_all(
    cells: Sequence[Cell],
    store: Store,
    target: Target,
    under: Conditions,
    may_lack: Callable[[Cell], bool],
    adapt: Callable[[Cell, Sequence[StoredRun]], Cell],
) -> Batch:
    from tautochrone.command.live import watching
    from tautochrone.measure.execute import StoppedAfterRunError

    runs: list[StoredRun] = []
    lacking: list[Lacking] = []
    with watching(tuple(cells)) as begin:
        for at, cell in enumerate(cells):
            excused = lacking if may_lack(cell) else None
            try:
                run = _run(adapt(cell, runs), store, target, under, begin(cell), excused)
            except StoppedAfterRunError as stop:
                return Batch((*runs, stop.run), tuple(lacking), True, tuple(cells[at + 1 :]))
            except KeyboardInterrupt:
                # Before its first sample; afterwards it ends the probe, and the run is kept.
                return Batch(tuple(runs), tuple(lacking), True, tuple(cells[at:]))
            if run is None:
                continue
            runs.append(run)
            if run.manifest.ended == "interrupted":
                return Batch(tuple(runs), tuple(lacking), True, tuple(cells[at + 1 :]))
    return Batch(tuple(runs), tuple(lacking), False, ())


def _run(
    cell: Cell, store: Store, target: Target, under: Conditions, watch: Watch, lacking: list[Lacking] | None
) -> StoredRun | None:
    from tautochrone.measure.execute import is_refusal, run_cell

    try:
        return run_cell(cell, store, target, under.facts, watch, under)
    except StoreError:
        raise
    except TautoError as error:
        if lacking is None:
            raise
        instead = cell.instead if is_refusal(error) else None
        lacking.append(Lacking(cell, error, not is_refusal(error), instead))
        return _run(instead, store, target, under, watch, lacking) if instead is not None else None
    except Exception as error:
        if lacking is None:
            raise
        lacking.append(Lacking(cell, of_a_case(error, cell.title), True, None))
        return None
