"""What other programs and the host took of the CPUs while a run was measured: a machine is seldom idle."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tautochrone.base.errors import MeasuringError
from tautochrone.base.words import listed
from tautochrone.machine.facts.confinement import TICKS_PER_SECOND
from tautochrone.machine.tree import Files
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.records import Footer, Header

CPU_USE = "cpu_use"
"""Name of the condition: the seconds that were looked at, and the shares of them for each CPU."""

OTHERS, STOLEN = "other-programs", "stolen-time"
"""Codes of the warnings."""

IDLE_AT, STOLEN_AT = (3, 4), 7
"""Of a line's numbers, see proc_stat(5): idle and waiting for a disk; taken by the host."""

_MUCH_BY_OTHERS, _MUCH_STOLEN, _SHORTEST_S = 0.1, 0.01, 1.0

Times = Mapping[int, list[int]]


def read_times(files: Files) -> Times:
    """Return the times of each CPU since boot, in ticks; empty: they can't be read."""
    try:
        said = files.read("/proc/stat").decode()
    except (OSError, MeasuringError):  # a guest that has died is told by whatever needed it
        return {}
    lines = [line.split() for line in said.splitlines() if line.startswith("cpu")]
    # The last two numbers, of guests, are in the first ones already.
    return {int(line[0][3:]): [int(one) for one in line[1:9]] for line in lines if line[0] != "cpu"}


def spent_between(first: Times, last: Times) -> dict[int, list[int]]:
    """Return what each CPU spent its time with, in ticks, in the order of their numbers."""
    return {
        cpu: [after - before for after, before in zip(now, first.get(cpu, [0] * len(now)), strict=True)]
        for cpu, now in sorted(last.items())
    }


@dataclass(frozen=True)
class Used:
    """How the CPUs spent their time while a run was measured.

    Attributes:
        seconds: that were looked at.
        busy, stolen: seconds of each CPU.
        own_s: CPU time of this program and those it started, on all CPUs; 0 where they ran elsewhere.
    """

    seconds: float
    busy: Mapping[int, float]
    stolen: Mapping[int, float]
    own_s: float

    @property
    def stored(self) -> dict[str, object]:
        """Return what is kept with the run."""
        return {
            "seconds": round(self.seconds, 2),
            "busy": {str(cpu): round(one / self.seconds, 4) for cpu, one in self.busy.items()},
            "stolen": {str(cpu): round(one / self.seconds, 4) for cpu, one in self.stolen.items()},
        }


class CpuUse:
    """Looks from its beginning on; asks nothing of a virtual machine of the lab, which does nothing else."""

    def __init__(self, files: Files, *, here: bool, virtual: bool) -> None:
        """Begin.

        Args:
            files: of the machine.
            here: whether the probe is a child of this process.
            virtual: whether it is a machine of the lab.
        """
        self._files = None if virtual else files
        self._here = here
        self._first = read_times(files) if not virtual else {}
        self._own_s = _own_s()

    def since(self) -> Used | None:
        """Return what was spent; None: that is not known."""
        spent = spent_between(self._first, read_times(self._files)) if self._files and self._first else {}
        ticks = max((sum(one) for one in spent.values()), default=0)
        if not ticks:
            return None
        busy = {cpu: sum(one) - sum(one[at] for at in IDLE_AT) - one[STOLEN_AT] for cpu, one in spent.items()}
        return Used(
            ticks / TICKS_PER_SECOND,
            {cpu: one / TICKS_PER_SECOND for cpu, one in busy.items()},
            {cpu: one[STOLEN_AT] / TICKS_PER_SECOND for cpu, one in spent.items()},
            _own_s() - self._own_s if self._here else 0.0,
        )


def cautions_of_cpu_use(
    used: Used | None, header: Header, footer: Footer, *, idle: bool
) -> Iterator[RunWarning]:
    """Yield that the measured CPUs had other work, and that the host took time of them.

    What is ours and ran nobody knows where counts as if it had run on each CPU: it is not more than stated
    that others took.

    Args:
        used: how the CPUs spent their time; None: not known.
        idle: whether there was no load of ours, which can't be told from others.
    """
    if used is None or used.seconds < _SHORTEST_S:
        return
    cpus = header.measured_cpus & used.busy.keys() or set(used.busy)
    if idle:
        of_others = _by_others(used, header, footer)
        if taken := {cpu: of_others[cpu] for cpu in cpus if of_others[cpu] >= _MUCH_BY_OTHERS}:
            yield RunWarning(
                OTHERS,
                f"other programs used {_shares(taken)} while this was measured: the machine was not idle",
                "They are in every number. End them, or give the loop a CPU of its own: --deployment MI.",
            )
    stolen = {cpu: used.stolen[cpu] / used.seconds for cpu in cpus}
    if taken := {cpu: one for cpu, one in stolen.items() if one >= _MUCH_STOLEN}:
        yield RunWarning(
            STOLEN,
            f"the host took {_shares(taken)} from this virtual machine while this was measured",
            "It shows as latency. Pin the virtual CPUs on the host, or measure on a host that is not shared.",
        )


def _by_others(used: Used, header: Header, footer: Footer) -> dict[int, float]:
    """At least this share of each CPU's time."""
    on = {one.source: one.obtained.cpu for one in header.sources}
    of_sources = [(on.get(book.source), (book.cpu_time_ns or 0) / 1e9) for book in footer.books or ()]
    anywhere_s = max(0.0, used.own_s - sum(one for cpu, one in of_sources if cpu is not None))
    return {
        cpu: max(0.0, busy_s - anywhere_s - sum(one for at, one in of_sources if at == cpu)) / used.seconds
        for cpu, busy_s in used.busy.items()
    }


def _shares(taken: Mapping[int, float]) -> str:
    """Return "40 % of CPU 0 and 12 % of CPU 1"; of many CPUs the worst, and how many there are."""
    worst = sorted(taken, key=lambda cpu: -taken[cpu])
    told = [f"{taken[cpu]:.0%} of CPU {cpu}" for cpu in sorted(worst[:3])]
    return listed([*told, *([f"less of {len(worst) - 3} more"] if len(worst) > 3 else [])])


def _own_s() -> float:
    return sum(os.times()[:4])
