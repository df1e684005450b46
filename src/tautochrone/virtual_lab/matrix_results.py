"""What came of a kernel matrix, from the store alone: a row for each machine, a column for each load."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tautochrone.base.options import Options
from tautochrone.campaign.kinds import GridRuns
from tautochrone.measure.campaign.reasons import NOT_YET
from tautochrone.measure.document.expand import AS_IS, PlanPoint
from tautochrone.measure.lab.matrix import MATRIX, Machine, machine_of
from tautochrone.measure.lab.preemption import REAL_TIME, obtained
from tautochrone.run.conditions import HeldDeployment, VirtualMachine
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import sum_if_known
from tautochrone.statistics.summary import Summary, summarise

RARE = 0.999
"""The quantile that stands beside the worst."""


@dataclass(frozen=True)
class MatrixCell:
    """One machine under one load.

    Attributes:
        run: its id; empty: there is none.
        summary: of its latencies; None: there is none.
        missed, released: None: not known of every source.
        why: it is not measured.
    """

    load: str
    run: str = ""
    summary: Summary | None = None
    missed: int | None = 0
    released: int | None = 0
    why: str = ""

    @property
    def worst_ns(self) -> int | None:
        """Return the largest latency; None: not measured."""
        return None if self.summary is None else self.summary.maximum

    @property
    def rare_ns(self) -> int | None:
        """Return the quantile `RARE`; None: not measured, or too few samples."""
        return None if self.summary is None else self.summary.quantile(RARE)


@dataclass(frozen=True)
class MatrixRow:
    """One machine, under one deployment.

    Attributes:
        machine: as it was asked for.
        deployment: its name; empty: none.
        held: the deployment as its runs keep it; None: there is none, or nothing is measured.
        preemption: what its kernel said it obtained; None: it did not tell, or nothing is measured.
        virtual: what the machine consisted of, as its runs keep it; empty: nothing is measured.
    """

    machine: Machine
    preemption: str | None
    virtual: VirtualMachine | None
    cells: tuple[MatrixCell, ...]
    deployment: str = ""
    held: HeldDeployment | None = None

    @property
    def name(self) -> str:
        """Return the kernel, how it preempts where that was chosen or is known, and the deployment."""
        model = self.preemption or self.machine.preemption
        said = (self.machine.kernel, "" if model in (None, REAL_TIME) else model, self.deployment)
        return ", ".join(filter(None, said))


@dataclass(frozen=True)
class MatrixResults:
    """A matrix, measured in whole or in part.

    Attributes:
        options: of the experiment, as a person gave them.
    """

    options: Options
    loads: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    kind: str = MATRIX

    def column(self, load: str) -> list[tuple[MatrixRow, MatrixCell]]:
        """Return the measured cases of a load."""
        at = self.loads.index(load)
        return [(row, row.cells[at]) for row in self.rows if row.cells[at].summary is not None]

    def best_ns(self, load: str, *, rare: bool = False) -> int | None:
        """Return the least worst latency of a column, or the least of its rare ones; None: there is none."""
        found = [cell.rare_ns if rare else cell.worst_ns for _, cell in self.column(load)]
        return min((one for one in found if one is not None), default=None)


def gather_matrix(found: GridRuns) -> MatrixResults:
    """Return the cases of a matrix with their runs."""
    measured = {run.manifest.conditions.plan.cell: run for run in found.runs}
    loads = tuple(dict.fromkeys(point.load.name for point in found.points))
    of_row: dict[tuple[str, str], list[PlanPoint]] = {}
    for point in found.points:
        of_row.setdefault((point.system, point.deployment.name), []).append(point)
    return MatrixResults(
        options=found.plan.options,
        loads=loads,
        rows=tuple(_row(own, loads, measured, found.why) for own in of_row.values()),
    )


def _row(
    points: Sequence[PlanPoint],
    loads: Sequence[str],
    measured: Mapping[str, StoredRun],
    why: Mapping[str, str],
) -> MatrixRow:
    runs = [measured[point.key] for point in points if point.key in measured]
    by_load = {point.load.name: point for point in points}
    return MatrixRow(
        machine=machine_of(points[0].system),
        preemption=obtained(runs[0].manifest.known) if runs else None,
        virtual=runs[0].manifest.conditions.virtual if runs else None,
        cells=tuple(_cell(by_load[load], measured, why) for load in loads),
        deployment="" if points[0].deployment.name == AS_IS else points[0].deployment.short,
        held=runs[0].manifest.conditions.deployment if runs else None,
    )


def _cell(point: PlanPoint, measured: Mapping[str, StoredRun], why: Mapping[str, str]) -> MatrixCell:
    run = measured.get(point.key)
    if run is None:
        return MatrixCell(point.load.name, why=why.get(point.key, NOT_YET))
    books = run.manifest.books
    return MatrixCell(
        load=point.load.name,
        run=run.id,
        summary=summarise(run.values(narrow=True), in_place=True) if run.count() else None,
        missed=sum_if_known(book.missed for book in books),
        released=sum_if_known(book.released for book in books),
        why="" if run.count() else "Every release was missed: there is no sample.",
    )
