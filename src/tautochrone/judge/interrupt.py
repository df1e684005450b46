"""Interrupt and preemption latency of Laurich (2004), from runs of the experiment `interrupt`."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tautochrone.base.units import format_duration
from tautochrone.judge.reduced import summary_of_run
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import sum_if_known
from tautochrone.statistics.counts import INTERRUPT_BINS, PREEMPTION_BINS, FixedBins, fixed_bins
from tautochrone.statistics.quantiles import CONFIDENCE, Quantile, exceedance_bound
from tautochrone.statistics.summary import Summary, summarise

PREEMPTION, INTERRUPT, SWITCH = "preemption_latency_ns", "interrupt_latency_ns", "switch_ns"
LIMIT = "limit_ns"
"""The condition of a run that says how late a start may be."""

USUAL_LIMIT_NS = 500_000
"""Section 8 of the paper: less than 0.5 ms of a control interval of 10 ms."""

THRESHOLD = 0.99999
IDLE = "idle"
_SWITCH_BINS = (500, 10_000)

Standing = Literal["met", "not met", "not shown"]


@dataclass(frozen=True)
class Latency:
    """One measure of one run. ``bins`` are as wide as the paper's; None of a run that kept a histogram."""

    summary: Summary
    bins: FixedBins | None = None

    @property
    def threshold(self) -> Quantile:
        """The 99.999 % threshold; its value is None with too few samples."""
        return next(one for one in self.summary.quantiles if one.q == THRESHOLD)


@dataclass(frozen=True)
class StartRequirement:
    """Whether every start came in time.

    Attributes:
        late: samples at or past the limit.
        missed: releases that were passed over; None if that is not known.
        dropped: samples that were taken and lost.
    """

    limit_ns: int
    samples: int
    late: int
    missed: int | None
    dropped: int
    largest_ns: int | None

    @property
    def standing(self) -> Standing:
        """What the samples show."""
        if self.late or self.missed:
            return "not met"
        return "met" if self.samples and self.missed is not None else "not shown"

    @property
    def share(self) -> float | None:
        """Of all starts, at most so many are too late, at 95 % confidence; those dropped are taken for late.

        None without samples.
        """
        taken = self.samples + self.dropped
        return exceedance_bound(taken, self.late + self.dropped, CONFIDENCE) if taken else None


@dataclass(frozen=True)
class InterruptRun:
    """One run. A latency is None where it was not measured.

    Attributes:
        load: what ran beside it.
        way: system and loop in words: runs that differ in their load only have the same.
        interrupt: t1, from the timer's expiry to its handler.
        preemption: t2, from the timer's expiry to the task.
        switch: t2 - t1 of each sample, in bins as narrow as those of t1.
        absent: what was not measured, and why.
    """

    load: str
    way: str
    interrupt: Latency | None
    preemption: Latency | None
    switch: Latency | None
    requirement: StartRequirement
    absent: dict[str, str]

    @property
    def loaded(self) -> bool:
        """Whether anything ran beside it."""
        return self.load != IDLE


def judge_interrupt(run: StoredRun) -> InterruptRun:
    """Reduce a run."""
    header, conditions = run.manifest.header, run.manifest.conditions
    preemption = _latency(run, PREEMPTION, PREEMPTION_BINS)
    return InterruptRun(
        load=conditions.load or "not known",
        way=_way(run),
        interrupt=_latency(run, INTERRUPT, INTERRUPT_BINS),
        preemption=preemption,
        switch=_latency(run, SWITCH, _SWITCH_BINS),
        requirement=_requirement(run, conditions.limit_ns or USUAL_LIMIT_NS, preemption),
        absent={one.name: one.why for one in header.absent},
    )


def _latency(run: StoredRun, measure: str, bins: tuple[int, int]) -> Latency | None:
    if run.is_histogram:
        summary = summary_of_run(run, measure)
        return None if summary is None else Latency(summary)
    if measure not in run.measures or run.count(measure) == 0:
        return None
    values = run.values(measure)
    counted = fixed_bins(values, *bins)
    return Latency(summarise(values, in_place=True), counted)


def _requirement(run: StoredRun, limit_ns: int, preemption: Latency | None) -> StartRequirement:
    books = run.manifest.books
    late = 0
    if preemption is not None and preemption.summary.maximum >= limit_ns:  # of a histogram by whole bins
        if run.is_histogram:
            _, high, count = run.histogram(measure=PREEMPTION)
            late = int(count[high >= limit_ns].sum())
        else:
            late = int(np.count_nonzero(run.values(PREEMPTION) >= limit_ns))
    return StartRequirement(
        limit_ns=limit_ns,
        samples=preemption.summary.count if preemption else 0,
        late=late,
        missed=None if run.manifest.footer is None else sum_if_known(book.missed for book in books),
        dropped=sum(book.dropped or 0 for book in books),
        largest_ns=preemption.summary.maximum if preemption else None,
    )


def _way(run: StoredRun) -> str:
    header = run.manifest.header
    parameters = header.parameters
    policy, priority = (parameters.get(key) for key in ("policy", "priority"))
    urgency = f"{policy} {priority}" if priority else str(policy)
    periods = dict.fromkeys((header.number("period_ns"), *(one.period_ns for one in header.sources)))
    rhythm = " and ".join(format_duration(period_ns) for period_ns in periods if period_ns)
    conditions = run.manifest.conditions
    around = filter(None, (conditions.remote, conditions.deployment_words))
    return ", ".join((header.system.words, urgency, *([f"every {rhythm}"] if rhythm else []), *around))
