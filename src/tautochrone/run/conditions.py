"""Under what a run was measured, as typed records: where, beside which load, as a part of which plan.

What a feature keeps with its own runs is a record of that feature: `RunConditions.told` reads it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field

from tautochrone.base.options import Value
from tautochrone.run.facts import FactTable
from tautochrone.run.records import Count, Stored, converted

LOCAL = "local"
IMPORTED = "imported"
"""The condition of a run that another tool measured: where it came from."""
SOAK = "soak"
"""The condition of a long run that says what was asked for, and what happened to it as a whole."""
_IN_PART = " in part"
_SELDOM = ("first_look", "grid", "paper", "refused", "require")  # in the record of a plan

_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class Obtained:
    """One setting of a deployment after it was asked for, read back.

    Attributes:
        knob: its name.
        requested: what was asked for; None: it was not asked for, but another setting changed it.
        before: what it was.
        obtained: what it is.
        reason: why it differs from what was asked for, or may not stay so, in words; empty: it is so.
    """

    knob: str
    requested: str | None = None
    before: str | None = None
    obtained: str | None = None
    reason: str = ""

    @property
    def was_not_obtained(self) -> bool:
        """Return whether it was asked for and is not so, or not known to be so."""
        return self.requested is not None and bool(self.reason)


class HeldDeployment(Struct, frozen=True):
    """A deployment as it was in force. CPUs are CPU lists; None: those that the experiment chooses.

    Attributes:
        booted_with: the parameters that a guest's kernel was booted with for it.
    """

    name: str = ""
    title: str = ""
    origin: str = ""
    measure: str | None = None
    load: str | None = None
    settings: tuple[Obtained, ...] = ()
    booted_with: str = ""


class VirtualMachine(Struct, frozen=True):
    """A machine of the virtual lab.

    Attributes:
        machine: the digest of all that it consists of.
        shift: an instruction takes 2^shift ns; None: its time is the host's.
        turn_us: of several CPUs, how long one runs, at most, before it is the next one's turn.
    """

    machine: str | None = None
    kernel: str | None = None
    release: str | None = None
    package: str | None = None
    qemu: str | None = None
    command_line: str | None = None
    image: str | None = None
    cpus: Count = 1
    shift: Count | None = None
    turn_us: Count | None = None
    repeatable: bool = False
    problems: tuple[str, ...] = ()

    @property
    def is_counted(self) -> bool:
        """Return whether its time is a count of instructions: then a second repetition is the first one."""
        return self.shift is not None


class StartedServer(Struct, frozen=True):
    """A server of middleware that was started on a target of its own."""

    facts: FactTable = field(default_factory=dict)
    service_time: str | None = None


class LoadReport(Stored, frozen=True, kw_only=True):
    """What a load did, in its own words; what is particular about its kind is in `stored`."""

    load: str = ""
    name: str | None = None
    asked: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    cpus: str | None = None
    operations: Count | None = None
    unit: str | None = None
    bytes: Count | None = None
    elapsed_ns: Count = 0
    cpu_time_ns: Count | None = None
    threads: Count | None = None
    keeps_cpus_busy: bool = False
    requested_bits_per_s: float | None = None
    reached_bits_per_s: float | None = None
    left_out: Count | None = None
    huge_pages: Count | None = None
    has_huge_pages: bool | None = None

    @property
    def label(self) -> str:
        """Return its name, or else that of its kind."""
        return self.name or self.load


class PlanCell(Struct, frozen=True):
    """Which case of which carrying-out of a plan a run is.

    Attributes:
        campaign: the id of the carrying-out.
        key: of what the plan means.
        cell: of what the case means.
        varied: the options in which the cases of its experiment differ.
        cells: the names of all cases by their keys; of a grid, of this one only.
        refused: why cases were refused before this run, by their keys.
        grid: of a grid, all of it; None: the plan is none.
        require: what is required of the cases, by their keys.
        paper: the study that it measures anew; empty: none.
        first_look: repetitions of each case at the first look, where it was measured until something was
            decided; 0: every case as often as the plan says.
    """

    title: str = ""
    campaign: str = ""
    key: str = ""
    cell: str = ""
    repetition: Count = 0
    block: Count = 0
    position: Count | None = None
    repetitions: Count = 1
    seed: Count = 0
    order: str = ""
    heading: str = ""
    varied: tuple[str, ...] = ()
    system: str = ""
    deployment: str = ""
    options: dict[str, Value] = field(default_factory=dict)
    cells: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    grid: dict[str, object] | None = None
    require: dict[str, list[str]] = field(default_factory=dict)
    paper: str = ""
    first_look: Count = 0

    @property
    def as_stored(self) -> dict[str, object]:
        """Return the same as JSON has it, without what most plans have nothing of."""
        told: dict[str, object] = msgspec.to_builtins(self)
        return {name: value for name, value in told.items() if value or name not in _SELDOM}


class FirstAnswer(Struct, frozen=True):
    """Of which first answer a run is a part, and whether the verdict is about this run."""

    id: str = ""
    verdict: bool = True


class RunConditions(Stored, frozen=True, kw_only=True):
    """Under what a run was measured.

    Attributes:
        load: its name.
        target: the machine under test as it was reached.
        server_on: the target of middleware's server, where it has one of its own.
        command: the words of the command that measured it.
        limit_ns: the latency that was required.
        node: the machine of a fleet, or node of Slurm, where any of several might measure the case.
    """

    load: str | None = None
    target: str | None = None
    server_on: str | None = None
    command: list[str] | None = None
    limit_ns: Count | None = None
    node: str = ""
    plan: PlanCell = PlanCell()
    deployment: HeldDeployment | None = None
    virtual: VirtualMachine | None = None
    server: StartedServer | None = None
    load_reports: tuple[LoadReport, ...] = ()
    answer: FirstAnswer = FirstAnswer()

    def keep(self, told: Any) -> None:
        """Keep what it was made from; so do the reports of the loads."""
        super().keep(told)
        for report, own in zip(self.load_reports, told.get("load_reports") or (), strict=True):
            report.keep(own)

    def told(self, name: str, kind: type[_Kind]) -> _Kind | None:
        """Return what a feature kept with its run under this name; None: nothing."""
        kept = self.stored.get(name)
        return None if kept is None else converted(kept, kind, f"the condition '{name}'")

    def having(self, more: Mapping[str, object]) -> "RunConditions":
        """These conditions and more."""
        return RunConditions.of({**self.stored, **more})

    @property
    def place(self) -> str:
        """Return the machine under test as it was reached, or its node; empty for the lab's own."""
        return self.node if self.target in (None, "", LOCAL) else str(self.target)

    @property
    def server_place(self) -> str:
        """Return the machine of the server, where it was another than that of its client; empty otherwise."""
        return self.server_on if self.server_on and self.server_on != (self.target or LOCAL) else ""

    @property
    def remote(self) -> str:
        """Return the machine under test as it was reached, and that of its server, if that was another one.

        Empty for the machine that the lab ran on.
        """
        if self.server_place:
            return f"{self.place or LOCAL}, its server on {self.server_place}"
        return self.place

    @property
    def server_facts(self) -> FactTable:
        """Return the facts about the server's machine, group by group; empty where there is no other one."""
        return self.server.facts if self.server is not None else {}

    @property
    def deployment_name(self) -> str:
        """Return the deployment's name, and whether only a part of it was obtained; empty without one."""
        if self.deployment is None:
            return ""
        lacking = any(one.was_not_obtained for one in self.deployment.settings)
        return f"{self.deployment.name}{_IN_PART}" if lacking else self.deployment.name

    @property
    def deployment_words(self) -> str:
        """``deployment MI``; empty without one."""
        return f"deployment {self.deployment_name}" if self.deployment_name else ""


def whole_name(name: str) -> str:
    """Return the name of a deployment of which only a part may have been obtained."""
    return name.removesuffix(_IN_PART)
