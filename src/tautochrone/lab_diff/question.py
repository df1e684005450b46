"""What a person asks: two virtual machines, one load, one loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns, parse_period_ns
from tautochrone.experiments import EXPERIMENTS
from tautochrone.experiments.usual import BLAME
from tautochrone.measure.cell import Cell, Load
from tautochrone.run.folder import StoredRun
from tautochrone.target.address import DEFAULT_SHIFT, LabAddress, read_lab_address

EXPERIMENT = "cyclic"
LEAST_THRESHOLD_NS = 1_000
SIDES = ("A", "B")


@dataclass(frozen=True)
class DiffQuestion:
    """Two machines, and how they are measured.

    Attributes:
        threshold_ns: what counts as a difference; None: as the clocks of the two allow.
        traced: whether the kernels trace themselves afterwards.
        blame: which cycles are late, whose causes the plain runs record; None: of no cycle.
    """

    a: LabAddress
    b: LabAddress
    load: Load
    period: str
    duration: str
    threshold_ns: int | None
    traced: bool
    command: tuple[str, ...] = ()
    blame: str | None = None

    def address(self, side: str) -> LabAddress:
        """Return the address of A or of B."""
        return self.a if side == "A" else self.b

    def system(self, side: str) -> str:
        """Return the machine as one writes it after --on."""
        return self.address(side).where

    def name(self, side: str) -> str:
        """Return the machine in words."""
        return str(self.address(side))

    def cell(self, side: str, *, blamed: bool = False) -> Cell:
        """Return what is measured, the same on both; ``blamed``: recording late cycles, if asked for."""
        recorded = {BLAME.name: self.blame} if blamed and self.blame is not None else {}
        options = {"period": self.period, "duration": self.duration, **recorded}
        prepared = EXPERIMENTS[EXPERIMENT].prepare(options, Path())
        return Cell(
            EXPERIMENT,
            prepared.options,
            f"{prepared.title}, {self.load.name}, {self.name(side)}",
            self.load,
            prepared.expected_s,
            self.command,
            prepared.conditions,
        )

    def threshold_of(self, runs: Sequence[StoredRun]) -> int:
        """Return what was asked for, or the longest of a microsecond and an instruction of either clock."""
        if self.threshold_ns is not None:
            return self.threshold_ns
        virtual = [run.manifest.conditions.virtual for run in runs]
        shifts = [one.shift if one is not None else DEFAULT_SHIFT for one in virtual]
        # Without a shift the time of a virtual machine is the host's.
        return max(LEAST_THRESHOLD_NS, *(0 if shift is None else int(2**shift) for shift in shifts))


def question_of(
    a: str,
    b: str,
    load: Load,
    period: str,
    duration: str,
    threshold: str | None,
    *,
    traced: bool,
    command: Sequence[str] = (),
    blame: str | None = None,
) -> DiffQuestion:
    """Return what was typed, seen that it can be asked."""
    first, second = _address(a), _address(b)
    if first == second:
        raise UsageError(
            f"A and B are the same machine, {first}",
            "Let them differ in the kernel or in its command line: debian:stock debian:stock,preempt=none.",
        )
    if first.cpus != second.cpus:
        raise UsageError(
            f"A has {first.cpus} CPUs and B {second.cpus}: their loops can't be laid beside each other",
            "Give both the same smp=.",
        )
    period_ns, duration_ns = parse_period_ns(period), parse_duration_ns(duration)
    if duration_ns < period_ns or period_ns == 0:
        raise UsageError(f"--duration {duration} has no release at --period {period}", "Measure for longer.")
    question = DiffQuestion(
        first,
        second,
        load,
        period,
        duration,
        None if threshold is None else parse_duration_ns(threshold),
        traced,
        tuple(command),
        blame,
    )
    question.cell("A", blamed=True)  # refuses what can't be measured before anything is fetched or booted
    return question


def _address(text: str) -> LabAddress:
    if text == "local" or text.startswith("ssh:"):
        raise UsageError(
            f"'{text}' is no virtual machine: only those have the same instant twice",
            "Name kernels, as debian:stock or debian:rt; `tauto lab kernels` lists them.",
        )
    return read_lab_address(text.removeprefix("lab:"))
