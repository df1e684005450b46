"""What the samples of one source say about a requirement."""

from dataclasses import dataclass
from typing import Literal

Standing = Literal["holds", "does not hold", "not shown"]
Basis = Literal["counted", "extrapolated", ""]

WORST_FIRST: tuple[Standing, ...] = ("does not hold", "not shown", "holds")


@dataclass(frozen=True)
class Limits:
    """A value with its one-sided limits, in ns; None: later than every sample, or too few samples for it."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Line:
    """One source under one set of conditions, judged by itself.

    Attributes:
        where: under which conditions, in words: load, deployment, machine; and what else tells them apart.
        source: its name.
        standing: what its samples say.
        why: the numbers behind it, in a sentence or two.
        basis: whether that was counted, or extrapolated from the tail; empty where nothing was shown.
        samples: releases, or samples where nothing is released, that were judged.
        later: of these, how many passed the limit, those without a sample among them.
        lost: releases without a sample.
        allowed: the largest share that may pass it; 0: none may; None: the requirement is of a mean.
        low, high: one-sided limits of the share that passes it.
        effect: variance of that share over that of as many independent samples, at least 1.
        worst_ns: the largest; None without samples.
        observed: the quantile or the mean; None where the requirement is of neither.
        to_settle_s: how long a run would settle it, if things stay as they are; None: settled, or none would.
        to_settle: the same in words; empty where it is settled.
        runs: the ids of the runs that it was judged from.
    """

    where: str
    source: str
    standing: Standing
    why: str
    basis: Basis = ""
    samples: int = 0
    later: int = 0
    lost: int = 0
    allowed: float | None = None
    low: float | None = None
    high: float | None = None
    effect: float = 1.0
    worst_ns: int | None = None
    observed: Limits | None = None
    to_settle_s: float | None = None
    to_settle: str = ""
    runs: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Source and conditions in words."""
        return f"{self.source}, {self.where}" if self.where else self.source
