"""Interrupt and preemption latency: Tables 4 to 6 of laurich2004, and its cumulative curves."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts import cumulative
from tautochrone.answer.document import TypedCell, TypedTable, columns, count, micros, words
from tautochrone.answer.series import Bins, CumulativeCurve, Series
from tautochrone.base.units import format_duration, format_limit, format_us
from tautochrone.base.words import plural
from tautochrone.judge.interrupt import (
    INTERRUPT,
    PREEMPTION,
    InterruptRun,
    Latency,
    StartRequirement,
    judge_interrupt,
)
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.counts import (
    Range,
    counts_of,
    counts_of_bins,
    difference,
    ecdf_of,
    narrowest_range,
)

_MAJORITY = 0.97
_TELLING = 0.5
_CURVES = ((INTERRUPT, "interrupt latency (t1)"), (PREEMPTION, "preemption latency (t2)"))
_SWITCH_NOTES = (
    "Of 97 % of the samples: the fewest neighbouring bins that hold so many, 2 us wide for t2, 0.5 us for "
    "the others.",
    "From the ranges: the one of t2 less the one of t1, as the paper has it; it says little where these are "
    "wide. Each sample: its own t2 - t1.",
)


@dataclass(frozen=True)
class InterruptPresentation:
    """Presentation of the experiment `interrupt`."""

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return Tables 4, 6 and 5 of the paper, and whether the requirement is met."""
        judged = [judge_interrupt(run) for run in runs]
        known = [one for one in judged if one.interrupt is not None]
        said = []
        if known:
            said.append(
                _summary("Interrupt latency (t1) in us, as Table 4", known, lambda one: one.interrupt)
            )
        said.append(_summary("Preemption latency (t2) in us, as Table 6", judged, lambda one: one.preemption))
        if known:
            said.append(_switch(judged, labels))
        return [*said, _requirement(judged, labels)]

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw all curves on one chart, whole and enlarged at the top, with the requirement."""
        series = [
            one
            for rank, (run, label) in enumerate(zip(runs, labels, strict=True))
            for one in _series(run, label or (run.manifest.conditions.load or "this run"), rank)
        ]
        if not series:
            return []
        required_ns = sorted({judge_interrupt(run).requirement.limit_ns for run in runs})
        frame = cumulative.ChartFrame(required_ns=required_ns)
        enlarged = replace(cumulative.TENTH, required_ns=required_ns)
        title, counted = "after the timer's expiry", cumulative.LARGE
        whole = cumulative.whole(series, title=title, counted=counted, frame=frame)
        top = cumulative.top(series, title=title, counted=counted, frame=enlarged)
        panels = (
            Panel(f"{prefix}-curves", "all samples", whole),
            Panel(f"{prefix}-top", "the largest tenth of them, enlarged", top),
        )
        caption = (
            "The share of the samples that are at most so large; enlarged, each step up is ten times rarer. "
            "The mark at the end of a line is its largest sample. Upright: the requirement for t2.",
        )
        return [Figure("Interrupt and preemption latency", panels, caption)]


def _summary(
    title: str, judged: Sequence[InterruptRun], of: Callable[[InterruptRun], Latency | None]
) -> TypedTable:
    there = {one.loaded for one in judged}
    loads = [name for loaded, name in ((False, "unloaded"), (True, "loaded")) if loaded in there]
    heads = columns("", *(f"maximum, {name}" for name in loads), *(f"99.999 %, {name}" for name in loads))
    rows = []
    for way, pair in _pairs(judged):
        chosen = [pair[name == "loaded"] for name in loads]
        held = [of(one) if one else None for one in chosen]
        maxima = [micros(one.summary.maximum if one else None) for one in held]
        rare = [micros(one.threshold.value, "too few") if one else micros(None) for one in held]
        rows.append((words(way), *maxima, *rare))
    return TypedTable(title, heads, tuple(rows), _sample_notes(judged, of))


def _pairs(
    judged: Sequence[InterruptRun],
) -> list[tuple[str, tuple[InterruptRun | None, InterruptRun | None]]]:
    """Return a line for each system and loop: an unloaded and a loaded run of it, as far as there are."""
    found = []
    for way in dict.fromkeys(one.way for one in judged):
        own = [one for one in judged if one.way == way]
        unloaded, loaded = ([one for one in own if one.loaded is which] for which in (False, True))
        found += [(way, pair) for pair in zip_longest(unloaded, loaded)]
    return found


def _sample_notes(
    judged: Sequence[InterruptRun], of: Callable[[InterruptRun], Latency | None]
) -> tuple[str, ...]:
    notes = []
    for one in judged:
        latency = of(one)
        if latency is None:
            continue
        samples, needed = latency.summary.count, latency.threshold.samples_needed
        said = f"{one.load}: {samples:,} samples"
        if latency.threshold.value is None:
            said += f", and a 99.999 % threshold rests on {needed:,} or more"
        if latency.bins is not None and latency.bins.past:
            past, end = latency.bins.past, format_us(latency.bins.end_ns)
            said += f"; {past:,} of them past the last bin of the paper ({end} us)"
        notes.append(f"{said}.")
    return tuple(dict.fromkeys(notes))


def _switch(judged: Sequence[InterruptRun], labels: Sequence[str]) -> TypedTable:
    rows = []
    for one, label in zip(judged, labels, strict=True):
        earlier, later, own = (_majority(held) for held in (one.interrupt, one.preemption, one.switch))
        between = difference(later, earlier) if earlier and later else None
        largest = micros(one.switch.summary.maximum if one.switch else None)
        ranges = [_range((held.low_ns, held.high_ns) if held else None) for held in (earlier, later, own)]
        rows.append((words(label or one.load), *ranges[:2], _range(between), ranges[2], largest))
    heads = columns("", "t1", "t2", "context switch, from the ranges", "of each sample", "maximum")
    return TypedTable("Context switch in us, as Table 5", heads, tuple(rows), _SWITCH_NOTES)


def _majority(latency: Latency | None) -> Range | None:
    return narrowest_range(latency.bins, _MAJORITY) if latency and latency.bins else None


def _range(ends_ns: tuple[int, int] | None) -> TypedCell:
    if ends_ns is None:
        return micros(None)
    low_ns, high_ns = ends_ns
    return TypedCell(None, "ns", f"{low_ns / 1e3:,.1f} to {high_ns / 1e3:,.1f}", low_ns, high_ns)


def _requirement(judged: Sequence[InterruptRun], labels: Sequence[str]) -> TypedTable:
    rows, notes = [], []
    for one, label in zip(judged, labels, strict=True):
        held = one.requirement
        rows.append(
            (
                words(label or one.load),
                micros(held.limit_ns),
                micros(held.largest_ns),
                count(held.samples),
                count(held.late),
                count(held.missed),
                words(held.standing),
            )
        )
        notes.append(f"{label or one.load}: {sentence(held)}")
        notes += [f"N/A, {name}: {why}." for name, why in one.absent.items()]
    heads = columns("", "less than", "largest", "samples", "too late", "missed", "requirement")
    return TypedTable("Requirement for t2, in us", heads, tuple(rows), tuple(dict.fromkeys(notes)))


def sentence(held: StartRequirement) -> str:
    """Return whether every start came in time, and how sure that is."""
    limit = format_limit(held.limit_ns)
    if not held.samples or held.largest_ns is None:
        return f"Less than {limit}: not shown, there is no sample."
    largest = format_duration(held.largest_ns)
    if held.standing == "not met":
        return f"Less than {limit}: not met. {_what_was_late(held, largest)}"
    if held.standing == "not shown":
        return (
            f"Less than {limit}: not shown. How many releases were missed is not known; "
            f"the latest of {held.samples:,} starts was {largest} late."
        )
    met = f"met in all {held.samples:,} samples; the latest start was {largest} late"
    return f"Less than {limit}: {met}. {_bound(held)}"


def _what_was_late(held: StartRequirement, largest: str) -> str:
    parts = []
    if held.late:
        parts.append(f"{held.late:,} of {held.samples:,} starts came too late, the latest by {largest}")
    if held.missed:
        passed = plural(held.missed, "release was", "releases were")
        parts.append(f"{passed} passed over, because the task was still late")
    return "; ".join(parts) + "."


def _bound(held: StartRequirement) -> str:
    share = held.share or 1.0
    said = (
        f"With 95 % confidence at most 1 start in {int(1 / share):,} comes too late."
        if share <= _TELLING
        else "So few samples say next to nothing about other starts."
    )
    if held.dropped:
        dropped = plural(held.dropped, "sample was", "samples were")
        return f"{dropped} dropped, here taken for late. {said}"
    return said


def _series(run: StoredRun, label: str, rank: int) -> Iterator[Series]:
    """Yield both latencies of a run, each with its whole curve."""
    for measure, name in _CURVES:
        if measure not in run.measures or run.count(measure) == 0:
            continue
        if run.is_histogram:
            bins = Bins(*run.histogram(measure=measure))
            counts = counts_of_bins(bins.high_ns, bins.count)
            maximum = max(one.maximum_ns for one in run.manifest.extremes if one.measure == measure)
            value, share = np.minimum(counts.value, maximum), counts.share
        else:
            values = run.values(measure)
            values.sort()
            value, share = ecdf_of(counts_of(values))
            maximum = int(values[-1])
            bins = Bins(value, value, np.diff(np.searchsorted(values, value, side="right"), prepend=0))
        yield Series(label, rank, name, run.count(measure), maximum, bins, CumulativeCurve(value, share))


# Interrupt and preemption latency of a thread of the kernel, as the kernel's timerlat tells them.


_NOTE = (
    "The thread is one of the kernel's, FIFO 95, and timerlat's own work at every interrupt and every switch "
    "lies within t1 and t2. A thread in user space: tauto probe interrupt."
)


@dataclass(frozen=True)
class TimerlatPresentation(InterruptPresentation):
    """Presentation of the experiment `timerlat`: that of `interrupt`, and whose thread it was."""

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return the tables of laurich2004, as `interrupt` has them."""
        first, *others = super().tables(runs, labels)
        return [replace(first, notes=(*first.notes, _NOTE)), *others]
