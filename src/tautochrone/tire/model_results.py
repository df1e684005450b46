"""What a grid for the model of the step comes to, from the store alone: points, mechanisms, fits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tautochrone.run.folder import Run
from tautochrone.run.store import Store
from tautochrone.tire.model import needed_mechanisms, stored_mechanism
from tautochrone.tire.model_judge import Study, studies
from tautochrone.tire.model_points import Point, points_of


@dataclass(frozen=True)
class ModelResults:
    """The model of the step on one machine.

    Attributes:
        mechanisms: ids of the runs that T_switch and T_ipc come from.
        lacking: experiments of which the store has no such run.
    """

    points: tuple[Point, ...]
    studies: tuple[Study, ...]
    mechanisms: tuple[str, ...]
    lacking: tuple[str, ...]


def gather_model(runs: Sequence[Run], policies: Sequence[str], solver: str, cpus: str | None) -> ModelResults:
    """Fit the model to these runs of one machine, with the mechanisms that were measured nearest to them.

    Args:
        cpus: that the runs were asked to use; None: none were named.

    Raises:
        StoreError, DamagedError: a run can't be read.
    """
    if not runs:
        return ModelResults((), (), (), ())
    first = runs[0].manifest
    store, near = Store(runs[0].path.parent), datetime.fromisoformat(first.created)
    found: list[Run] = []
    lacking: list[str] = []
    for wanted in needed_mechanisms(policies, solver, cpus):
        run = stored_mechanism(store, wanted, first.facts, first.conditions, near)
        if run is None:
            lacking.append(f"{wanted.experiment}, policy {wanted.options['policy']}")
        else:
            found.append(run)
    points = points_of(runs)
    return ModelResults(
        points, studies(points, found, solver), tuple(run.id for run in found), tuple(lacking)
    )
