"""What the samples of one source say about a requirement."""

from dataclasses import dataclass
from typing import Literal

from tautochrone.statistics.tails.parts import TailCheck

Standing = Literal["holds", "does not hold", "not shown"]
Basis = Literal["counted", "extrapolated", ""]

WORST_FIRST: tuple[Standing, ...] = ("does not hold", "not shown", "holds")


@dataclass(frozen=True)
class Limits:
    """A value with its one-sided limits, in ns; None: later than every sample, or too few samples for it."""

    value: float | None
    low: float | None
    high: float | None


ReasonCode = Literal[
    "nothing measured", "no rate", "none later", "some later", "few", "cut off", "uncounted", "unknown",
    "few enough", "too many", "open",
    "by tail", "tail is open", "too far", "few for a tail", "tail refused",
    "mean", "few for a mean", "no order", "mean cut off", "mean uncounted", "mean of lost",
]  # fmt: skip


@dataclass(frozen=True)
class Reason:
    """Why a line stands as it does.

    Attributes:
        code: "nothing measured"; "no rate": so many in a time can't be judged. Of a limit that nothing may
            pass: "none later", "some later", "few" (`needed` say something), "cut off", "uncounted" (the tool
            that measured does not count misses), "unknown" (samples that may have passed it). Of a share:
            "few enough", "too many", "open" (`needed` samples would settle it). Of the tail, extrapolated to
            `beyond` times as many as were measured: "by tail" (of at most `share`), "tail is open", "too far"
            (no more than `most` times are believed, which takes `seconds`), "few for a tail" (it takes
            `needed`), "tail refused". Of a mean: "mean", "few for a mean", "no order", "mean cut off", "mean
            uncounted", "mean of lost".
        samples: that there are, where not all of the line are meant.
    """

    code: ReasonCode
    share: float | None = None
    beyond: float = 0.0
    most: float = 0.0
    seconds: float = 0.0
    samples: int = 0
    needed: int | None = None
    refusal: TailCheck | None = None


@dataclass(frozen=True)
class Longer:
    """How long a run would settle it; None: none would.

    Attributes:
        samples: in all.
        clean: whether nothing passed the limit so far.
        holds: how it would be settled.
    """

    samples: float | None
    seconds: float | None
    clean: bool
    holds: bool = True


ToSettle = Longer | Literal["measure", "measure again", "count misses", "record raw"]
"""What would settle it: measuring for so long; measuring at all, to the end and without loss, with a tool
that counts misses, or raw."""


@dataclass(frozen=True)
class Passed:
    """How the limit was passed.

    Attributes:
        over: releases that were passed over.
        unknown: samples that may have passed it; ``binned``: since they share a bin with it.
        period_ns, deadline_ns: of the releases; None without a schedule.
        independent: so many independent samples the line's count as.
    """

    over: int = 0
    unknown: int = 0
    binned: bool = False
    period_ns: int | None = None
    deadline_ns: int | None = None
    independent: float = 0.0


@dataclass(frozen=True)
class JudgedLine:
    """One source under one set of conditions, judged by itself.

    Attributes:
        where: under which conditions, in words: load, deployment, machine; and what else tells them apart.
        reasons: why, the first one first.
        basis: whether that was counted, or extrapolated from the tail; empty where nothing was shown.
        later: of these, how many passed the limit, those without a sample among them.
        events: in so many groups of neighbours they did; None: not known.
        allowed: the largest share that may pass it; 0: none may; None: the requirement is of a mean.
        low, high: one-sided limits of the share that passes it.
        effect: variance of that share over that of as many independent samples, at least 1.
        to_settle_s: how long a run would settle it, if things stay as they are; None: settled, or none would.
        to_settle: what would settle it; None: it is settled, or nothing would.
        passed: how the limit was passed, where one was.
    """

    where: str
    source: str
    standing: Standing
    reasons: tuple[Reason, ...] = ()
    basis: Basis = ""
    samples: int = 0
    later: int = 0
    events: int | None = None
    lost: int = 0
    allowed: float | None = None
    low: float | None = None
    high: float | None = None
    effect: float = 1.0
    worst_ns: int | None = None
    observed: Limits | None = None
    to_settle_s: float | None = None
    to_settle: ToSettle | None = None
    runs: tuple[str, ...] = ()
    passed: Passed = Passed()

    @property
    def place(self) -> str:
        """Source and conditions in words."""
        return f"{self.source}, {self.where}" if self.where else self.source
