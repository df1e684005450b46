"""What a run of the user's own code shows: whether it holds its rate, and what its steps spend time on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import log10
from typing import TYPE_CHECKING

from tautochrone.answer.blocks import Figure, made
from tautochrone.answer.composition import ENVELOPE, histograms, timelines
from tautochrone.answer.document import TypedTable, columns, count, formatted, micros, words
from tautochrone.answer.evidence import series_of_run
from tautochrone.answer.labels import titled
from tautochrone.answer.numbers import quantile_of
from tautochrone.answer.phrasing.tail import interval
from tautochrone.answer.phrasing.tail import time as level_time
from tautochrone.base.units import format_duration, format_percent, format_rate
from tautochrone.base.words import ordinal, plural, upper_first, verb
from tautochrone.judge.explained import explained_of, is_explained
from tautochrone.judge.reduced import all_counts, reduce_run, summary_of_any
from tautochrone.judge.step_run import (
    CPU_TIME,
    EXECUTION,
    LATENCY,
    OFF_CPU,
    RESPONSE,
    StepCount,
    code_name,
    is_real_fast,
    longer_steps,
    step_counts,
    step_event,
)
from tautochrone.judge.tail.tails import tails_of
from tautochrone.judge.verdict import IDLE, measured_loops
from tautochrone.step import explained as explanation
from tautochrone.step import fast
from tautochrone.step.exchange import exchange_sentences, exchange_table
from tautochrone.step.explained import lines_of
from tautochrone.step.outputs import figure_of, has_simulated_time
from tautochrone.step.outputs import sentences as of_outputs

if TYPE_CHECKING:
    from tautochrone.answer.document import TypedCell
    from tautochrone.answer.series import Series
    from tautochrone.judge.reduced import Reduced
    from tautochrone.judge.verdict import MeasuredLoop, Standing
    from tautochrone.run.folder import StoredRun
    from tautochrone.statistics.summary import Summary

_HOLDS: dict[Standing, str] = {
    "holds": "holds {}",
    "tight": "holds {} with little room",
    "missed": "does not hold {}",
    "not shown": "is not shown to hold {}",
}
_WORSE: tuple[Standing, ...] = ("holds", "tight", "not shown", "missed")
_RAREST, _BEYOND = 1_000_000, 10
"""Said at most, and of how many times as many steps as were measured: no verdict extrapolates further."""

_PARTS = (
    (LATENCY, "start latency", "from the release until the thread runs"),
    (EXECUTION, "execution", "from just before the step is called until just after it has returned"),
    (CPU_TIME, "own CPU time", "of that: the step's thread had its CPU"),
    (
        OFF_CPU,
        "off the CPU",
        "of that: its CPU did something else (other threads, a hypervisor), or it waited",
    ),
    (RESPONSE, "response", "from the release until the step is done; its deadline is the next release"),
)
_DRAWN = ((LATENCY, "start latency"), (EXECUTION, "execution"), (RESPONSE, "response"))
_COUNTED = {
    "voluntary": "waits",
    "involuntary": "preemptions",
    "minor_faults": "minor page faults",
    "major_faults": "major page faults",
    "cycles": "CPU cycles in user mode",
    "instructions": "instructions in user mode",
    "heap_calls": "heap calls",
    "system_calls": "system calls",
    "lock_waits": "waits for another thread",
    "threads_started": "threads started",
}
_MEANT = (
    "Waits: switches in which a step gave its CPU away, as for a lock, a file or a sleep. Preemptions: its "
    "CPU was taken from it. Minor page faults: memory was used for the first time. Steps are numbered from "
    "the first recorded one."
)


_COSTS = (
    "This run explains its steps, which takes time in them: measure without --explain how long they take."
)


_SIMULATED = (
    "Simulated time begins at the first recorded step. Where steps are longer in each run, the code has more "
    "to compute, as at an event."
)


def sentences(run: StoredRun) -> list[str]:
    """Return the answer: whether the code holds its rate, how long a step takes, and how it ended."""
    if is_real_fast(run):
        return [fast.sentence(run), *of_outputs(run), *_ending(run)]
    explained = explained_of(run)
    loops = measured_loops(run)
    said = explanation.sentences(explained) if explained is not None else []
    loop = together(run, loops)
    said += [held(run, loop, reduce_run(run, EXECUTION))] if loop is not None and run.count() else []
    said += _longer(run)
    return [*said, *exchange_sentences(run), *of_outputs(run), *_ending(run)]


def together(run: StoredRun, loops: Sequence[MeasuredLoop]) -> MeasuredLoop | None:
    """Return what holds of all instances: what holds of the worst one, with the counts of all."""
    if len(loops) < 2:
        return next(iter(loops), None)
    worst = max(loops, key=lambda one: _WORSE.index(one.standing))
    cpus = dict.fromkeys(book.name.partition(" ")[0].removeprefix("cpu") for book in run.manifest.books)
    on = "any CPU" if "any" in cpus else f"CPU{'s' if len(cpus) > 1 else ''} {','.join(cpus)}"
    return replace(
        worst,
        source=f"A set of {len(loops)} instances of {code_name(run.manifest)} on {on}",
        completed=sum(one.completed or 0 for one in loops),
        missed=sum(one.missed or 0 for one in loops),
        overruns=sum(one.overruns or 0 for one in loops),
    )


def _ending(run: StoredRun) -> list[str]:
    event = step_event(run)
    return [event.why] if event.why else []


def held(run: StoredRun, loop: MeasuredLoop, reduced: Sequence[Reduced]) -> str:
    """Return whether a loop holds its rate, and how long its steps take, which are those of `reduced`."""
    rate = _HOLDS[loop.standing].format(format_rate(1e9 / loop.period_ns))
    where = "without a load" if loop.load == IDLE else f"beside the load {loop.load}"
    missed = loop.missed or 0
    of = plural(loop.completed + missed, "step")
    lost = f"; {missed:,} of {of} {verb(missed, 'was')} missed" if missed else ""
    late = f"; {loop.overruns:,} ended at the next release or later" if loop.overruns else ""
    return f"{loop.source} {rate} {where}: {takes(reduced)}{lost}{late}{_rare(run, reduced)}."


def _longer(run: StoredRun) -> Iterator[str]:
    found = longer_steps(run)
    if found is not None:
        period_ns = next(iter(run.manifest.header.periods_ns.values()))
        yield (
            f"Every {ordinal(found.every)} step takes longer: {format_duration(found.long)} instead of "
            f"{format_duration(found.other)} (own CPU time, median), every "
            f"{format_duration(found.every * period_ns)} of simulated time."
        )


def takes(reduced: Sequence[Reduced]) -> str:
    """Return how long a step takes: usually, rarely, at most."""
    seen = _of_all(reduced)
    if seen is None:
        return "nothing is known of its steps"
    usual, rare = seen.quantile(0.5), seen.quantile(0.999)
    tail = f" (99.9 %: {format_duration(rare)})" if rare is not None else ""
    takes = f"a step takes {format_duration(usual)}{tail}" if usual is not None else "a step"
    return f"{takes}, {format_duration(seen.maximum)} at most"


def _rare(run: StoredRun, reduced: Sequence[Reduced]) -> str:
    """Return how long a rare step takes; empty where the samples do not tell."""
    (one, *others) = tails_of(run, EXECUTION, reduced=reduced).sources
    if others and len(reduced) > 1:  # instances share a CPU, and are no samples of one another
        return ""
    known = sum(part.counts.total for part in reduced)
    once_in = min(_RAREST, 10 ** int(log10(_BEYOND * max(known, 1))))
    level = None if one.refusal is not None else one.activation_level(once_in)
    if level is None:
        return ""
    than = level_time(level.value_ns)
    between = f"{format_percent(level.confidence)}: {interval(level.low_ns, level.high_ns)}"
    return f"; 1 in {once_in:,} is expected to take longer than {than} ({between})"


@dataclass(frozen=True)
class StepPresentation:
    """Presentation of the experiment `step`; it has the series of runs that are reduced already."""

    known: Mapping[tuple[str, str], Sequence[Series]] = field(default_factory=dict)

    def having(self, series: Mapping[tuple[str, str], Sequence[Series]]) -> StepPresentation:
        """Return it with the series of each run and measure."""
        return StepPresentation(series)

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return for each run where its time went, and what the system counted of its steps."""
        own = [
            table
            for run, label in zip(runs, labels, strict=True)
            for table in (
                *_explained(run, label),
                self._times(run, label),
                *exchange_table(run, label),
                _counts(run, label),
            )
            if table.rows
        ]
        return [*fast.tables(runs, labels), *own]

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw how often each time occurred, and how the times went over the run."""
        drawn = [
            (said, replace(one, run=label, rank=rank))
            for rank, (run, label) in enumerate(zip(runs, labels, strict=True))
            for name, said in _DRAWN
            if name in run.measures
            for one in self._series(run, name)
        ]
        series = [replace(one, source=said) for said, one in drawn]
        of_several = {rank for rank, run in enumerate(runs) if len(run.manifest.books) > 1}
        at_a_rate = {rank for rank, run in enumerate(runs) if not is_real_fast(run)}
        timed = [
            replace(one, source=f"{said}, {one.source}" if one.rank in of_several else said)
            for said, one in drawn
            if one.envelope is not None and one.rank in at_a_rate
            if one.rank not in of_several or said == _DRAWN[-1][1]  # of many instances, the response of each
        ]
        own = f"{prefix}-step"
        found = [
            made("How long steps took", lambda: _how_long(series, own)),
            *([made("Steps over simulated time", lambda: _over_time(timed, own))] if timed else []),
        ]
        several = len(runs) > 1
        outputs = [
            made("Outputs", partial(figure_of, run, label if several else "", rank, own))
            for rank, (run, label) in enumerate(zip(runs, labels, strict=True))
            if run.names_of_reals and run.count() and has_simulated_time(run)
        ]
        return [*(found if series else []), *outputs]

    def _series(self, run: StoredRun, name: str) -> Sequence[Series]:
        if (run.id, name) in self.known:
            return self.known[run.id, name]
        return list(series_of_run(run, "", 0, name, reduce_run(run, name))) if run.count(name) else ()

    def _summary(self, run: StoredRun, name: str) -> Summary | None:
        if len(run.manifest.books) > 1:
            return _of_all(reduce_run(run, name))
        return next((one.summary for one in self._series(run, name) if one.summary is not None), None)

    def _times(self, run: StoredRun, label: str) -> TypedTable:
        heads = columns("", "median", "99 %", "99.9 %", "worst", "in the worst step")
        worst = _worst_step(run)
        parts = [part for part in _PARTS if part[0] in run.measures]
        rows = tuple(_row(self._summary(run, name), said, worst.get(name)) for name, said, _ in parts)
        meant = " ".join(f"{upper_first(said)}: {meaning}." for _, said, meaning in parts)
        costs = (_COSTS,) if is_explained(run.manifest) else ()
        title = titled(f"The steps of {code_name(run.manifest)} in us", label)
        return TypedTable(title, heads, rows, (*costs, meant, *_first(run)))


def _explained(run: StoredRun, label: str) -> list[TypedTable]:
    found = explained_of(run)
    if found is None:
        return []
    library = code_name(run.manifest).rpartition(":")[0]
    lines = lines_of(run.manifest, [one.at for one in found.deeds if one.module == library])
    return [explanation.table(found, label, {(library, at): line for at, line in lines.items()})]


def _how_long(series: Sequence[Series], prefix: str) -> Figure:
    panels = histograms(series, "Time", prefix, named=True, height=130)
    return Figure("How long steps took", panels, ("Every step is there. Both axes are logarithmic.",))


def _over_time(series: Sequence[Series], prefix: str) -> Figure:
    return Figure("Steps over simulated time", timelines(series, "time", prefix), (ENVELOPE, _SIMULATED))


def _of_all(parts: Sequence[Reduced]) -> Summary | None:
    """Return the summary of all instances together."""
    return summary_of_any(all_counts(tuple(parts))) if any(one.counts.total for one in parts) else None


def _row(seen: Summary | None, said: str, worst_ns: int | None) -> tuple[TypedCell, ...]:
    quantiles = (quantile_of(seen, q) for q in (0.5, 0.99, 0.999))
    return (words(said), *quantiles, micros(None if seen is None else seen.maximum), micros(worst_ns))


def _worst_step(run: StoredRun) -> dict[str, int]:
    """Return what the step with the longest response consists of; as fast as possible, execution."""
    if run.is_histogram or not run.count():
        return {}
    at = int(run.values().argmax())
    return {
        name: int(run.values(name)[at])
        for name, _, _ in _PARTS
        if name in run.measures and run.count(name) == run.count()
    }


def _first(run: StoredRun) -> Iterator[str]:
    first = step_event(run).first
    if first is not None:
        faults = (first.minor_faults or 0) + (first.major_faults or 0)
        yield (
            f"The first step of the warm-up, which finds everything cold, took "
            f"{format_duration(first.execution_ns)}, with {plural(faults, 'page fault')}."
        )


def _counts(run: StoredRun, label: str) -> TypedTable:
    heads = columns("", "in all steps", "steps with any", "median", "most in one step", "which step")
    seen = step_counts(run)
    absent = tuple(
        f"{upper_first(_COUNTED.get(one.name, one.name))}: N/A, {one.why}."
        for one in run.manifest.header.absent
    )
    title = "Counted in the steps" + (" of the first instance" if len(run.manifest.books) > 1 else "")
    return TypedTable(titled(title, label), heads, tuple(map(_count_row, seen)), (_MEANT, *absent))


def _count_row(one: StepCount) -> tuple[TypedCell, ...]:
    which = count(one.most_in if one.most else None)
    return (
        words(_COUNTED[one.name]), count(one.total), count(one.steps), formatted(one.median, "{:,.10g}"),
        count(one.most), which,
    )  # fmt: skip
