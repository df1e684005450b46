"""What the verbs of `tauto tire` share: options, the CPUs that threads run on, and measuring a grid."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.command.grids import chosen_cpus, usable_cpus

if TYPE_CHECKING:
    from tautochrone.campaign.verb import Wanted
    from tautochrone.command.beside import Beside
    from tautochrone.experiments.tire_threads import ThreadCount
    from tautochrone.measure.document.document import Document
    from tautochrone.tire.grid import Grid

Threads = Annotated[
    str | None,
    typer.Option(
        "--threads",
        metavar="auto|LIST",
        help="auto: 1, one per core, one per logical CPU, two per logical CPU. Or 1,2,4 or 1..12. [auto]",
    ),
]
Cpus = Annotated[
    str | None,
    typer.Option(
        "--cpus",
        metavar="LIST|any",
        help="Thread 0 runs on the first, and so on; any: unpinned. [one of each core, then siblings]",
    ),
]
Policies = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="LIST",
        help="Of fifo, rr, other; several with commas. [map: fifo; fast, model: fifo,other]",
    ),
]


@dataclass(frozen=True)
class Team:
    """Where threads run, and how many of them are usual there.

    Attributes:
        cpus: in the order in which threads take them; None: as the deployment leaves them.
        counts: the paper's four degrees of parallelism.
    """

    cpus: str | None
    counts: tuple[ThreadCount, ...]

    @property
    def usual(self) -> tuple[int, ...]:
        """The counts as numbers."""
        return tuple(one.count for one in self.counts)


def team_of(beside: Beside, cpus: str | None = None) -> Team:
    """The CPUs of the machine under test for this verb's threads.

    Args:
        cpus: as a person gave them: a list, "any", or None for those that the deployment measures on, else
            those that the probe may use, one of each core first.

    Raises:
        UsageError: the list can't be read, or the deployment is not known.
        TautoError: the machine can't be reached.
    """
    from tautochrone.experiments.tire_threads import cpu_order, thread_counts

    usable = usable_cpus(beside)
    if cpus is None:
        order = ",".join(map(str, cpu_order(usable.facts, usable.cpus)))
        counts = thread_counts(usable.facts, usable.cpus)
        return Team(None if usable.left_open else order, tuple(counts))
    named = usable.cpus if cpus == "any" else chosen_cpus(cpus, "0-3 or 0,2,1,3, or any")
    return Team(cpus, tuple(thread_counts(usable.facts, named)))


def measure_grid(
    grid: Grid, beside: Beside, repetitions: int, seed: int | None, store: Path | None, wanted: Wanted
) -> None:
    """Measure what is left of a grid, and report on all of it.

    Raises:
        typer.Exit: stopped, or a cell went wrong.
        TautoError: nothing could be measured, or a setting could not be put back.
    """
    from tautochrone.campaign.verb import carry_through

    carry_through(plan_of(grid, beside, repetitions, seed), store, wanted)


def plan_of(grid: Grid, beside: Beside, repetitions: int, seed: int | None) -> Document:
    """The grid as a plan; what is left out of it is told.

    Raises:
        UsageError: no cell is left, or a number, a load can't be.
    """
    from tautochrone.measure.campaign.agenda import with_options
    from tautochrone.measure.loads.spec import parse_load
    from tautochrone.tire.grid import document_of

    load = parse_load(beside.load or []).name
    axes = {"systems": beside.on, "deployments": beside.deployment, "loads": load}
    document = with_options(document_of(grid, axes), repetitions, seed)
    for count, nodes in grid.without.items():
        of = f"{nodes[0]:,}" if len(nodes) == 1 else f"{nodes[0]:,} to {nodes[-1]:,}"
        typer.echo(f"Left out: {count} threads for {of} masses. A thread computes one at least.", err=True)
    return document
