"""What the model of the step needs (garre2014, 4.5).

A grid of tires in real time with a lock for each mass, and what a switch and the handing over of a lock take.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tautochrone.base.errors import TautoError, UsageError
from tautochrone.base.units import format_rate, parse_period_ns
from tautochrone.experiments import EXPERIMENTS, Options
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.measure.campaign.campaign import FINISHED, same_system
from tautochrone.measure.cell import Cell, Load
from tautochrone.run.catalogue import CatalogueEntry, catalogue
from tautochrone.run.conditions import LOCAL, RunConditions
from tautochrone.run.facts import Facts
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import SEALED
from tautochrone.run.store import Store
from tautochrone.tire.grid_question import LOCKING, Common, TireGrid, Varied, chosen_threads

MODEL = "tire-model"
"""What such a grid is about, beside those of ``grid``."""

_SAMPLES = 2_000
_ORDINARY = "other"


@dataclass(frozen=True)
class NeededMechanism:
    """A run of another experiment that the model needs: T_switch or T_ipc comes from it.

    Attributes:
        options: to measure it with, by name.
        known: what a run's parameters must be to stand for it, as its header has them.
    """

    experiment: str
    options: Options
    known: Mapping[str, object]

    def is_served_by(self, run: StoredRun) -> bool:
        """Return whether a stored run says what this one would."""
        parameters = run.manifest.header.parameters
        return (
            run.manifest.experiment == self.experiment
            and run.manifest.state == SEALED
            and run.manifest.ended in FINISHED
            and all(
                parameters.get(name) in value if isinstance(value, set) else parameters.get(name) == value
                for name, value in self.known.items()
            )
        )


def model_grid(varied: Varied, common: Common) -> TireGrid:
    """Return the tires: each step at its release, and to the end whatever is missed."""
    if common.solver not in LOCKING:
        raise UsageError(
            f"--solver {common.solver} has no lock for each mass, which the model is about",
            f"Take {' or '.join(LOCKING)}.",
        )
    rate = format_rate(1e9 / parse_period_ns(common.step))
    return TireGrid(
        MODEL,
        f"Model of the tire's step at {rate}, {common.duration}, {common.solver}",
        varied.nodes,
        chosen_threads(varied.threads, varied.team),
        varied.policies,
        {"pace": "real-time", "overrun": "skip", "overload": True, **common.options},
    )


def needed_mechanisms(
    policies: Sequence[str], solver: str, cpus: str | None = None
) -> tuple[NeededMechanism, ...]:
    """Return what T_switch and T_ipc come from, for each policy.

    A switch between threads of equal right can't be measured without priorities; then what it takes under
    fifo is measured, to stand for it.

    Args:
        cpus: of the tire's threads, in their order: the first two are those of the mechanisms. None, or
            "any": as the experiments choose.
    """
    with_priorities = [policy for policy in policies if policy != _ORDINARY]
    found = [
        NeededMechanism("rhealstone", {"policy": policy, "count": _SAMPLES}, {"policy": policy})
        for policy in with_priorities or ["fifo"]
    ]
    if solver == "mutex-pi":
        handed: Options = {"mutex": "inherit", "count": _SAMPLES}
        found += [
            NeededMechanism(
                "switch", {**handed, "policy": policy}, {"policy": policy, "mutex": {"inherit", "both"}}
            )
            for policy in with_priorities
        ]
    elif _ORDINARY in policies:
        found.append(
            NeededMechanism(
                "response",
                {
                    "policy": _ORDINARY,
                    "mechanisms": "semaphore",
                    "waiter": "same",
                    "period": "0s",
                    "count": _SAMPLES // 50,
                },
                {"policy": _ORDINARY, "mechanisms": {"semaphore", "all"}, "waiter": "same", "period_ns": 0},
            )
        )
    both = [cpu for part in (cpus or "").split(",") for cpu in parse_cpu_list(part) or ()][:2]
    if not both:
        return tuple(found)
    named, placed = ",".join(map(str, both)), dict(zip(("near_cpu", "far_cpu"), both, strict=False))
    return tuple(
        NeededMechanism(one.experiment, {**one.options, "cpus": named}, {**one.known, **placed})
        for one in found
    )


def stored_mechanism(
    store: Store,
    wanted: NeededMechanism,
    facts: Facts,
    conditions: RunConditions,
    near: datetime | None = None,
) -> StoredRun | None:
    """Return a run of the store that stands for it: of this machine and kernel, under these conditions.

    Args:
        facts: about the machine.
        conditions: of the runs that it is for: target, load, deployment.
        near: the one whose beginning is nearest to this; None: the latest.
    """
    entries = [
        one
        for one in catalogue(store)
        if one.experiment == wanted.experiment
        and one.load == (conditions.load or "")
        and _around(one.conditions) == _around(conditions)
    ]
    for entry in sorted(entries, key=lambda one: _distance_s(one, near)):
        try:
            run = store.open(entry.id)
        except TautoError:  # damaged, or still being measured
            continue
        if wanted.is_served_by(run) and same_system(run.manifest.known, facts):
            return run
    return None


def mechanism_cell(
    wanted: NeededMechanism, load: Load, command: tuple[str, ...], *, memory_lock: bool
) -> Cell:
    """Return the case that measures it."""
    options = {**wanted.options, **({} if memory_lock else {"no-memory-lock": True})}
    prepared = EXPERIMENTS[wanted.experiment].prepare(options, Path())
    return Cell(
        experiment=wanted.experiment,
        options=prepared.options,
        title=f"{prepared.title} for the model of the tire's step, {load.name}",
        load=load,
        expected_s=prepared.expected_s,
        command=command,
    )


def _around(conditions: RunConditions) -> tuple[str, str, str]:
    held = conditions.deployment
    return conditions.target or LOCAL, conditions.load or "", held.name if held is not None else ""


def _distance_s(entry: CatalogueEntry, near: datetime | None) -> float:
    """Sort the nearest first; without an instant to be near to, the latest."""
    try:
        created = datetime.fromisoformat(entry.created)
    except ValueError:
        return float("inf")
    return abs((created - near).total_seconds()) if near is not None else -created.timestamp()
