"""Measurements of a study that never was, for the tests of its claims: sealed runs of chosen latencies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

import streams
from report_runs import FACTS
from tautochrone.experiments import EXPERIMENTS, Prepared
from tautochrone.measure.cell import Load
from tautochrone.measure.document.expand import NamedDeployment, PlanPoint
from tautochrone.papers.claims import ask
from tautochrone.papers.claims.evidence import AskedClaim
from tautochrone.papers.document import Claim, Query
from tautochrone.papers.measured import MeasuredSystem, Measurements, Role
from tautochrone.run.conditions import VirtualMachine
from tautochrone.run.facts import Facts
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

Samples = npt.NDArray[np.int64]

TITLE = "latency"
SAMPLES = 6_000


def latencies(seed: int, median_ns: float, spread: float = 0.2, count: int = SAMPLES) -> Samples:
    """Lognormal, independent of each other."""
    return np.random.default_rng(seed).lognormal(np.log(median_ns), spread, count).astype(np.int64)


def query(statistic: str = "mean", **where: Any) -> Query:
    """Of the one experiment that there is."""
    return Query(TITLE, statistic, **where)


@dataclass
class Study:
    """Measures what a test asks for, and asks claims of it."""

    folder: Path
    systems: dict[str, MeasuredSystem] = field(default_factory=dict)
    points: dict[str, PlanPoint] = field(default_factory=dict)
    runs: dict[str, list[StoredRun]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    refused: frozenset[str] = frozenset()

    def system(
        self,
        name: str,
        role: Role | None = "ordinary",
        *,
        virtual: VirtualMachine | None = None,
        why_not: str = "",
        model: str = "Test CPU",
        core: str = "",
    ) -> "Study":
        """A system of ours."""
        facts = Facts.from_table({} if why_not else {**FACTS, "cpu": {"model": model}})
        self.systems[name] = MeasuredSystem(
            name, None if why_not else role, facts, virtual, why_not, core=core
        )
        return self

    def measured(
        self,
        *repetitions: Samples,
        system: str = "here",
        load: str = "idle",
        deployment: str = "as-is",
        options: Mapping[str, str] | None = None,
        why_none: str = "",
        **stream: Any,
    ) -> "Study":
        """One point, a run for each repetition; with none, why there is none."""
        if system not in self.systems:
            self.system(system)
        own = dict(options or {})
        key = "-".join([system, load, deployment, *map(str, own.values())])
        self.points[key] = PlanPoint(
            key=key,
            entry=0,
            system=system,
            deployment=NamedDeployment(deployment),
            load=Load(load),
            load_spec=load,
            experiment="cyclic",
            heading=TITLE,
            options=own,
            varying=tuple(own),
            varied="",
            prepared=Prepared(EXPERIMENTS["cyclic"].given({}), TITLE, 1.0),
            address=system,
        )
        store = Store(self.folder)
        for values in repetitions:
            conditions: dict[str, Any] = {
                "load": load,
                "virtual": msgspec.to_builtins(self.systems[system].virtual),
            }
            if deployment != "as-is":
                conditions["deployment"] = {"name": deployment, "settings": []}
            with store.create("cyclic", TITLE, conditions, FACTS) as writer:
                writer.append(streams.make_stream([values], **{"rows_per_frame": 1 << 14, **stream}))
                self.runs.setdefault(key, []).append(writer.seal())
        if why_none:
            self.reasons[key] = why_none
        return self

    def measurements(self) -> Measurements:
        """All of it."""
        systems = tuple(self.systems.values())
        return Measurements(systems, self.points, self.runs, self.reasons, refused=self.refused)

    def ask(
        self,
        test: str,
        about: str = "each",
        given: Mapping[str, Any] | None = None,
        **ours: Any,
    ) -> list[AskedClaim]:
        """A claim, of everyone that it is about; of a key ``real_time`` is meant ``real-time``."""
        queries = {
            name.replace("_", "-"): (one,) if isinstance(one, Query) else tuple(one)
            for name, one in ours.items()
        }
        claim = Claim("tried", "1", "says", "found", about, test, queries, given or {})  # type: ignore[arg-type]
        return list(ask(claim, self.measurements()))

    def answer(
        self,
        test: str,
        about: str = "each",
        given: Mapping[str, Any] | None = None,
        **ours: Any,
    ) -> str:
        """Of a claim that is asked once."""
        (asked,) = self.ask(test, about, given, **ours)
        assert asked.finding.evidence
        assert asked.finding.in_short
        return asked.finding.answer
