"""How much machines of a kind differ, told apart from how much the runs of one machine do.

Kernels and models of CPU are few and chosen, so each has a level of its own. Machines of a kind stand for
more of the same: they have a level in common, from which each differs by chance (`random_effects`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from tautochrone.statistics.difference.between_runs import spread_within
from tautochrone.statistics.difference.random_effects import random_effects
from tautochrone.trend.machines import EvenScale, MachineCase, MachineStanding
from tautochrone.trend.values import TrendMetric

FEWEST_MACHINES = 3
"""Of fewer, an interval says next to nothing."""

CONFIDENCE = 0.95


@dataclass(frozen=True)
class MachineLevel:
    """Machines of one kernel and one model of CPU.

    Attributes:
        model: empty: of all models with this kernel.
        machines: of how many it is, with so many ``runs``.
        left_out: machines that differ from their peers, or are known only to be larger than all samples.
        value: the level of such machines; ``low``, ``high``: its interval.
        between: the standard deviation from machine to machine at this level, in the unit of the number.
        within: the same from run to run; None: no machine has two runs, and both are in ``between``.
        next_low, next_high: between what one machine more, measured as often, is expected.
        drawn: by machine its number, drawn towards the level by as much as runs scatter; without ``within``
            none.
    """

    kernel: str
    model: str
    machines: int
    runs: int
    left_out: tuple[str, ...]
    value: float
    low: float
    high: float
    between: float
    within: float | None
    next_low: float
    next_high: float
    drawn: Mapping[str, float]


def levels_of(case: MachineCase, metric: TrendMetric) -> tuple[MachineLevel, ...]:
    """Return the level of each kernel with several models of CPU, and of each model under it."""
    scale = EvenScale.of([one.value or 0.0 for board in case.boards for one in board.values], metric)
    found = (_level(kernel, model, own, scale) for kernel, model, own in _kinds(case.boards))
    return tuple(one for one in found if one is not None)


def _kinds(boards: Sequence[MachineStanding]) -> Iterator[tuple[str, str, list[MachineStanding]]]:
    for kernel in dict.fromkeys(board.kernel for board in boards):
        own = [board for board in boards if board.kernel == kernel]
        models = dict.fromkeys(board.model for board in own)
        if len(models) > 1:
            yield kernel, "", own
        for model in models:
            yield kernel, model, [board for board in own if board.model == model]


def _level(kernel: str, model: str, own: Sequence[MachineStanding], scale: EvenScale) -> MachineLevel | None:
    kept = [board for board in own if not (board.differs or board.at_least)]
    if len(kept) < FEWEST_MACHINES:
        return None
    runs = [[scale.to(one.value or 0.0) for one in board.values] for board in kept]
    spread = spread_within(runs)
    within = [spread.variance / len(one) for one in runs] if spread.freedom else []
    means = list(map(fmean, runs))
    found = random_effects(means, within)
    assert found is not None
    value = scale.back(found.level)
    low, high = found.interval(CONFIDENCE)
    next_low, next_high = found.next_group(CONFIDENCE, fmean(within) if within else 0.0)
    return MachineLevel(
        kernel=kernel,
        model=model,
        machines=len(kept),
        runs=sum(map(len, runs)),
        left_out=tuple(board.machine for board in own if board not in kept),
        value=value,
        low=scale.back(low),
        high=scale.back(high),
        between=scale.back(found.level + found.between**0.5) - value,
        within=scale.back(found.level + spread.variance**0.5) - value if within else None,
        next_low=scale.back(next_low),
        next_high=scale.back(next_high),
        drawn={
            board.machine: scale.back(found.drawn(mean, variance))
            for board, mean, variance in (zip(kept, means, within, strict=True) if within else ())
        },
    )
