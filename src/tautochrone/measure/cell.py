"""A cell: one experiment with its parameters, on one system, under one deployment and one load."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tautochrone.experiments.option import Given
from tautochrone.machine.deployment import Deployment
from tautochrone.run.manifest import Warning as RunWarning


@dataclass(frozen=True)
class Load:
    """A background load.

    Attributes:
        name: as people write it, such as "cpu+memory".
        parts: the arguments of `tauto-probe load` for each program that it consists of.
    """

    name: str
    parts: tuple[tuple[str, ...], ...] = ()


IDLE = Load("idle")


@dataclass(frozen=True)
class Cell:
    """What is measured in one run.

    Attributes:
        experiment: the probe's name for it.
        options: the probe's; they become its words when it is started.
        title: what it is, for people.
        load: what runs beside it.
        deployment: how the machine's CPUs are used meanwhile; None: as they are.
        expected_s: how long the measuring takes, to show progress; None if that can't be told.
        command: what a person typed to get it; kept with the run.
        conditions: what else is known about it before it runs; kept with the run, so as JSON has it.
        cautions: warnings about it that are known before it runs; kept with the run.
        instead: what can be measured where this can't, in a list of cells.
    """

    experiment: str
    options: Given
    title: str
    load: Load = IDLE
    expected_s: float | None = None
    command: tuple[str, ...] = field(default=())
    conditions: Mapping[str, object] = field(default_factory=dict)
    cautions: tuple[RunWarning, ...] = ()
    instead: "Cell | None" = None
    deployment: Deployment | None = None
