"""One number of many machines side by side: which of them is not like its peers."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from tautochrone.base.errors import DamagedError
from tautochrone.run.manifest import Manifest
from tautochrone.statistics.difference.between_runs import FARTHEST
from tautochrone.statistics.difference.ranking import FINEST, PeerDistance, adjusted, standings
from tautochrone.trend.judge import measures_of, parts_of
from tautochrone.trend.record import NOT_KNOWN, Record, machine_of
from tautochrone.trend.values import TrendMetric, TrendValue, value_of

ALPHA = 0.05
"""Chance that any machine of all cases is called different, if all peers are alike."""


@dataclass(frozen=True)
class EvenScale:
    """On which numbers of alike machines scatter alike: times differ by factors, counts by their roots."""

    kind: Literal["logarithms", "roots", "values"]

    @classmethod
    def of(cls, values: Sequence[float], metric: TrendMetric) -> "EvenScale":
        """Return the scale of these numbers."""
        if metric.is_share:
            return cls("roots")
        return cls("logarithms" if min(values) > 0 else "values")

    def to(self, value: float) -> float:
        """Return where a number stands on the scale."""
        if self.kind == "roots":
            return math.sqrt(value)
        return math.log(value) if self.kind == "logarithms" else value

    def back(self, place: float) -> float:
        """Return which number stands there."""
        if self.kind == "roots":
            return min(1.0, max(0.0, place) ** 2)  # of shares
        return math.exp(min(max(place, -FARTHEST), FARTHEST)) if self.kind == "logarithms" else place


@dataclass(frozen=True)
class MachineStanding:
    """A machine in one case, under one kernel.

    Attributes:
        values: of its runs, oldest first.
        value: the median of these.
        peers: the median of the machines that it is compared with, itself among them; None: it is not.
        alike: how many these are.
        standing: among them; None: they are too few, or more than half of them have the same value.
        p: of the standing, with all machines of all cases reckoned.
    """

    kernel: str
    model: str
    machine: str
    runs: tuple[str, ...]
    values: tuple[TrendValue, ...]
    value: float
    peers: float | None = None
    alike: int = 0
    standing: PeerDistance | None = None
    p: float | None = None

    @property
    def differs(self) -> bool:
        """Return whether it is shown not to be like its peers."""
        return self.p is not None and self.p <= ALPHA

    @property
    def at_least(self) -> bool:
        """Return whether the value may be larger, since a run's lies among releases without a sample."""
        return any(one.beyond for one in self.values)


@dataclass(frozen=True)
class MachineCase:
    """The same case on several machines, by kernel, model of the CPU and name."""

    name: Mapping[str, str]
    boards: tuple[MachineStanding, ...]


@dataclass(frozen=True)
class Machines:
    """A number of several machines.

    Attributes:
        alone: cases that one machine alone has.
        unread, too_few: runs whose samples can't be read, or are too few for the number.
        judged: groups of peers that were looked at.
    """

    metric: TrendMetric
    cases: tuple[MachineCase, ...]
    alone: int
    unread: int
    too_few: int
    judged: int

    @property
    def machines(self) -> tuple[str, ...]:
        """Return the names of all machines, those with numbers in the order of these."""
        return tuple(sorted({board.machine for case in self.cases for board in case.boards}, key=_by_number))

    @property
    def too_many(self) -> bool:
        """Return whether these are so many groups that none of their machines could be shown to differ."""
        return adjusted(FINEST, self.judged) > ALPHA


def machines(found: Sequence[Record], metric: TrendMetric) -> Machines:
    """Put the machines of these runs side by side, case by case.

    A machine is compared with those of the same kernel and the same model of CPU, if they are enough; else
    with those of the same kernel; else with all that have the case, if none of these has several kernels.
    """
    groups: dict[tuple[tuple[str, str], ...], dict[tuple[str, str, str], list[tuple[str, TrendValue]]]] = {}
    unread = too_few = 0
    for record in found:
        for measure in measures_of(record, metric):
            for source, books in parts_of(record, measure, metric).items():
                try:
                    value = value_of(record, metric, measure, books)
                except DamagedError:
                    unread += 1
                    continue
                if value is None or value.value is None:
                    too_few += value is not None
                    continue
                case = groups.setdefault(tuple(_name(record, measure, source).items()), {})
                case.setdefault(_place(record.manifest), []).append((record.run.id, value))
    several = {name: own for name, own in groups.items() if len({machine for _, _, machine in own}) > 1}
    cases = [MachineCase(dict(name), tuple(_boards(own))) for name, own in several.items()]
    judged = [_judged(case.boards, metric) for case in cases]
    tests = sum(groups for _, groups in judged)
    return Machines(
        metric,
        tuple(
            replace(case, boards=tuple(replace(one, p=_p(one, tests)) for one in boards))
            for case, (boards, _) in zip(cases, judged, strict=True)
        ),
        len(groups) - len(several),
        unread,
        too_few,
        tests,
    )


def _p(board: MachineStanding, tests: int) -> float | None:
    return None if board.standing is None else adjusted(board.standing.p, tests)


def _name(record: Record, measure: str, source: str) -> dict[str, str]:
    """Return what tells a case from others; kernel and machine do not."""
    return {
        "experiment": f"{record.manifest.experiment}{' in the virtual lab' if record.is_virtual else ''}",
        "measure": measure.removesuffix("_ns"),
        "source": source,
        **{name: record.traits[name] for name in ("load", "deployment")},
        **{name: record.parameters[name] for name in sorted(record.parameters)},
    }


def _place(manifest: Manifest) -> tuple[str, str, str]:
    """Return kernel, model of the CPU, and the machine as it was reached or calls itself."""
    known = manifest.known
    return (
        manifest.kernel.release or NOT_KNOWN,
        known.cpu.model or known.machine.product or NOT_KNOWN,
        manifest.machine_name or machine_of(manifest),
    )


def _boards(own: Mapping[tuple[str, str, str], Sequence[tuple[str, TrendValue]]]) -> list[MachineStanding]:
    return [
        MachineStanding(
            *place,
            runs=tuple(run for run, _ in values),
            values=tuple(value for _, value in values),
            value=median([value.value or 0.0 for _, value in values]),
        )
        for place, values in sorted(own.items(), key=lambda one: [_by_number(name) for name in one[0]])
    ]


def _by_number(name: str) -> list[tuple[int, str]]:
    """Sorts board2 before board10, and 6.1 before 6.12."""
    return [(int(one), "") if one.isdecimal() else (-1, one) for one in re.split("([0-9]+)", name)]


def _judged(boards: Sequence[MachineStanding], metric: TrendMetric) -> tuple[list[MachineStanding], int]:
    """Return the machines with how each stands among its peers, and how many groups of peers there are.

    The number of one run scatters more than the median of ten. So of each machine count the latest runs, as
    many as the machine of the group has that has fewest. A group in which a machine is several times, under
    several kernels, is not judged: what makes it odd under one does so under all of them. A number that
    surely lies beyond every sample is larger than all others.
    """
    found: dict[int, MachineStanding] = {}
    left = list(range(len(boards)))
    groups = 0
    for same in (_model, _kernel, _all):
        kinds: dict[tuple[str, ...], list[int]] = {}
        for at, board in enumerate(boards):
            kinds.setdefault(same(board), []).append(at)
        for members in kinds.values():
            mine = [at for at in members if at in left]
            fewest = min(len(boards[at].values) for at in members)
            latest = _finite([median(map(_judged_by, boards[at].values[-fewest:])) for at in members])
            scale = EvenScale.of(latest, metric)
            once = len({boards[at].machine for at in members}) == len(members)
            standing = standings([scale.to(one) for one in latest]) if mine and once else None
            if standing is None:
                continue
            groups += 1
            middle = median([boards[at].value for at in members])
            for at in mine:
                own = standing[members.index(at)]
                found[at] = replace(boards[at], peers=middle, alike=len(members), standing=own)
        left = [at for at in left if at not in found]
    return [found.get(at, board) for at, board in enumerate(boards)], groups


def _judged_by(value: TrendValue) -> float:
    return math.inf if value.surely_beyond else value.value or 0.0


def _finite(values: Sequence[float]) -> list[float]:
    beyond = max((one for one in values if math.isfinite(one)), default=0.0) * 2 + 1
    return [one if math.isfinite(one) else beyond for one in values]


def _model(board: MachineStanding) -> tuple[str, ...]:
    return (board.kernel, board.model)


def _kernel(board: MachineStanding) -> tuple[str, ...]:
    return (board.kernel,)


def _all(_: MachineStanding) -> tuple[str, ...]:
    return ()
