"""What was measured of a study, made up: sealed runs of given samples, as `paper.gather` would find them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

import report_runs
from tautochrone.measure.cell import Load
from tautochrone.measure.document.expand import NamedDeployment, PlanPoint
from tautochrone.papers.measured import MeasuredSystem, Measurements, role_of
from tautochrone.run.facts import Facts
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

Samples = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Made:
    """One point of a plan, measured as often as there are samples.

    Attributes:
        repetitions: of each, the samples of every source.
        why: why it was not measured, where it was not.
    """

    of: str
    system: str = "local"
    load: str = "idle"
    deployment: str = "as-is"
    options: tuple[tuple[str, str], ...] = ()
    repetitions: Sequence[Sequence[Samples]] = ()
    why: str = ""


def measured(folder: Path, made: Sequence[Made], **stream: Any) -> Measurements:
    """A campaign of these points; a system whose name has "rt" in it has a real-time kernel."""
    store = Store(folder)
    points: dict[str, PlanPoint] = {}
    runs: dict[str, list[StoredRun]] = {}
    reasons: dict[str, str] = {}
    systems: dict[str, MeasuredSystem] = {}
    for number, one in enumerate(made):
        key = f"{number:012}"
        points[key] = _point(key, one)
        facts = _facts(one.system)
        runs[key] = [
            report_runs.store_run(store, list(sources), one.load, facts=facts, **stream)
            for sources in one.repetitions
        ]
        if one.why:
            reasons[key] = one.why
        if runs[key]:
            known = Facts.from_table(facts)
            systems[one.system] = MeasuredSystem(one.system, role_of(known), known)
        else:
            systems.setdefault(one.system, MeasuredSystem(one.system, why_not=one.why))
    return Measurements(
        tuple(systems.values()),
        points,
        {key: found for key, found in runs.items() if found},
        reasons,
        max((len(one.repetitions) for one in made), default=1),
    )


def _facts(system: str) -> Mapping[str, Any]:
    kernel = {**report_runs.FACTS["kernel"], "realtime": "rt" in system}
    return {**report_runs.FACTS, "kernel": kernel}


def _point(key: str, one: Made) -> PlanPoint:
    options = dict(one.options)
    return PlanPoint(
        key=key,
        entry=0,
        system=one.system,
        deployment=NamedDeployment(one.deployment),
        load=Load(one.load),
        load_spec=one.load,
        experiment="cyclic",
        heading=one.of,
        options=cast("Any", options),
        varying=tuple(options),
        varied="",
        prepared=cast("Any", None),
        address=one.system,
    )
