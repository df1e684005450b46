"""Measuring one experiment as it was asked for on the command line: what the verbs of `tauto probe` do."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tautochrone.base.errors import NotPermittedError
from tautochrone.target.target import WATCH, not_there
from tautochrone.target.virtual import KERNEL_HALF

if TYPE_CHECKING:
    from tautochrone.command.beside import Beside
    from tautochrone.experiments import Experiment, Options, Prepared
    from tautochrone.machine.deployment import Deployment
    from tautochrone.measure.cell import Cell, Load
    from tautochrone.measure.soak import Soak


@dataclass(frozen=True)
class AskedExperiment:
    """An experiment as a person asked for it.

    Attributes:
        options: as given; what is not given is left out. The probe knows its defaults best.
        title: as typed; None: made of what it is, the load and the deployment.
        beside: what stands around it.
        soak: of a long run in intervals, how it is kept and its loads.
    """

    experiment: Experiment
    options: Options
    title: str | None
    beside: Beside
    store: Path | None = None
    as_json: bool = False
    soak: Soak | None = None

    @property
    def known(self) -> Options:
        """Return the options that decide what is measured, without those of the verb alone."""
        return {name: value for name, value in self.options.items() if name in self.experiment.known}


def measure(asked: AskedExperiment) -> None:
    """Measure one case with the live bar, store it and show it.

    Where real-time priority or locked memory is not permitted and nobody asked for it, it is measured
    without, which is told and stays with the run as a warning.

    Raises:
        typer.Exit: 130, it was ended by Ctrl-C; what was measured is stored and shown.
        TautoError: refused, failed, or the store can't be written.
    """
    from tautochrone.command.live import watching
    from tautochrone.command.options import open_store
    from tautochrone.command.permission import permitted_instead
    from tautochrone.command.show import show
    from tautochrone.machine.facts import gather
    from tautochrone.measure.execute import run_cell

    experiment, beside = asked.experiment, asked.beside
    if experiment.name == WATCH and beside.on not in (None, "local"):  # its program is not looked for here
        raise not_there(str(beside.on))
    prepared = experiment.prepare(asked.known, Path())
    load = beside.chosen_load() if asked.soak is None else asked.soak.load
    place = open_store(asked.store)
    with beside.target(kernel_half=experiment.name == KERNEL_HALF) as target:
        cell = cell_of(experiment.name, prepared, asked.title, load, beside.chosen_deployment(target))
        facts = gather(target.files())
        try:
            with watching((cell,)) as begin:
                run = run_cell(cell, place, target, facts, begin(cell), soak=asked.soak)
        except NotPermittedError as refused:
            prepared, permission = permitted_instead(experiment, asked.known, target, refused)
            typer.echo(permission.refusal(target), err=True)
            cell = replace(cell, options=prepared.options, cautions=(permission.caution(),))
            with watching((cell,)) as begin:
                run = run_cell(cell, place, target, facts, begin(cell), soak=asked.soak)
    show(run.manifest.id, as_json=asked.as_json, store=asked.store)
    if run.manifest.ended == "interrupted":
        raise typer.Exit(130)


def cell_of(
    experiment: str, prepared: Prepared, title: str | None, load: Load, deployment: Deployment | None
) -> Cell:
    """Return a case of one verb, as it was typed."""
    from tautochrone.measure.cell import Cell

    under = f", {deployment.name}" if deployment is not None else ""
    return Cell(
        experiment,
        prepared.options,
        title or f"{prepared.title}, {load.name}{under}",
        load,
        prepared.expected_s,
        ("tauto", *sys.argv[1:]),
        prepared.conditions,
        deployment=deployment,
    )
