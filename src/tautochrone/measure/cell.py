"""A case: one experiment with its parameters, on one system, under one deployment and one load."""

from dataclasses import dataclass, field, replace

from tautochrone.experiments.conditions import NOTHING_KNOWN, CellConditions
from tautochrone.experiments.option import Given
from tautochrone.machine.deployment import Deployment
from tautochrone.run.manifest import Warning as RunWarning


@dataclass(frozen=True)
class LoadPart:
    """One program of a background load.

    Attributes:
        kind: what the probe calls it: "cpu", or "command" for a program that is not the probe's.
        options: those of the probe, by name, in the order in which it gets them.
        command: the words of a program that is not the probe's; empty for the loads of the probe.
    """

    kind: str
    options: tuple[tuple[str, str], ...] = ()
    command: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return what people call it: its kind, or the program that it runs."""
        return self.command[0] if self.command else self.kind

    @property
    def words(self) -> tuple[str, ...]:
        """Return the arguments of `tauto-agent load`."""
        options = (word for name, value in self.options for word in (f"--{name}", value))
        return (self.kind, *options, *(("--", *self.command) if self.command else ()))

    def option(self, name: str) -> str | None:
        """Return the value of an option; None: it is not given."""
        return dict(self.options).get(name)

    def having(self, name: str, value: str | None) -> "LoadPart":
        """Return the part with this option; as it is if the option is given already, or `value` is None."""
        if value is None or self.option(name) is not None:
            return self
        return replace(self, options=((name, value), *self.options))


@dataclass(frozen=True)
class Load:
    """A background load.

    Attributes:
        name: as people write it, such as "cpu+memory".
        parts: the programs that it consists of.
    """

    name: str
    parts: tuple[LoadPart, ...] = ()


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
        conditions: what else is known about it before it runs; kept with the run.
        cautions: warnings about it that are known before it runs; kept with the run.
        instead: what can be measured where this can't, in a list of cases.
    """

    experiment: str
    options: Given
    title: str
    load: Load = IDLE
    expected_s: float | None = None
    command: tuple[str, ...] = field(default=())
    conditions: CellConditions = NOTHING_KNOWN
    cautions: tuple[RunWarning, ...] = ()
    instead: "Cell | None" = None
    deployment: Deployment | None = None
